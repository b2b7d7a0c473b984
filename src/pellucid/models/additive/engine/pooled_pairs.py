"""Many weak pairs: one fit of all of them at once, and the columns that it uses most.

Pairs that are too many, and too weak to be told from noise one by one, may still help together. A fit with
all of them is a matter of rows, not of pairs: with k_j the kernels of the features,

    Σ_{i<j} k_i k_j = ((Σ k_j)² - Σ k_j²) / 2.

If α are the dual coefficients of this fit, the product of columns a of feature i and b of feature j has a
coefficient proportional to Σ_r α_r φ_ia(x_r) φ_jb(x_r): the largest of these say which pairs deserve columns,
and which ones. Main effects and the columns that were chosen are then fitted with one variance for all;
held-out losses say which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from pellucid.features.term_basis import Axes, Picks, pair_picks
from pellucid.linalg import lower_factor, side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.design import predictor
from pellucid.models.additive.engine.pair_selection import pairs_for
from pellucid.models.additive.engine.penalised_fit import FitSettings, penalised_fit
from pellucid.models.additive.engine.state import Problem, State, basis_of, clearly_lower, tests_of

_BLOCK = 256  # rows of a kernel that are summed at once
_LEAST_WEIGHT = 1e-6  # of a row


@dataclass(frozen=True)
class PooledVariance:
    """The variance that all effects share; the fold of each row, and its loss when that was held out.

    Losses are those with the nearest variance that was tried. Only the first two folds were held out, each in
    turn; the losses of the third are zero.
    """

    variance: float
    fold: np.ndarray
    loss: np.ndarray


class _Dual:
    """Fits of kernels to the rows of a problem, in the order of their values: rounding follows no other."""

    def __init__(self, problem: Problem, main: State) -> None:
        order = np.lexsort((problem.weight, problem.offset, problem.y, *problem.X.T))
        self.back = np.argsort(order)
        self.problem = problem.part(order)
        self.main = main
        self.Z = self.columns(self.problem.X)
        self.eta = predictor(self.problem, main.basis, main.fit.beta, main.intercept)
        self.room = np.empty((len(problem), len(problem)), dtype=np.float32)

    def columns(self, X: np.ndarray) -> np.ndarray:
        """Columns of the main effects at rows, transposed and centred."""
        Z = self.main.basis.design(X, np.float32)
        Z -= self.main.moments.column_mean[:, None].astype(np.float32)
        return Z

    def fit(
        self, K: np.ndarray, variance: float, eta: np.ndarray, n_steps: int
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """Newton steps (vK + W⁻¹) α = z - b with 1ᵀα = 0: vα, b and the predictor."""
        problem, n, v = self.problem, len(self.problem), np.float32(variance)
        alpha, b = np.zeros(n, dtype=np.float32), 0.0
        for _ in range(n_steps):
            w, z = problem.working(eta)
            A = np.multiply(K, v, out=self.room)
            A[np.diag_indices(n)] += (1.0 / np.maximum(w, _LEAST_WEIGHT)).astype(np.float32)
            sides = np.asfortranarray(np.column_stack([z, np.ones(n)]), dtype=np.float32)
            u = lapack.spotrs(lower_factor(A), sides, lower=1)[0].astype(float)
            b = float(u[:, 0].sum() / u[:, 1].sum())
            alpha = (variance * (u[:, 0] - b * u[:, 1])).astype(np.float32)
            eta = problem.offset + b + K @ alpha
        return alpha, b, eta


def _all_pairs(columns: Sequence[np.ndarray]) -> np.ndarray:
    """((Σ k_j)² - Σ k_j²) / 2 for kernels k_j of columns of each feature."""
    H = np.hstack(columns)
    K: np.ndarray = np.empty((len(H), len(H)), dtype=H.dtype)

    def fill(start: int) -> None:
        rows = slice(start, start + _BLOCK)
        k = H[rows] @ H.T
        np.square(k, out=k)
        for A in columns:
            one = A[rows] @ A.T
            np.square(one, out=one)
            k -= one
        k /= 2
        K[rows] = k

    side_by_side(fill, range(0, len(H), _BLOCK))
    return K


def _most_used(
    dual: _Dual, axes: Axes, features: Sequence[int], n_pairs: int, variance: float = 1.0
) -> tuple[Picks, np.ndarray]:
    """The columns that a fit with all pairs uses most, of the pairs it uses most, and its predictor.

    What counts is how much a column, or a pair, adds to the squares of the predictors. The ``variance`` is
    that of main effects; pairs have a share of it.
    """
    X, weight = dual.problem.X, dual.problem.weight.astype(np.float32)
    most = int(np.clip(policy.POOLED_COLUMNS // len(features), 2, policy.POOLED_AXIS_COLUMNS))
    columns = [axes.pair[j].at(axes.coarse[j].locate(X[:, j]), np.float32, most) for j in features]
    K = _all_pairs(columns)
    K *= np.float32(policy.PAIR_SHARE)
    K += dual.Z.T @ dual.Z
    alpha, _, eta = dual.fit(K, variance, dual.eta, policy.NEWTON_STEPS[0])
    H = np.hstack(columns)
    C = ((H * alpha[:, None]).T @ H).astype(float)
    np.square(H, out=H)
    power = ((H * weight[:, None]).T @ H).astype(float) * C**2
    edges = np.cumsum([0, *(A.shape[1] for A in columns)])
    total = np.add.reduceat(np.add.reduceat(power, edges[:-1], axis=0), edges[:-1], axis=1)
    pairs = np.column_stack(np.triu_indices(len(features), 1))
    best = pairs[np.sort(np.argsort(-total[pairs[:, 0], pairs[:, 1]], kind="stable")[:n_pairs])]
    block = {(i, j): power[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] for i, j in best.tolist()}
    every = np.sort(np.concatenate([part.ravel() for part in block.values()]))
    least = max(every[-min(policy.POOLED_COLUMNS_PER_PAIR * n_pairs, len(every))], np.finfo(float).tiny)
    chosen = {(features[i], features[j]): np.nonzero(part >= least) for (i, j), part in block.items()}
    return {pair: pick for pair, pick in chosen.items() if len(pick[0])}, eta[dual.back]


def find_pooled_variance(
    problem: Problem, axes: Axes, features: Sequence[int], main: State, n_folds: int
) -> PooledVariance | None:
    """The variance for which a fit with the strongest pairs should predict held-out rows best.

    It may lie between those that are tried. None if the fit does not predict them clearly better than one
    without pairs does.
    """
    fold = fold_rows(list(problem.X.T), n_folds)
    if len(np.unique(fold)) < n_folds:
        return None

    def losses(k: int) -> np.ndarray:
        left = problem.part(fold == k)
        dual = _Dual(problem.part(fold != k), main)
        picks, _ = _most_used(dual, axes, features, _n_pairs(problem))
        pairs = basis_of(axes, picks)
        P, P_left = (pairs.design(X, np.float32) for X in (dual.problem.X, left.X))
        K, K_left = dual.Z.T @ dual.Z, dual.columns(left.X).T @ dual.Z
        loss = np.empty((2, len(policy.VARIANCES), len(left)))
        for with_pairs in range(2):
            if with_pairs:
                K += P.T @ P
                K_left += P_left.T @ P
            eta = dual.eta
            for step, variance in enumerate(policy.VARIANCES):
                alpha, b, eta = dual.fit(K, variance, eta, policy.NEWTON_STEPS[min(step, 1)])
                loss[with_pairs, step] = left.loss.value(left.y, left.offset + b + K_left @ alpha)
        return loss

    every = np.zeros((2, len(policy.VARIANCES), len(problem)))
    try:
        for k, loss in enumerate(side_by_side(losses, range(policy.HELD_OUT_FOLDS))):
            every[:, :, fold == k] = loss
    except FloatingPointError:
        return None
    without, together = (int(np.argmin(part @ problem.weight)) for part in every)
    if not clearly_lower(every[1, together], every[0, without], problem.weight):
        return None
    return PooledVariance(_between(every[1] @ problem.weight, together), fold, every[1, together])


def _n_pairs(problem: Problem) -> int:
    """Pairs that get columns."""
    return policy.POOLED_PAIRS * pairs_for(float(problem.weight.sum()))


def _between(loss: np.ndarray, lowest: int) -> float:
    """The variance at the lowest point of a parabola through the lowest loss and its neighbours."""
    if not 0 < lowest < len(loss) - 1:
        return policy.VARIANCES[lowest]
    before, here, after = loss[lowest - 1 : lowest + 2]
    bend = before - 2.0 * here + after
    way = 0.5 * float(before - after) / float(bend) if np.isfinite(bend) and bend > 0 else 0.0
    return float(policy.VARIANCES[lowest] * policy.STEP**way)


def fit_pooled_pairs(
    problem: Problem, axes: Axes, features: Sequence[int], main: State, variance: float
) -> State:
    """Main effects and the columns of pairs that a fit of all pairs uses most, all of one variance.

    All pairs are fitted with this variance too, so that the fit starts close to where it ends. Pairs are
    tested with their smoothest columns, as those of the fit were chosen for being large.
    """
    picks, eta = _most_used(_Dual(problem, main), axes, features, _n_pairs(problem), variance)
    own = dict(zip(main.basis.terms, main.basis.picks, strict=True))
    settings = FitSettings(newton_steps=1, variance=variance)
    near = replace(main, eta=eta)
    state = penalised_fit(problem, basis_of(axes, own, picks), near, replace(settings, end="settled"))
    smooth = pair_picks(axes, list(picks), policy.TESTED_COLUMNS * len(picks))
    tested = penalised_fit(problem, basis_of(axes, own, smooth), state, settings)
    state.tests |= tests_of(tested, list(smooth))
    return state
