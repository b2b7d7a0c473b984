"""Formulas such as ``y ~ age + region + age:income``: what is predicted, the features, and their pairs.

The grammar is that of formulaic, and so of R: ``a*b`` is ``a + b + a:b``, ``(a + b + c)**2`` has all pairs,
``.`` stands for all other columns, ``-`` takes out, and back quotes hold names with blanks in them. What a
formula says here is which features a model sees and which pairs may interact; how each enters is learned, so
there are no transformations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_COLOURS = re.compile(r"⧛.*?⧚|\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Formula:
    """A formula that was read.

    Attributes
    ----------
    text : str
        The formula as it was given.
    target : str
        Column that is predicted.
    features : tuple of str
        Columns that the model sees, in the order of the table.
    pairs : tuple of (str, str)
        Pairs of features that may interact.
    """

    text: str
    target: str
    features: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()


def read_formula(text: str, columns: Sequence[str]) -> Formula:
    """Read a formula about a table with these columns.

    A pair brings both of its features along: a model with the pair has their effects of their own as well.

    Examples
    --------
    >>> read_formula("y ~ a * b + c", ["y", "a", "b", "c"])
    Formula(text='y ~ a * b + c', target='y', features=('a', 'b', 'c'), pairs=(('a', 'b'),))
    """
    if not isinstance(text, str):
        raise TypeError(f"A formula is a text such as 'y ~ a + b', got {text!r}.")
    sides = _parsed(text, columns)
    if "lhs" not in sides or isinstance(sides["lhs"], tuple):
        raise ValueError(f"The formula {text!r} does not say what is predicted: write 'y ~ a + b'.")
    left = [_names(term, text) for term in sides["lhs"]]
    if len(left) != 1 or len(left[0]) != 1:
        raise ValueError(f"The formula {text!r} needs one column before the ~.")
    target, right = left[0][0], [_names(term, text) for term in sides["rhs"]]
    if [] not in right:
        raise ValueError(f"The formula {text!r} takes out the constant, which these models always have.")
    terms = [names for names in right if names]
    wide = next((names for names in terms if len(names) > 2), None)
    if wide is not None:
        raise ValueError(f"The formula {text!r} has {':'.join(wide)}; at most two features interact.")
    used = {name for names in terms for name in names}
    for name in [target, *used]:
        if name not in columns:
            raise ValueError(f"The formula {text!r} names {name!r}, and the table has no such column.")
    if target in used:
        raise ValueError(f"The formula {text!r} has {target!r} on both sides.")
    if not used:
        raise ValueError(f"The formula {text!r} names no feature.")
    features = tuple(name for name in columns if name in used)
    pairs = [tuple(sorted(names, key=features.index)) for names in terms if len(names) == 2]
    return Formula(text, target, features, tuple(dict.fromkeys((p, q) for p, q in pairs)))


def _parsed(text: str, columns: Sequence[str]) -> dict[str, Any]:
    """Sides of a formula as terms of formulaic."""
    try:
        from formulaic.errors import FormulaicError
        from formulaic.parser import DefaultFormulaParser
    except ImportError:
        raise ImportError("Formulas need the package formulaic: pip install 'pellucid[formula]'") from None
    context = {"__formulaic_variables_available__": list(columns)}
    try:
        found = DefaultFormulaParser().get_terms(text, context=context)
    except (FormulaicError, SyntaxError) as error:
        reason = " ".join(_COLOURS.sub("", str(error).split("\n")[0]).split())
        raise ValueError(f"The formula {text!r} cannot be read: {reason}") from None
    return dict(found._structure) if hasattr(found, "_structure") else {"root": found}


def _names(term: Any, text: str) -> list[str]:
    """Names of the features of a term, none for the constant; anything computed is refused."""
    names = []
    for factor in term.factors:
        kind = factor.eval_method.value
        if kind == "lookup":
            names.append(str(factor.expr))
        elif kind != "literal" or str(factor.expr) != "1":
            raise ValueError(
                f"The formula {text!r} computes {factor.expr!r}. Shapes are learned, so name the "
                f"column alone; what is no shape can be a column of its own."
            )
    return names
