"""Fitted models read as a :class:`~pellucid.export.scoring.ScoringModel`."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.data.table import OTHER
from pellucid.effects.tables import TermTables
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import (
    Feature,
    Line,
    Products,
    Response,
    ScoreAxis,
    ScoreTerm,
    Waves,
    low_rank,
)
from pellucid.features.axis import Axis
from pellucid.kernels import Linear
from pellucid.losses import Ordinal
from pellucid.models import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier
from pellucid.models.glm_fit.base import KernelGLMBase
from pellucid.models.interpretable.base import InterpretableBase
from pellucid.models.isk.base import ISKBase
from pellucid.models.ridge.base import KernelRidgeBase
from pellucid.models.sparse_additive.base import SparseAdditiveBase
from pellucid.models.sparse_additive.design import group_slices

_IN_ORDER = ("to_json", "to_python", "to_tables", "to_onnx")
"""Exports of tables that can put values of a row in order."""


def fitted_model(model: Any) -> Any:
    """The fitted estimator itself: of a search, its best one."""
    if hasattr(model, "fit") and not hasattr(model, "predict"):
        raise TypeError(f"{type(model).__name__} does not predict: there is nothing to export.")
    if not hasattr(model, "predict"):
        raise TypeError(f"An export needs a fitted model of pellucid, got {type(model).__name__}.")
    check_is_fitted(model)
    return getattr(model, "best_estimator_", model)


def scoring_of(model: Any, target: str) -> ScoringModel:
    """Read a model of terms or coefficients; ``target`` names the export in messages."""
    model = fitted_model(model)
    if callable(getattr(model, "compiled", None)):
        if np.ndim(getattr(model, "quantile", 0.5)) and target not in _IN_ORDER:
            raise ValueError(
                f"{target} cannot write several quantiles, whose order is part of the prediction: use "
                f"{', '.join(_IN_ORDER)} or save, or fit one model per quantile."
            )
        return _of_tables(model, model.compiled())
    if isinstance(model, SparseAdditiveBase):
        return _of_smooths(model)
    if isinstance(model, ISKBase):
        return _of_waves(model)
    if isinstance(model, InterpretableBase):
        return _of_lines(model, model._linear_coef, model._linear_intercept)
    if isinstance(model, KernelRidgeBase | KernelGLMBase):
        if isinstance(getattr(model, "loss_", None), Ordinal):
            raise ValueError(f"{target} cannot write ordinal classes: use to_onnx or save.")
        if np.ndim(getattr(model, "quantile", 0.5)):
            raise ValueError(
                f"{target} cannot write several quantiles, whose order is part of the prediction: use "
                f"to_onnx or save, or fit one model per quantile."
            )
        if type(model.kernel_) is Linear and np.ndim(model.X_fit_) == 2:
            return _of_linear_kernel(model)
        raise ValueError(
            f"A {type(model).__name__} with the kernel {model.kernel_} is a sum over its training rows, not "
            f"over terms, and {target} cannot write it: use to_onnx or save, or fit one of the additive or "
            f"interpretable models."
        )
    raise TypeError(
        f"{target} cannot write a {type(model).__name__}: pass a fitted model of pellucid itself."
    )


def response_of(model: Any) -> Response:
    """How a model goes from scores to predictions."""
    if isinstance(model, KernelRidge):
        return Response("identity", single=model._single)
    loss = getattr(model, "loss_", None)
    name = str(getattr(loss, "name", None) or getattr(model, "loss", "squared"))
    if not isinstance(model, ClassifierMixin) and not isinstance(model, KernelFisherDiscriminant):
        if np.ndim(getattr(model, "quantile", 0.5)):
            ranks = np.argsort(np.argsort(model.quantile, kind="stable"), kind="stable")
            return Response("ordered", single=False, ranks=tuple(ranks.tolist()))
        links = {"log": "exp", "logit": "expit"}
        single = np.ndim(getattr(model, "intercept_", 0.0)) == 0 or not hasattr(model, "tables_")
        return Response(links.get(getattr(loss, "link", "identity"), "identity"), single=single)
    classes = tuple(model.classes_.tolist())
    if isinstance(model, KernelFisherDiscriminant):
        return Response("softmax", classes)
    if isinstance(model, KernelRidgeClassifier):
        return Response("logistic" if len(classes) == 2 else "softmax", classes, model.calibration_.slope)
    if name == "multinomial":
        return Response("softmax", classes)
    if isinstance(loss, Ordinal):
        return Response("ordinal", classes, thresholds=loss.thresholds)
    if name == "logistic":
        return Response("logistic" if len(classes) == 2 else "shares", classes)
    return Response("none", classes)


def feature_names(model: Any) -> list[str]:
    """Names of the columns of the training table."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _scoring(
    model: Any,
    features: Iterable[Feature],
    axes: Iterable[ScoreAxis],
    terms: Iterable[ScoreTerm],
    intercept: Any,
    warps: dict[int, np.ndarray] | None = None,
) -> ScoringModel:
    start = np.atleast_1d(np.asarray(intercept, dtype=float))
    name, response = type(model).__name__, response_of(model)
    return ScoringModel(name, tuple(features), tuple(axes), warps or {}, tuple(terms), start, response)


