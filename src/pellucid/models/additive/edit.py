"""Editing a fitted additive model: what is asked for, and the new model that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.effects.terms import Term
from pellucid.models.additive.receipt import explained
from pellucid.models.additive.refit_spec import Edit, Fits, Frozen


@dataclass(frozen=True)
class Wishes:
    """Edits of one call, by term."""

    drop: tuple[Term, ...]
    freeze: tuple[Term, ...]
    smooth: dict[Term, float]
    cap: dict[Term, tuple[float, float]]

    @classmethod
    def read(cls, term: Callable[[Any], Term], drop: Any, freeze: Any, smooth: Any, cap: Any) -> Wishes:
        """Check what a user asks for; ``term`` finds a term by its name."""
        wishes = cls(
            tuple(dict.fromkeys(term(name) for name in _names(drop, "drop"))),
            tuple(dict.fromkeys(term(name) for name in _names(freeze, "freeze"))),
            {term(name): _factor(value, name) for name, value in _items(smooth, "smooth")},
            {term(name): _limits(value, name) for name, value in _items(cap, "cap")},
        )
        if not (wishes.drop or wishes.freeze or wishes.smooth or wishes.cap):
            raise ValueError("Nothing to edit: name terms to drop, freeze, smooth or cap.")
        return wishes

    def check(self, frozen: Sequence[Term], name: Callable[[Term], str]) -> None:
        """Raise where edits of one term exclude each other; ``frozen`` are those of earlier edits."""
        for term in self.drop:
            if term in self.freeze or term in self.smooth or term in self.cap:
                raise ValueError(f"{name(term)!r} is to be dropped, so nothing else can be done to it.")
        for term in self.smooth:
            if term in self.freeze or term in self.cap:
                raise ValueError(
                    f"{name(term)!r} is to be smoothed, which fits it again, and to be kept as it is. Smooth "
                    f"it first, then edit the model that this gives."
                )
            if term in frozen:
                raise ValueError(f"{name(term)!r} was frozen by an earlier edit; it cannot be smoothed.")

    def log(self, name: Callable[[Term], str], before: float, after: float) -> list[Edit]:
        """Entries of the log."""
        rows = [("drop", term, "") for term in self.drop]
        rows += [("freeze", term, "") for term in self.freeze if term not in self.cap]
        rows += [("cap", term, f"between {low:g} and {high:g}") for term, (low, high) in self.cap.items()]
        rows += [("smooth", term, f"by a factor of {factor:g}") for term, factor in self.smooth.items()]
        return [Edit(action, name(term), detail, before, after) for action, term, detail in rows]


def _names(value: Any, what: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]
    if isinstance(value, Mapping):
        raise ValueError(f"{what} must be a list of terms, got {value!r}.")
    return list(value)


def _items(value: Any, what: str) -> list[tuple[Any, Any]]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a dict from terms to values, got {value!r}.")
    return list(value.items())


def _factor(value: Any, name: Any) -> float:
    if isinstance(value, bool) or not np.isscalar(value) or isinstance(value, str) or not 0 < value < np.inf:  # type: ignore[operator]
        raise ValueError(f"smooth has {value!r} for {name!r}; it must be a positive factor, such as 10.")
    return float(value)  # type: ignore[arg-type]


def _limits(value: Any, name: Any) -> tuple[float, float]:
    try:
        low, high = (default if v is None else float(v) for v, default in zip(value, _OPEN, strict=True))
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low <= high:
        raise ValueError(
            f"cap has {value!r} for {name!r}; it must be a pair (lowest, highest), None for no limit."
        )
    return low, high


_OPEN = (-np.inf, np.inf)


def edited(model: Any, wishes: Wishes, X: Any, y: Any, sample_weight: Any, known: Mapping[str, Any]) -> Any:
    """A new model in which wishes are fulfilled and all other terms are fitted again."""
    wishes.check(model._refit_spec.frozen, model._name)
    new, before = refitted(model, wishes, X, y, sample_weight, known)
    if model.fold_residuals_ is not None:  # terms were chosen on few rows, and the choice stays
        new.fold_residuals_ = model.fold_residuals_
    new.edits_ = [*model.edits_, *wishes.log(model._name, before, new.deviance_explained_)]
    return new


def refitted(
    model: Any, wishes: Wishes, X: Any, y: Any, sample_weight: Any, known: Mapping[str, Any]
) -> tuple[Any, float]:
    """A new model of the same structure but for the wishes, and what the old one explains of the rows."""
    spec, tables = model._refit_spec, model.tables_
    new = deepcopy(model)
    problems, outputs, unit = new._prepare(X, y, sample_weight, reset=False, **known)
    rows = problems[0].X
    stay = {*spec.frozen, *wishes.freeze, *wishes.cap} - set(wishes.drop)
    terms = [term for term in tables.terms if term in stay]
    frozen = Frozen.of(tables, model.effects_, terms, wishes.cap, rows)
    eta = tables.predictor(rows).reshape(len(rows), len(problems)) / unit
    units = np.broadcast_to(unit, len(problems))
    before = explained(problems, [p.offset + eta[:, k] for k, p in enumerate(problems)])
    moved = [replace(p, offset=p.offset + sum(frozen.kinds(k)) / units[k]) for k, p in enumerate(problems)]
    axes = spec.axes(tables)
    gone = [*terms, *wishes.drop]
    sums = new._sums_of(moved[0], spec.basis(0, axes, gone)[0], units[0], sample_weight)
    moments = None if sums is None else sums.moments(new.weights).in_units(1.0 / units[0])
    ready, free, centre = spec.refit(moved, axes, gone, wishes.smooth, moments)
    fits = Fits(ready, free, axes, outputs, spec.shapes, frozen, centre=centre)
    new._store(fits.finished(), unit)
    new._keep(sums)
    return new, before
