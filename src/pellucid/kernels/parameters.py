"""The parameters of a tree of kernels: by name for grid search, as one vector of logarithms for gradients."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

if TYPE_CHECKING:
    from pellucid.kernels.base import Kernel


class Parameterized:
    """What kernels and their parts know of their parameters, whatever it is that they compute."""

    parameters: ClassVar[tuple[str, ...]] = ()
    """Names of the constructor's arguments, each stored under its own name."""
    hyperparameters: ClassVar[tuple[str, ...]] = ()
    """Those of ``parameters`` that are positive numbers and can be learned, on the log scale."""

    @property
    def children(self) -> tuple[Kernel, ...]:
        """The kernels this one is composed of."""
        return ()

    def _nodes(self) -> Iterator[Kernel]:
        """Yield this kernel and its parts, in reading order."""
        yield cast("Kernel", self)
        for child in self.children:
            yield from child._nodes()

    def parts(self) -> dict[str, Kernel]:
        """Return the parts with parameters by name: ``{"rbf": ..., "linear_1": ..., "linear_2": ...}``."""
        nodes = [node for node in self._nodes() if node.parameters]
        words = [_snake(type(node).__name__) for node in nodes]
        counter: dict[str, int] = {}
        named = {}
        for node, word in zip(nodes, words, strict=True):
            counter[word] = counter.get(word, 0) + 1
            named[f"{word}_{counter[word]}" if words.count(word) > 1 else word] = node
        return named

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; those of a composed kernel are prefixed by the name of their part."""
        if not self.children:
            return self._own_params()
        return {
            f"{part}__{name}": value
            for part, node in self.parts().items()
            for name, value in node._own_params().items()
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of :meth:`get_params`."""
        valid = self.get_params()
        unknown = [key for key in params if key not in valid]
        if unknown:
            raise ValueError(
                f"Invalid parameter {unknown[0]!r} for kernel {self}. "
                f"Valid parameters: {', '.join(valid) or 'none'}."
            )
        changes: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            part, _, name = key.partition("__") if self.children else ("", "", key)
            changes.setdefault(part, {})[name] = value
        parts = self.parts()
        for part, changed in changes.items():
            (parts[part] if part else self)._update(**changed)
        return self

    def _own_params(self) -> dict[str, Any]:
        """Parameters of this kernel without those of its parts."""
        return {name: getattr(self, name) for name in self.parameters}

    def _update(self, **changes: Any) -> None:
        """Take new values for some of ``parameters``, all of them or, should the constructor object, none."""
        vars(self).update(vars(type(self)(**(self._own_params() | changes))))

    def __sklearn_clone__(self) -> Self:
        return copy.deepcopy(self)

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of all hyperparameters, in reading order."""
        return np.concatenate([node._own_theta() for node in self._nodes()])

    @property
    def theta_names(self) -> list[str]:
        """A name for each entry of ``theta``."""
        return [
            f"{part}__{name}" if self.children else name
            for part, node in self.parts().items()
            for name in node._own_theta_names()
        ]

    def with_theta(self, theta: np.ndarray) -> Self:
        """Return a copy with other hyperparameters, given as logarithms."""
        theta = np.asarray(theta, dtype=float)
        if theta.shape != self.theta.shape:
            raise ValueError(
                f"theta has {theta.size} entries, but the kernel {self} needs {self.theta_names}."
            )
        new = copy.deepcopy(self)
        nodes = list(new._nodes())
        ends = np.cumsum([len(node._own_theta()) for node in nodes])
        for node, own in zip(nodes, np.split(theta, ends[:-1]), strict=True):
            node._take_theta(own)
        return new

    def _own_theta(self) -> np.ndarray:
        """Logarithms of the hyperparameters of this kernel without those of its parts."""
        values = [np.ravel(getattr(self, name)) for name in self.hyperparameters]
        return np.log(np.concatenate(values)) if values else np.zeros(0)

    def _own_theta_names(self) -> list[str]:
        names = []
        for name in self.hyperparameters:
            value = getattr(self, name)
            names += [f"{name}[{i}]" for i in range(np.size(value))] if np.ndim(value) else [name]
        return names

    def _take_theta(self, theta: np.ndarray) -> None:
        """Take new logarithms of what :meth:`_own_theta` returns."""
        start = 0
        for name in self.hyperparameters:
            old = getattr(self, name)
            value = np.exp(theta[start : start + np.size(old)])
            setattr(self, name, value if np.ndim(old) else float(value[0]))
            start += np.size(old)

    def with_ard(self, n_columns: int) -> Self:
        """Return a copy in which every part that has a ``length_scale`` has one per column it sees."""
        new = copy.deepcopy(self)
        new._widen(n_columns)
        return new

    def _widen(self, n_columns: int) -> None:
        name = "length_scale"
        if name in self.hyperparameters and np.ndim(getattr(self, name)) == 0:
            setattr(self, name, np.full(n_columns, float(getattr(self, name))))
        for child in self.children:
            child._widen(n_columns)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