# -------------------------------------------------------------------- additive
def _of_tables(model: Any, tables: TermTables) -> ScoringModel:
    features = tuple(
        Feature(c.name, None if c.levels is None else _texts(c.levels, c.name), c.dates)
        for c in tables.columns
    )
    axes: list[ScoreAxis] = []
    place: dict[tuple[int, int], int] = {}
    terms = []
    for t, term in enumerate(tables.terms):
        numbers = []
        for j, axis in zip(term, tables.axes(t), strict=True):
            if (j, id(axis)) not in place:
                place[j, id(axis)] = len(axes)
                axes.append(_table_axis(j, axis, features[j].levels))
            numbers.append(place[j, id(axis)])
        terms.append(_products(tables.names[t], tuple(numbers), np.asarray(tables.tables[t], dtype=float)))
    return _scoring(model, features, axes, terms, tables.intercept)


def _table_axis(feature: int, axis: Axis, levels: Sequence[str] | None) -> ScoreAxis:
    size = len(axis)
    missing = len(axis.knots) if axis.missing else size
    if levels is None:
        return ScoreAxis(feature, np.asarray(axis.knots, dtype=float), 0, size, missing, size)
    other = levels.index(OTHER) if OTHER in levels else size
    return ScoreAxis(feature, np.empty(0), len(levels), size, missing, other)


def _products(name: str, axes: tuple[int, ...], table: np.ndarray) -> Products:
    """A table of one or two axes, and an output axis if there are several outputs, as products of tables."""
    table = table if table.ndim > len(axes) else table[..., None]
    if len(axes) == 1:
        return Products(name, axes, (table,), np.arange(table.shape[1]))
    parts = [low_rank(table[:, :, c]) for c in range(table.shape[2])]
    outputs = np.repeat(np.arange(len(parts)), [L.shape[1] for L, _ in parts])
    return Products(name, axes, (np.hstack([L for L, _ in parts]), np.hstack([R for _, R in parts])), outputs)


def _texts(levels: Iterable[Any] | None, name: str) -> tuple[str, ...] | None:
    """Levels as texts; nothing for numbers."""
    if levels is None:
        return None
    texts = tuple(str(level) for level in levels)
    if len(set(texts)) < len(texts):
        raise ValueError(
            f"Some levels of {name!r} differ in type alone; exports tell levels apart by their text."
        )
    return texts


# ------------------------------------------------------------- sparse additive
def _of_smooths(model: SparseAdditiveBase) -> ScoringModel:
    names = feature_names(model)
    groups = group_slices(model._smooths_fit)
    features = [
        Feature(name, _texts(smooth.knots, name) if smooth.levels else None)
        for name, smooth in zip(names, model._smooths_fit, strict=True)
    ]
    axes: list[ScoreAxis] = []
    terms = []
    for (j,) in model.terms_:
        smooth = model._smooths_fit[j]
        terms.append(_products(names[j], (len(axes),), smooth.table @ model._coef[groups[j]]))
        axes.append(ScoreAxis.of(j, smooth.knots, len(smooth.knots) if smooth.levels else 0))
    return _scoring(model, features, axes, terms, model._intercept)


