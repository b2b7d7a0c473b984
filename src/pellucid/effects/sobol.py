r"""Sobol shares: how much of the variance of a model each feature makes, alone and together with others.

With independent features, each distributed as in a table of rows, the variance of a function is a sum over
sets of features. The first-order share of a feature is what it makes alone, its total share all that it takes
part in,

.. math::
    S_j = \frac{\mathrm{Var}\, \mathrm{E}(f \mid x_j)}{\mathrm{Var} f}, \qquad
    T_j = \frac{\mathrm{E}\, \mathrm{Var}(f \mid x_{-j})}{\mathrm{Var} f}.

References
----------
Sobol (1993), Sensitivity estimates for nonlinear mathematical models. Homma and
Saltelli (1996), Importance measures in global sensitivity analysis of nonlinear models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._progress import Progress
from pellucid.effects.drift import text_table
from pellucid.effects.html import html_table
from pellucid.effects.term_shapley import Evaluate, pair_of, pair_values, splits
from pellucid.effects.terms import Term
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.kernels import Kernel
from pellucid.kernels.columnwise import ColumnTerm, column_terms
from pellucid.linalg import available_memory, format_bytes
from pellucid.linalg.attribution import all_but_one, symmetric_rest

_MOST = 300  # summands of a kernel that are compared two by two
_BLOCK = 1 << 22  # numbers in the products of one block


@dataclass(frozen=True)
class SobolShares:
    """Shares of each feature in the variance of the linear predictor, for independent features.

    Examples
    --------
    >>> found = SobolShares(("a", "b"), np.array([0.5, 0.2]), np.array([0.8, 0.5]), 4.0)
    >>> print(found)
    feature  alone  with others
    a        0.500        0.800
    b        0.200        0.500
    interactions 0.300 of the variance 4
    """

    names: tuple[str, ...]
    """Names of the features."""
    first: np.ndarray
    """First-order shares, of shape (n_features,) or (n_features, n_outputs)."""
    total: np.ndarray
    """Total shares, of the same shape."""
    variance: float | np.ndarray
    """The whole variance, one number or one per output."""

    @property
    def interactions(self) -> float | np.ndarray:
        """Share of the variance that no feature makes alone."""
        rest = 1.0 - self.first.sum(axis=0)
        return float(rest) if rest.ndim == 0 else rest

    def head_and_rows(self) -> tuple[list[str], list[list[str]]]:
        """The features as text, the largest total share first; shares are means over the outputs."""
        first, total = (np.reshape(v, (len(v), -1)).mean(axis=1) for v in (self.first, self.total))
        order = np.argsort(-total, kind="stable")
        rows = [[self.names[j], f"{first[j]:.3f}", f"{total[j]:.3f}"] for j in order]
        return ["feature", "alone", "with others"], rows

    def __str__(self) -> str:
        rest, size = float(np.mean(self.interactions)), float(np.mean(self.variance))
        return f"{text_table(*self.head_and_rows())}\ninteractions {rest:.3f} of the variance {size:.5g}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("Sobol shares", *self.head_and_rows())


Variances = tuple[np.ndarray, np.ndarray, np.ndarray]
"""First-order and total variances, (p, q), and the whole one, (q,)."""


def term_sobol(evaluate: Evaluate, terms: Sequence[Term], Z: np.ndarray) -> Variances:
    """Variances of a model of curves and surfaces under the product of the marginals of coded rows ``Z``."""
    parts = evaluate(Z)
    b, p, q = len(Z), Z.shape[1], parts.shape[2]
    alone = np.zeros((b, p, q))
    both = np.zeros((p, q))
    whole = np.zeros(q)
    for t, term in enumerate(terms):
        if len(term) == 1:
            alone[:, term[0]] += parts[:, t]
    for bit, split in splits(terms, p):
        upper, lower = np.zeros((2, b, len(split), q))
        square = np.zeros((2, len(split), q))
        for rows, values in pair_values(evaluate, Z, Z, bit, split):  # (rows, b, split, q)
            upper[rows] = values.mean(axis=1)
            lower += values.sum(axis=0) / b
            square += [values.sum(axis=(0, 1)), (values**2).sum(axis=(0, 1))]
        for s, t in enumerate(split):
            up, down = pair_of(terms[t], bit)
            alone[:, up] += upper[:, s]
            alone[:, down] += lower[:, s]
            mean, power = square[0, s] / b**2, square[1, s] / b**2
            pure = np.maximum(power - mean**2 - upper[:, s].var(axis=0) - lower[:, s].var(axis=0), 0.0)
            both[[up, down]] += pure
            whole += pure
    first = alone.var(axis=0)
    return first, first + both, whole + first.sum(axis=0)


def kernel_sobol(
    kernel: Kernel,
    X_fit: np.ndarray,
    dual: np.ndarray,
    Z: np.ndarray,
    weight: np.ndarray,
    verbose: int = 0,
) -> Variances:
    r"""Variances of :math:`\sum_i d_i k(x, x_i)` under the product of the marginals of ``Z``.

    With the mean :math:`\mu_j` and covariance :math:`C_j` of a column's values over the training rows, a
    product of columns has variance :math:`d^T (\odot_j S_j - \odot_j \mu_j \mu_j^T)\, d`, where :math:`S_j =
    C_j + \mu_j \mu_j^T`; what column :math:`j` takes part in is :math:`d^T (C_j \odot_{l \ne j} S_l)\, d`.
    """
    p = 1 if X_fit.ndim == 1 else X_fit.shape[1]
    share = weight / weight.sum()
    terms = [term for term in column_terms(kernel, p) if term.columns]
    n_values = sum(len(term.columns) for term in terms)
    need, have = 8.0 * 2 * n_values * len(Z) * len(X_fit), available_memory()
    if need > 0.9 * have:
        raise NotEnoughMemoryError(
            f"The values of all columns need about {format_bytes(need)}, but only {format_bytes(have)} of "
            f"memory is available: pass fewer rows as background."
        )
    centred = [_Centred.of(term, dual, Z, X_fit, share) for term in terms]
    alone = np.zeros((len(Z), p, dual.shape[1]))
    for one in centred:
        rest = symmetric_rest([one.mean[c] for c in one.mean], one.order)
        for c, others in zip(one.mean, rest, strict=True):
            alone[:, c] += one.values[c] @ (others.T * one.dual)
    first = np.einsum("b,bpq->pq", share, alone**2)
    if len(centred) == 1 and not terms[0].whole and centred[0].order == 2:
        return _of_pairs(centred[0], first, share)
    spread = [part for one in centred for part in one.multiplied_out(_MOST)]
    if len(spread) > _MOST:
        raise ValueError(
            f"The kernel {kernel} is a sum of {len(spread)} products over columns: too many to compare two "
            f"by two."
        )
    total, whole = np.zeros_like(first), np.zeros(dual.shape[1])
    twos = [(a, b) for s, a in enumerate(spread) for b in spread[: s + 1]]
    progress = Progress("Sobol shares", sum(len(_steps(len(X_fit), a, b)) for a, b in twos), verbose=verbose)
    for a, b in twos:
        factor = 1.0 if a is b else 2.0
        own, joint = _together(a, b, share, p, progress)
        total += factor * own
        whole += factor * joint
    progress.close()
    return first, total, whole


def _shared(a: _Centred, b: _Centred) -> list[int]:
    return [c for c in a.mean if c in b.mean]


def _steps(n: int, a: _Centred, b: _Centred) -> range:
    """Where blocks of training rows begin, so small that products of all shared columns fit."""
    return range(0, n if _shared(a, b) else 0, max(1, _BLOCK // (n * max(len(_shared(a, b)), 1))))


@dataclass(frozen=True)
class _Centred:
    """A summand of a kernel: values of its columns less their means."""

    dual: np.ndarray
    mean: dict[int, np.ndarray]  # (1, n)
    values: dict[int, np.ndarray]  # (b, n)
    order: int

    @classmethod
    def of(
        cls, term: ColumnTerm, dual: np.ndarray, Z: np.ndarray, X_fit: np.ndarray, share: np.ndarray
    ) -> _Centred:
        mean, values = {}, {}
        for c in term.columns:
            K = term.values(c, Z, X_fit)
            mean[c] = (share @ K)[None, :]
            K -= mean[c]
            values[c] = K
        return cls(term.factor * dual, mean, values, term.order)

    def multiplied_out(self, most: int) -> list[_Centred]:
        """The same as products of all their columns."""
        names = list(self.mean)
        if self.order == len(names):
            return [self]
        if self.order == 2 and len(names) ** 2 > 2 * most:
            raise ValueError("A sum over that many pairs of columns is too much to go through.")
        some = [(c,) for c in names] if self.order == 1 else [(a, b) for a in names for b in names if a < b]
        return [
            _Centred(self.dual, {c: self.mean[c] for c in s}, {c: self.values[c] for c in s}, self.order)
            for s in some
        ]


def _together(
    a: _Centred, b: _Centred, share: np.ndarray, p: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """What two products make together: covariance in which each column takes part, and the whole one."""
    total, whole = np.zeros((p, a.dual.shape[1])), np.zeros(a.dual.shape[1])
    shared, one = _shared(a, b), np.ones((1, len(a.dual)))
    steps = _steps(len(a.dual), a, b)
    scale_a, scale_b = (
        np.prod([x.mean[c] for c in x.mean if c not in shared] or [one], axis=0) for x in (a, b)
    )
    for start in steps:
        rows = slice(start, start + steps.step)
        C = [(a.values[c][:, rows] * share[:, None]).T @ b.values[c] for c in shared]
        M = [a.mean[c][:, rows].T * b.mean[c] for c in shared]
        S = [cov + mean for cov, mean in zip(C, M, strict=True)]
        frame = scale_a[:, rows].T * scale_b
        for c, cov, others in zip(shared, C, all_but_one(S), strict=True):
            total[c] += _form(cov * others * frame, a.dual[rows], b.dual)
        before = frame
        rest = [np.ones((1, 1))]
        for later in S[:0:-1]:
            rest.append(rest[-1] * later)
        for cov, mean, after in zip(C, M, reversed(rest), strict=True):
            whole += _form(before * cov * after, a.dual[rows], b.dual)
            before = before * mean
        progress.step()
    return total, whole


def _form(W: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("iq,iq->q", left, W @ right)


def _of_pairs(one: _Centred, first: np.ndarray, share: np.ndarray) -> Variances:
    """Sums over all pairs: pairs share columns but no variance, once what each column does alone is off."""
    n, total, whole = len(one.dual), first.copy(), first.sum(axis=0)
    step = max(1, _BLOCK // (n * len(one.mean)))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        C = [(K[:, rows] * share[:, None]).T @ K for K in one.values.values()]
        every = sum(C[1:], start=C[0])
        for c, cov in zip(one.values, C, strict=True):
            own = _form(cov * (every - cov), one.dual[rows], one.dual)
            total[c] += own
            whole = whole + own / 2
    return first, total, whole
