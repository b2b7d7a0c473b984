r"""Ridge regression and its cross-validation from sums over rows alone.

With features :math:`Z`, weights :math:`s` and folds :math:`f`, one pass over the rows keeps per fold the sums
:math:`N_f = \sum s`, :math:`z_f = \sum s z`, :math:`c_f = \sum s z y`, :math:`G_f = \sum s z z^T` and so on.
The fit without a fold needs the totals minus the sums of the fold; the error on the fold needs its sums:

.. math:: \sum_{i \in f} s_i (y_i - b - z_i^T w)^2
          = \sum s y^2 - 2 b \sum s y - 2 w^T c_f + w^T G_f w + 2 b\, z_f^T w + b^2 N_f .

So every alpha costs some linear algebra in the features, and no row is seen again. Where there are more
features than rows the matrix of inner products of rows takes the place of the sums (:class:`DualRidge`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from operator import iadd

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsymm

from pellucid.linalg import cholesky_in_place, conjugate_gradients, solve_cholesky

_DIRECT = 1000  # features up to which each fold is factored; beyond, one factor preconditions them all
_CG_STEPS = 60
_CG_TOLERANCE = 3e-4  # of the residual, for fits that serve to compare alphas


@dataclass
class Sums:
    """Weighted sums over some rows; float32 for ``G`` is enough where they are a part of the whole."""

    N: float
    z: np.ndarray  # (F,)
    y: np.ndarray  # (q,)
    c: np.ndarray  # (F, q)
    yy: np.ndarray  # (q,)
    G: np.ndarray  # (F, F)

    @classmethod
    def zeros(cls, F: int, q: int, dtype: type = np.float64) -> Sums:
        """Sums over no rows."""
        return cls(0.0, np.zeros(F), np.zeros(q), np.zeros((F, q)), np.zeros(q), np.zeros((F, F), dtype))

    def add(self, Z: np.ndarray, Y: np.ndarray, s: np.ndarray) -> None:
        """Add rows: features of any precision, targets (n, q), weights (n,)."""
        ones = bool(np.all(s == 1.0))
        S = Z if ones else Z * s.astype(Z.dtype)[:, None]
        root = Z if ones else Z * np.sqrt(s).astype(Z.dtype)[:, None]
        self.N += float(s.sum())
        self.z += S.sum(axis=0, dtype=float)
        self.y += s @ Y
        self.c += S.T @ Y.astype(Z.dtype)
        self.yy += s @ Y**2
        self.G += root.T @ root

    def __iadd__(self, other: Sums) -> Sums:
        """Add the sums over other rows, in place."""
        for part in fields(self):
            setattr(self, part.name, iadd(getattr(self, part.name), getattr(other, part.name)))
        return self

    def __sub__(self, part: Sums) -> Sums:
        """The sums over the rows that are not in ``part``, with a matrix of its own."""
        return Sums(*(getattr(self, f.name) - getattr(part, f.name) for f in fields(self)))

    def columns(self, keep: np.ndarray) -> Sums:
        """The sums of some of the features."""
        return replace(self, z=self.z[keep], c=self.c[keep], G=self.G[np.ix_(keep, keep)])

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and right-hand side of the normal equations without the intercept."""
        G = self.G - np.outer(self.z / self.N, self.z)
        return G, self.c - np.outer(self.z / self.N, self.y)

    def intercept(self, W: np.ndarray) -> np.ndarray:
        """The intercept that belongs to weights (F, q)."""
        return (self.y - self.z @ W) / self.N

    def square_error(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Weighted sum of squared errors of each output."""
        fit = np.einsum("fq,fq->q", W, self.G @ W.astype(self.G.dtype) - 2.0 * self.c)
        return self.yy + fit - 2.0 * b * self.y + 2.0 * b * (self.z @ W) + b**2 * self.N


@dataclass
class Solution:
    """Weights and intercept of the fit to all rows, or to all rows but those of a fold."""

    W: np.ndarray  # (F, q); in the dual (n, q), coefficients of the rows
    b: np.ndarray  # (q,)


@dataclass
class PrimalRidge:
    """Ridge from the sums of each fold; ``folds`` may be empty where alpha is known."""

    total: Sums
    folds: list[Sums]
    _start: np.ndarray | None = field(default=None, init=False)  # the fits at the last alpha

    def fit(self, alpha: float) -> Solution:
        """Fit all rows."""
        G, c = self.total.centred()
        G[np.diag_indices_from(G)] += alpha
        W = solve_cholesky(cholesky_in_place(G), c)
        return Solution(W, self.total.intercept(W))

    def cross_validate(self, alpha: float) -> tuple[float, list[Solution]]:
        """Return the mean squared error over held-out rows, and the fits without each fold."""
        solutions = self._without_folds(alpha)
        error = sum(float(f.square_error(s.W, s.b).sum()) for f, s in zip(self.folds, solutions, strict=True))
        return error / self.total.N, solutions

    def _without_folds(self, alpha: float) -> list[Solution]:
        if len(self.total.z) <= _DIRECT:
            rest = [self.total - fold for fold in self.folds]
            return [PrimalRidge(sums, []).fit(alpha) for sums in rest]
        return self._by_conjugate_gradients(alpha)

    def _by_conjugate_gradients(self, alpha: float) -> list[Solution]:
        """All folds at once with one factor: without a fold the matrix is about ``(1 − 1/k) G``."""
        total, k, q = self.total, len(self.folds), len(self.total.y)
        M, _ = total.centred()
        M *= 1.0 - 1.0 / k
        M[np.diag_indices_from(M)] += alpha
        L = cholesky_in_place(M)
        N = np.array([total.N - fold.N for fold in self.folds])
        means = np.column_stack([(total.z - fold.z) for fold in self.folds]) / N
        levels = np.array([(total.y - fold.y) for fold in self.folds]) / N[:, None]
        rights = [
            total.c - fold.c - N[j] * np.outer(means[:, j], levels[j]) for j, fold in enumerate(self.folds)
        ]
        right = np.concatenate(rights, axis=1)  # the columns of fold 0, then those of fold 1, ...

        def product(V: np.ndarray) -> np.ndarray:
            out = dsymm(1.0, total.G.T, V) + alpha * V
            for j, fold in enumerate(self.folds):
                mine = slice(j * q, (j + 1) * q)
                out[:, mine] -= fold.G @ V[:, mine].astype(fold.G.dtype)
                out[:, mine] -= N[j] * np.outer(means[:, j], means[:, j] @ V[:, mine])
            return out

        W = conjugate_gradients(
            product,
            right,
            precondition=lambda R: solve_cholesky(L, R),
            start=self._start,
            tol=_CG_TOLERANCE,
            max_iter=_CG_STEPS,
        ).x
        self._start = W
        parts = np.split(W, k, axis=1)
        return [Solution(part, levels[j] - means[:, j] @ part) for j, part in enumerate(parts)]


@dataclass
class DualRidge:
    """Ridge from inner products of rows; solutions hold coefficients of the rows instead of weights."""

    K: np.ndarray  # (n, n), float64
    Y: np.ndarray  # (n, q)
    s: np.ndarray  # (n,)
    folds: list[np.ndarray]  # rows of each fold

    def fit(self, alpha: float, rows: np.ndarray | None = None) -> Solution:
        """Fit all rows, or some; coefficients of the others are zero."""
        rows = np.arange(len(self.Y)) if rows is None else rows
        A, Y = self.K[np.ix_(rows, rows)], self.Y[rows]
        A[np.diag_indices_from(A)] += alpha / self.s[rows]
        part = cho_solve((cholesky_in_place(A), True), np.column_stack([np.ones(len(Y)), Y]))
        b = part[:, 1:].sum(axis=0) / part[:, 0].sum()
        whole = np.zeros_like(self.Y)
        whole[rows] = part[:, 1:] - np.outer(part[:, 0], b)
        return Solution(whole, b)

    def cross_validate(self, alpha: float) -> tuple[float, list[Solution]]:
        """Return the mean squared error over held-out rows, and the fits without each fold."""
        solutions, error = [], 0.0
        for held in self.folds:
            rows = np.setdiff1d(np.arange(len(self.Y)), held, assume_unique=True)
            solution = self.fit(alpha, rows)
            residual = self.Y[held] - self.K[held] @ solution.W - solution.b
            error += float(np.sum(self.s[held] @ residual**2))
            solutions.append(solution)
        return error / float(self.s.sum()), solutions
