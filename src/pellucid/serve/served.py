"""A model that is served: how rows get to it, what it was given beside it, and what its features are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from pellucid.data.cells import Cells
from pellucid.data.table import read_table
from pellucid.effects.outcome_measures import losses_of, takes_exposure
from pellucid.effects.tables import TermTables
from pellucid.effects.terms import columns_read
from pellucid.report.columns import read_columns
from pellucid.report.sample import Sample, read_sample
from pellucid.serve.errors import RequestError
from pellucid.serve.features import Feature, Rows, numbers_of

_KNOWN = ("offset", "exposure")


@dataclass(frozen=True)
class Served:
    """What is served, apart from the model, which may be edited.

    Attributes
    ----------
    features : list of Feature
        What a row is made of.
    names : bool
        Whether the model takes data frames; otherwise it takes arrays.
    prepare : callable
        From a data frame of the features to the one that the model takes.
    known : dict from {"offset", "exposure"} to str
        Names under which a row may bring its offset or exposure.
    target : str
        Name of what is predicted.
    title : str
        Heading of the page.
    sample : Sample or None
        Rows with targets, if data were given, in the form in which the model takes them.
    columns : list of Cells
        The columns that the model sees, where they are known; else empty.
    seen : list of Cells
        The features of the rows that were given, before they were prepared.
    background : array or data frame, optional
        Training rows that a kernel model holds, where no data were given.
    source : str
        Name of the data, or of nothing.
    notes : str or None
        What goes into the notes of a model file.
    """

    features: list[Feature]
    names: bool
    prepare: Callable[[pd.DataFrame], pd.DataFrame]
    known: dict[str, str]
    target: str
    title: str
    sample: Sample | None = None
    columns: list[Cells] = field(default_factory=list)
    seen: list[Cells] = field(default_factory=list)
    background: Any = None
    source: str = ""
    notes: str | None = None

    def table(self, rows: Rows) -> Any:
        """Rows of a request in the form in which the model takes them."""
        made = self.prepare(rows.frame)
        return made if self.names else _as_array(made)

    def known_of(self, rows: Rows) -> dict[str, np.ndarray]:
        """Offset and exposure of the rows of a request."""
        found = {
            key: numbers_of(rows.extra[name], name) for key, name in self.known.items() if name in rows.extra
        }
        if "exposure" in found and np.any(found["exposure"] <= 0):
            raise RequestError(422, f"{self.known['exposure']!r} must be positive in every row.")
        return found


def serve_model(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    kinds: Mapping[str, str] | None = None,
    prepare: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    raw: pd.DataFrame | None = None,
    known: Mapping[str, str] | None = None,
    target: str | None = None,
    title: str | None = None,
    source: str = "",
    notes: str | None = None,
) -> Served:
    """State what is served.

    ``kinds`` are the features of a row with what they hold, where a table has to be prepared for the model;
    ``raw`` are the rows of ``X`` before that. Else features are the columns that the model was fitted on.
    """
    if not hasattr(model, "predict"):
        raise ValueError(f"A model to serve needs predict, and {type(model).__name__} has none.")
    inner = getattr(model, "best_estimator_", model)
    if not hasattr(inner, "n_features_in_"):
        raise ValueError(f"{type(inner).__name__} is not fitted, or its rows are not features in columns.")
    sample = None
    if X is not None:
        if y is None:
            raise ValueError("The rows need their targets: give y beside X.")
        sample = read_sample(inner, X, y, sample_weight=sample_weight, offset=offset, exposure=exposure)
    columns = sample.columns if sample is not None else _columns_of(inner)
    seen = columns if raw is None else list(read_table(raw).cells)
    names = getattr(inner, "feature_names_in_", None)
    if kinds is None:
        kinds = _kinds(inner, columns)
    levels = _levels(inner)
    features = [_feature(name, kind, seen, levels.get(name, ())) for name, kind in kinds.items()]
    features = _mark_used(inner, features)
    taken = inspect.signature(model.predict).parameters
    asked = {key: (known or {}).get(key, key) for key in _KNOWN if key in taken}
    if not known and not (sample is not None and sample.known) and not _counts(inner):
        asked = {}
    plain = {f.name for f in features}
    asked = {key: name for key, name in asked.items() if name not in plain}
    target = target or str(y if isinstance(y, str) else getattr(y, "name", None) or "the target")
    return Served(
        features,
        names is not None,
        prepare or (lambda frame: frame),
        asked,
        target,
        title or f"{type(inner).__name__} for {target}",
        sample,
        columns,
        list(seen) if sample is not None else [],
        None if sample is not None else _background(inner),
        source or ("the data given" if sample is not None else ""),
        notes,
    )


def _counts(model: Any) -> bool:
    """Whether predictions are amounts or rates, to which an exposure belongs."""
    return any(takes_exposure(loss) for loss in losses_of(model))


# ------------------------------------------------------------------- features
def _kinds(model: Any, columns: Sequence[Cells]) -> dict[str, str]:
    """Names of the features with what they hold, from what training saw."""
    told = getattr(model, "columns_", None)
    if told is not None and all(hasattr(c, "levels") for c in told):
        return {
            str(c.name): "category"
            if c.levels is not None
            else "date"
            if getattr(c, "dates", False)
            else "number"
            for c in told
        }
    if columns:
        return {c.name: "date" if c.dates else "number" if c.numeric else "category" for c in columns}
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return {str(name): "number" for name in names}


def _columns_of(model: Any) -> list[Cells]:
    """What is known of the columns without data: points of tables, or the training rows of a kernel model."""
    tables = getattr(model, "tables_", None)
    if isinstance(tables, TermTables):
        return [_cells_of_axis(c, axis) for c, axis in zip(tables.columns, tables.fine, strict=True)]
    rows = getattr(model, "X_fit_", None)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == model.n_features_in_:
        return read_columns(rows if rows.dtype.kind == "f" else rows.astype(object), model)
    told, grids = getattr(model, "columns_", None), _grids(model)
    if told is not None and all(j in grids or c.levels is not None for j, c in enumerate(told)):
        return [
            Cells.of_levels(c.name, c.levels, c.levels)
            if c.levels is not None
            else Cells(c.name, np.asarray(grids[j], dtype=float), None, c.dates)
            for j, c in enumerate(told)
        ]
    return []


def _background(model: Any) -> Any:
    """Training rows that a model holds, as a table that it takes."""
    rows = getattr(model, "X_fit_", None)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] != model.n_features_in_:
        return None
    names = getattr(model, "feature_names_in_", None)
    return rows if names is None else pd.DataFrame(rows, columns=names)


def _cells_of_axis(column: Any, axis: Any) -> Cells:
    if column.levels is not None:
        return Cells.of_levels(column.name, column.levels, column.levels)
    return Cells(column.name, np.asarray(axis.knots, dtype=float), None, column.dates)


def _grids(model: Any) -> dict[int, np.ndarray]:
    """Points of numeric features at which effects are shown."""
    found: dict[int, np.ndarray] = {}
    for effect in (getattr(model, "effects_", None) or {}).values():
        for j, grid in zip(effect.term, effect.grids, strict=True):
            if not grid.levels:
                points = np.asarray(grid.points, dtype=float)
                found.setdefault(j, points[np.isfinite(points)])
    return found


def _levels(model: Any) -> dict[str, tuple[str, ...]]:
    told = getattr(model, "columns_", None) or ()
    return {str(c.name): tuple(map(str, c.levels)) for c in told if getattr(c, "levels", None)}


def _feature(name: str, kind: str, seen: Sequence[Cells], levels: tuple[str, ...]) -> Feature:
    """A feature with its range or its levels, as far as they are known."""
    kind = "number" if kind == "boolean" else kind or "number"
    cells = next((c for c in seen if c.name == name), None)
    if cells is None or len(cells.present) == 0:
        return Feature(name, kind, levels, middle=levels[0] if levels else None)
    if kind == "category":
        found, counts = np.unique(cells.present.astype(str), return_counts=True)
        names = levels or tuple(cells.levels())
        common = str(found[counts.argmax()]) if counts.max() > 1 else names[0]
        return Feature(name, kind, names, middle=common)
    if not cells.numeric:
        return Feature(name, kind)
    low, middle, high = np.quantile(cells.present, [0.0, 0.5, 1.0], method="nearest").tolist()
    return Feature(name, kind, (), float(low), float(high), float(middle))


def _mark_used(model: Any, features: list[Feature]) -> list[Feature]:
    """Features that no term reads may be left out of rows; where a table is prepared all may be read."""
    read, names = columns_read(model), getattr(model, "feature_names_in_", None)
    if read is None or (names is not None and [*map(str, names)] != [f.name for f in features]):
        return features
    return [replace(f, used=f.name in read) for f in features]


def _as_array(frame: pd.DataFrame) -> np.ndarray:
    plain = all(dtype.kind in "biuf" for dtype in frame.dtypes)
    return frame.to_numpy(dtype=float) if plain else frame.to_numpy(dtype=object)
