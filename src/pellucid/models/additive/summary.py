"""An additive kernel machine on half a screen, and how much of the deviance it explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects import Summary
from pellucid.effects.summary import counted
from pellucid.models.additive.engine.state import Problem


def explained(problems: Sequence[Problem], etas: Sequence[np.ndarray], rows: Any = slice(None)) -> float:
    """Share of the deviance of a constant that predictors explain on some rows; the mean over outputs."""
    shares = []
    for problem, eta in zip(problems, etas, strict=True):
        constant = problem.loss.best_constant(problem.y, problem.weight, problem.offset)
        part = problem.part(rows)
        null = float(part.weight @ part.loss.deviance(part.y, part.offset + float(np.ravel(constant)[0])))
        left = float(part.weight @ part.loss.deviance(part.y, eta))
        size = float(part.weight @ part.y**2)
        shares.append(1.0 - left / null if null > 1e-24 * size else 0.0)
    return float(np.mean(shares))


def summarise(model: Any, n: int) -> Summary:
    """Facts of a fitted model, its receipt, its ``n`` most important terms and its edits."""
    mains = sum(len(term) == 1 for term in model.terms_)
    facts: list[tuple[str, object]] = [
        ("rows", model.n_rows_),
        ("loss", str(model.loss_.name)),
        ("terms", f"{counted(mains, 'main effect')}, {counted(len(model.terms_) - mains, 'pair')}"),
        ("intercept", model.intercept_),
        ("effective degrees of freedom", model.edf_),
        ("scale", model.scale_),
        ("deviance explained", f"{100 * model.deviance_explained_:.1f} %"),
        ("leaving one row out", _held_out(model)),
    ]
    facts.append(("receipt", "\n" + _indent(str(model.receipt_))))
    facts.append(("terms by importance", "\n" + _indent(_term_table(model, n))))
    if model.edits_:
        facts.append(("edits", "\n" + _indent("\n".join(str(edit) for edit in model.edits_))))
    return Summary(type(model).__name__, facts)


def _held_out(model: Any) -> str:
    share = f"{100 * model.loo_deviance_explained_:.1f} %"
    if model.loo_.error_rate is not None:
        return f"{share}, error rate {100 * model.loo_.error_rate:.1f} %"
    return f"{share}, root mean squared error {model.loo_.rmse:.4g}"


def _term_table(model: Any, n: int) -> str:
    share = model.importances_
    major = [t for t in share.order if not share.minor[t]]
    best = major[:n]
    names = model.term_names_
    width = max([len(names[t]) for t in best] + [4])
    lines = [f"{'':<{width}}   share     edf        p"]
    for t in best:
        p = min(tests[t][2] for tests in model.tests_) * len(model.tests_)
        edf = np.mean([tests[t][1] for tests in model.tests_])
        shown = "frozen" if np.isnan(p) else "<1e-4" if p < 1e-4 else f"{min(p, 1.0):.4f}"
        lines.append(f"{names[t]:<{width}}  {100 * share[t]:5.1f} %  {edf:6.1f}  {shown:>7}")
    if len(major) > len(best):
        lines.append(f"... and {len(major) - len(best)} more")
    if len(share) > len(major):
        lines.append(f"{counted(len(share) - len(major), 'term')} below 0.1 %")
    return "\n".join(lines)


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
