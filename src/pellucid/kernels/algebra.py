"""Kernels made of kernels: sums, products, powers, exponentials."""

import copy
from abc import abstractmethod
from collections.abc import Iterator
from math import comb, prod
from typing import Any, ClassVar

import numpy as np

from pellucid.kernels.base import Kernel, as_operand
from pellucid.kernels.checks import whole
from pellucid.kernels.discrete import Constant
from pellucid.kernels.dot import Linear, monomials
from pellucid.kernels.stationary import RBF


class _Composed(Kernel):
    """A kernel made of others, which are what decides whether it can be trusted and what rows it takes."""

    _compares_sparse = True

    @property
    def mercer(self) -> bool:  # type: ignore[override]
        return all(k.mercer for k in self.children)

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return all(k.vectors for k in self.children)


class _Composite(_Composed):
    """Two or more operands of one kind; operands of the same kind are merged, others never."""

    _symbol: ClassVar[str]

    def __init__(self, *operands: Kernel | float) -> None:
        flat: list[Kernel] = []
        for operand in operands:
            kernel = as_operand(operand)
            if kernel is None:
                raise TypeError(f"{type(self).__name__} takes kernels and numbers, got {operand!r}.")
            flat.extend(kernel.children if type(kernel) is type(self) else [kernel])
        if len(flat) < 2:
            raise TypeError(f"{type(self).__name__} needs at least two operands, got {len(flat)}.")
        self.operands = tuple(copy.deepcopy(kernel) for kernel in flat)

    @classmethod
    def examples(cls) -> list[Kernel]:
        a, b, c = RBF(0.7), Linear(1.3), Constant(0.4)
        return [cls(a, b), cls(a, cls(b, c))]

    @property
    def children(self) -> tuple[Kernel, ...]:
        return self.operands

    def _key(self) -> tuple[Any, ...]:
        return (type(self).__name__, *sorted((k._key() for k in self.operands), key=repr))

    def _formula(self, number: Any) -> str:
        constants = sum(isinstance(k, Constant) for k in self.operands)
        pieces = []
        for k in self.operands:
            text = k._formula(number)
            if isinstance(k, Constant) and constants == 1:
                text = number(k.value)
            pieces.append(f"({text})" if k._binding <= self._binding else text)
        return f" {self._symbol} ".join(pieces)


class Sum(_Composite):
    """The sum of kernels: similar in any of several ways.

    Examples
    --------
    >>> from pellucid.kernels import RBF, Linear
    >>> RBF() + 0.5 * Linear()
    RBF(length_scale=1.0) + 0.5 * Linear(length_scale=1.0)
    """

    _symbol = "+"
    _binding = 1

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = self.operands[0]._gram(X, Y)
        for k in self.operands[1:]:
            K += k._gram(X, Y)
        return K

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.sum([k._diag(X) for k in self.operands], axis=0)

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        return np.concatenate([k.parameter_gradient(X, W) for k in self.operands])

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        for columns in zip(*(k.input_gradients(X, Y) for k in self.operands), strict=True):
            yield sum(columns[1:], start=columns[0])

    def feature_count(self, n_columns: int) -> int | None:
        counts = [k.feature_count(n_columns) for k in self.operands]
        return None if None in counts else sum(c for c in counts if c is not None)

    def features(self, X: np.ndarray) -> np.ndarray:
        return np.hstack([k.features(X) for k in self.operands])


