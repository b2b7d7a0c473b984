"""What ``explain`` says of kernels of strings, graphs and molecules: their parts, in all or in one object."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.cli.console import show, show_json, show_table
from pellucid.effects import Motifs, PartContributions
from pellucid.effects.parts import counts_parts as splits
from pellucid.kernels import Kernel


def counts_parts(model: Any) -> bool:
    """Whether the predictions of a model are sums over words, subtrees or fragments."""
    kernel = getattr(model, "kernel_", None)
    return hasattr(model, "part_contributions") and isinstance(kernel, Kernel) and splits(kernel)


def reads_objects(model: Any) -> bool:
    """Whether a model compares strings, graphs or molecules."""
    kernel = getattr(model, "kernel_", None)
    return isinstance(kernel, Kernel) and kernel.reads_objects


def motifs_document(motifs: Motifs) -> list[dict[str, Any]]:
    """The strongest parts, for programs."""
    return [
        {
            "part": part,
            "kernel": motifs.kernels[i],
            "weight": motifs.weight[i],
            "objects": int(motifs.n_objects[i]),
        }
        | ({} if motifs.standard_error is None else {"se": motifs.standard_error[i]})
        | ({} if motifs.stability is None else {"stability": motifs.stability[i]})
        for i, part in enumerate(motifs.parts)
    ]


def tell_motifs(model: Any, top: int) -> None:
    """List the strongest parts over all training rows."""
    show(f"What matters most, by what it adds on average where it occurs:\n{model.motifs(top)}")


def tell_parts(told: PartContributions, prediction: Any, number: int, top: int, as_json: bool) -> None:
    """Say what the parts of one row add to its prediction, and where in it they are."""
    if as_json:
        show_json(
            {
                "row": number,
                "prediction": prediction,
                "output": told.output or None,
                "intercept": told.intercept,
                "contributions": [
                    {"part": p, "kernel": k, "count": c, "contribution": v}
                    for p, k, c, v in zip(
                        told.parts, told.kernels, told.counts, told.contributions, strict=True
                    )
                ],
                "places": [
                    {
                        "kernel": site.kernel,
                        "labels": list(site.labels),
                        "contributions": site.values,
                        "bonds": [list(bond) for bond in site.bonds],
                        "bond_contributions": site.bond_values,
                    }
                    for site in told.maps
                ],
                "sum": told.prediction,
            }
        )
        return
    words = f"{prediction:.6g}" if isinstance(prediction, float | np.floating) else str(prediction)
    show(f"Row {number}: prediction {words}")
    shown = list(zip(told.parts, told.counts, told.contributions, strict=True))
    rows = [("intercept", "", f"{told.intercept:.5g}")]
    rows += [(part, "" if count == 1 else f"{count:.3g}", f"{v:+.5g}") for part, count, v in shown[:top]]
    if len(shown) > top:
        rest = float(np.sum(told.contributions[top:]))
        rows.append((f"{len(shown) - top} other parts (--top)", "", f"{rest:+.5g}"))
    of = f" for {told.output}" if told.output else ""
    rows.append(
        (f"sum: score{of}" if isinstance(prediction, str) or of else "sum", "", f"{told.prediction:.5g}")
    )
    show_table(("part", "times", "contribution"), rows, best=len(rows) - 1)
    for site in told.maps:
        places = [f"{label}{i}" for i, label in enumerate(site.labels)]
        order = np.argsort(-np.abs(site.on_labels), kind="stable")[: min(top, 8)]
        strongest = ", ".join(f"{places[i]} {site.on_labels[i]:+.3g}" for i in order)
        if strongest:
            show(f"Strongest places, counted from 0, of {site.kernel}: {strongest}")
