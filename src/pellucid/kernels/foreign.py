"""Kernels that come from elsewhere: functions, ready matrices, scikit-learn's Gaussian-process kernels."""

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp

from pellucid.kernels.base import Kernel


class _Function(Kernel):
    """A user's function; nothing is known about it, so its matrices are checked."""

    parameters = ("function",)
    mercer = False

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"{type(self).__name__} needs a function, got {function!r}.")
        self.function = function

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # the function is opaque: a copy of it could carry much data, and would not be equal
        return copy.copy(self)

    def _key(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.function)

    def _formula(self, number: Any) -> str:
        return f"{type(self).__name__}({getattr(self.function, '__name__', repr(self.function))})"


class PairFunction(_Function):
    """A function of two rows that returns a number; rows may be any objects: strings, graphs, molecules.

    Parameters
    ----------
    function : callable
        ``function(x, y)`` returns a number, and must be symmetric and positive semi-definite.

    Examples
    --------
    >>> from pellucid.kernels import PairFunction
    >>> PairFunction(lambda a, b: len(set(a) & set(b)))(["spam", "ham", "eggs"])
    array([[4., 2., 1.],
           [2., 3., 0.],
           [1., 0., 3.]])
    """

    vectors = False

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(_dot)]

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = np.empty((len(X), len(Y)))
        for i, x in enumerate(X):
            for j, y in enumerate(Y):
                K[i, j] = K[j, i] if Y is X and j < i else self.function(x, y)
        return K

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.function(x, x) for x in X], dtype=float)


class GramFunction(_Function):
    """A function of two arrays that returns the whole matrix, such as those of ``sklearn.metrics.pairwise``.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns an array of shape ``(len(X), len(Y))``.
    """

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(_dots)]

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = np.array(self.function(X, Y), dtype=float, order="C")
        if K.shape != (len(X), len(Y)):
            raise ValueError(
                f"The kernel function returned an array of shape {K.shape}; expected {(len(X), len(Y))}. If "
                f"it takes two single rows, wrap it in pellucid.kernels.PairFunction."
            )
        return K


class Precomputed(Kernel):
    """The data are the kernel matrix: square when fitting, test rows by training rows when predicting."""

    mercer = False

    @classmethod
    def examples(cls) -> list[Kernel]:
        return []  # its values are its input: there is no law left to test

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.array(X, dtype=float, order="C")

    def _diag(self, X: np.ndarray) -> np.ndarray:
        if X.shape[0] != X.shape[1]:
            raise ValueError("With kernel='precomputed', k(x, x) of new rows is unknown.")
        return np.diagonal(X).astype(float)


class SklearnKernel(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, with its parameters and their gradients.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Any of them; parameters with fixed bounds stay fixed.
    """

    parameters = ("kernel",)

    def __init__(self, kernel: Any) -> None:
        self.kernel = clone(kernel)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(gp.ConstantKernel(2.0) * gp.RBF(0.8) + gp.DotProduct(1.0))]

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        K = self.kernel(_floats(X)) if Y is X else self.kernel(_floats(X), _floats(Y))
        return np.array(K, dtype=float, order="C")

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.array(self.kernel.diag(_floats(X)), dtype=float)

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        _, gradient = self.kernel(_floats(X), eval_gradient=True)
        return np.einsum("ij,ijk->k", W, gradient)

    def _own_theta(self) -> np.ndarray:
        return np.array(self.kernel.theta, dtype=float)

    def _own_theta_names(self) -> list[str]:
        return [
            hyper.name if hyper.n_elements == 1 else f"{hyper.name}[{i}]"
            for hyper in self.kernel.hyperparameters
            if not hyper.fixed
            for i in range(hyper.n_elements)
        ]

    def _take_theta(self, theta: np.ndarray) -> None:
        self.kernel = self.kernel.clone_with_theta(theta)

    def _own_params(self) -> dict[str, Any]:
        return self.kernel.get_params()

    def _update(self, **changes: Any) -> None:
        self.kernel.set_params(**changes)

    def _key(self) -> tuple[Any, ...]:
        return ("SklearnKernel", repr(self.kernel))

    def _formula(self, number: Any) -> str:
        return f"SklearnKernel({self.kernel!r})"


def from_sklearn(kernel: Any) -> Kernel:
    """Return a scikit-learn kernel as ours.

    ``gp.RBF() + k`` is answered by scikit-learn, with a sum of its own that has ``k`` inside; such sums,
    products and powers are taken apart and built anew.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not _holds_ours(kernel):
        return SklearnKernel(kernel)
    if isinstance(kernel, gp.Exponentiation):
        return from_sklearn(kernel.kernel) ** kernel.exponent
    left, right = from_sklearn(kernel.k1), from_sklearn(kernel.k2)
    return left + right if isinstance(kernel, gp.Sum) else left * right


def _holds_ours(kernel: Any) -> bool:
    if isinstance(kernel, gp.Exponentiation):
        return _holds_ours(kernel.kernel)
    if isinstance(kernel, gp.Sum | gp.Product):
        return _holds_ours(kernel.k1) or _holds_ours(kernel.k2)
    return isinstance(kernel, Kernel)


def _floats(X: Any) -> np.ndarray:
    return np.asarray(X, dtype=float)


def _dot(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.dot(_floats(x), _floats(y)))


def _dots(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return _floats(X) @ _floats(Y).T
