r"""Group lasso on a Gram matrix: whole groups of coefficients are zero or not.

Minimises :math:`\tfrac12\beta^\top G\beta - c^\top\beta + \lambda\sum_g\|\beta_g\|`. Rows of data are not
seen: ``G`` and ``c`` are accumulated beforehand, so the cost does not depend on their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_BLOCK_SWEEPS = 2  # sweeps of block descent between attempts at Newton steps
_NEWTON_STEPS = 20


@dataclass(frozen=True)
class GroupFit:
    """A solution."""

    coef: np.ndarray  # (F,): the coefficients; groups that were left out are exactly zero
    violation: float  # largest violation of the optimality conditions over the groups, in the unit of ``c``


class GroupLasso:
    """One Gram matrix, solved for many strengths and right-hand sides.

    Parameters
    ----------
    G : ndarray of shape (F, F)
        Symmetric and positive semi-definite.
    groups : sequence of slice
        Which columns belong together; they cover all columns.
    """

    def __init__(self, G: np.ndarray, groups: Sequence[slice]) -> None:
        self.G = G
        self.groups = [group for group in groups if group.stop > group.start]
        pairs = [np.linalg.eigh(G[group, group]) for group in self.groups]
        self._values = [np.maximum(value, 0.0) for value, _ in pairs]
        self._vectors = [vector for _, vector in pairs]

    def solve(
        self,
        c: np.ndarray,
        strength: float,
        start: np.ndarray | None = None,
        *,
        tol: float = 1e-9,
        max_iter: int = 1000,
    ) -> GroupFit:
        """Minimise from ``start`` until no group violates its condition by more than ``tol · max‖c_g‖``."""
        beta = np.zeros(len(c)) if start is None else start.astype(float)
        slope = self.G @ beta - c
        goal = tol * max((float(np.linalg.norm(c[g])) for g in self.groups), default=0.0)
        violation, done = np.inf, 0
        while done < max_iter:
            for _ in range(_BLOCK_SWEEPS):
                self._sweep(beta, slope, strength)
            done += _BLOCK_SWEEPS
            self._newton(beta, slope, c, strength, goal)
            violation = optimality(beta, slope, self.groups, strength)
            if violation <= goal:
                break
        return GroupFit(beta, violation)

    def _sweep(self, beta: np.ndarray, slope: np.ndarray, strength: float) -> None:
        """Minimise over each group in turn; ``beta`` and ``slope`` are updated in place."""
        for group, value, vector in zip(self.groups, self._values, self._vectors, strict=True):
            old = beta[group]
            pull = self.G[group, group] @ old - slope[group]
            size = float(np.linalg.norm(pull))
            if size <= strength:
                if not old.any():
                    continue
                new = np.zeros_like(old)
            else:
                new = vector @ shrink(value, vector.T @ pull, strength)
            change = new - old
            if np.any(change):
                beta[group] = new
                slope += self.G[:, group] @ change

    def _newton(
        self, beta: np.ndarray, slope: np.ndarray, c: np.ndarray, strength: float, goal: float
    ) -> None:
        """Newton steps on the groups that are not zero, where the objective is smooth.

        Correlated groups make block descent slow; these steps do not mind. Groups that a step would turn
        around are set to zero, if that helps; else the step ends shortly before they get there. Whether they
        stay zero is for the sweeps to say.
        """
        active = [group for group in self.groups if beta[group].any()]
        value = self._value(beta, c, active, strength)
        best, moved = beta.copy(), False
        for _ in range(_NEWTON_STEPS):
            found = self._direction(best, c, active, strength)
            if found is None or found[1] <= 0.1 * goal:
                break
            step = found[0]
            turned = [g for g in active if best[g] @ step[g] > 0.9 * (best[g] @ best[g])]
            if turned:
                rest = [g for g in active if g not in turned]
                candidate = best.copy()
                for group in turned:
                    candidate[group] = 0.0
                again = self._direction(candidate, c, rest, strength)
                if again is not None:
                    candidate -= _room(candidate, again[0], rest) * again[0]
                    reached = self._value(candidate, c, rest, strength)
                    if reached < value:
                        best, value, active, moved = candidate, reached, rest, True
                        continue
            length = _room(best, step, active)
            for _ in range(20):
                candidate = best - length * step
                reached = self._value(candidate, c, active, strength)
                if reached <= value:
                    break
                length *= 0.5
            else:
                break  # rounding: no descent to be had
            best, value, moved = candidate, reached, True
        if moved:
            beta[:] = best
            slope[:] = self.G @ beta - c

    def _direction(
        self, beta: np.ndarray, c: np.ndarray, active: Sequence[slice], strength: float
    ) -> tuple[np.ndarray, float] | None:
        """Newton step on some groups, zero elsewhere, and the largest norm of a group's slope."""
        if not active:
            return None
        place = np.concatenate([np.arange(group.start, group.stop) for group in active])
        H = self.G[np.ix_(place, place)]
        slope = H @ beta[place] - c[place]
        worst, start = 0.0, 0
        for group in active:
            part = slice(start, start + group.stop - group.start)
            start = part.stop
            size = float(np.linalg.norm(beta[group]))
            unit = beta[group] / size
            slope[part] += strength * unit
            worst = max(worst, float(np.linalg.norm(slope[part])))
            H[part, part] += strength / size * (np.eye(len(unit)) - np.outer(unit, unit))
        H[np.diag_indices_from(H)] += 1e-12 * np.trace(H) / len(H)
        try:
            step = np.zeros(len(beta))
            step[place] = cho_solve(cho_factor(H, check_finite=False), slope, check_finite=False)
        except LinAlgError:
            return None
        return step, worst

    def _value(self, beta: np.ndarray, c: np.ndarray, active: Sequence[slice], strength: float) -> float:
        """Objective, for coefficients that are zero outside of some groups."""
        penalty = strength * sum(float(np.linalg.norm(beta[group])) for group in active)
        return float(0.5 * beta @ (self.G @ beta) - c @ beta) + penalty


