"""Fits of an additive model to rows that come in blocks.

1. One look at all rows: what columns are, levels and few values with their weights, and a sample.
2. Axes with knots from the sample; the weights at their points from all rows.
3. Terms and how smooth they are from the sample, coefficients and variances from sums over all rows (see
   ``engine/structure.py`` and ``engine/all_rows.py``).

Rows that are no more than the sample would be are read, and fitted as a table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pellucid._settings import current
from pellucid.data.coded import Reader, Reading, names_of
from pellucid.data.first_look import ColumnLook, Look, looking, most_at_hand
from pellucid.data.labels import class_probabilities
from pellucid.data.passes import Passes
from pellucid.data.source import Source, block_rows
from pellucid.data.table import MAX_LEVELS, Table, enter_table
from pellucid.data.weights import taken_for_precisions
from pellucid.effects.terms import Term
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.features.axis import Axis
from pellucid.features.term_basis import Axes
from pellucid.linalg import format_bytes
from pellucid.models.additive.coded_rows import CodedRows, OfClass, ToProblem
from pellucid.models.additive.engine.all_rows import AllRows, Eta
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.additive.engine.structure import axes_of, columns_for, with_bases
from pellucid.models.additive.monotonicity import wished_shapes
from pellucid.models.additive.reading import row_masses

_COPIES = 8  # of the sample, as cells, sorted, coded, as columns of pairs
_SQUARES = 10  # matrices of the size of the sums of products
_BESIDE = 200 << 20  # bytes of designs in work, and of what reads files


# ------------------------------------------------------------------------------- memory
def memory_needed(n_features: int, n_rows: int | None) -> int:
    """Bytes that a fit takes: a sample, sums of products, and a block of rows at a time."""
    sample = most_at_hand(n_features) * (n_features + 8) * 8 * _COPIES
    columns = columns_for(n_rows or most_at_hand(n_features))
    block = block_rows(n_features) * (n_features + 4) * 8 * 5
    return sample + columns**2 * 8 * _SQUARES + block + _BESIDE


def _required(source: Source, limit: int) -> int:
    """Bytes that a fit takes, if they are within the limit."""
    need = memory_needed(source.n_features, source.n_rows)
    if need > limit:
        raise NotEnoughMemoryError(
            f"A fit to rows of {source.n_features} features takes about {format_bytes(need)} of memory, and "
            f"{format_bytes(limit)} may be used: allow pellucid.settings(memory_limit={_up(need)!r}), "
            f"the smallest that would do, or fit to fewer columns."
        )
    return need


def _up(need: int) -> str:
    return f"{-(-need // 10_000_000) * 10}MB"


# ---------------------------------------------------------------------------------- fit
@dataclass(frozen=True)
class Prepared:
    """What a fit to a source starts from."""

    problems: list[AllRows]
    outputs: list[str]
    unit: float
    axes: Axes
    passes: Passes


def prepare(model: Any, source: Source, reading: Reading) -> Prepared:
    """Look at all rows, and state one problem per output."""
    settings = current()
    settings = replace(settings, verbose=max(settings.verbose, int(model.verbose)))
    left = settings.usual_memory - _required(source, settings.most_memory)
    _refuse(model, source)
    parameters = {key: value for key, value in model.get_params().items() if key != "verbose"}
    fit = f"{type(model).__name__} {parameters!r} {source.describe()} {source.roles}"
    passes = Passes(settings, fit, source.n_rows)
    look = _look_at(model, source, reading, passes)
    rows, sample = _stated(model, source, reading, look, passes, left)
    shapes = wished_shapes(model.monotone, model.columns_, model._feature)
    axes = _axes(model.columns_, look, sample, rows, shapes.bends)
    classes = rows.to_problem.reader.classes
    if classes is None:
        unit = rows.to_problem.unit
        return Prepared([_of_numbers(look, rows, sample)], [], unit, axes, passes)
    model.classes_ = classes
    if look.offset and len(classes) > 2:
        raise ValueError("offset is for two classes only.")
    positive = [1] if len(classes) == 2 else range(len(classes))
    problems = [_against_rest(look, rows, sample, classes, k) for k in positive]
    return Prepared(problems, [str(classes[k]) for k in positive], 1.0, axes, passes)


def _refuse(model: Any, source: Source) -> None:
    """Raise for what rows that come in blocks cannot have, or must have."""
    if getattr(model, "class_weight", None) is not None:
        raise ValueError(
            "class_weight is for tables in memory: give rows that come in blocks a sample_weight."
        )
    if "y" not in source.roles:
        raise ValueError("This estimator requires y to be passed: the name of a column, or an array.")


def _look_at(model: Any, source: Source, reading: Reading, passes: Passes) -> Look:
    """What one look at all rows says; the model learns what its columns are."""
    p = source.n_features
    enter_table(model, source.head(), reset=True)
    first = looking(reading, most_at_hand(p), names_of(source.names, p))
    look: Look = passes.run(lambda tell: source.total(first, Look.plus, tell), "first look")
    if look.n_rows == 0:
        raise ValueError("All entries of sample_weight are zero: no row is left to fit.")
    model.columns_ = tuple(c.column(look.total, MAX_LEVELS) for c in look.columns)
    return replace(look, sample=look.sample.thinned())


def _stated(
    model: Any, source: Source, reading: Reading, look: Look, passes: Passes, left: float
) -> tuple[CodedRows, Problem]:
    """All rows, and those at hand, in the units of the fit; rows are kept if there are ``left`` bytes."""
    p = source.n_features
    mean = float(f"{look.total / look.n_rows:.12g}")  # whatever the order in which it was summed up
    weighted = taken_for_precisions(mean, model.weights)
    unit = look.target.spread if reading.loss.name == "squared" else 1.0
    classes = look.classes() if reading.classes else None
    reader = Reader(reading, names_of(source.names, p), model.columns_, classes)
    to_problem = ToProblem(reader, reading.loss, unit, mean if weighted else 1.0)
    X = Table(look.sample.cells).rows(model.columns_)
    sample = to_problem.of(X, reader.numbered(look.sample.given))
    keep = source.keeps and look.n_rows * (p + 3) * 8 <= left
    return CodedRows(source, passes, to_problem, look.n_rows, keep), sample


def _of_numbers(look: Look, rows: CodedRows, sample: Problem) -> AllRows:
    """The problem of all rows, of targets that are numbers."""
    target, unit = look.target, rows.to_problem.unit
    low, high = target.plain_low / unit, target.plain_high / unit
    return _all_rows(look, rows, rows, sample, low, high, target.mean / unit)


def _against_rest(look: Look, rows: CodedRows, sample: Problem, classes: np.ndarray, k: int) -> AllRows:
    """The problem of all rows, of one class against the rest."""
    label = classes[k].item() if hasattr(classes[k], "item") else classes[k]
    own = replace(sample, y=(sample.y == k).astype(float))
    name = f"class {classes[k]}, " if len(classes) > 2 else ""
    share = look.labels[label] / look.total
    return _all_rows(look, rows, OfClass(rows, k), own, 0.0, 1.0, share, name)


def _all_rows(
    look: Look,
    rows: CodedRows,
    blocks: CodedRows | OfClass,
    sample: Problem,
    low: float,
    high: float,
    mean: float,
    name: str = "",
) -> AllRows:
    return AllRows(
        blocks=blocks,
        at_hand=sample,
        loss=rows.to_problem.loss,
        n_rows=look.n_rows,
        total=look.total / rows.to_problem.weight,
        low=low,
        high=high,
        mean=None if look.offset else mean,
        places=look.places(),
        given_total=look.total,
        name=name,
    )


def _axes(
    columns: Sequence[Any], look: Look, sample: Problem, rows: CodedRows, bent: Collection[int]
) -> Axes:
    """Axes with knots from the sample, the extremes and the few values of all rows, weighed by all rows."""
    weight = sample.weight * (look.total / rows.to_problem.weight / sample.total)
    values = [
        _with_all(x, weight, seen, rows.to_problem.weight)
        for x, seen in zip(sample.X.T, look.columns, strict=True)
    ]
    fine, coarse = axes_of(values, columns, bent)
    own = [j for j, axis in enumerate(coarse) if axis is not fine[j]]
    work = partial(_masses_at, [*enumerate(fine), *((j, coarse[j]) for j in own)])
    total = look.total / rows.to_problem.weight
    masses = [_rounded(mass, total) for mass in rows.total(work, _add_lists, "weights at knots")]
    fine = [axis.weighed(mass) for axis, mass in zip(fine, masses, strict=False)]
    weighed = {j: coarse[j].weighed(mass) for j, mass in zip(own, masses[len(fine) :], strict=True)}
    return with_bases(fine, [weighed.get(j, axis) for j, axis in enumerate(fine)])


def _with_all(
    x: np.ndarray, weight: np.ndarray, seen: ColumnLook, unit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights of a column: of the sample, with the extremes; or of all rows, if values are few."""
    if seen.values is not None and seen.masses is not None:
        x, weight = seen.values, seen.masses / unit
    more = [np.nan] if seen.missing and not np.isnan(x).any() else []
    if seen.levels is None and seen.values is None:
        more += [end for end in (seen.low, seen.high) if not np.any(x == end)]
    return np.append(x, more), np.append(weight, np.ones(len(more)))