# ------------------------------------------------------------------------- ISK
def _of_waves(model: ISKBase) -> ScoringModel:
    names = feature_names(model)
    used = sorted({j for term in model.terms_ for j in term})
    features, warps = [], {}
    axes: list[ScoreAxis] = []
    for j, column in enumerate(model._scaler.columns):
        levels = _texts(None if column.levels is None else tuple(column.levels), names[j])
        features.append(Feature(names[j], levels))
        if j not in used:
            continue
        if column.levels is None or levels is None:
            curve = np.append(column.values, 0.0)
            axis = ScoreAxis.of(j, column.knots)
        else:
            positions = np.array([*column.levels.values(), column.unknown])
            curve = np.interp(positions, column.knots, column.values)
            axis = ScoreAxis.of(j, (), len(levels))
        warps[len(axes)] = np.asarray(curve, dtype=float)
        axes.append(axis)
    terms = [_wave_term(model, t, [used.index(j) for j in term]) for t, term in enumerate(model.terms_)]
    return _scoring(model, features, axes, terms, model._intercept, warps)


def _wave_term(model: ISKBase, t: int, axes: list[int]) -> Waves:
    """Waves of a term: along either frequency for a main effect; along both, less each alone, for a pair."""
    term, pairs = model.terms_[t], model._pairs
    factor = model._beta[t] / model._sd[t]
    first, second = pairs.omega.T
    weights = []
    for c, w in enumerate(model._W.T):
        if len(term) == 1:
            parts = [side[term[0]] for side in pairs.main_weights(w)]
        else:
            both = np.ascontiguousarray(w, dtype=float).view(complex).reshape(pairs.K, -1)
            one = both[pairs._number(term)] * pairs.scale
            parts = [one, -one, -one]
        weights.append(factor[c] * np.concatenate(parts))
    W = np.column_stack(weights)
    zero = np.zeros_like(first)
    omega = (
        np.concatenate([first, second])[:, None]
        if len(term) == 1
        else np.column_stack([np.concatenate([first, first, zero]), np.concatenate([second, zero, second])])
    )
    return Waves(model.term_names_[t], tuple(axes), omega, W.real, W.imag, -factor * model._mean[t])


# ---------------------------------------------------------------- coefficients
def _of_lines(model: Any, coef: np.ndarray, intercept: np.ndarray) -> ScoringModel:
    names = feature_names(model)
    terms = (Line(name, j, np.asarray(coef[j], dtype=float)) for j, name in enumerate(names))
    return _scoring(model, map(Feature, names), (), terms, intercept)


def _of_linear_kernel(model: Any) -> ScoringModel:
    """The linear kernel: ``γ = Uᵀa / ℓ`` with ``U = (X - o) / ℓ``, and ``b - oᵀγ``."""
    kernel, rows = model.kernel_, np.asarray(model.X_fit_, dtype=float)
    primal = getattr(model, "_primal", None)
    coef = kernel._scaled(rows).T @ model._dual if primal is None else primal
    coef = (coef.T / kernel.length_scale).T
    origin = np.broadcast_to(np.asarray(kernel.origin, dtype=float), rows.shape[1:])
    coef, intercept = class_scores(model, coef, model._intercept - origin @ coef)
    return _of_lines(model, coef, intercept)


def class_scores(model: Any, weights: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercept of the scores that a model ends with: log densities for a discriminant."""
    if not isinstance(model, KernelFisherDiscriminant):
        return weights, intercept
    to_classes = model.scalings_ @ model.means_.T
    constant = np.log(model.priors_) - 0.5 * np.sum(model.means_**2, axis=1)
    return weights @ to_classes, intercept @ to_classes + constant
