"""What a force field is, on half a screen."""

from __future__ import annotations

from typing import Any

from pellucid.data.elements import SYMBOLS
from pellucid.effects import Summary
from pellucid.models.forces.choice import Trials


def summary_of(field: Any) -> Summary:
    """Facts of a fitted force field."""
    facts: list[tuple[str, object]] = [
        ("geometries", len(field.R_fit_)),
        ("atoms", " ".join(SYMBOLS[k] for k in field.atoms_) if field.atoms_.any() else len(field.atoms_)),
        ("symmetries", f"{len(field.permutations_)} permutations of equivalent atoms"),
        ("kernel", str(field.kernel_)),
        ("alpha", f"{field.alpha_:.3g}" + (" (chosen by leave-one-out)" if field.alpha == "loo" else "")),
        ("solver", f"{field.solver_}: {field.solver_reason_}"),
    ]
    if field.trials_ is not None:
        facts += _errors(field.trials_)
    return Summary(type(field).__name__, facts)


def _errors(trials: Trials) -> list[tuple[str, object]]:
    n = trials.n_geometries[trials.best]
    facts: list[tuple[str, object]] = [
        ("leave-one-out error of forces", f"{trials.errors[trials.best]:.3g}, on {n} geometries")
    ]
    if trials.energy_errors is not None:
        error = trials.energy_errors[trials.best]
        facts.append(("leave-one-out error of energies", f"{error:.3g}, on {n} geometries"))
    return facts
