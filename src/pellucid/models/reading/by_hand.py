"""A fitted additive model with one of its functions changed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.effects.hand_edits import HandEdit, Segment, change_points, smooth_term
from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Effect, Importances, Term

_DIRECTIONS = {"increasing": 1, "decreasing": -1, 1: 1, -1: -1}


def edit_by_hand(
    model: Any,
    term: str,
    *,
    where: Any = None,
    to: float | None = None,
    by: float | None = None,
    smooth: float | None = None,
    remove: bool = False,
    output: Any = None,
) -> Any:
    """A new additive model in which the function of one term is changed, and nothing else.

    No data are needed and nothing is fitted: the numbers that the model predicts with are changed where told.
    The other terms and the intercept stay as they are; to have them fitted again around the change, call
    ``model.edit(X, y, freeze=[term])`` on the result. A term that was changed is frozen: later edits keep
    it, and it has no p-value. Its standard errors are zero where it was changed. Leave-one-out results and
    scores that the model holds, and the width of its prediction intervals, are those of the fit, as no data
    are seen here.

    Parameters
    ----------
    model : fitted AdditiveKernelRegressor or AdditiveKernelClassifier
        Stays as it is.
    term : str
        Name of the term, such as ``"age"`` or ``"age × income"``.
    where : tuple, list, Segment, or dict from features to these, optional
        Which points: a range ``(low, high)`` of numbers with ``None`` for no end, or a list of levels, where
        ``None`` is a missing value. Of a pair, a dict such as ``{"age": (20, 30), "town": ["Ulm"]}``. All
        points if not given. Between the last point inside and the first one outside the function stays
        linear.
    to : float, optional
        Value to set, on the scale of the linear predictor.
    by : float, optional
        Amount to add.
    smooth : float, optional
        Length of the waves that lose half their height, as a share of the range; shorter ones lose more: 0.1
        removes ripples, 3 leaves little more than a straight line.
    remove : bool, default=False
        Whether the term is taken out: its function is zero everywhere.
    output : label, optional
        Class to change, where there are several; all of them if not given.

    Returns
    -------
    The new model; its ``edits_`` say what was done.

    Examples
    --------
    >>> from pellucid import AdditiveKernelRegressor, edit_by_hand
    >>> x = np.linspace(0, 1, 300)
    >>> model = AdditiveKernelRegressor(interactions=0).fit(x[:, None], np.sin(6 * x))
    >>> flat = edit_by_hand(model, "x0", where=(0.5, None), to=0.0)
    >>> np.round(flat.predict([[0.6], [0.9]]) - flat.intercept_, 6)
    array([0., 0.])
    >>> print(flat.edits_[0])
    set x0 from 0.5 to 0, by hand
    """
    check_is_fitted(model)
    if not isinstance(getattr(model, "tables_", None), TermTables):
        raise ValueError(
            f"Only additive kernel machines can be changed by hand: {type(model).__name__} does not predict "
            f"with tables of its terms."
        )
    tables: TermTables = model.tables_
    if term not in tables.names:
        raise ValueError(f"The model has no term {term!r}; its terms are {tables.names[:20]}.")
    t = tables.names.index(term)
    wanted = [to is not None, by is not None, smooth is not None, bool(remove)]
    if sum(wanted) != 1:
        raise ValueError("Say one thing to do: to, by, smooth or remove.")
    k = _output(model, tables, output)
    segments = _segments(tables, t, where)
    if (smooth is not None or remove) and any(s != Segment() for s in segments):
        raise ValueError("A term is smoothed or removed as a whole: leave out where.")
    if to is not None:
        new, action, value = change_points(tables, t, segments, _constant(to, "to"), k), "set", to
    elif by is not None:
        new, action, value = change_points(tables, t, segments, _constant(by, "by", add=True), k), "move", by
    elif smooth is not None:
        new, action, value = smooth_term(tables, t, _width(smooth), k), "smooth", float(smooth)
    else:
        new, action = change_points(tables, t, segments, _constant(0.0, "to"), k), "remove"
    _check_direction(model, new, t)
    detail = "" if remove else _words(tables, t, segments, action, value)
    if k is not None:
        detail = f"{detail} for {model.classes_[k]}".strip()
    return with_tables(model, new, t, HandEdit(action, term, detail))


def with_tables(model: Any, tables: TermTables, t: int, edit: HandEdit) -> Any:
    """A copy of a model that predicts with other tables, of which term ``t`` differs; it is frozen."""
    name, term = tables.names[t], tables.terms[t]
    new = deepcopy(model)
    new.tables_ = tables
    effect = new.effects_[name]
    new.effects_ = {**new.effects_, name: _shown(effect, tables, t, model.tables_)}
    new.importances_ = _importances(model, new)
    new.tests_ = [[(n, 0.0, np.nan) if n == name else (n, e, p) for n, e, p in rows] for rows in new.tests_]
    new.edits_ = [*model.edits_, edit]
    _freeze(new, term)
    return new


def _freeze(model: Any, term: Term) -> None:
    """Let later refits keep a term as it is."""
    spec = getattr(model, "_refit_spec", None)
    if is_dataclass(spec) and not isinstance(spec, type) and hasattr(spec, "frozen"):
        model._refit_spec = replace(spec, frozen=tuple(dict.fromkeys((*spec.frozen, term))))


# ------------------------------------------------------------------ what is asked
def _constant(value: Any, what: str, *, add: bool = False) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise ValueError(f"{what} must be a finite number, got {value!r}.")
    return lambda now: now + float(value) if add else np.full_like(now, float(value))


def _width(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 100:
        raise ValueError(f"smooth must be a share of the range above 0, such as 0.25, got {value!r}.")
    return float(value)


def _output(model: Any, tables: TermTables, output: Any) -> int | None:
    if output is None:
        return None
    if not np.ndim(tables.intercept):
        raise ValueError("The model has one output only: leave out output.")
    labels = [str(c) for c in model.classes_]
    if str(output) not in labels:
        raise ValueError(f"There is no class {output!r}; there are {', '.join(labels)}.")
    return labels.index(str(output))


def _segments(tables: TermTables, t: int, where: Any) -> list[Segment]:
    features = [tables.columns[j].name for j in tables.terms[t]]
    if where is None:
        return [Segment() for _ in features]
    if not isinstance(where, Mapping):
        if len(features) > 1:
            raise ValueError(f"{tables.names[t]!r} has two features: say where by a dict from features.")
        where = {features[0]: where}
    strange = [name for name in where if name not in features]
    if strange:
        raise ValueError(f"{tables.names[t]!r} has no feature {strange[0]!r}; it has {', '.join(features)}.")
    return [_segment(where.get(name), name) for name in features]


def _segment(value: Any, name: str) -> Segment:
    if value is None:
        return Segment()
    if isinstance(value, Segment):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        try:
            low, high = (None if v is None else float(v) for v in value)
        except (TypeError, ValueError):
            low = high = np.nan
        if not any(v is not None and np.isnan(v) for v in (low, high)):
            return Segment(low, high)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value):
        levels = tuple(str(v) for v in value if v is not None)
        missing = any(v is None for v in value)
        return Segment(levels=levels, missing=missing) if levels else Segment(only_missing=True)
    raise ValueError(
        f"where has {value!r} for {name!r}: give a range (low, high), or a list of levels in which None is a "
        f"missing value."
    )


def _words(tables: TermTables, t: int, segments: Sequence[Segment], action: str, value: float) -> str:
    if action == "smooth":
        return f"over {value:g} of the range"
    features = [tables.columns[j] for j in tables.terms[t]]
    parts = [(c.name, s.words(c)) for c, s in zip(features, segments, strict=True)]
    places = [f"{name} {words}" if len(parts) > 1 else words for name, words in parts if words]
    return " ".join(
        [*([", ".join(places)] if places else []), f"{'to' if action == 'set' else 'by'} {value:g}"]
    )


def _check_direction(model: Any, tables: TermTables, t: int) -> None:
    """Raise if a function that must rise or fall no longer does."""
    names = [column.name for column in tables.columns]
    for key, wish in (getattr(model, "monotone", None) or {}).items():
        j = names.index(key) if isinstance(key, str) else int(key)
        if tables.terms[t] != (j,) or wish not in _DIRECTIONS:
            continue
        curve = tables.tables[t][: len(tables.fine[j].knots)]
        if np.any(np.diff(curve, axis=0) * _DIRECTIONS[wish] < 0):
            verb = "rise" if _DIRECTIONS[wish] > 0 else "fall"
            raise ValueError(
                f"{names[j]!r} must {verb} everywhere in this model, and would not after this change. Change "
                f"a range up to one of its ends, or set a value between those of the neighbours."
            )


# ---------------------------------------------------------------- what is stored
def _shown(effect: Effect, tables: TermTables, t: int, before: TermTables) -> Effect:
    """An effect after its table changed; the points shown are those of before."""
    places = [
        _places(np.asarray(grid.points), grid.levels, grid.missing, tables.grid(j, axis).points)
        for grid, axis, j in zip(effect.grids, tables.axes(t), effect.term, strict=True)
    ]
    picked = np.ix_(*places)
    values, old = tables.tables[t][picked], before.tables[t][picked]
    se = None if effect.se is None else np.where(values == old, effect.se, 0.0)
    return replace(effect, values=values, se=se)


def _places(shown: np.ndarray, levels: bool, missing: bool, every: np.ndarray) -> np.ndarray:
    """Positions of the points that are shown among all points of an axis."""
    if levels:
        place = {str(level): i for i, level in enumerate(every)}
        return np.array([place[str(level)] for level in shown])
    m = len(shown) - int(missing)
    found = np.searchsorted(every[: len(every) - int(missing)], shown[:m])
    return np.append(found, len(every) - 1) if missing else found


def _importances(old: Any, new: Any) -> Importances:
    """Shares of variance, those of unchanged terms in their old proportions.

    What the variance of a function over the points shown is worth as a share is read off the old model.
    """
    kept: Importances = old.importances_
    before, after = ({n: _variance(e) for n, e in m.effects_.items()} for m in (old, new))
    unit = sum(before.values())
    share = np.array(kept.values, dtype=float)
    for i, name in enumerate(kept.names):
        if before[name] != after[name] and unit > 0:
            share[i] = after[name] * share.sum() / unit
    total = share.sum()
    scale = 1.0 / total if total > 0 else 0.0
    se = None
    if kept.se is not None:
        same = np.array([before[name] == after[name] for name in kept.names])
        se = np.where(same, kept.se * scale, 0.0)
    return replace(kept, values=share * scale, se=se)


def _variance(effect: Effect) -> float:
    """Variance of an effect over the rows near the points shown; the mean over outputs."""
    p = effect.density.ravel() / max(float(effect.density.sum()), np.finfo(float).tiny)
    values = np.asarray(effect.values, dtype=float).reshape(len(p), -1)
    return float(np.mean(p @ (values - p @ values) ** 2))
