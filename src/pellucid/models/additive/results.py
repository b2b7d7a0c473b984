"""Everything that users read off a fitted additive model, stored as its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.effects.terms import Term
from pellucid.features.term_basis import Axes
from pellucid.models.additive.engine.held_out import leave_one_out, loo_report, loo_rows, several_classes
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.additive.reading import (
    compile_tables,
    names_of,
    read_effects,
    read_importances,
    term_tests,
)
from pellucid.models.additive.receipt import make_receipt
from pellucid.models.additive.refit_spec import Frozen
from pellucid.models.additive.summary import explained


def store_results(
    model: Any,
    problems: Sequence[Problem],
    states: Sequence[State],
    axes: Axes,
    outputs: Sequence[str],
    free: Sequence[State],
    frozen: Frozen | None = None,
) -> None:
    """Store what users read; ``free`` are the states without constraints, for tests and bands."""
    X, weight = problems[0].X, problems[0].weight
    kept = {} if frozen is None else frozen.tables
    model.tables_ = tables = compile_tables(states, model.columns_, axes, model._recipe.directions, kept)
    model.terms_ = list(tables.terms)
    model.term_names_ = names_of(tables.terms, model.columns_)
    model.intercept_ = tables.intercept
    effects = read_effects(tables, free, X, weight, outputs)
    fixed: list[dict[Term, float]] = [{} for _ in problems]
    model.tests_ = [term_tests(tables, state) for state in free]
    given = list(problems)
    if frozen is not None:
        for term, name in zip(model.terms_, model.term_names_, strict=True):
            if term in kept:
                effects[name] = replace(effects[name], se=frozen.effects[name].se)
        fixed = [
            frozen.variances(k, p.working(s.eta)[0])
            for k, (p, s) in enumerate(zip(problems, states, strict=True))
        ]
        model.tests_ = [
            [(n, e, np.nan if t in kept else p) for (n, e, p), t in zip(tests, model.terms_, strict=True)]
            for tests in model.tests_
        ]
        given = [replace(p, offset=p.offset - sum(frozen.kinds(k))) for k, p in enumerate(problems)]
    model.effects_ = effects
    model.importances_ = read_importances(tables, states, fixed)
    model.edf_ = float(np.mean([state.fit.edf.sum() + 1.0 for state in states]))
    model.scale_ = float(np.mean([state.fit.scale for state in states]))
    model.loo_rows_ = rows = loo_rows(problems[0], states)
    model._loo_weight = weight[rows]
    held_out = [leave_one_out(p, s, rows) for p, s in zip(problems, states, strict=True)]
    reports = [loo_report(p, eta, rows, h) for p, (h, eta) in zip(problems, held_out, strict=True)]
    model.loo_ = reports[0]
    if len(reports) > 1:
        scores = np.column_stack([eta for _, eta in held_out])
        model.loo_ = several_classes(reports, problems, scores, rows)
    model.deviance_explained_ = explained(given, [state.eta for state in states])
    model.loo_deviance_explained_ = explained(given, [eta for _, eta in held_out], rows)
    parts = None if frozen is None else frozen.kinds(0)
    model.receipt_ = make_receipt(problems[0], states[0], tables, rows, held_out[0][1], parts)
    model.n_rows_ = len(X)