def _masses_at(axes: Sequence[tuple[int, Axis]], problem: Problem) -> list[np.ndarray]:
    """Weights at the points of axes of some features."""
    return [axis.masses(problem.X[:, j], problem.weight) for j, axis in axes]


def _rounded(mass: np.ndarray, total: float) -> np.ndarray:
    """Weights without their last digits, which depend on the order in which they were added up.

    Functions of high frequency would magnify these ten million times.
    """
    return np.round(mass / total, 9)


def _add_lists(a: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    return [x + y for x, y in zip(a, b, strict=True)]


# ------------------------------------------------------------------- read off all rows
def masses_of(problem: AllRows, terms: set[Term], axes: Axes) -> dict[Term, np.ndarray]:
    """Sum of the weights of the rows nearest to each point at which a term is shown."""
    work = partial(_row_masses, sorted(terms), axes)
    return problem.blocks.total(work, _add_dicts, "rows near points")


def _row_masses(terms: Sequence[Term], axes: Axes, problem: Problem) -> dict[Term, np.ndarray]:
    return row_masses(terms, axes, problem.X, problem.weight)


def _add_dicts(a: dict[Term, np.ndarray], b: dict[Term, np.ndarray]) -> dict[Term, np.ndarray]:
    return {term: mass + b[term] for term, mass in a.items()}


def explained_of_all(problems: Sequence[AllRows], states: Sequence[State]) -> float:
    """Share of the deviance of a constant that fits explain on all rows; for squared loss sums have it."""
    first, etas = problems[0], [state.eta for state in states]
    if first.quadratic:
        square = states[0].moments.square
        return 1.0 - states[0].fit.rss / square if square > 0 else 0.0
    nulls = [problem.null_predictor for problem in problems]
    if len(problems) == 1:
        null, left = first.survey(nulls[0]).deviance, first.survey(etas[0]).deviance
    else:
        assert isinstance(first.blocks, OfClass)
        work = partial(_class_deviances, nulls, etas, first.dtype)
        null, left = first.blocks.rows.total(work, _add_pairs, "deviance")
    size = first.total * max(abs(first.low), abs(first.high)) ** first.loss.degree
    return 1.0 - left / null if null > 1e-24 * size else 0.0


def _class_deviances(
    nulls: Sequence[Eta], etas: Sequence[Eta], dtype: type, problem: Problem
) -> tuple[float, float]:
    out = []
    for some in (nulls, etas):
        P = class_probabilities(problem.loss.mean(np.column_stack([eta.at(problem, dtype) for eta in some])))
        right = P[np.arange(len(P)), problem.y.astype(np.intp)]
        out.append(-2.0 * float(problem.weight @ np.log(np.maximum(right, np.finfo(float).tiny))))
    return out[0], out[1]


def _add_pairs(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a[0] + b[0], a[1] + b[1]
