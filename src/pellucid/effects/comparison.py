"""Two models on the same rows: which terms changed, by how much, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from pellucid.effects.drift import Drift, text_table
from pellucid.effects.fairness import GroupTable
from pellucid.effects.html import html_table
from pellucid.effects.summary import counted

_SMALL = 1e-9  # change of a term, relative to the largest, that is rounding


@dataclass(frozen=True)
class TermChange:
    """How what one term adds to the linear predictor changed over the rows."""

    name: str
    """Name of the term."""
    status: str
    """``"changed"``, ``"added"``, ``"dropped"`` or ``"same"``."""
    size: float
    """Root mean square of the change over the rows, once its mean is taken off."""
    shift: float
    """Mean change over the rows."""
    largest: float
    """Change of largest size at any row."""
    row: int
    """That row."""


@dataclass(frozen=True)
class RowChange:
    """One row whose prediction changed, and the terms that changed it."""

    row: int
    """Position of the row."""
    old: object
    """Prediction of the old model."""
    new: object
    """Prediction of the new model."""
    change: float
    """New less old; of classes, the share of probability that moved."""
    terms: tuple[tuple[str, float], ...]
    """The largest changes of terms, of the linear predictor."""
    output: str = ""
    """The class or target that the terms speak for, where there are several."""

    def reasons(self) -> str:
        """The terms in one line."""
        return ", ".join(f"{name} {value:+.3g}" for name, value in self.terms)


@dataclass(frozen=True)
class ModelComparison:
    """What :func:`pellucid.compare` finds; prints as a page of text, and as HTML in notebooks."""

    n_rows: int
    """Number of rows."""
    difference: np.ndarray
    """New less old prediction of each row; of classes, the share of probability that moved."""
    kind: str
    """What was compared: predictions or probabilities, in words."""
    attribution: str
    """What the changes were taken apart into: ``"terms"``, ``"Shapley values"``, or nothing."""
    terms: tuple[TermChange, ...]
    """Largest change first."""
    rows: tuple[RowChange, ...]
    """The rows of largest change."""
    decisions: float | None = None
    """Share of the rows that are put into another class; classifiers only."""
    scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measures of the old and the new model, where targets were given."""
    drift: Drift | None = None
    """Distance of the rows from those on which the old model was fitted, where it knows them."""
    groups: tuple[GroupTable, GroupTable] | None = None
    """Measures by group, of the old and the new model."""
    notes: tuple[str, ...] = ()
    """What could not be done, in sentences."""

    def headline(self) -> str:
        """The size of the change in a sentence or two."""
        size = np.abs(self.difference)
        text = f"{self.kind} of {counted(self.n_rows, 'row')} change by {size.mean():.4g} on average, "
        text += f"by more than {np.quantile(size, 0.95):.4g} for one row in twenty, "
        text += f"by {size.max():.4g} at most."
        if self.decisions is not None:
            text += f" {100 * self.decisions:.1f} % of the rows are put into another class."
        return text[:1].upper() + text[1:]

    def tables(self, n: int = 12) -> list[tuple[str, list[str], list[list[str]]]]:
        """Titles, heads and rows of all there is to show."""
        found = []
        if self.scores:
            rows = [[name, f"{a:.5g}", f"{b:.5g}"] for name, (a, b) in self.scores.items()]
            found.append(("Scores on these rows", ["measure", "old", "new"], rows))
        live = [term for term in self.terms if term.status != "same"]
        if live:
            head = ["feature" if self.attribution == "Shapley values" else "term", "status", "size", "mean"]
            rows = [
                [t.name, t.status, f"{t.size:.4g}", f"{t.shift:+.3g}", f"{t.largest:+.3g}", str(t.row)]
                for t in live[:n]
            ]
            title = "What changed in the linear predictor"
            found.append((title, [*head, "largest", "at row"], rows))
        if self.rows:
            rows = [
                [str(r.row), _text(r.old), _text(r.new), f"{r.change:+.4g}", r.reasons() + _for(r.output)]
                for r in self.rows
            ]
            found.append(("For whom it changed most", ["row", "old", "new", "change", "because of"], rows))
        if self.drift is not None:
            found.append(("Rows beside the training of the old model", *self.drift.head_and_rows(n)))
        if self.groups is not None:
            for which, table in zip(("Old", "New"), self.groups, strict=True):
                found.append((f"{which} model by group", *table.head_and_rows()))
        return found

    def summary(self, n: int = 12) -> str:
        """All of it as text."""
        parts = [self.headline(), *self.notes]
        parts += [f"{title}\n{text_table(head, rows)}" for title, head, rows in self.tables(n)]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.summary()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{escape(text)}</p>" for text in (self.headline(), *self.notes))
        return words + "".join(html_table(title, head, rows) for title, head, rows in self.tables())


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _for(output: str) -> str:
    return f" (for {output})" if output else ""


Parts = tuple[Sequence[str], np.ndarray]
"""Names of terms, and what each adds to the linear predictor, of shape (m, n_terms, q)."""


def term_differences(old: Parts, new: Parts) -> tuple[list[str], np.ndarray]:
    """Names of the terms of either model, and by how much each changes, of shape (m, n_names, q)."""
    names = list(dict.fromkeys([*old[0], *new[0]]))
    place = {name: k for k, name in enumerate(names)}
    m, _, q = new[1].shape
    change = np.zeros((m, len(names), q))
    for sign, (own, parts) in ((-1.0, old), (1.0, new)):
        for t, name in enumerate(own):
            change[:, place[name]] += sign * parts[:, t]
    return names, change


def term_changes(old: Parts, new: Parts, rows: np.ndarray) -> list[TermChange]:
    """Changes of the terms, largest first; ``rows`` are the numbers of the rows that the parts are of."""
    names, change = term_differences(old, new)
    shift = change.mean(axis=0)
    sizes = np.sqrt(np.mean((change - shift) ** 2, axis=(0, 2)))
    whole = float(np.abs(change).max(initial=0.0))
    found = []
    for k, name in enumerate(names):
        peak = np.unravel_index(np.argmax(np.abs(change[:, k])), change[:, k].shape)
        largest = float(change[:, k][peak])
        status = "changed" if abs(largest) > _SMALL * whole else "same"
        if name not in old[0] or name not in new[0]:
            status = "dropped" if name in old[0] else "added"
        mean = float(shift[k][np.argmax(np.abs(shift[k]))])
        found.append(TermChange(name, status, float(sizes[k]), mean, largest, int(rows[peak[0]])))
    return sorted(found, key=lambda term: (term.status == "same", -term.size, -abs(term.shift)))


def leading_terms(names: Sequence[str], change: np.ndarray, n: int = 3) -> tuple[tuple[str, float], ...]:
    """The terms that change one prediction most, of changes of shape (n_names,)."""
    order = np.argsort(-np.abs(change), kind="stable")[:n]
    return tuple((names[k], float(change[k])) for k in order if change[k] != 0)
