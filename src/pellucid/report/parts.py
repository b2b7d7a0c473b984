"""Words, fragments and subtrees for the page: over all rows, and in single predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects.layout import flat_layout
from pellucid.effects.parts import PartContributions, SiteMap, summands
from pellucid.effects.parts import counts_parts as splits
from pellucid.kernels import CountedParts, Kernel, NGrams
from pellucid.kernels.structured.chem import molecular_graph
from pellucid.kernels.structured.sequences import SequenceKernel
from pellucid.report.packing import rounded
from pellucid.report.words import word_spec

_SHOWN = 12  # parts of a prediction that are listed one by one
_CLASSES = 8  # with motifs of their own


def counts_parts(model: Any) -> bool:
    """Whether the predictions of a model are sums over parts of strings, graphs or molecules."""
    kernel: Any = getattr(model, "kernel_", None)
    return hasattr(model, "part_contributions") and isinstance(kernel, Kernel) and splits(kernel)


def object_columns(model: Any, n_columns: int) -> dict[int, dict[str, Any]]:
    """Columns that hold strings or molecules, with the alphabet where one is declared."""
    kernel: Any = getattr(model, "kernel_", None)
    if not getattr(kernel, "reads_objects", False):
        return {}
    found: dict[int, dict[str, Any]] = {}
    train = model.X_fit_
    columns = np.arange(n_columns)[None, :] if getattr(train, "ndim", 1) == 2 else np.zeros(1, dtype=int)
    for term in summands(kernel):
        if term.kernel.reads_objects:
            for j in np.ravel(term.select(columns)):
                spec = word_spec(term.kernel) if isinstance(term.kernel, CountedParts) else None
                known = spec is not None and not spec.get("skip")
                found.setdefault(int(j), {"alphabet": spec.get("alphabet") if spec and known else None})
    return found


def object_name(model: Any) -> str:
    """What rows that are single strings are called."""
    kernel = summands(model.kernel_)[0].kernel
    if isinstance(kernel, SequenceKernel):
        return "sequence"
    return "text" if isinstance(kernel, NGrams) else "molecule"


def motif_payload(model: Any) -> list[dict[str, Any]]:
    """The strongest parts over all training rows, for each class."""
    classes = getattr(model, "classes_", None)
    outputs = [None] if classes is None or len(classes) <= 2 else list(classes)[:_CLASSES]
    made = []
    for output in outputs:
        found = model.motifs(20, output=output)
        short = _short_names(found.kernels)
        made.append(
            {
                "output": None if output is None else str(output),
                "names": list(found.parts),
                "kernels": [short[name] for name in found.kernels] if len(short) > 1 else None,
                "weight": rounded(found.weight),
                "se": None if found.standard_error is None else rounded(found.standard_error, 3),
                "stability": None if found.stability is None else rounded(found.stability, 3),
                "objects": found.n_objects.tolist(),
            }
        )
    return made


def _short_names(kernels: Sequence[str]) -> dict[str, str]:
    """Kernels without their parameters, where that still tells them apart."""
    short = {name: name.partition("(")[0] for name in kernels}
    return short if len(set(short.values())) == len(short) else {name: name for name in short}


def why_parts(model: Any, part: Any) -> dict[str, Any]:
    """Contributions of parts to the predictions of some rows, and where in the objects they are."""
    return {"what": "parts", "rows": [_one(told) for told in model.part_contributions(part)]}


def _one(told: PartContributions) -> dict[str, Any]:
    keep = len(told.parts) if len(told.parts) <= _SHOWN + 1 else _SHOWN
    items = [
        [name, f"× {count:.0f}" if count != 1 and count == round(count) else "", value]
        for name, count, value in zip(
            told.parts[:keep], told.counts[:keep], rounded(told.contributions[:keep]), strict=True
        )
    ]
    if keep < len(told.parts):
        rest = float(told.contributions[keep:].sum())
        items.append([f"{len(told.parts) - keep} other parts", "", rest])
    return {
        "start": told.intercept,
        "total": told.prediction,
        "output": told.output,
        "items": items,
        "maps": [_map(site) for site in told.maps],
    }


def _map(site: SiteMap) -> dict[str, Any]:
    """Labels with their contributions; for molecules and graphs also bonds and places on paper."""
    drawn = {"kernel": site.kernel, "labels": list(site.labels), "values": rounded(site.values)}
    if site.places == "letters":
        return drawn
    molecule = isinstance(site.item, str)
    return drawn | {
        "bonds": [list(bond) for bond in site.bonds],
        "bond_values": rounded(site.bond_values),
        "kinds": list(molecular_graph(site.item).edge_labels) if molecule else None,
        "places": [rounded(xy, 5) for xy in flat_layout(site)] if site.labels else [],
        "molecule": molecule,
    }
