"""Which fields an instance must have, and of which kinds: checked when a model is saved and loaded.

Fields of dataclasses and named tuples are what their annotations say, parameters of kernels what their
constructors say, and attributes of estimators of scikit-learn what the version here sets when it is fitted.
For our own estimators :mod:`~pellucid.export.model_file.fitted` lists what ``fit`` sets. An estimator with
any of these attributes must have all, but for those whose name ends in a question mark.
"""

import inspect
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel as ForeignKernel

from pellucid.export.model_file.fitted import FITTED, Numbers
from pellucid.export.model_file.registry import is_named_tuple, name_of
from pellucid.export.model_file.shapes import misfit
from pellucid.kernels import Kernel

LATER = {
    "AdditiveKernelClassifier": ("loss", "class_weight", "max_time", "verbose"),
    "AdditiveKernelRegressor": ("updatable", "quantile", "max_time", "verbose"),
    "KernelRidge": ("updatable",),
    "Axis": ("repeats",),
    "BaseEstimator": ("weights",),
    "Column": ("ordered",),
    "LeaveOneOut": ("root_mse",),
    "InterpretableKernelRegressor": ("quantile",),
    "ISKBase": ("max_time", "verbose"),
    "KernelGLMBase": ("max_time", "verbose"),
    "KernelRidgeBase": ("n_components", "tol", "random_state"),
    "RefitSpec": ("bases", "bends", "centre"),
    "Trials": ("energy_errors", "energy_weight"),
    "KernelGLMRegressor": ("quantile", "solver"),
    "KernelClassifier": ("solver",),
    "SolverReport": ("unit",),
    "LooSearch": ("criterion", "max_time", "verbose"),
}
"""Parameters and fields that files of earlier versions lack, by class: they get their defaults."""

RENAMED = {"_recipe": "_refit_spec"}
"""Attributes that have another name than in files of earlier versions."""


class Field(NamedTuple):
    """What is known of a field: its kind as an annotation, and when it must be there."""

    hint: Any
    when: str  # "always", "fitted" or "never"


def fault(cls: type, state: Mapping[str, Any]) -> str | None:
    """What is wrong with the fields of an instance, to be put after its path; ``None`` if nothing is."""
    known = declared(cls)
    fitted = any(known[name].when == "fitted" for name in state if name in known)
    # a scaler that is told not to centre has no means
    optional = cls.__module__.startswith("sklearn.") and not _by_default(cls, state)
    for name, field in known.items():
        if name not in state:
            if field.when == "always" or (fitted and field.when == "fitted"):
                return f", a {cls.__name__}, has no {name}"
        elif not fits(state[name], field.hint) and not (
            state[name] is None and optional and field.when == "fitted"
        ):
            return f".{name} is of the wrong type, {type(state[name]).__name__}, for a {cls.__name__}"
    return misfit(cls, state)


def _by_default(cls: type, state: Mapping[str, Any]) -> bool:
    known = inspect.signature(cls).parameters.items()
    return all(state.get(name) is p.default for name, p in known if isinstance(p.default, bool))


