"""The terms of a model by importance, with their tests, and those too small to be looked at one by one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from pellucid.effects.summary import counted
from pellucid.effects.terms import Effect


@dataclass(frozen=True)
class TermRow:
    """One term as a table shows it; what the model does not have is ``None``."""

    name: str
    importance: float
    relative: float
    """Importance divided by the largest one."""
    minor: bool
    """Whether the term is below 0.1 %."""
    per_cent: bool
    """Whether the importance is a share."""
    se: float | None = None
    edf: float | None = None
    p_value: float | None = None
    """Of the hypothesis that the term is zero; NaN for a term that was held fixed."""
    most_for: str = ""
    """The class that the term moves most, where there are several."""

    @property
    def size(self) -> str:
        """The importance as text, such as ``36.9 %``."""
        return f"{100 * self.importance:.1f} %" if self.per_cent else f"{self.importance:.3g}"

    @property
    def p(self) -> str:
        """The p-value as text."""
        if self.p_value is None:
            return ""
        if np.isnan(self.p_value):
            return "frozen"
        return "<1e-4" if self.p_value < 1e-4 else f"{self.p_value:.4f}"


def term_rows(model: Any) -> list[TermRow]:
    """The terms of a model with ``importances_``, most important first."""
    importances, tests = model.importances_, getattr(model, "tests_", None)
    rows = []
    for t in importances.order:
        name = importances.names[t]
        found: dict[str, Any] = {}
        if importances.se is not None:
            found["se"] = float(importances.se[t])
        if tests is not None:  # one list per output, of names, degrees of freedom and p-values
            p = len(tests) * min(one[t][2] for one in tests)
            found |= {"edf": float(np.mean([one[t][1] for one in tests])), "p_value": min(p, 1.0)}
        effect = getattr(model, "effects_", {}).get(name)
        if effect is not None and effect.outputs:
            found["most_for"] = effect.outputs[int(np.argmax(effect.sizes))]
        row = TermRow(
            name,
            float(importances.values[t]),
            float(importances.relative[t]),
            bool(importances.minor[t]),
            importances.is_share,
            **found,
        )
        rows.append(row)
    return rows


def folded(rows: Sequence[TermRow], most: int) -> tuple[list[TermRow], str]:
    """The rows to show, at most so many, and what to say of the others."""
    major = [row for row in rows if not row.minor]
    said = []
    if len(major) > most:
        said.append(f"... and {len(major) - most} more")
    if len(major) < len(rows):
        said.append(f"{counted(len(rows) - len(major), 'term')} below 0.1 %")
    return major[:most], "\n".join(said)


def features_of(name: str) -> tuple[str, ...]:
    """The features in the name of a term, ``age × income`` or as one types it, ``age*income``.

    Examples
    --------
    >>> features_of("age × income"), features_of("age*income"), features_of("age")
    (('age', 'income'), ('age', 'income'), ('age',))
    """
    return tuple(part.strip() for part in re.split("[×*]", name))


def find_effect(model: Any, term: Any = None) -> Effect:
    """The effect of a term of a model, by its name, its column or its columns; by default the largest."""
    effects = getattr(model, "effects_", None)
    if effects is None:
        raise ValueError(f"{type(model).__name__} has no effects_: it is not fitted, or has no terms.")
    if not effects:
        raise ValueError("The model has no terms: it predicts the same for every row.")
    if term is None:
        return effects[next(name for name in model.importances_.top(len(effects)) if name in effects)]
    if isinstance(term, str):
        wanted = sorted(features_of(term))
        found = [e for n, e in effects.items() if n == term] or [
            e for n, e in effects.items() if sorted(features_of(n)) == wanted
        ]
    else:
        columns = sorted((int(term),) if np.ndim(term) == 0 else map(int, term))
        found = [effect for effect in effects.values() if sorted(effect.term) == columns]
    if not found:
        close = get_close_matches(str(term), list(effects), n=3) or list(effects)[:5]
        raise ValueError(f"The model has no term {term!r}; it has, for instance, {', '.join(close)}.")
    return found[0]
