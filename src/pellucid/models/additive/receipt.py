"""What main effects explain, what pairs add, what a machine of all orders finds in the residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from pellucid.data.labels import class_probabilities
from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables
from pellucid.features.term_basis import TermBasis
from pellucid.linalg.distances import squared_distances
from pellucid.linalg.moments import Moments
from pellucid.linalg.sample import sample_rows
from pellucid.models.additive.centre import Centre
from pellucid.models.additive.engine.design import moments_at
from pellucid.models.additive.engine.held_out import leave_one_out, one_per_class
from pellucid.models.additive.engine.hierarchy import ridges
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.additive.refit import refit
from pellucid.models.additive.refit_spec import Fits
from pellucid.solvers.variance_components import Equations

_ROWS, _LANDMARKS = 3000, 300
_LENGTHS = (0.5, 1.0, 2.0)
_UPDATES = 4  # of the variances of main effects without pairs


def class_deviances(problems: Sequence[Problem], etas: Sequence[np.ndarray]) -> np.ndarray:
    """Deviance of each row of one model per class: that of the normalised probabilities."""
    P = class_probabilities(problems[0].loss.mean(np.column_stack(etas)))
    truth = np.column_stack([problem.y for problem in problems]).argmax(axis=1)
    return -2.0 * np.log(np.maximum(P[np.arange(len(P)), truth], np.finfo(float).tiny))


def explained(problems: Sequence[Problem], etas: Sequence[np.ndarray], rows: Any = slice(None)) -> float:
    """Share of the deviance of a constant that predictors explain on some rows; a mean over outputs."""
    parts = [problem.part(rows) for problem in problems]
    nulls = [problem.null_predictor[rows] for problem in problems]
    weight = parts[0].weight
    if one_per_class(problems):
        null, left = (float(weight @ class_deviances(parts, some)) for some in (nulls, etas))
        return _share(null, left, float(weight.sum()))
    found = []
    for part, null_eta, eta in zip(parts, nulls, etas, strict=True):
        null = part.beside(null_eta).loss.total_deviance(part.y, null_eta, weight)
        left = part.beside(eta).loss.total_deviance(part.y, eta, weight)
        size = float(weight @ np.abs(part.y) ** part.loss.degree)  # in the unit of the deviance
        found.append(_share(null, left, size))
    return float(np.mean(found))


def _share(null: float, left: float, size: float) -> float:
    return 1.0 - left / null if null > 1e-24 * size else 0.0


def make_receipt(fits: Fits, tables: TermTables, rows: np.ndarray, etas: Sequence[np.ndarray]) -> Receipt:
    """Shares of the sum of squares, by generalised cross-validation, or of the held-out deviance.

    ``etas`` are the predictors of ``rows``, each without its row.
    """
    found = left = 0.0
    for k, (problem, state, eta) in enumerate(zip(fits.problems, fits.states, etas, strict=True)):
        w, z = problem.part(rows).working(state.eta[rows])
        residual = z + problem.offset[rows] - eta
        squares = _found_in(residual, w, _positions(problem.X[rows], tables, k))
        found, left = found + squares[0], left + squares[1]
    alone = len(etas) == 1 and fits.centre is None
    main, whole, how = (_of_one if alone else _of_several)(fits, rows, etas)
    beyond = found / max(left, np.finfo(float).tiny) * (1.0 - whole)
    return Receipt(main, whole - main, beyond, f"{how}; terms held fixed")


def receipt_of_moments(state: State) -> Receipt:
    """The same for squared loss where only sums over rows are known: nothing is left to look into."""
    m, basis = state.moments, _main_effects(state.basis)
    null, error = m.square / m.total, state.fit.gcv(m.total)
    if not null > 0:
        return Receipt(0.0, 0.0, None, "generalised cross-validation; terms held fixed")
    whole, main_error = _clip(1.0 - error / null), error
    if basis.size < state.basis.size:
        main_error = _gcv(None, m.total, state, basis, m.of(state.basis.columns_of(basis.terms)))
    main = min(_clip(1.0 - main_error / null), whole)
    return Receipt(main, whole - main, None, "generalised cross-validation; terms held fixed")


def _of_several(fits: Fits, rows: np.ndarray, etas: Sequence[np.ndarray]) -> tuple[float, float, str]:
    """Share of main effects, share of all terms and how they were found, for one model per class or output.

    Main effects alone are fitted again, with the ridges that they have.
    """
    given, frozen = fits.given, fits.frozen
    whole = main = _clip(explained(given, etas, rows))
    if any(len(term) == 2 for term in fits.terms):
        without: Sequence[Problem]
        without = [replace(p, offset=p.offset - frozen.kinds(k)[1]) for k, p in enumerate(fits.problems)]
        if fits.centre is not None:
            without = [*map(fits.centre.taken_from, without)]
            centre = _main_centre(fits.centre, without[0])
            without = [*map(centre.beneath, without)]
        alone = []
        for problem, state in zip(without, fits.states, strict=True):
            basis = _main_effects(state.basis)
            fit = refit(problem, basis, state.ridges_of(basis))
            alone.append(leave_one_out(problem, fit, rows)[1])
        main = _clip(explained(given, alone, rows))
    what = "of the class probabilities" if one_per_class(given) else "as a mean over the outputs"
    return main, whole, f"leave-one-out deviance {what}" if len(etas) > 1 else "leave-one-out deviance"


def _main_centre(centre: Centre, problem: Problem) -> Centre:
    """The centre of main effects alone, with the ridges that they have, in the place of ``centre``."""
    basis = _main_effects(centre.state.basis)
    problem = replace(centre.problem, offset=problem.offset)
    return Centre.of(problem, refit(problem, basis, centre.state.ridges_of(basis)))


def _of_one(fits: Fits, rows: np.ndarray, etas: Sequence[np.ndarray]) -> tuple[float, float, str]:
    """The same for one output."""
    (problem,), (state,), frozen = fits.problems, fits.states, fits.frozen
    n, basis = fits.total, _main_effects(state.basis)
    square, main_error = state.moments.square, state.fit.gcv(n)
    if frozen.tables:
        in_main, in_pairs = frozen.kinds(0)
        w, z = problem.working(state.eta)
        square = _square(z + in_main + in_pairs, w)
        if basis.size < state.basis.size or np.any(in_pairs):
            main_error = _gcv(problem.scale, n, state, basis, moments_at(problem, basis, w, z + in_pairs))
    elif basis.size < state.basis.size:
        moments = state.moments.of(state.basis.columns_of(basis.terms))
        main_error = _gcv(problem.scale, n, state, basis, moments)
    null = max(square / n, np.finfo(float).tiny)
    whole = _clip(1.0 - state.fit.gcv(n) / null) if problem.varies else 0.0
    main = min(_clip(1.0 - main_error / null), whole)
    if problem.quadratic:
        return main, whole, "generalised cross-validation; all orders by leave-one-out"
    part = main / whole if whole > 0 else 0.0
    whole = _clip(explained([fits.given[0].part(rows)], etas))
    return part * whole, whole, "leave-one-out deviance; main effects in proportion to the last working model"


def _gcv(scale: float | None, n: float, state: State, basis: TermBasis, moments: Moments) -> float:
    """Generalised cross-validation error of main effects, from the moments of their columns."""
    if basis.size == 0:
        return moments.square / n
    equations, ridge = Equations(moments, scale, n), state.ridges_of(basis)
    prior = state.prior.with_terms(basis.axes, basis.terms)
    for _ in range(_UPDATES):
        fit = equations.solve(ridge)
        scale = fit.scale / (state.unit**2 * state.bend)
        rss = fit.rss / (state.unit**2 * state.bend)
        fit = replace(fit, beta=fit.beta / state.unit, ridge=fit.ridge / state.bend, scale=scale, rss=rss)
        prior = prior.updated(basis, replace(fit, root=fit.root * np.sqrt(state.bend)))
        ridge = state.bend * ridges(basis.prior(prior.variances), scale)
    return equations.solve(ridge).gcv(n)


def _main_effects(basis: TermBasis) -> TermBasis:
    return basis.of_terms([t for t, term in enumerate(basis.terms) if len(term) == 1])


def _square(z: np.ndarray, w: np.ndarray) -> float:
    mean = float(w @ z) / float(w.sum())
    return float(w @ (z - mean) ** 2)


def _clip(share: float) -> float:
    return float(np.clip(share, 0.0, 1.0))


def _positions(X: np.ndarray, tables: TermTables, output: int) -> np.ndarray:
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
            values = np.append(table.reshape(len(table), -1)[:, output], 0.0)
        out[:, k] = values[i] + w * (values[np.minimum(i + 1, len(values) - 1)] - values[i])
    spread = out.std(axis=0)
    return out[:, spread > 0] / spread[spread > 0]


def _found_in(residual: np.ndarray, weight: np.ndarray, U: np.ndarray) -> tuple[float, float]:
    """Squares that kernel ridge regression on all features finds in residuals, and the sum of all squares.

    What it finds is measured leaving one row out. A Gaussian kernel on landmarks, K ≈ ΦΦᵀ; every ridge from
    one eigendecomposition of ΦᵀWΦ.
    """
    some = sample_rows([*U.T], _ROWS) if U.shape[1] else np.arange(0)
    r, w, U = residual[some], weight[some], U[some]
    if len(r) < 10:
        return 0.0, 0.0
    r = r - float(w @ r) / float(w.sum())
    before = float(w @ r**2)
    if before <= 0:
        return 0.0, 0.0
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
        h = np.minimum((P * P) @ D + (w / w.sum())[:, None], 1.0 - 1e-8)  # that of the mean included
        best = min(best, float(np.sum(((target[:, None] - fitted) / (1.0 - h)) ** 2, axis=0).min()))
    return max(before - best, 0.0), before
