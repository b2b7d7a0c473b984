"""The ridge strength of a problem with any loss, by held-out deviance over folds or leave-one-out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.solvers.glm import GLMProblem, fit_glm
from pellucid.solvers.hinge import fit_hinge
from pellucid.solvers.joint import fit_joint
from pellucid.solvers.multinomial import fit_multinomial

Folds = Sequence[tuple[np.ndarray, np.ndarray]]
"""Training and test rows of each fold."""
MOST = 21  # values of alpha that a search tries, at most, where none are given
_TRIAL = 1e-8  # optimality of fits that only serve to choose alpha


@dataclass(frozen=True)
class AlphaChoice:
    """Ridge strengths that were tried, and the mean held-out deviance of each."""

    alphas: np.ndarray
    deviance: np.ndarray
    how: str

    @property
    def best(self) -> float:
        """The alpha of least deviance, the larger one of equals."""
        return float(self.alphas[::-1][np.argmin(self.deviance[::-1])])


def default_alphas(Z: np.ndarray, problem: GLMProblem) -> np.ndarray:
    """Two per decade, 1e-5 to 1e4 times the variance of the features times the null model's curvature."""
    share = problem.weight / problem.weight.sum()
    variance = float(share @ np.sum((Z - share @ Z) ** 2, axis=1))
    size = float(share @ np.sum(Z**2, axis=1))
    if variance <= 1e-12 * size:  # all rows are alike, and any alpha will do
        variance = size or 1.0
    curvature = 0.25
    if problem.loss.smooth and not problem.loss.multiclass:
        b = problem.loss.best_constant(problem.y, problem.weight, problem.offset)
        curvature = float(share @ problem.loss.curvature(problem.y, problem.offset + b))
    return variance * max(curvature, 1e-6) * 10.0 ** (np.arange(-10, 9) / 2.0)


def solve(Z: np.ndarray, problem: GLMProblem, alpha: float, *, start: Any = None, **options: Any) -> Any:
    """Fit with the solver that the loss needs; ``tol`` is for smooth losses."""
    if problem.loss.multiclass:
        return fit_multinomial(Z, problem, alpha, start=start, **options)
    if problem.loss.joint:
        return fit_joint(Z, problem, alpha, start=start, **options)
    if not problem.loss.smooth:
        options.pop("tol", None)
        return fit_hinge(Z, problem, alpha, **options)
    return fit_glm(Z, problem, alpha, start=start, **options)


def coefficient_columns(fits: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (r, q) and intercepts (q,) of one fit of several columns, or of several fits of one."""
    delta = np.column_stack([fit.delta for fit in fits])
    return delta, np.concatenate([np.atleast_1d(fit.intercept) for fit in fits])


def _go_on(detail: str) -> bool:
    return True


def choose_by_folds(
    Z: np.ndarray,
    problems: Sequence[GLMProblem],
    alphas: np.ndarray | None,
    folds: Folds,
    step: Callable[[str], bool] = _go_on,
) -> AlphaChoice:
    """Choose alpha by held-out deviance over folds, each with warm starts from large to small alpha.

    Several problems, such as classes or levels, share the alpha of least mean deviance. ``step`` is told of
    every alpha that is done, and says whether there is time for another.
    """
    total = max(sum(problems[0].weight[test].sum() for _, test in folds), np.finfo(float).tiny)
    parts = [(p, p.rows(train), train, test) for p in problems for train, test in folds]

    def evaluate(alpha: float, starts: list[Any]) -> tuple[float, list[Any]]:
        fits, deviance = [], 0.0
        for (p, part, train, test), start in zip(parts, starts, strict=True):
            fit = solve(Z[train], part, alpha, start=start, tol=_TRIAL)
            eta = p.offset[test] + Z[test] @ fit.delta + fit.intercept
            at = getattr(fit, "loss", p.loss)
            deviance += at.total_deviance(p.y[test], eta, p.weight[test])
            fits.append(fit)
        return deviance / (total * len(problems)), fits

    return _search(evaluate, Z, problems[0], alphas, [None] * len(parts), "cv", step)


def choose_by_loo(
    Z: np.ndarray,
    problems: Sequence[GLMProblem],
    alphas: np.ndarray | None,
    step: Callable[[str], bool] = _go_on,
) -> AlphaChoice:
    """Choose alpha by approximate leave-one-out deviance, as :func:`choose_by_folds` does by folds."""

    def evaluate(alpha: float, starts: list[Any]) -> tuple[float, list[Any]]:
        fits, deviance = [], 0.0
        for p, start in zip(problems, starts, strict=True):
            fit = solve(Z, p, alpha, start=start, tol=_TRIAL)
            eta = fit.loo_eta(Z, p, np.maximum(1.0, p.weight))
            at = getattr(fit, "loss", p.loss)
            deviance += at.total_deviance(p.y, eta, p.weight) / p.weight.sum()
            fits.append(fit)
        return deviance / len(problems), fits

    return _search(evaluate, Z, problems[0], alphas, [None] * len(problems), "loo", step)


def _search(
    evaluate: Callable[[float, list[Any]], tuple[float, list[Any]]],
    Z: np.ndarray,
    problem: GLMProblem,
    alphas: np.ndarray | None,
    starts: list[Any],
    how: str,
    step: Callable[[str], bool],
) -> AlphaChoice:
    """Walk from large to small alpha; without a grid of the user's, stop when lost and look between the best.

    Small alphas are the slow ones. Once the deviance has risen three times in a row to well above the best,
    they are left alone.
    """
    given = alphas is not None
    grid = np.sort(np.asarray(alphas if given else default_alphas(Z, problem), dtype=float))[::-1]
    found: dict[float, tuple[float, list[Any]]] = {}
    last, rises = starts, 0
    for alpha in grid:
        deviance, last = found[float(alpha)] = evaluate(float(alpha), last)
        lowest = min(value for value, _ in found.values())
        rises = rises + 1 if deviance > 1.02 * lowest else 0
        time_left = step(f"alpha {alpha:.3g}")
        if not time_left or (not given and rises >= 3):
            break
    if not given and time_left:
        best = min(found, key=lambda a: (found[a][0], -a))
        for alpha in (best * 10.0**0.25, best * 10.0**-0.25):
            above = min((a for a in found if a >= alpha), default=best)
            found[alpha] = evaluate(alpha, found[above][1])
            if not step(f"alpha {alpha:.3g}"):
                break
    order = sorted(found)
    return AlphaChoice(np.array(order), np.array([found[a][0] for a in order]), how)
