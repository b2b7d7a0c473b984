"""Kernels of bags: sets of vectors of any size, compared by their means in the space of another kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.kernels.algebra import _Wrapper
from pellucid.kernels.base import Kernel
from pellucid.kernels.stationary import RBF
from pellucid.kernels.structured.sequences import shown


class MeanEmbedding(_Wrapper):
    r"""Bags of vectors, compared by all pairs of their members: :math:`\frac{1}{|A||B|}\sum_{a,b} k(a, b)`.

    It is the inner product of the means of the two bags in the space of ``base``: with an ``RBF`` bags are
    alike if their members are distributed alike.

    Parameters
    ----------
    base : Kernel, default=RBF()
        The kernel of two members.

    Notes
    -----
    A row is an array of shape (members, features); bags may be of different sizes, but not empty.

    References
    ----------
    Muandet, Fukumizu, Dinuzzo and Schölkopf (2012), Learning from distributions via support measure machines.

    Examples
    --------
    >>> from pellucid.kernels import Linear, MeanEmbedding
    >>> MeanEmbedding(Linear())([[[1.0], [3.0]], [[5.0]]])
    array([[ 4., 10.],
           [10., 25.]])
    """

    _is_of_objects = True

    def __init__(self, base: Kernel | None = None) -> None:
        super().__init__(RBF() if base is None else base)
        if not self.base.vectors:
            raise TypeError(f"Members of bags are vectors, which {self.base} does not compare.")

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return False

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(RBF(0.7) + 0.5 * RBF(3.0).on([0]))]

    @classmethod
    def example_rows(cls) -> list[Any]:
        rng = np.random.default_rng(0)
        return [rng.normal(size=(n, 2)) for n in (1, 3, 2, 5, 4, 1, 6)]

    def read_objects(self, rows: np.ndarray) -> np.ndarray:
        if rows.ndim == 2 and rows.shape[1] == 1:
            rows = rows[:, 0]  # bags of one size make an array of three dimensions
        out = np.empty(len(rows), dtype=object)
        for i, item in enumerate(rows):
            try:
                out[i] = np.array(item, dtype=float)
            except (TypeError, ValueError):
                raise ValueError(f"row {i}: expected a bag of vectors, got {shown(item)}.") from None
            if out[i].ndim != 2 or not out[i].size or not np.isfinite(out[i]).all():
                raise ValueError(
                    f"row {i}: a bag is an array of finite numbers, of shape (members, features), got one of "
                    f"shape {out[i].shape}."
                )
            if out[i].shape[1] != out[0].shape[1]:
                raise ValueError(
                    f"row {i}: members have {out[i].shape[1]} features, but {out[0].shape[1]} in row 0."
                )
        return out

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), len(Y)))
        if not out.size:
            return out
        if X[0].shape[1] != Y[0].shape[1]:
            raise ValueError(
                f"Members of bags have {X[0].shape[1]} features, but {Y[0].shape[1]} in the other bags."
            )
        y, sizes = np.concatenate([*Y]), np.array([len(bag) for bag in Y])
        first = np.cumsum(sizes) - sizes
        for i, bag in enumerate(X):
            out[i] = np.add.reduceat(self.base._gram(bag, y[:]).mean(axis=0), first) / sizes
        return out

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.base._gram(bag, bag[:]).mean() for bag in X])

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        if not self.hyperparameters and not self.theta.size:
            return np.zeros(0)
        members = np.concatenate([*X])
        sizes = np.array([len(bag) for bag in X])
        which = np.repeat(np.arange(len(X)), sizes)
        spread = W / sizes[:, None] / sizes
        return self.base.parameter_gradient(members, spread[np.ix_(which, which)])

    def _widen(self, n_columns: int) -> None:
        raise self._missing("columns to give a length-scale each")

    def _formula(self, number: Any) -> str:
        return f"MeanEmbedding({self.base._formula(number)})"