def shrink(value: np.ndarray, pull: np.ndarray, strength: float) -> np.ndarray:
    r"""Minimise a quadratic with a diagonal matrix ``v``, a linear term and a norm.

    The objective is :math:`\tfrac12 z^\top\operatorname{diag}(v)z - q^\top z + \lambda\|z\|` with
    :math:`\|q\| > \lambda`.
    The solution is :math:`z = \nu q / (v\nu + \lambda)` where its norm :math:`\nu` solves
    :math:`\|q/(v\nu+\lambda)\| = 1`. One over that norm is concave and increasing in :math:`\nu`, and a
    straight line when all ``v`` are equal, so Newton steps from zero converge without overshooting.
    """
    if strength == 0:
        safe = np.where(value > 1e-12 * value.max(), value, np.inf)
        return pull / safe
    size = 0.0
    for _ in range(50):
        bottom = value * size + strength
        ratio = pull / bottom
        norm = float(np.linalg.norm(ratio))
        if abs(norm - 1.0) < 1e-13:
            break
        rate = float(ratio @ (value / bottom * ratio)) / norm**3  # derivative of 1/norm
        if rate <= 0:
            break
        size = max(size + (1.0 - 1.0 / norm) / rate, 0.0)
    return pull * size / (value * size + strength)


def _room(beta: np.ndarray, step: np.ndarray, active: Sequence[slice]) -> float:
    """Length of the step at which the first group has lost nine tenths of its size; one at most."""
    lost = max((float(beta[g] @ step[g]) / float(beta[g] @ beta[g]) for g in active), default=0.0)
    return 1.0 if lost <= 0.9 else 0.9 / lost


def strongest(c: np.ndarray, groups: Sequence[slice]) -> float:
    """Return the least strength at which every group is zero: the largest norm of a group of ``c``."""
    return max((float(np.linalg.norm(c[g])) for g in groups if g.stop > g.start), default=0.0)


def optimality(beta: np.ndarray, slope: np.ndarray, groups: Sequence[slice], strength: float) -> float:
    """Largest distance, over the groups, of minus the slope from the subgradients of the penalty."""
    worst = 0.0
    for group in groups:
        if group.stop == group.start:
            continue
        size = float(np.linalg.norm(beta[group]))
        if size > 0:
            worst = max(worst, float(np.linalg.norm(slope[group] + strength / size * beta[group])))
        else:
            worst = max(worst, float(np.linalg.norm(slope[group])) - strength)
    return worst
