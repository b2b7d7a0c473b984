"""Kernels that do not measure distance: a constant, and agreement of categories."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import not_negative, positive


class Constant(Kernel):
    """The constant kernel, ``k(x, y) = value``; what a number becomes in ``1 + k`` and ``2 * k``.

    Parameters
    ----------
    value : float, default=1.0
        The positive constant.
    """

    parameters = ("value",)
    hyperparameters = ("value",)
    _compares_sparse = True

    def __init__(self, value: float = 1.0) -> None:
        self.value = positive(value, "A constant kernel")

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.full((len(X), len(Y)), self.value)

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.value)

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        return np.array([self.value * W.sum()])

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        for _ in range(X.shape[1]):
            yield np.zeros((len(X), len(Y)))

    def feature_count(self, n_columns: int) -> int | None:
        return 1

    def features(self, X: np.ndarray) -> np.ndarray:
        return np.full((len(X), 1), np.sqrt(self.value))


class Categorical(Kernel):
    r"""Agreement of categories, :math:`k(x, y) = \prod_c (\rho + (1 - \rho)[x_c = y_c])`.

    Columns may hold numbers or strings. Levels that were never seen are simply unlike all others; missing
    values (``NaN`` or ``None``) are a level of their own.

    Parameters
    ----------
    similarity : float, default=0.5
        The value ρ between two different levels, at least 0 and below 1. Zero lets nothing be learned from
        one level about another; closer to 1 pools the levels more.

    Examples
    --------
    >>> from pellucid.kernels import Categorical
    >>> Categorical(0.25)([["red"], ["blue"], ["red"]])
    array([[1.  , 0.25, 1.  ],
           [0.25, 1.  , 0.25],
           [1.  , 0.25, 1.  ]])
    """

    parameters = ("similarity",)
    _compares_levels = True

    def __init__(self, similarity: float = 0.5) -> None:
        self.similarity = not_negative(similarity, "similarity")
        if self.similarity >= 1.0:
            raise ValueError(f"similarity must be below 1, got {similarity!r}.")

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(0.0)]

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = np.ones((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            codes: dict[Any, int] = {}
            a, b = _encode(x, codes), _encode(y, codes)
            K *= np.where(a[:, None] == b, 1.0, self.similarity)
        return K

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        # a category has no derivative: NaN marks its columns, and those of other kernels in a product keep
        # theirs
        for _ in range(X.shape[1]):
            yield np.full((len(X), len(Y)), np.nan)


def _encode(column: np.ndarray, codes: dict[Any, int]) -> np.ndarray:
    """Number the levels of a column, adding new ones to ``codes``: numbers compare fast, strings do not."""
    levels = (None if isinstance(v, float) and v != v else v for v in column.tolist())
    return np.array([codes.setdefault(level, len(codes)) for level in levels], dtype=np.intp)
