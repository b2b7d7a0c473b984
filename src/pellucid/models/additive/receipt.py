"""What main effects explain, what pairs add, what a machine of all orders finds in the residuals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables
from pellucid.features.term_basis import TermBasis
from pellucid.linalg.distances import squared_distances
from pellucid.linalg.moments import Moments
from pellucid.linalg.sample import sample_rows
from pellucid.models.additive.engine.design import moments_at
from pellucid.models.additive.engine.state import Problem, State
from pellucid.solvers.variance_components import fit_components

_ROWS, _LANDMARKS = 3000, 300
_LENGTHS = (0.5, 1.0, 2.0)


def make_receipt(
    problem: Problem,
    state: State,
    tables: TermTables,
    rows: np.ndarray,
    eta_loo: np.ndarray,
    kept: tuple[np.ndarray, np.ndarray] | None = None,
) -> Receipt:
    """Shares of the sum of squares, by generalised cross-validation, or of the held-out deviance.

    ``kept`` are the parts of the offset that are terms of the model after all, main effects and pairs,
    because they were not fitted again.
    """
    n = float(problem.weight.sum())
    moments = state.moments
    square = moments.square
    if kept is not None:
        w, z = problem.working(state.eta)
        square = _square(z + kept[0] + kept[1], w)
        moments = _moments_of_mains(problem, state.basis, w, z + kept[1])
    null = max(square / n, np.finfo(float).tiny)
    explained = _clip(1.0 - state.fit.gcv(n) / null)
    main = _clip(1.0 - _main_only(state, moments, n, problem.scale) / null)
    if kept is not None and not np.any(kept[1]) and all(len(term) == 1 for term in state.basis.terms):
        main = explained
    w, z = problem.part(rows).working(state.eta[rows])
    residual = z + problem.offset[rows] - eta_loo
    share = _found_in(residual, w, _positions(problem.X[rows], tables))
    main = min(main, explained)
    how = "generalised cross-validation; all orders by leave-one-out"
    if not problem.quadratic:
        known = 0.0 if kept is None else (kept[0] + kept[1])[rows]
        part = main / explained if explained > 0 else 0.0
        explained = _held_out_deviance(problem.part(rows), eta_loo, known)
        main = part * explained
        how = "leave-one-out deviance; main effects in proportion to the last working model"
    return Receipt(main, explained - main, share * (1.0 - explained), how)


def _held_out_deviance(problem: Problem, eta_loo: np.ndarray, known: np.ndarray | float) -> float:
    """Share of the deviance of a constant that the predictors without each row explain."""
    offset = problem.offset - known
    start = problem.loss.best_constant(problem.y, problem.weight, offset)
    null = float(problem.weight @ problem.loss.deviance(problem.y, offset + float(np.ravel(start)[0])))
    left = float(problem.weight @ problem.loss.deviance(problem.y, eta_loo))
    return _clip(1.0 - left / null) if null > 0 else 0.0


def _square(z: np.ndarray, w: np.ndarray) -> float:
    mean = float(w @ z) / float(w.sum())
    return float(w @ (z - mean) ** 2)


def _clip(share: float) -> float:
    return float(np.clip(share, 0.0, 1.0))


def _main_only(state: State, m: Moments, n: float, scale: float | None) -> float:
    """Generalised cross-validation error of the main effects, from the moments that are there already."""
    basis = state.basis
    columns = _main_columns(basis)
    if len(columns) == basis.size and m is state.moments:
        return state.fit.gcv(n)
    if len(columns) == 0:
        return m.square / n
    part = m
    if m is state.moments:
        part = replace(m, G=m.G[np.ix_(columns, columns)], c=m.c[columns], column_mean=m.column_mean[columns])
    groups, group = np.unique(basis.group[columns], return_inverse=True)
    ridge = np.where(np.isfinite(state.fit.ridge[groups]), state.fit.ridge[groups], 1e6)
    return fit_components(part, group, ridge, scale=scale, n_iter=8, n=n).gcv(n)


def _main_columns(basis: TermBasis) -> np.ndarray:
    some = [
        np.arange(s.start, s.stop)
        for term, s in zip(basis.terms, basis.slices, strict=True)
        if len(term) == 1
    ]
    return np.concatenate([np.empty(0, dtype=np.intp), *some])


def _moments_of_mains(problem: Problem, basis: TermBasis, w: np.ndarray, z: np.ndarray) -> Moments:
    alone = [t for t, term in enumerate(basis.terms) if len(term) == 1]
    lean = TermBasis(basis.axes, tuple(basis.terms[t] for t in alone), tuple(basis.picks[t] for t in alone))
    return moments_at(problem, lean, w, z)


def _positions(X: np.ndarray, tables: TermTables) -> np.ndarray:
    """Where rows are: warped coordinates of numbers, fitted effects of levels, in units of their spread."""
    used = sorted({j for term in tables.terms for j in term})
    out = np.zeros((len(X), len(used)))
    for k, j in enumerate(used):
        axis = tables.fine[j]
        i, w = axis.locate(X[:, j])
        values = np.append(
            axis.coordinate, np.full(len(axis) + 2 - len(axis.coordinate), np.mean(axis.coordinate))
        )
        if axis.levels and (j,) in tables.terms:
            table = tables.tables[tables.terms.index((j,))]
            values = np.append(table.reshape(len(table), -1)[:, 0], 0.0)
        out[:, k] = values[i] + w * (values[np.minimum(i + 1, len(values) - 1)] - values[i])
    spread = out.std(axis=0)
    return out[:, spread > 0] / spread[spread > 0]


def _found_in(residual: np.ndarray, weight: np.ndarray, U: np.ndarray) -> float:
    """Share of the residuals that kernel ridge regression on all features finds, leaving one row out.

    A Gaussian kernel on landmarks, K ≈ ΦΦᵀ; every ridge from one eigendecomposition of ΦᵀWΦ.
    """
    some = sample_rows([*U.T], _ROWS) if U.shape[1] else np.arange(0)
    r, w, U = residual[some], weight[some], U[some]
    if len(r) < 10:
        return 0.0
    r = r - float(w @ r) / float(w.sum())
    before = float(w @ r**2)
    if before <= 0:
        return 0.0
    centres = U[sample_rows([*U.T], _LANDMARKS)]
    best = before
    for length in _LENGTHS:
        size = 2.0 * length**2 * U.shape[1]
        K = np.exp(-squared_distances(centres, centres) / size)
        K[np.diag_indices(len(K))] += 1e-8 * len(K)
        Phi = solve_triangular(
            cholesky(K, lower=True), np.exp(-squared_distances(centres, U) / size), lower=True
        ).T
        Phi = (Phi - (w @ Phi) / w.sum()) * np.sqrt(w)[:, None]
        value, Q = eigh(Phi.T @ Phi)
        P, target = Phi @ Q, np.sqrt(w) * r
        ridges = max(float(value[-1]), 1e-12) * np.logspace(-5, 0, 8)
        D = 1.0 / (value[:, None] + ridges)
        fitted = P @ ((P.T @ target)[:, None] * D)
        h = np.minimum((P * P) @ D, 0.999)
        best = min(best, float(np.sum(((target[:, None] - fitted) / (1.0 - h)) ** 2, axis=0).min()))
    return _clip(1.0 - best / before)
