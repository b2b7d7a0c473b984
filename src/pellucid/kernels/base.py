"""What a kernel is: values, diagonal, derivatives, parameters, and operators that build new kernels."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as _SklearnGPKernel

from pellucid.kernels.parameters import Parameterized
from pellucid.linalg import SparseRows

REGISTRY: dict[str, type[Kernel]] = {}
"""Every concrete kernel class by name, filled as classes are defined; the law tests run over it."""


class Kernel(Parameterized, ABC):
    """A symmetric function of two rows whose Gram matrices have no negative eigenvalues.

    ``k(X)`` is the Gram matrix of the rows of ``X``, ``k(X, Y)`` the matrix between two sets of rows,
    ``k.diag(X)`` the diagonal alone. Kernels compose: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``, ``k ** 2``,
    ``k.exp()``, ``k.on(["age"])``. A composed kernel prints as the formula that was typed, compares equal
    up to the order of operands, and names its parameters after its parts (``rbf__length_scale``,
    ``rbf_2__length_scale``), ready for ``get_params``, ``set_params`` and grid search. Operands are copied,
    so changing one kernel never changes another.

    A new kernel needs ``__init__``, ``parameters`` and ``_gram``; the rest has working defaults or says
    clearly that it is missing.
    """

    mercer: bool = True
    """Whether Gram matrices are positive semi-definite by construction, so that nobody needs to check."""
    vectors: bool = True
    """Whether rows are numeric vectors; ``False`` lets strings, graphs and other objects through."""

    def __init_subclass__(cls, *, register: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if register and not cls.__name__.startswith("_"):
            REGISTRY[cls.__name__] = cls

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Instances on which the laws of kernels are tested, by default the one built without arguments."""
        return [cls()]

    @classmethod
    def example_rows(cls) -> list[Any] | None:
        """Objects on which the laws are tested; ``None`` where numeric vectors do."""
        return None

    # ---------------------------------------------------------------- values
    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Gram matrix of ``X``, or matrix of values between ``X`` and ``Y``; a float for two single rows."""
        if self.vectors and _is_row(X) and _is_row(Y):
            return float(self._gram(as_rows(X)[None, :], as_rows(Y)[None, :])[0, 0])
        names, other = column_names(X), column_names(Y)
        if names and other and names != other:
            raise ValueError(
                f"X and Y must have the same columns in the same order, got {names} and {other}."
            )
        kernel = self.bind(names)
        A = kernel._rows(X)
        return kernel._gram(A, A if Y is None or Y is X else kernel._rows(Y))

    def diag(self, X: Any) -> np.ndarray:
        """Return the values ``k(x_i, x_i)``."""
        kernel = self.bind(column_names(X))
        return kernel._diag(kernel._rows(X))

    @abstractmethod
    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Matrix of values, freshly allocated, float64; ``Y is X`` for a Gram matrix."""

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.array([self._gram(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))])

    def _rows(self, X: Any) -> np.ndarray:
        if not self.vectors:
            return self.read_objects(object_rows(X))
        X = SparseRows.of(X) if self.takes_sparse and hasattr(X, "toarray") else as_rows(X)
        if X.ndim != 2:
            raise ValueError(
                f"Expected a 2-D array of rows, got {X.ndim} dimension(s). Use X.reshape(-1, 1) for a single "
                f"feature or X.reshape(1, -1) for a single row."
            )
        return X

    def bind(self, names: Sequence[str] | None) -> Self:
        """Return this kernel with the columns that ``on`` named looked up among ``names``."""
        if names is None or not any(node._names_columns() for node in self._nodes()):
            return self
        bound = copy.deepcopy(self)
        bound._look_up(list(names))
        return bound

    def _names_columns(self) -> bool:
        return False

    def _look_up(self, names: list[str]) -> None:
        """Find named columns among ``names``, the columns that this part of the kernel sees."""
        for child in self.children:
            child._look_up(names)

    @property
    def reads_levels(self) -> bool:
        """Whether some part compares levels of categories, so that columns may hold strings."""
        return any(node._compares_levels for node in self._nodes())

    _compares_levels: ClassVar[bool] = False

    @property
    def takes_sparse(self) -> bool:
        """Whether every part compares sparse rows without filling them in."""
        return all(node._compares_sparse for node in self._nodes())

    _compares_sparse: ClassVar[bool] = False

    @property
    def reads_objects(self) -> bool:
        """Whether some part compares objects: strings, graphs, molecules."""
        return any(node._is_of_objects for node in self._nodes())

    worth_trying: ClassVar[tuple[tuple[str, tuple[Any, ...]], ...]] = ()
    """Parameters that leave-one-out should choose where nobody does, with the values to try."""

    _is_of_objects: ClassVar[bool] = False  # a kernel of single objects, one in each row

    def _takes_objects(self) -> bool:
        """Whether this kernel expects one object per row, rather than a table with such a column."""
        return self._is_of_objects or any(child._takes_objects() for child in self.children)

    def read_objects(self, rows: np.ndarray) -> np.ndarray:
        """Return rows with their objects checked, in the form in which kernels compare and models keep them.

        Objects that cannot be read raise an error that names the row.
        """
        for child in self.children:
            if child.reads_objects:
                rows = child.read_objects(rows)
        return rows

    # ----------------------------------------------------------- derivatives
    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Contract derivatives with respect to ``theta``: ``Σ_ij W_ij ∂k(x_i, x_j)/∂θ_k`` for every ``k``.

        A scalar function of the Gram matrix with gradient ``W`` has this gradient in the log-parameters.
        Contracting at once needs one matrix of extra memory, however many parameters there are.
        """
        if not self.hyperparameters:
            return np.zeros(0)
        raise self._missing("derivatives with respect to its parameters")

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        """Yield, column by column, the matrix ``∂k(x_i, y_j)/∂x_ic``."""
        raise self._missing("derivatives with respect to the inputs")

    # ------------------------------------------------------- explicit features
    def feature_count(self, n_columns: int) -> int | None:
        """Return the number of explicit features, or ``None`` where there is no finite feature map."""
        return None

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return ``Φ`` with ``Φ Φᵀ = k(X)``."""
        raise self._missing("finite set of explicit features")

    # -------------------------------------------------------- random features
    def sample_frequencies(self, n: int, dim: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw ``n`` frequencies ``ω`` in ``dim`` columns such that ``k(x, y) = E cos(ωᵀ(x − y))``.

        By Bochner's theorem every continuous kernel of the difference ``x − y`` with ``k(x, x) = 1`` has such
        a distribution, its spectral measure. The result has shape (n, dim).
        """
        raise self._missing(
            "spectral sampler, so there are no random Fourier features for it. Kernels that have one: RBF, "
            "Matern, RationalQuadratic, Laplacian"
        )

    def _missing(self, what: str) -> TypeError:
        return TypeError(f"The kernel {self} has no {what}.")

    # ---------------------------------------------------------------- algebra
    # NumPy's numbers leave ``2.0 * k`` to the kernel, and its arrays do not multiply element-wise
    __array_ufunc__ = None

    def __add__(self, other: Any) -> Kernel:
        return _combine("Sum", self, other)

    def __radd__(self, other: Any) -> Kernel:
        return _combine("Sum", other, self)

    def __mul__(self, other: Any) -> Kernel:
        return _combine("Product", self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return _combine("Product", other, self)

    def __pow__(self, exponent: int) -> Kernel:
        from pellucid.kernels.algebra import Power

        return Power(self, exponent)

    def exp(self) -> Kernel:
        """Return the kernel ``exp(k(x, y))``."""
        from pellucid.kernels.algebra import Exponential

        return Exponential(self)

    def on(self, columns: Sequence[str | int]) -> Kernel:
        """Return this kernel restricted to some columns, by name or number.

        Examples
        --------
        >>> from pellucid.kernels import RBF, Linear
        >>> RBF().on(["age"]) + Linear().on([0, 2])
        RBF(length_scale=1.0).on(['age']) + Linear(length_scale=1.0).on([0, 2])
        """
        from pellucid.kernels.restrict import Restricted

        return Restricted(self, columns)

    # --------------------------------------------------------------- identity
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self._key() == other._key()

    __hash__ = None  # type: ignore[assignment]  # parameters can be set, so a hash would not be stable

    def _key(self) -> tuple[Any, ...]:
        """Structure and parameters as nested tuples; the same for kernels that are equal."""
        own = (_hashable(getattr(self, name)) for name in self.parameters)
        return (type(self).__name__, *own, *(child._key() for child in self.children))

    def __repr__(self) -> str:
        return self._formula(_exact)

    def __str__(self) -> str:
        return self._formula(_short)

    def _formula(self, number: Any) -> str:
        shown = {k: v for k, v in self._own_params().items() if k not in self._quiet or np.ndim(v) or v}
        arguments = ", ".join(f"{name}={number(value)}" for name, value in shown.items())
        return f"{type(self).__name__}({arguments})"

    _quiet: ClassVar[tuple[str, ...]] = ()  # parameters not worth printing while they are zero
    _binding: ClassVar[int] = 4  # how tightly the printed formula binds: 1 sum, 2 product, 3 power, 4 calls


# scikit-learn evaluates a callable kernel row by row, unless it is one of its own Gaussian-process kernels.
# Registering ours as a virtual subclass gives KernelPCA, SpectralClustering and ``pairwise_kernels`` whole
# Gram matrices at once.
_SklearnGPKernel.register(Kernel)


def as_operand(value: Any) -> Kernel | None:
    """Return a kernel for a kernel, ours or scikit-learn's, or for a number; ``None`` for anything else."""
    if isinstance(value, _SklearnGPKernel):  # which ours count as, see above
        from pellucid.kernels.foreign import from_sklearn

        return from_sklearn(value)
    if not isinstance(value, bool) and isinstance(value, Real):
        from pellucid.kernels.discrete import Constant

        return Constant(float(value))
    return None


def _combine(kind: str, left: Any, right: Any) -> Kernel:
    from pellucid.kernels import algebra

    if kind == "Sum":  # so that sum([k1, k2]) works
        if isinstance(left, Real) and left == 0:
            return copy.deepcopy(right)
        if isinstance(right, Real) and right == 0:
            return copy.deepcopy(left)
    operands = as_operand(left), as_operand(right)
    if operands[0] is None or operands[1] is None:
        return NotImplemented
    return getattr(algebra, kind)(*operands)


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a pandas, polars or Arrow table; ``None`` if some are not strings."""
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is None or callable(names):
        return None
    names = list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def object_rows(X: Any) -> np.ndarray:
    """Return any objects as a one-dimensional object array; tables keep their two dimensions."""
    if hasattr(X, "shape"):  # arrays, data frames, sparse matrices
        return as_rows(X)
    if isinstance(X, str | bytes | Mapping):  # its letters or keys are not rows
        raise TypeError(f"Expected rows, got one {type(X).__name__}. For a single object, pass a list of it.")
    rows = np.empty(len(X), dtype=object)
    for i, row in enumerate(X):
        rows[i] = row
    return rows


def as_rows(X: Any) -> np.ndarray:
    """Return a table, sparse or dense, with or without names, as an array."""
    if hasattr(X, "toarray"):  # sparse matrices and arrays
        X = X.toarray()
    return np.asarray(X)


def _is_row(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 1


def _hashable(value: Any) -> Any:
    return tuple(np.ravel(value).tolist()) if isinstance(value, np.ndarray | list | tuple) else value


def _exact(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = [f"{v:.4g}" for v in value]
        return "[" + ", ".join(shown if len(shown) <= 8 else [*shown[:6], f"... {len(shown)} values"]) + "]"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
