"""What was fitted on what: data, model, parameters, versions; and objects of a model as labelled facts."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from pellucid.report.sample import Sample

Facts = list[list[str]]


def data_facts(sample: Sample, texts: Collection[int] = ()) -> Facts:
    """Size of the data, and the digest by which they can be recognised; ``texts`` are columns of objects."""
    facts = [["rows", f"{len(sample):,}"]]
    if sample.columns:
        p, numeric = len(sample.columns), sum(column.numeric for column in sample.columns)
        levels = p - numeric - len(texts)
        kinds = f"{numeric} numeric, {levels} categorical" + (f", {len(texts)} of objects" if texts else "")
        facts.append(["features", f"{p} ({kinds})"])
        gaps = int(sum(column.missing.sum() for column in sample.columns))
        facts.append(["missing values", f"{gaps:,}" if gaps else "none"])
    facts.append(["SHA-256 of the data", sample.digest])
    return facts


def model_facts(model: Any) -> Facts:
    """The model's own summary, or at least its name; what the page shows elsewhere is left out."""
    summary = getattr(model, "summary", None)
    told = getattr(summary(), "facts", ()) if callable(summary) else ()
    elsewhere = ("receipt", "terms by importance", "edits")
    facts = [[str(label), _value(value)] for label, value in told if label not in elsewhere]
    return [["model", type(model).__name__], *facts]


def parameter_facts(model: Any) -> Facts:
    """Constructor parameters with their values."""
    get = getattr(model, "get_params", None)
    if get is None:
        return []
    return [[str(key), _value(value)] for key, value in sorted(get(deep=False).items())]


def version_facts(version: str) -> Facts:
    """Programs that took part."""
    import scipy
    import sklearn

    return [
        ["pellucid", version],
        ["Python", platform.python_version()],
        ["NumPy", np.__version__],
        ["SciPy", scipy.__version__],
        ["scikit-learn", sklearn.__version__],
        ["platform", f"{platform.system()} {platform.machine()}"],
    ]


def facts_of(thing: Any) -> Facts:
    """A certificate, receipt, edit log or the like as labels and values.

    Examples
    --------
    >>> facts_of({"rows": 3, "exact": True})
    [['rows', '3'], ['exact', 'yes']]
    """
    if thing is None:
        return []
    if hasattr(thing, "facts"):
        return [[str(label), _value(value)] for label, value in thing.facts]
    if isinstance(thing, Mapping):
        return [[str(label), _value(value)] for label, value in thing.items()]
    if isinstance(thing, (list, tuple)):
        return [[str(i), _value(value)] for i, value in enumerate(thing, start=1)]
    text = str(thing)
    lines = [line for line in text.splitlines() if line.strip()]
    split = [line.split("  ", 1) for line in lines]
    if len(lines) > 1 and all(len(parts) == 2 for parts in split):  # label, two blanks, value
        return [[label.strip(), value.strip()] for label, value in split]
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return [[f.name, _value(getattr(thing, f.name))] for f in dataclasses.fields(thing)]
    return [["", text]]


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        shown = ", ".join(
            f"{v:.5g}" if np.issubdtype(value.dtype, np.number) else str(v) for v in value.ravel()[:8]
        )
        return shown + (f", ... ({value.size} values)" if value.size > 8 else "")
    text = str(value).strip("\n")
    return text if len(text) <= 4000 else f"{text[:3999]}…"
