"""Everything that is accepted where a kernel is expected."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as _SklearnGPKernel

from pellucid.kernels.additive import AdditivePairs
from pellucid.kernels.base import Kernel, as_rows
from pellucid.kernels.dot import NTK, Linear, Polynomial
from pellucid.kernels.foreign import GramFunction, PairFunction, Precomputed, from_sklearn
from pellucid.kernels.product import Laplacian
from pellucid.kernels.stationary import RBF, Matern, RationalQuadratic


@dataclass(frozen=True)
class Alias:
    """A kernel known by name, whose length-scales are taken from the data.

    ``build(scale, center)`` makes the kernel; ``growth`` is the power of the number of columns with which the
    distance between two rows grows; ``searched`` says whether the length-scale matters beyond the ridge;
    ``rotatable`` whether the kernel sees scaled rows only through distances and products.
    """

    build: Callable[[np.ndarray, np.ndarray], Kernel]
    growth: float = 0.5
    searched: bool = True
    rotatable: bool = True


ALIASES: dict[str, Alias] = {
    "rbf": Alias(lambda scale, center: RBF(scale)),
    "matern": Alias(lambda scale, center: Matern(scale, nu=1.5)),
    "rational_quadratic": Alias(lambda scale, center: RationalQuadratic(scale)),
    "laplacian": Alias(lambda scale, center: Laplacian(scale), growth=1.0, rotatable=False),
    "linear": Alias(lambda scale, center: Linear(scale, center), growth=0.0, searched=False),
    "polynomial": Alias(lambda scale, center: Polynomial(3, scale, 1.0, center)),
    "ntk": Alias(lambda scale, center: NTK(2, scale, 1.0, center)),
    "additive_pairs": Alias(lambda scale, center: AdditivePairs("rbf", scale), growth=0.0, rotatable=False),
}
ALIASES["gaussian"] = ALIASES["rbf"]
ALIASES["poly"] = ALIASES["polynomial"]


def as_kernel(kernel: Any, X: Any = None) -> Kernel:
    """Return a :class:`Kernel` for anything that is accepted as one, names excepted.

    Parameters
    ----------
    kernel : Kernel, "precomputed", callable, or scikit-learn Gaussian-process kernel
        A callable may take two arrays of rows and return the whole matrix, or two single rows and return a
        number; which of the two is found out by trying it on a few rows of ``X``.
    X : sequence of rows, optional
        Rows to try a callable on.

    Examples
    --------
    >>> from pellucid.kernels import as_kernel
    >>> as_kernel(lambda x, y: float(x @ y), [[1.0, 2.0], [3.0, 4.0]])
    PairFunction(<lambda>)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, _SklearnGPKernel):
        return from_sklearn(kernel)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return Precomputed()
        raise ValueError(
            f"Unknown kernel {kernel!r}. Known names: {', '.join(sorted(ALIASES))}, precomputed. Kernels "
            f"with other parameters are built from pellucid.kernels, such as RBF(2.0) + Linear()."
        )
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"Pass a kernel, not its class: {kernel.__name__}() instead of {kernel.__name__}.")
    if callable(kernel):
        return GramFunction(kernel) if _takes_arrays(kernel, X) else PairFunction(kernel)
    raise TypeError(f"Expected a kernel, a name, 'precomputed' or a function, got {kernel!r}.")


def _takes_arrays(function: Callable[..., Any], X: Any) -> bool:
    """Whether ``function`` maps two arrays of rows to a matrix, tried on two and three rows (or fewer).

    The shape alone does not tell: for ``x @ y`` and three columns it happens to be right. So where single
    rows work as well, the matrix must hold their values.
    """
    try:
        X = as_rows(X)
    except ValueError:  # rows of unequal lengths
        return False
    if X.ndim != 2 or len(X) == 0:
        return False
    few, more = X[:2], X[:3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one of the two ways of calling is expected to go wrong
        try:
            matrix = np.asarray(function(few, more))
        except Exception:  # whatever a function of single rows does when it is given arrays
            return False
        if matrix.shape != (len(few), len(more)):
            return False
        try:
            values = np.array([[function(x, y) for y in more] for x in few], dtype=float)
        except Exception:  # whatever a function of arrays does when it is given single rows
            return True
    return values.shape != matrix.shape or np.allclose(values, matrix, equal_nan=True)
