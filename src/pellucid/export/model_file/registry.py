"""Which classes a model file may hold, and which names their attributes may have.

Classes of ours are found by walking the layers, and have the name of their module in files, such as
``kernels.stationary.RBF``. A class that moves to another module of its layer is still found by files written
before; one that gets another name or layer is listed in :data:`RENAMED`. A name from a file is only ever
looked up here; nothing is imported because a file names it.

What is found are estimators, kernels, losses, dataclasses and named tuples, unless abstract. A class decides
otherwise for itself and its subclasses with ``_in_model_files = True`` or ``False``.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from types import MemberDescriptorType

from sklearn.base import BaseEstimator

from pellucid.kernels import Kernel
from pellucid.losses import Loss

LAYERS = ("linalg", "kernels", "losses", "data", "features", "solvers", "effects", "models", "preprocessing")

RENAMED = {
    "features.scaling.Column": "features.scaling.Warp",
    "features.table.Column": "data.table.Column",
    "models.glm_engine.AlphaChoice": "solvers.alpha_search.AlphaChoice",
    "models.additive_recipe.Recipe": "models.additive.refit_spec.RefitSpec",
}
"""Classes that have another name, or another layer, than in files of earlier versions."""

_SKLEARN = {
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler OneHotEncoder "
    "OrdinalEncoder RobustScaler StandardScaler",
    "sklearn.impute": "SimpleImputer",
    "sklearn.model_selection": "GroupKFold KFold LeaveOneOut StratifiedKFold",
    "sklearn.gaussian_process.kernels": "ConstantKernel DotProduct Exponentiation ExpSineSquared Matern "
    "Product RationalQuadratic RBF Sum WhiteKernel",
}
"""Classes of scikit-learn that occur in our models; none of them holds or calls a function that is given."""


@cache
def classes() -> dict[str, type]:
    """Every class that a model file may hold, by its name there."""
    found = {
        f"{cls.__module__.removeprefix('pellucid.')}.{cls.__name__}": cls
        for layer in LAYERS
        for cls in _defined_in(layer)
    }
    for module, names in _SKLEARN.items():
        for name in names.split():
            found[f"{module}.{name}"] = getattr(importlib.import_module(module), name)
    return found


@cache
def _names() -> dict[type, str]:
    return {cls: name for name, cls in classes().items()}


@cache
def _moved() -> dict[tuple[str, str], list[type]]:
    """Classes by layer and name, wherever in the layer they are."""
    found: dict[tuple[str, str], list[type]] = {}
    for name, cls in classes().items():
        found.setdefault((name.partition(".")[0], cls.__name__), []).append(cls)
    return found


def find(name: str) -> type | None:
    """The class that a file means: the one of that name or, if it has moved, the one its layer has."""
    if name in classes() or name.startswith("sklearn."):
        return classes().get(name)
    for now in (RENAMED.get(name), name):
        if now is not None:
            candidates = _moved().get((now.partition(".")[0], now.rpartition(".")[2]), [])
            if len(candidates) == 1:
                return candidates[0]
    return None


def name_of(cls: type) -> str | None:
    """Name of a class in model files, or ``None`` for a class that they may not hold."""
    return _names().get(cls)


def _defined_in(layer: str) -> Iterator[type]:
    package = importlib.import_module(f"pellucid.{layer}")
    modules = [package]
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.name.rpartition(".")[2].startswith("_"):  # faster versions on optional packages: no classes
            continue
        try:
            modules.append(importlib.import_module(info.name))
        except ImportError:  # needs a package that is not here, so no model here has its classes
            continue
    for module in modules:
        for cls in vars(module).values():
            if inspect.isclass(cls) and cls.__module__ == module.__name__ and _admissible(cls):
                yield cls


def _admissible(cls: type) -> bool:
    verdict = getattr(cls, "_in_model_files", None)
    if verdict is not None:
        return bool(verdict)
    known = is_dataclass(cls) or is_named_tuple(cls) or issubclass(cls, BaseEstimator | Kernel | Loss)
    return known and not inspect.isabstract(cls)


def is_named_tuple(cls: type) -> bool:
    """Whether a class was made by ``typing.NamedTuple``."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


# ------------------------------------------------------------------ attributes
def objection(cls: type, name: str) -> str | None:
    """Say why instances of a class may not have an attribute of their own by this name; ``None`` if they may.

    An attribute of the instance must not hide a method or property of the class, or stand for a special
    method: then an altered file could change what a model does, not only the numbers it does it with.
    """
    if not name.isidentifier() or len(name) > 100:
        return "is not a name"
    if name.startswith("__") and name.endswith("__"):
        return "is a special name"
    if is_named_tuple(cls):
        return None if name in cls._fields else "is not an attribute of this class"  # type: ignore[attr-defined]
    if is_dataclass(cls) and name in {field.name for field in fields(cls)}:  # the class may have its default
        return None
    missing = object()
    inherited = inspect.getattr_static(cls, name, missing)
    if inherited is missing:
        return None if cls.__dictoffset__ else "is not an attribute of this class"
    if isinstance(inherited, MemberDescriptorType):  # a slot
        return None
    if callable(inherited) or hasattr(type(inherited), "__get__"):
        return "would hide a method or property of the class"
    return None


def is_cache(cls: type, name: str) -> bool:
    """Whether an attribute is the stored value of a ``cached_property``, which is computed again."""
    return isinstance(inspect.getattr_static(cls, name, None), cached_property)
