r"""Group-sparse models for smooth losses: quadratic models of the loss, each a group lasso.

Minimises :math:`\frac{1}{S}\sum_i s_i\,\ell(y_i, b + \psi_i^\top\beta) + \lambda\sum_g\|\beta_g\|` with an
unpenalised intercept ``b`` and :math:`S = \sum_i s_i`. The Gram matrix of curvatures is kept for several
steps, as a pass that makes it costs far more than one that takes a gradient; a line search on the objective
itself keeps every step downhill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.losses import Loss
from pellucid.solvers.group_lasso import GroupLasso, optimality, strongest


class Design(Protocol):
    """Columns that are never laid out: products with them, and weighted Gram matrices."""

    def apply(self, beta: np.ndarray) -> np.ndarray:
        """Return ``Ψ β``, of shape (n,)."""

    def transpose(self, v: np.ndarray) -> np.ndarray:
        """Return ``Ψᵀ v``, of shape (F,)."""

    def gram(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``Ψᵀ diag(w) Ψ`` and ``Ψᵀ w``."""


@dataclass
class State:
    """Where the solver stands; passed on from one strength to the next.

    ``lasso``, ``mean`` and ``total`` belong to the curvatures at ``made_at``, where the Gram matrix was
    last made.
    """

    beta: np.ndarray
    intercept: float
    eta: np.ndarray
    lasso: GroupLasso | None = None
    mean: np.ndarray | None = None
    total: float = 0.0
    made_at: np.ndarray | None = None
    violation: float = np.inf
    n_iter: int = 0


class SparseGLM:
    """One loss on one set of rows, solved along a path of strengths.

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

    def null(self) -> State:
        """Return the best constant."""
        n_columns = self.groups[-1].stop if self.groups else 0
        b = self.loss.best_constant(self.y, self.share)
        return State(np.zeros(n_columns), b, np.full(len(self.y), b))

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""
        slope = self.design.transpose(self.share * self.loss.gradient(self.y, self.null().eta))
        return strongest(slope, self.groups)

    def solve(self, strength: float, state: State, *, tol: float = 1e-6, max_iter: int = 100) -> State:
        """Minimise at one strength from a state near by, to a violation of ``tol`` (in units of the slope).

        The slope of the mean loss has at most the size of one row's, so ``tol`` is absolute.
        """
        best, before = state, np.inf
        value = self._value(best.eta, best.beta, strength)
        for step in range(max_iter):
            v = self.share * self.loss.gradient(self.y, best.eta)
            slope, lean = self.design.transpose(v), float(v.sum())
            best.violation = max(optimality(best.beta, slope, self.groups, strength), abs(lean))
            best.n_iter = step
            if best.violation <= tol:
                break
            if best.lasso is None or best.violation > 0.3 * before:  # the curvature has moved on
                self._refresh(best)
            before = best.violation
            moved = self._step(best, slope, lean, strength, value, 0.1 * tol)
            if moved is None:
                if best.made_at is best.eta:
                    break  # no descent to be had: rounding
                self._refresh(best)
                before = np.inf
                continue
            value = moved
        return best

    # ------------------------------------------------------------- one step
    def _step(
        self, state: State, slope: np.ndarray, lean: float, strength: float, value: float, tol: float
    ) -> float | None:
        """Move to the minimiser of the quadratic model, or part of the way; the new value, or None."""
        assert state.lasso is not None
        assert state.mean is not None
        G = state.lasso.G
        c = G @ state.beta - (slope - state.mean * lean)
        scale = max(float(np.linalg.norm(c)), 1e-300)
        fit = state.lasso.solve(c, strength, state.beta, tol=max(1e-10, min(1e-4, tol / scale)))
        change = fit.coef - state.beta
        shift = -lean / state.total - float(state.mean @ change)
        move = self.design.apply(change) + shift
        size = 1.0
        for _ in range(30):
            beta = fit.coef if size == 1.0 else state.beta + size * change
            eta = state.eta + size * move
            reached = self._value(eta, beta, strength)
            if reached < value or (reached <= value and size == 1.0 and np.any(move)):
                state.beta, state.intercept, state.eta = beta, state.intercept + size * shift, eta
                return reached
            size *= 0.5
        return None

    def _value(self, eta: np.ndarray, beta: np.ndarray, strength: float) -> float:
        penalty = sum(float(np.linalg.norm(beta[g])) for g in self.groups)
        return float(self.share @ self.loss.value(self.y, eta)) + strength * penalty

    def _refresh(self, state: State) -> None:
        """Make the Gram matrix of the curvatures where the state stands, intercept eliminated."""
        w = self.share * self.loss.curvature(self.y, state.eta)
        # rows without curvature would let a step run away; a thousandth of the mean holds it
        w += (1e-3 * float(w.sum()) + 1e-12 * self.loss.bound()) * self.share
        G, m = self.design.gram(w)
        state.total = float(w.sum())
        state.mean = m / state.total
        G -= np.outer(m, state.mean)
        state.lasso = GroupLasso(G, self.groups)
        state.made_at = state.eta
