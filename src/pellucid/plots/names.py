"""Names of features as text in a figure: short, in one line or a few, and still told apart."""

import textwrap
from collections.abc import Sequence
from typing import Any

LONGEST = 32
"""Characters of a name that are shown."""


def shorten(names: Sequence[Any], longest: int = LONGEST) -> list[str]:
    """Names cut to ``longest`` characters; different names stay different.

    A long name keeps its beginning. Names that would then look alike keep what comes after the beginning that
    they share, and if that is not enough they are numbered.

    Examples
    --------
    >>> shorten(["age", "concentration of iron", "concentration of zinc"], 16)
    ['age', 'concentr…of iron', 'concentr…of zinc']
    """
    full = [one_line(name) for name in names]
    short = [text if len(text) <= longest else f"{text[: longest - 1]}…" for text in full]
    for group in _look_alike(full, short):
        shared = _shared(full[group[0]], [full[i] for i in group])
        head = max(longest // 2, 1)
        tail = longest - head - 1
        for i in group:
            if len(full[i]) > longest:
                start = max(min(shared, len(full[i]) - tail), head)
                rest = full[i][start : start + tail]
                short[i] = f"{full[i][: longest - 1 - len(rest)]}…{rest}"
    for group in _look_alike(full, short):
        for number, text in enumerate(dict.fromkeys(full[i] for i in group), start=1):
            mark = f"…({number})"
            for i in group:
                if full[i] == text:
                    short[i] = full[i][: max(longest - len(mark), 0)] + mark
    return short


def one_line(name: Any) -> str:
    """The name without line breaks and runs of blanks."""
    return " ".join(str(name).split()) or "(no name)"


def plain(text: str) -> str:
    """Text in which matplotlib sees no formula: a dollar sign is a dollar sign."""
    return text.replace("$", r"\$")


def labels(names: Sequence[Any], longest: int = LONGEST) -> list[str]:
    """Short and distinct names, ready for an axis."""
    return [plain(text) for text in shorten(names, longest)]


def wrapped(name: Any, width: int = 40, lines: int = 2) -> str:
    """One name over at most so many lines, for a title or an axis."""
    text = shorten([name], width * lines)[0]
    return plain(
        "\n".join(textwrap.wrap(text, width, break_long_words=True, max_lines=lines, placeholder="…"))
    )


def _shared(first: str, texts: list[str]) -> int:
    """Number of characters at the beginning that all texts have in common."""
    return next((i for i in range(len(first)) if any(t[i : i + 1] != first[i] for t in texts)), len(first))


def _look_alike(full: list[str], short: list[str]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for i, text in enumerate(short):
        groups.setdefault(text, []).append(i)
    return [group for group in groups.values() if len({full[i] for i in group}) > 1]
