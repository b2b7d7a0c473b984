"""An additive kernel machine on half a screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects import Summary
from pellucid.effects.summary import counted
from pellucid.losses import Expectile, Loss, Quantile

_ROWS_PER_TERM = 10  # fewer for each candidate: then the choice of terms follows the rows


def too_few_rows(n_rows: float, n_candidates: int) -> bool:
    """Whether there are so few rows for the terms that may enter that their choice follows the rows."""
    return n_rows < _ROWS_PER_TERM * n_candidates


def summarise(model: Any, n: int) -> Summary:
    """Facts of a fitted model, its receipt, its ``n`` most important terms and its edits."""
    main = sum(len(term) == 1 for term in model.terms_)
    per_class = len(model.tests_) > 1 and hasattr(model, "classes_")
    facts: list[tuple[str, object]] = [
        ("rows", model.n_rows_),
        ("loss", f"{model.loss_.name}, each class against the rest" if per_class else _loss(model)),
        ("terms", f"{counted(main, 'main effect')}, {counted(len(model.terms_) - main, 'pair')}"),
        ("intercept", _numbers(model.intercept_)),
        ("effective degrees of freedom", model.edf_),
        ("scale", model.scale_),
        ("deviance explained", f"{100 * model.deviance_explained_:.1f} %"),
        ("leave-one-out, terms held fixed", _held_out(model)),
    ]
    candidates = model._n_candidates()
    if too_few_rows(model.n_rows_, candidates):
        if model.fold_deviance_explained_ is not None:
            share = f"{100 * model.fold_deviance_explained_:.1f} %"
            facts.append(("folds, terms chosen again", share + _rmse(model)))
        terms = f"{counted(candidates, 'term')} that might have entered"
        text = f"fewer than {_ROWS_PER_TERM} rows for each of {terms}: expect less of new rows"
        facts.append(("caution", text))
    facts.append(("receipt", "\n" + _indent(str(model.receipt_))))
    if per_class:
        facts.append(("classes", "\n" + _indent(_class_table(model))))
    facts.append(("terms by importance", "\n" + _indent(_term_table(model, n))))
    if model.edits_:
        facts.append(("edits", "\n" + _indent("\n".join(str(edit) for edit in model.edits_))))
    return Summary(type(model).__name__, facts)


def _held_out(model: Any) -> str:
    if not hasattr(model, "loo_"):
        return "not known: the model was made from sums over rows"
    share = f"{100 * model.loo_deviance_explained_:.1f} %"
    if model.loo_.error_rate is not None:
        return f"{share}, error rate {100 * model.loo_.error_rate:.1f} %"
    if not _about_means(model.loss_):
        return share
    return f"{share}, root mean squared error {_numbers(model.loo_.rmse)}"


def _rmse(model: Any) -> str:
    if model.loo_.error_rate is not None or not _about_means(model.loss_):
        return ""
    error = np.average(model.fold_residuals_**2, weights=model._fold_weight, axis=0)
    return f", root mean squared error {_numbers(np.sqrt(error))}"


def _about_means(loss: Loss) -> bool:
    """Whether predictions are means of targets, of which squared errors tell something."""
    return loss.kind != "survival" and not isinstance(loss, Quantile | Expectile)


def _numbers(values: Any) -> str:
    """One number, or several with commas."""
    return ", ".join(f"{value:.4g}" for value in np.ravel(values))


def _loss(model: Any) -> str:
    """The loss with its own numbers; of several outputs with their names."""
    loss = model.loss_
    own = [f"{key} {value:.4g}" for key, value in vars(loss).items() if isinstance(value, float)]
    if len(model.outputs_) > 1:
        return f"{loss.name}, outputs {', '.join(model.outputs_)}"
    return ", ".join([loss.name, *own])


def _class_table(model: Any) -> str:
    """Of each class: its share of the rows, how many of them are found, and the terms that tell it."""
    P, weight = model.loo_.predictions, model._loo_weight
    truth = (P + model.loo_.residuals).argmax(axis=1)
    names = [str(c) for c in model.classes_]
    width = max(len(name) for name in names)
    lines = [f"{'':<{width}}     rows    found  main  pairs     edf"]
    for k, (name, tests) in enumerate(zip(names, model.tests_, strict=True)):
        mine = weight * (truth == k)
        found = mine @ (P.argmax(axis=1) == k) / max(mine.sum(), np.finfo(float).tiny)
        live = [len(term) for term, (_, edf, _) in zip(model.terms_, tests, strict=True) if edf > 0]
        edf = 1.0 + sum(edf for _, edf, _ in tests)
        cells = f"{100 * mine.sum() / weight.sum():5.1f} %  {100 * found:5.1f} %"
        lines.append(f"{name:<{width}}  {cells}  {live.count(1):4d}  {live.count(2):5d}  {edf:6.1f}")
    return "\n".join(lines)


def _term_table(model: Any, n: int) -> str:
    """Terms with degrees of freedom and p-values; of several classes the smallest, and whose it is."""
    share, names, several = model.importances_, model.term_names_, len(model.tests_) > 1
    major = [t for t in share.order if not share.minor[t]]
    best = major[:n]
    width = max([len(names[t]) for t in best] + [4])
    whose_p = "smallest p, of class" if hasattr(model, "classes_") else "smallest p, of output"
    lines = [f"{'':<{width}}   share     edf  {whose_p if several else '      p'}"]
    for t in best:
        every = [tests[t][2] for tests in model.tests_]
        k = int(np.argmin(every))
        p, edf = every[k], np.mean([tests[t][1] for tests in model.tests_])
        shown = "frozen" if np.isnan(p) else "<1e-4" if p < 1e-4 else f"{min(p, 1.0):.4f}"
        whose = f"    {model.outputs_[k]}" if several and not np.isnan(p) else ""
        lines.append(f"{names[t]:<{width}}  {100 * share[t]:5.1f} %  {edf:6.1f}  {shown:>7}{whose}")
    if len(major) > len(best):
        lines.append(f"... and {len(major) - len(best)} more")
    if len(share) > len(major):
        lines.append(f"{counted(len(share) - len(major), 'term')} below 0.1 %")
    if several:
        kind = ("a class", "classes") if hasattr(model, "classes_") else ("an output", "outputs")
        lines.append(f"({kind[0]} has terms of its own; p is not corrected for the number of {kind[1]})")
    return "\n".join(lines)


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
