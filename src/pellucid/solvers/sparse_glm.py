r"""Group-sparse models along a path of strengths: least squares from sums, smooth losses from rows.

Both minimise :math:`\frac{1}{S}\sum_i s_i\,\ell(y_i, b + \psi_i^\top\beta) + \lambda\sum_g\|\beta_g\|`
with an unpenalised intercept ``b`` and :math:`S = \sum_i s_i`. They hold the fit at the last strength and
start the next one from there. For the squared loss :math:`\tfrac12(y - \eta)^2` this is one group lasso. For
another, the quadratic model of the loss is a group lasso; its Gram matrix of curvatures is kept for several
steps, as a pass that makes it costs far more than one that takes a gradient, and a line search on the
objective itself keeps every step downhill.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pellucid.losses import Loss
from pellucid.solvers.fold_ridge import Sums
from pellucid.solvers.group_lasso import GroupLasso, optimality, strongest


class SparseSquares:
    """The squared loss, from sums over rows; ``violation`` is relative to the strongest penalty."""

    def __init__(self, sums: Sums, groups: Sequence[slice]) -> None:
        self.sums, self.groups = sums, groups
        G, c = sums.centred()
        self.c = c[:, 0] / sums.N
        self.lasso = GroupLasso(G / sums.N, groups)
        self.coef, self.violation = np.zeros(len(self.c)), 0.0
        self.intercept = float(sums.y[0] / sums.N)

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""
        return strongest(self.c, self.groups)

    def solve(self, strength: float, *, tol: float = 1e-9) -> None:
        """Minimise at one strength from where the model stands."""
        fit = self.lasso.solve(self.c, strength, self.coef, tol=tol)
        self.coef, self.violation = fit.coef, fit.violation / max(self.strongest(), 1e-300)
        self.intercept = float(self.sums.intercept(self.coef[:, None])[0])


class Design(Protocol):
    """Columns that are never laid out: products with them, and weighted Gram matrices."""

    def apply(self, beta: np.ndarray) -> np.ndarray:
        """Return ``Ψ β``, of shape (n,)."""

    def transpose(self, v: np.ndarray) -> np.ndarray:
        """Return ``Ψᵀ v``, of shape (F,)."""

    def gram(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``Ψᵀ diag(w) Ψ`` and ``Ψᵀ w``."""


class SparseGLM:
    """One loss on one set of rows.

    Parameters
    ----------
    design : Design
        The columns.
    groups : sequence of slice
        Which columns belong together.
    y, weight : ndarray of shape (n,)
        Targets as the loss wants them, and row weights of positive sum.
    loss : Loss
        Smooth and for one number per row.
    """

    def __init__(
        self, design: Design, groups: Sequence[slice], y: np.ndarray, weight: np.ndarray, loss: Loss
    ) -> None:
        self.design, self.groups, self.y, self.loss = design, list(groups), y, loss
        self.share = weight / weight.sum()
        self.intercept = loss.best_constant(y, self.share)
        self.coef, self.eta = np.zeros(self.groups[-1].stop), np.full(len(y), self.intercept)
        self.violation = np.inf
        self._null = self.eta
        self._made_at: np.ndarray | None = None  # predictor whose curvatures are in the Gram matrix

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""
        return strongest(self._slope(self._null)[0], self.groups)

    def solve(self, strength: float, *, tol: float = 1e-6, max_iter: int = 100) -> None:
        """Minimise at one strength from where the model stands, to a violation of ``tol``.

        The slope of the mean loss has at most the size of one row's, so ``tol`` is absolute.
        """
        before = np.inf
        value = self._value(self.eta, self.coef, strength)
        for _ in range(max_iter):
            slope, lean = self._slope(self.eta)
            self.violation = max(optimality(self.coef, slope, self.groups, strength), abs(lean))
            if self.violation <= tol:
                break
            if self._made_at is None or self.violation > 0.3 * before:  # the curvature has moved on
                self._refresh()
            before = self.violation
            moved = self._step(slope, lean, strength, value, 0.1 * tol)
            if moved is None:
                if self._made_at is self.eta:
                    break  # no descent to be had: rounding
                self._refresh()
                before = np.inf
                continue
            value = moved

    def _slope(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Slope of the mean loss by the coefficients, and by the intercept."""
        v = self.share * self.loss.gradient(self.y, eta)
        return self.design.transpose(v), float(v.sum())

    def _step(
        self, slope: np.ndarray, lean: float, strength: float, value: float, tol: float
    ) -> float | None:
        """Move to the minimiser of the quadratic model, or part of the way; the new value, or None."""
        c = self._lasso.G @ self.coef - (slope - self._mean * lean)
        scale = max(float(np.linalg.norm(c)), 1e-300)
        fit = self._lasso.solve(c, strength, self.coef, tol=max(1e-10, min(1e-4, tol / scale)))
        change = fit.coef - self.coef
        shift = -lean / self._total - float(self._mean @ change)
        move = self.design.apply(change) + shift
        size = 1.0
        for _ in range(30):
            coef = fit.coef if size == 1.0 else self.coef + size * change
            eta = self.eta + size * move
            reached = self._value(eta, coef, strength)
            if reached < value or (reached <= value and size == 1.0 and np.any(move)):
                self.coef, self.intercept, self.eta = coef, self.intercept + size * shift, eta
                return reached
            size *= 0.5
        return None

    def _value(self, eta: np.ndarray, coef: np.ndarray, strength: float) -> float:
        penalty = sum(float(np.linalg.norm(coef[g])) for g in self.groups)
        return float(self.share @ self.loss.value(self.y, eta)) + strength * penalty

    def _refresh(self) -> None:
        """Make the Gram matrix of the curvatures where the model stands, intercept eliminated."""
        w = self.share * self.loss.curvature(self.y, self.eta)
        # rows without curvature would let a step run away; a thousandth of the mean holds it
        w += (1e-3 * float(w.sum()) + 1e-12 * self.loss.bound()) * self.share
        G, m = self.design.gram(w)
        self._total = float(w.sum())
        self._mean = m / self._total
        G -= np.outer(m, self._mean)
        self._lasso = GroupLasso(G, self.groups)
        self._made_at = self.eta


SparseModel = SparseSquares | SparseGLM
"""The fit at one strength, to be moved on to the next: ``coef``, ``intercept`` and how far from optimal."""
