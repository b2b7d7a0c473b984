"""The data as the page shows them: features for the form, columns for the overview, and what is odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.data.cells import Cells
from pellucid.linalg import power_of_two
from pellucid.report.packing import rounded
from pellucid.report.page_model import PageModel
from pellucid.report.response import Response

_BINS = 24
_LEVELS = 12
_ALIKE = 0.95  # correlation above which two features are called nearly the same


def feature_payload(
    columns: Sequence[Cells], model: PageModel | None, texts: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    """What the form needs to know of each feature; ``texts`` are those that hold strings to be read."""
    axes: dict[int, list[dict[str, Any]]] = {}
    for term in model["terms"] if model is not None else []:
        for place, j in enumerate(term["features"]):
            axis = term["axes"][place] if "axes" in term else {"missing": None}
            axis = model["warps"][j] | axis if term["type"] == "waves" else axis  # type: ignore[index]
            axes.setdefault(j, []).append(axis)
    made = []
    read = {j for part in (model or {}).get("parts", ()) for j in part.get("columns", [part.get("column")])}
    for j, column in enumerate(columns):
        uses = axes.get(j, [{"missing": None}] if model is not None and "kernel" in model else [])
        feature = {
            "name": column.name,
            "numeric": column.numeric,
            "date": column.dates,
            "used": bool(uses) or model is None or j in read,
            "missing": j not in read and all(axis["missing"] is not None for axis in uses),
            "text": texts.get(j),
        }
        present = column.present
        if column.numeric:
            feature["low"] = float(present.min()) if len(present) else None
            feature["high"] = float(present.max()) if len(present) else None
        elif j in texts:
            feature["levels"] = []
            feature["hint"] = _lengths(column)
        else:
            known = {level: None for axis in uses for level in axis.get("levels", [])}
            feature["levels"] = list(known) or column.levels()[:1000]
        made.append(feature)
    return made


def _lengths(column: Cells) -> str:
    """How long texts are."""
    lengths = [len(text) for text in column.present] or [0]
    low, high = min(lengths), max(lengths)
    return f"{low} letters" if low == high else f"{low} to {high} letters"


def column_payload(columns: Sequence[Cells], texts: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Each column in a few numbers and a small histogram; of texts, their lengths."""
    made = []
    for j, column in enumerate(columns):
        present = column.present
        facts: dict[str, Any] = {
            "name": column.name,
            "missing": int(column.missing.sum()),
            "numeric": column.numeric,
        }
        facts["distinct"] = len(set(present.tolist()))
        if column.numeric and len(present):
            low, middle, high = np.quantile(present, [0.0, 0.5, 1.0])
            unit = float(power_of_two(float(np.abs(present).max())))  # squares may overflow
            mean, sd = unit * np.mean(present / unit), unit * np.std(present / unit)
            facts["numbers"] = rounded(np.array([low, middle, mean, high, sd]), 5)
            width = high - low
            finite = np.isfinite(width) and width > 0
            facts["histogram"] = np.histogram(present, bins=_BINS)[0].tolist() if finite else [len(present)]
        elif j in texts:
            facts["levels"], facts["text"] = [], _lengths(column)
            facts["histogram"] = np.histogram([len(text) for text in present], bins=_BINS)[0].tolist()
        elif len(present):
            names, counts = np.unique(present.astype(str), return_counts=True)
            order = np.argsort(-counts, kind="stable")[:_LEVELS]
            facts["levels"] = [[str(names[i]), int(counts[i])] for i in order]
            facts["histogram"] = counts[order].tolist()
        made.append(facts)
    return made


def data_notes(columns: Sequence[Cells], y: np.ndarray, response: Response) -> list[str]:
    """What a careful reader would want to know about the data, in sentences."""
    notes = []
    constant = [column.name for column in columns if len(set(column.present.tolist())) <= 1]
    if constant:
        notes.append(
            f"The same value in every row: {_list(constant)}. Nothing can be learned from such a feature."
        )
    gaps = [column.name for column in columns if column.missing.mean() > 0.2]
    if gaps:
        notes.append(f"More than a fifth of the values are missing in {_list(gaps)}.")
    alike = _alike(columns)
    if alike:
        shown = "; ".join(f"{a} and {b} (r = {r:.3f})" for a, b, r in alike[:8])
        more = f"; and {len(alike) - 8} more pairs" if len(alike) > 8 else ""
        notes.append(
            f"Nearly the same: {shown}{more}. How the model divides an effect between such features is "
            f"arbitrary."
        )
    if response.classes is not None:
        shares = {c: float(np.mean(np.asarray(y) == c)) for c in response.classes}
        rare = [f"{c} ({100 * share:.1f} %)" for c, share in shares.items() if share < 0.05]
        if rare:
            notes.append(f"Rare classes: {', '.join(rare)}. Accuracy says little about them.")
    return notes


def _alike(columns: Sequence[Cells]) -> list[tuple[str, str, float]]:
    numeric = [c for c in columns if c.numeric and not c.missing.any() and np.ptp(c.values) > 0]
    if not 2 <= len(numeric) <= 400:
        return []
    values = np.column_stack([c.values for c in numeric])[:20_000]
    values = values[:, np.ptp(values, axis=0) > 0]
    if values.shape[1] != len(numeric) or len(values) < 10:
        return []
    r = np.corrcoef(values / power_of_two(np.abs(values).max(axis=0)), rowvar=False)
    found = [(i, j) for i, j in zip(*np.nonzero(np.triu(np.abs(r) > _ALIKE, 1)), strict=True)]
    found.sort(key=lambda pair: -abs(r[pair]))
    return [(numeric[i].name, numeric[j].name, float(r[i, j])) for i, j in found]


def _list(names: list[str]) -> str:
    shown = ", ".join(name if len(name) <= 60 else f"{name[:59]}…" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
