"""Pieces of SQL that mean the same to every engine: names, texts, numbers, sums, look-ups."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

LARGEST = "1.7976931348623157e308"


def name(text: str) -> str:
    """A quoted name.

    Examples
    --------
    >>> name('a "b" c')
    '"a ""b"" c"'
    """
    if "\x00" in text or not text:
        raise ValueError(f"SQL has no name for {text!r}.")
    return '"' + text.replace('"', '""') + '"'


def quoted(text: str) -> str:
    """A text as a literal."""
    if "\x00" in text:
        raise ValueError(f"SQL has no literal for the text {text!r}.")
    return "'" + text.replace("'", "''") + "'"


def number(value: float) -> str:
    """A number as a literal of double precision: without an exponent it would be a decimal to some engines.

    Examples
    --------
    >>> number(0.1), number(-2.0), number(1e300)
    ('0.1e0', '(-2.0e0)', '1e+300')
    """
    text = repr(float(value))
    text = text if "e" in text else text + "e0"
    return f"({text})" if text.startswith("-") else text


def comment(text: str) -> str:
    """A text that cannot end the comment in which it stands."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def select(columns: Iterable[tuple[str, str]]) -> str:
    """The first half of a statement: names of columns with the code that makes them."""
    return "SELECT " + ",\n  ".join(f"{code} AS {column}" for column, code in columns)


def total(parts: Sequence[str]) -> str:
    """A sum as a balanced tree: engines limit how deep expressions nest."""
    if not parts:
        return "0e0"
    if len(parts) <= 8:
        return " + ".join(parts)
    half = len(parts) // 2
    return f"({total(parts[:half])}) + ({total(parts[half:])})"


def point_of(x: str, knots: np.ndarray) -> str:
    """Number of the interval between knots that holds ``x``, by bisection."""

    def search(low: int, high: int) -> str:
        if high - low == 1:
            return str(low)
        middle = (low + high) // 2
        below, above = search(low, middle), search(middle, high)
        return f"CASE WHEN {x} < {number(knots[middle])} THEN {below} ELSE {above} END"

    return search(0, max(len(knots) - 1, 1))


def level_of(x: str, levels: Sequence[str], other: int) -> str:
    """Number of the level that ``x`` is, in whatever type its column comes.

    Examples
    --------
    >>> level_of("x", ["2", "b"], 2)
    "CASE x WHEN '2' THEN 0 WHEN 'b' THEN 1 WHEN '2.0' THEN 0 ELSE 2 END"
    """
    places = {level: k for k, level in enumerate(levels)}
    for level, k in list(places.items()):
        places |= {text: k for text in _spellings(level) if text not in places}
    cases = " ".join(f"WHEN {quoted(text)} THEN {k}" for text, k in places.items())
    return f"CASE {x} {cases} ELSE {other} END"


def _spellings(level: str) -> list[str]:
    """How engines write a level whose column holds numbers with decimals, or truth values."""
    if level in ("True", "False"):
        return [level.lower(), str(int(level == "True"))]
    return [f"{level}.0", repr(float(level))] if re.fullmatch(r"-?\d+", level) else []


def clamped(x: str, low: float, high: float, missing: str = "NULL") -> str:
    """``x`` between two numbers, and what to take where it is missing."""
    return (
        f"CASE WHEN {x} IS NULL THEN {missing} WHEN {x} < {number(low)} THEN {number(low)} "
        f"WHEN {x} > {number(high)} THEN {number(high)} ELSE {x} END"
    )


def logistic(x: str) -> str:
    """Logistic function, with arguments for which the exponential is finite."""
    return f"1e0 / (1e0 + EXP(-(CASE WHEN {x} < -700e0 THEN -700e0 ELSE {x} END)))"


def largest(values: Sequence[str], results: Sequence[str]) -> str:
    """The result that belongs to the first largest of some values; NULL if one of the values is missing."""
    cases = []
    for k, value in enumerate(values[:-1]):
        wins = " AND ".join(f"{value} >= {rival}" for rival in values[k + 1 :])
        cases.append(f"WHEN {wins} THEN {results[k]}")
    known = " OR ".join(f"{value} IS NULL" for value in values)
    return f"CASE WHEN {known} THEN NULL {' '.join(cases)} ELSE {results[-1]} END"