class Product(_Composite):
    """The product of kernels: similar in all of several ways at once.

    Examples
    --------
    >>> from pellucid.kernels import RBF, Periodic
    >>> 2.0 * RBF(3.0) * Periodic(period=7.0)
    2.0 * RBF(length_scale=3.0) * Periodic(period=7.0, length_scale=1.0)
    """

    _symbol = "*"
    _binding = 2

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = self.operands[0]._gram(X, Y)
        for k in self.operands[1:]:
            K *= k.value if isinstance(k, Constant) else k._gram(X, Y)
        return K

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.prod([k._diag(X) for k in self.operands], axis=0)

    def _others(self, X: np.ndarray, Y: np.ndarray) -> Iterator[tuple[Kernel, np.ndarray | float]]:
        """Each operand with the product of all the others."""
        values = [k.value if isinstance(k, Constant) else k._gram(X, Y) for k in self.operands]
        for i, k in enumerate(self.operands):
            rest: np.ndarray | float = 1.0
            for value in values[:i] + values[i + 1 :]:
                rest = rest * value
            yield k, rest

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        return np.concatenate([k.parameter_gradient(X, W * rest) for k, rest in self._others(X, X)])

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        varying = [(k, rest) for k, rest in self._others(X, Y) if not isinstance(k, Constant)]
        if not varying:
            yield from self.operands[0].input_gradients(X, Y)
            return
        for columns in zip(*(k.input_gradients(X, Y) for k, _ in varying), strict=True):
            terms = [rest * column for column, (_, rest) in zip(columns, varying, strict=True)]
            yield sum(terms[1:], start=terms[0])

    def feature_count(self, n_columns: int) -> int | None:
        counts = [k.feature_count(n_columns) for k in self.operands]
        return None if None in counts else prod(c for c in counts if c is not None)

    def features(self, X: np.ndarray) -> np.ndarray:
        Phi = self.operands[0].features(X)
        for k in self.operands[1:]:
            Phi = (Phi[:, :, None] * k.features(X)[:, None, :]).reshape(len(X), -1)
        return Phi


class _Wrapper(_Composed):
    """One kernel seen through something else."""

    def __init__(self, base: Kernel) -> None:
        self.base = copy.deepcopy(base)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(RBF(0.7)), cls(RBF(0.7) + Linear(2.0))]

    @property
    def children(self) -> tuple[Kernel, ...]:
        return (self.base,)

    def _inner(self, number: Any) -> str:
        text = self.base._formula(number)
        return f"({text})" if self.base._binding < 4 else text


class _Transformed(_Wrapper):
    """A function of the values of one kernel."""

    @abstractmethod
    def _transform(self, K: np.ndarray) -> np.ndarray:
        """Apply the function to each value."""

    @abstractmethod
    def _slope(self, K: np.ndarray) -> np.ndarray:
        """Return the derivative of the function at each value."""

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self._transform(self.base._gram(X, Y))

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return self._transform(self.base._diag(X))

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        return self.base.parameter_gradient(X, W * self._slope(self.base._gram(X, X)))

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        slope = self._slope(self.base._gram(X, Y))
        for gradient in self.base.input_gradients(X, Y):
            yield slope * gradient


class Power(_Transformed):
    """A kernel to a whole power, ``k ** exponent``."""

    parameters = ("exponent",)
    _binding = 3

    def __init__(self, base: Kernel, exponent: int = 2) -> None:
        super().__init__(base)
        self._update(exponent=exponent)

    def _update(self, **changes: Any) -> None:
        self.exponent = whole(changes["exponent"], "The exponent of a kernel")

    def _formula(self, number: Any) -> str:
        return f"{self._inner(number)} ** {self.exponent}"

    def _transform(self, K: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # infinity is reported by whoever uses the matrix
            return K**self.exponent

    def _slope(self, K: np.ndarray) -> np.ndarray:
        return self.exponent * K ** (self.exponent - 1)

    def feature_count(self, n_columns: int) -> int | None:
        count = self.base.feature_count(n_columns)
        return None if count is None else comb(count + self.exponent - 1, self.exponent)

    def features(self, X: np.ndarray) -> np.ndarray:
        return monomials(self.base.features(X), self.exponent)


class Exponential(_Transformed):
    """The exponential of a kernel, ``k.exp()``."""

    def _formula(self, number: Any) -> str:
        return f"{self._inner(number)}.exp()"

    def _transform(self, K: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # infinity is reported by whoever uses the matrix
            return np.exp(K)

    _slope = _transform
