"""What the page shows besides the model when asked to: an earlier model, and groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.models import compare, fairness
from pellucid.report.sample import Sample

Section = dict[str, Any]


def extra_sections(model: Any, sample: Sample, earlier: Any, groups: Any) -> list[Section]:
    """Sections of tables, each with an identity, a title, a lead and notes."""
    found = []
    if groups is not None:
        groups = groups if isinstance(groups, str) else np.asarray(groups, dtype=object)[sample.numbers]
    if earlier is not None:
        known: dict[str, Any] = dict(sample.known)
        change = compare(earlier, model, sample.X, sample.y, **known)
        tables = [_table(*table) for table in change.tables()]
        found.append(_section("changes", "What changed", change.headline(), list(change.notes), tables))
    if groups is not None:
        by_group = fairness(model, sample.X, sample.y, groups, **sample.known)
        lead = (
            "How the model does in each group, each number with its standard error: small groups differ by "
            "chance."
        )
        found.append(_section("groups", "By group", lead, [], [_table("", *by_group.head_and_rows())]))
    return found


def _section(name: str, title: str, lead: str, notes: list[str], tables: list[dict[str, Any]]) -> Section:
    return {"id": name, "title": title, "lead": lead, "notes": notes, "tables": tables}


def _table(title: str, head: list[str], rows: list[list[str]]) -> dict[str, Any]:
    return {"title": title, "head": head, "rows": rows}
