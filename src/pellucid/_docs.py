"""What several estimators share is said once: parameters stored by one line, described where they are used.

A base class describes shared parameters and attributes in its own docstring. A subclass decorated with
:func:`inherit_docs` writes ``{kernel, alpha}`` on a line of its own where these entries belong, whole. Its
constructor keeps its explicit signature and has one line, ``store_parameters(self, locals())``.
"""

import inspect
import re
from collections.abc import Mapping
from textwrap import indent
from typing import Any, TypeVar

T = TypeVar("T")

_ENTRY = re.compile(r"^(\w+)[\w, ]* : .*(?:\n +.*)*", re.MULTILINE)  # a numpydoc entry with its text
_PLACE = re.compile(r"^( *)\{(\w+(?:, \w+)*)\}$", re.MULTILINE)


def inherit_docs(cls: type[T]) -> type[T]:
    """Fill lines such as ``{kernel, alpha}`` of a docstring with these entries of base classes' docstrings.

    Examples
    --------
    >>> class Base:
    ...     '''A base.
    ...
    ...     alpha : float
    ...         Ridge strength.
    ...     '''
    >>> @inherit_docs
    ... class Model(Base):
    ...     '''A model.
    ...
    ...     {alpha}
    ...     '''
    >>> print(inspect.getdoc(Model))
    A model.
    <BLANKLINE>
    alpha : float
        Ridge strength.
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    entries: dict[str, str] = {}
    for base in reversed(cls.__mro__[1:]):  # nearer classes have the last word
        entries |= {found[1]: found[0] for found in _ENTRY.finditer(inspect.cleandoc(base.__doc__ or ""))}

    def filled(place: re.Match[str]) -> str:
        return indent("\n".join(entries[name] for name in place[2].split(", ")), place[1])

    cls.__doc__ = _PLACE.sub(filled, cls.__doc__)
    return cls


def store_parameters(estimator: Any, arguments: Mapping[str, Any]) -> None:
    """Store the arguments of a constructor under their own names, as scikit-learn wants it.

    ``arguments`` are the ``locals()`` of a constructor of which this call is the only line.
    """
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
