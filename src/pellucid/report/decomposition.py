"""A model taken apart for the page: effects, importances, and the numbers that the page computes with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.cells import Cells
from pellucid.data.table import with_value
from pellucid.effects import Effect, Grid, Importances
from pellucid.effects.stability import features_first
from pellucid.report.page_kernel import kernel_model
from pellucid.report.page_model import PageModel, linear_model
from pellucid.report.page_parts import parts_model
from pellucid.report.page_tables import compiled_model, table_model
from pellucid.report.page_waves import is_fourier, wave_model
from pellucid.report.parts import counts_parts, object_columns
from pellucid.report.response import Response

_POINTS = 40  # of a curve that is made for the page
_BUDGET = 120_000  # rows to predict for average curves


@dataclass(frozen=True)
class Decomposition:
    """What the page shows of the model itself."""

    kind: str
    """``"terms"``, ``"coefficients"``, ``"parts"``, ``"averages"`` or ``"nothing"``."""
    effects: list[Effect]
    """Most important first."""
    importances: Importances | None
    page_model: PageModel | None
    """How the page computes predictions, before it has been checked; ``None`` where it cannot."""
    absent: list[str]
    """Features that are in no term."""


def decompose(model: Any, response: Response, columns: Sequence[Cells], X: Any) -> Decomposition:
    """Take a fitted model apart, by what it offers."""
    if counts_parts(model):
        return _parts(model, response, columns, X)
    if not columns:
        return Decomposition("nothing", [], None, None, [])
    if getattr(model, "effects_", None) is not None and hasattr(model, "contributions"):
        return _terms(model, columns)
    numeric = all(column.numeric and not column.missing.any() for column in columns)
    if numeric and getattr(model, "coef_", None) is not None and hasattr(model, "intercept_"):
        coef = _coefficients(model, len(columns))
        if coef is not None:
            return _linear(model, coef, columns)
    return _averages(response, columns, X, kernel_model(model) if numeric else None)


def ranked_effects(model: Any) -> list[Effect]:
    """Effects of a model of terms that are not zero, most important first."""
    named = model.effects_
    effects = [named[name] for name in model.importances_.top(len(model.importances_)) if name in named]
    return [effect for effect in effects if np.any(effect.values != 0)]


def features_without_effect(effects: Sequence[Effect], columns: Sequence[Cells]) -> list[str]:
    """Names of features that are in no term."""
    used = {j for effect in effects for j in effect.term}
    return [column.name for j, column in enumerate(columns) if j not in used]


def _terms(model: Any, columns: Sequence[Cells]) -> Decomposition:
    effects = ranked_effects(model)
    if callable(getattr(model, "compiled", None)):
        page_model = compiled_model(model.compiled(), effects)
    elif is_fourier(model):
        page_model = wave_model(model, effects)
    else:
        page_model = table_model(model.intercept_, effects)
    absent = features_without_effect(effects, columns)
    return Decomposition("terms", effects, model.importances_, page_model, absent)


def _parts(model: Any, response: Response, columns: Sequence[Cells], X: Any) -> Decomposition:
    """Words or fragments, and average predictions over the features beside them."""
    objects = object_columns(model, len(columns)) if columns else {}
    others = [j for j in range(len(columns)) if j not in objects]
    page_model = parts_model(model) if columns else None
    if not others:
        return Decomposition("parts", [], None, page_model, [])
    beside = _averages(response, columns, X, page_model, others)
    return replace(beside, kind="parts")


def _coefficients(model: Any, p: int) -> np.ndarray | None:
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    ours = type(model).__module__.split(".")[0] == "pellucid"
    coef = features_first(np.atleast_1d(np.asarray(coef, dtype=float)), p, rows=ours)
    return coef if coef.ndim <= 2 and len(coef) == p else None


def _linear(model: Any, coef: np.ndarray, columns: Sequence[Cells]) -> Decomposition:
    center = np.array([column.values.mean() for column in columns])
    sd = getattr(model, "feature_sd_", None)
    sd = np.array([column.values.std() for column in columns]) if sd is None else np.asarray(sd)
    size = (np.abs(coef).T * sd).T if coef.ndim == 1 else np.sqrt(np.mean((coef.T * sd).T ** 2, axis=1))
    names = tuple(column.name for column in columns)
    importances = Importances(names, size, measure="|coefficient| per sd of the feature")
    errors = _standard_errors(model, coef)
    outputs = tuple(map(str, getattr(model, "classes_", range(coef.shape[-1])))) if coef.ndim == 2 else ()
    effects = []
    for j in importances.order:
        if np.any(coef[j] != 0):
            grid, density = _grid(columns[j])
            shift = np.asarray(grid.points, dtype=float) - center[j]
            values = shift[:, None] * coef[j] if coef.ndim == 2 else shift * coef[j]
            se = None if errors is None else np.abs(shift) * errors[j]
            effects.append(Effect((int(j),), names[j], (grid,), values, density, se, outputs))
    page_model = linear_model(coef, np.asarray(model.intercept_, dtype=float), center)
    page_model["terms"] = [page_model["terms"][effect.term[0]] for effect in effects]
    absent = [names[j] for j in range(len(names)) if not np.any(coef[j] != 0)]
    return Decomposition("coefficients", effects, importances, page_model, absent)


def _standard_errors(model: Any, coef: np.ndarray) -> np.ndarray | None:
    if coef.ndim != 1 or not hasattr(model, "coefficient_frame"):
        return None
    try:
        errors = np.asarray(model.coefficient_frame()["standard_error"], dtype=float)
    except (ValueError, ImportError):  # losses without standard errors, or pandas is not there
        return None
    return errors if np.all(np.isfinite(errors)) else None


def _averages(
    response: Response,
    columns: Sequence[Cells],
    X: Any,
    page_model: PageModel | None,
    shown: Sequence[int] | None = None,
) -> Decomposition:
    """Average prediction over the rows as one feature takes each of its values (partial dependence)."""
    n = len(columns[0].values)
    chosen = list(enumerate(columns)) if shown is None else [(j, columns[j]) for j in shown]
    points = sum(min(_POINTS, len(set(column.present))) for _, column in chosen)
    take = max(10, min(n, 200, _BUDGET // max(points, 1)))
    rows = np.sort(np.random.default_rng(0).permutation(n)[:take])
    effects = []
    for j, column in chosen:
        grid, density = _grid(column)
        if len(grid) < 2:
            continue
        try:
            values = np.stack([response(with_value(X, rows, j, v)).mean(axis=0) for v in grid.points])
        except (ValueError, TypeError, IndexError, KeyError):  # rows that are no table to the model
            return Decomposition("nothing", [], None, None, [])
        values = values - density @ values
        values = values if response.outputs else values[:, 0]
        effects.append(Effect((j,), column.name, (grid,), values, density, None, response.outputs))
    sizes = np.array([np.sqrt(np.mean(effect.sizes**2)) for effect in effects])
    measure = "spread of the average prediction"
    importances = Importances(tuple(effect.name for effect in effects), sizes, measure=measure)
    ordered = [effects[i] for i in importances.order if sizes[i] > 0]
    named = {effect.name for effect in ordered}
    absent = [column.name for _, column in chosen if column.name not in named]
    return Decomposition("averages", ordered, importances, page_model, absent)


def _grid(column: Cells) -> tuple[Grid, np.ndarray]:
    """Points of a feature at quantiles of the data, and the share of the rows nearest to each."""
    present = column.present
    if not column.numeric:
        levels = np.array(column.levels(), dtype=object)
        count = Counter(present.tolist())
        counts = np.array([count[level] for level in levels])
        order = np.sort(np.argsort(-counts, kind="stable")[:_POINTS])
        return Grid(column.name, levels[order], levels=True), counts[order] / counts[order].sum()
    points = np.unique(present)
    if len(points) > _POINTS:
        even = np.linspace(points[0], points[-1], _POINTS // 2)
        points = np.unique(np.concatenate([np.quantile(present, np.linspace(0, 1, _POINTS // 2)), even]))
    nearest = np.searchsorted((points[1:] + points[:-1]) / 2, present)
    return Grid(column.name, points), np.bincount(nearest, minlength=len(points)) / len(present)
