"""A model as tidy tables, one per term, and as an Excel workbook that scores."""

import os
from typing import Any

import numpy as np

from pellucid.effects.terms import MISSING
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Line, Products
from pellucid.export.scoring.read import fitted_model, scoring_of
from pellucid.export.sheets.score_sheet import write_workbook

Table = dict[str, np.ndarray]


def to_tables(model: Any, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Write a model as tidy tables, and on request as an Excel scorecard.

    Parameters
    ----------
    model : estimator
        A fitted additive, sparse additive, ISK or interpretable model, or one with a linear kernel.
    path : str or path, optional
        Excel workbook (``.xlsx``) to write: a sheet in which values are typed and the prediction appears with
        the contribution of each term, the tables from which it is computed, and the importances.

    Returns
    -------
    dict of tables
        ``intercept``; ``importances``, where the model has them; then one table per term under its name, with
        a row for each point of the feature or pair (and each class, if there are more than two) and its
        ``effect``, or for a model of coefficients one table ``coefficients``. Tables are pandas data frames,
        or dicts of columns where pandas is not installed.

    Notes
    -----
    Between the points of a number the effect of additive and sparse additive models is linear, and beyond
    them constant: the tables are the whole model. Those of ISK models show curves at some points; their
    workbook computes with the waves behind them.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.SparseAdditiveRegressor(0.01, n_basis=4).fit(X, X[:, 0] ** 2)
    >>> list(pellucid.to_tables(model))
    ['intercept', 'importances', 'x0']
    """
    scoring = scoring_of(model, "to_tables")
    model = fitted_model(model)
    tables = {"intercept": _named(scoring) | {"intercept": scoring.intercept}}
    importances = getattr(model, "importances_", None)
    if importances is not None:
        order = importances.order
        tables["importances"] = {
            "term": np.array(importances.names, dtype=object)[order],
            importances.measure: importances.values[order],
        } | ({} if importances.se is None else {"se": importances.se[order]})
    if any(isinstance(term, Line) for term in scoring.terms):
        tables["coefficients"] = _coefficients(scoring)
    else:
        for t, term in enumerate(scoring.terms):
            name = term.name
            while name in tables:
                name += "_"
            tables[name] = _effect(model, scoring, t)
    if path is not None:
        write_workbook(scoring, tables.get("importances"), path)
    return {name: _frame(table) for name, table in tables.items()}


def _named(scoring: ScoringModel, repeat: int = 1) -> Table:
    """A column with the names of several outputs, one after the other; none for one output."""
    return {"output": np.array(scoring.outputs * repeat, dtype=object)} if scoring.outputs else {}


def _coefficients(scoring: ScoringModel) -> Table:
    lines = [term for term in scoring.terms if isinstance(term, Line)]
    features = np.repeat(np.array([line.name for line in lines], dtype=object), scoring.n_outputs)
    coefficients = np.concatenate([line.coef for line in lines])
    return {"feature": features} | _named(scoring, len(lines)) | {"coefficient": coefficients}


def _effect(model: Any, scoring: ScoringModel, t: int) -> Table:
    """Tidy table of a term: at all points of its axes, or where it is shown if it is a sum of waves."""
    term = scoring.terms[t]
    if not isinstance(term, Products):
        return dict(model.effects_[model.term_names_[t]].columns())
    axes = [scoring.axes[a] for a in term.axes]
    shape = tuple(axis.size for axis in axes)
    compiled = model.compiled().tables[t] if callable(getattr(model, "compiled", None)) else term.factors[0]
    values = np.asarray(compiled, dtype=float)[tuple(slice(size) for size in shape)]
    if values.ndim > len(shape) and scoring.n_outputs == 1:
        values = values[..., 0]
    place = np.indices(values.shape).reshape(values.ndim, -1)
    table: Table = {}
    for side, axis in enumerate(axes):
        name = scoring.features[axis.feature].name
        while name in ("output", "effect", "se", "density", *table):
            name += "_"
        table[name] = _points(scoring, term.axes[side])[place[side]]
    table |= _named(scoring, int(np.prod(shape))) | {"effect": values.ravel()}
    shown = model.effects_.get(model.term_names_[t])
    if shown is not None and shown.density.shape == shape:
        if shown.se is not None:
            table["se"] = shown.se.reshape(values.shape).ravel()
        table["density"] = shown.density[tuple(place[: len(shape)])]
    return table


def _points(scoring: ScoringModel, a: int) -> np.ndarray:
    """Points of an axis: numbers with NaN for a missing value, or levels."""
    axis = scoring.axes[a]
    extra = axis.missing is not None and axis.missing < axis.size
    if axis.is_levels:
        levels = scoring.features[axis.feature].levels or ()
        return np.array([*levels, *([MISSING] if extra else [])], dtype=object)
    return np.append(axis.knots, [np.nan] if extra else [])


def _frame(table: Table) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)