def with_later_parameters(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes by their present names, with defaults for parameters that are later than the file."""
    state = {RENAMED.get(name, name): value for name, value in state.items()}
    later = [name for base in cls.__mro__ for name in LATER.get(base.__name__, ()) if name not in state]
    known = inspect.signature(cls).parameters if later else {}
    made = {f.name: f.default_factory for f in fields(cls)} if later and is_dataclass(cls) else {}
    for name in later:
        factory = made.get(name, MISSING)
        if factory is not MISSING:
            state[name] = factory()
        elif name in known:
            state[name] = known[name].default
    return state


@cache
def declared(cls: type) -> dict[str, Field]:
    """Fields of a class."""
    if is_named_tuple(cls) or is_dataclass(cls):
        names = getattr(cls, "_fields", None) or [field.name for field in fields(cls)]
        return {name: Field(hints_of(cls).get(name, Any), "always") for name in names}
    found: dict[str, Field] = {}
    if issubclass(cls, Kernel):
        hints = hints_of(cls.__init__)
        found = {name: Field(hints.get(name, Any), "always") for name in cls.parameters}
    elif issubclass(cls, BaseEstimator | ForeignKernel):
        found = {name: Field(Any, "always") for name in inspect.signature(cls).parameters}
        found |= _foreign(cls)
    whole = "always" if issubclass(cls, Kernel) else "fitted"
    own = () if cls.__module__.startswith("sklearn.gaussian") else FITTED.items()
    for classes, kinds in own:
        for names, hint in kinds.items() if cls.__name__ in classes.split() else ():
            for name in names.split():
                bare, when = name.rstrip("?"), whole if name not in found else found[name].when
                found[bare] = Field(hint, "never" if name != bare else when)
    return found


def _foreign(cls: type) -> dict[str, Field]:
    """What is known of a class of scikit-learn: by its defaults, and by an instance fitted to two values."""
    if not cls.__module__.startswith("sklearn."):
        return {}
    parts = {"k1": ForeignKernel, "k2": ForeignKernel, "kernel": ForeignKernel, "exponent": float}
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        hint = {bool: bool, float: Numbers, type: type}.get(type(parameter.default), Any)
        found[name] = Field(parts.get(name, hint) if issubclass(cls, ForeignKernel) else hint, "always")
    if hasattr(cls, "transform") and cls.__name__ != "Pipeline":
        example = cls().fit([0, 1] if cls.__name__.startswith("Label") else [[0.0], [1.0]])
        for name, value in vars(example).items():
            kind = next((k for k in (bool, int, float) if fits(value, k)), type(value))
            found.setdefault(name, Field(np.ndarray | None if value is None else kind, "fitted"))
    return found


@cache
def hints_of(thing: Any) -> dict[str, Any]:
    """Annotations of a class or function."""
    try:
        return get_type_hints(thing)
    except (NameError, TypeError):  # names that only a type checker sees
        return {}


# ----------------------------------------------------------------------- kinds
_PLAIN: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    complex: (int, float, complex, np.number),
    str: (str,),
}
_SEQUENCES: dict[Any, tuple[type, ...]] = {
    tuple: (tuple,),
    list: (list,),
    **dict.fromkeys((Sequence, Iterable, Collection), (list, tuple, np.ndarray, str)),
}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says; where that is more than a class, so are its parts.

    Examples
    --------
    >>> fits([1, 2], list[int] | None), fits([1, "a"], list[int] | None), fits(True, float)
    (True, False, False)
    """
    if isinstance(hint, str):
        if value is None:
            return "None" in hint.split("|")
        return name_of(type(value)) is not None and type(value).__name__ in hint.split("|")
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if float in parts and isinstance(value, np.ndarray) and value.dtype.kind not in "biuf":
            return False  # where a number may be, an array has numbers
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in parts)
    cls: Any = origin or hint
    if cls is None:
        return value is None
    if cls in _PLAIN:
        return isinstance(value, _PLAIN[cls]) and (cls is bool or not isinstance(value, bool))
    if cls in _SEQUENCES:
        items: Any = value if isinstance(value, _SEQUENCES[cls]) else None
        if items is None or not parts or isinstance(items, str | np.ndarray):
            return items is not None
        if cls is tuple and parts[-1] is not Ellipsis:
            return len(items) == len(parts) and all(map(fits, items, parts))
        return all(fits(item, parts[0]) for item in items)
    if cls in (dict, Mapping):
        key, item = parts or (Any, Any)
        return isinstance(value, dict) and all(fits(k, key) and fits(v, item) for k, v in value.items())
    if cls is np.ndarray and parts and isinstance(value, np.ndarray):
        return np.issubdtype(value.dtype, get_args(parts[1])[0])
    return cls is Any or not inspect.isclass(cls) or isinstance(value, cls)
