"""A model on half a screen: a title and labelled facts, as an object that prints."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.effects.html import html_table


@dataclass(frozen=True)
class Summary:
    """Labelled facts about a fitted model: ``str(summary)`` renders them, ``dict(summary.facts)`` has them.

    Examples
    --------
    >>> print(Summary("KernelRidge", [("rows", 3), ("alpha", 0.25)]))
    KernelRidge
    -----------
    rows   3
    alpha  0.25
    """

    title: str
    facts: Sequence[tuple[str, object]]

    def __str__(self) -> str:
        width = max((len(label) for label, _ in self.facts), default=0)
        lines = [self.title, "-" * len(self.title)]
        lines += [f"{label:<{width}}  {_render(value)}" for label, value in self.facts]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(
            self.title, (), [(label, _render(value).strip("\n")) for label, value in self.facts]
        )


def counted(n: int, word: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1500, "row"), counted(2, "class")
    ('1 row', '1,500 rows', '2 classes')
    """
    plural = f"{word}es" if word.endswith("s") else f"{word}s"
    return f"{n:,} {word if n == 1 else plural}"


def _render(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, np.ndarray):
        shown = [f"{v:.5g}" for v in np.ravel(value)[:6]]
        return ", ".join(shown) + (f", ... ({value.size} values)" if value.size > 6 else "")
    return str(value)
