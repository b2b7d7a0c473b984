r"""Kernels of dot products: linear, polynomial, and the neural tangent kernel.

Rows are first shifted and scaled, :math:`u = (x - o) / \ell`. A kernel is then a function
:math:`g(t, a, b)` of :math:`t = u^T v`, :math:`a = \|u\|^2` and :math:`b = \|v\|^2`, symmetric in the last
two, with :math:`\partial k/\partial u_c = g_t v_c + 2 g_a u_c`.
"""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar, Self

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import Floats, finite_or_vector, matches_columns, not_negative, positive, whole
from pellucid.kernels.scaled import _Scaled
from pellucid.linalg import is_sparse
from pellucid.linalg.sparse_rows import sparse_pair


class _DotProduct(_Scaled):
    """A function of the dot product and the norms; subclasses give ``_value`` and ``_slopes``."""

    parameters: ClassVar[tuple[str, ...]] = ("length_scale", "origin")
    _quiet = ("origin",)
    _compares_sparse = True

    def __init__(self, length_scale: Floats = 1.0, origin: Floats = 0.0) -> None:
        super().__init__(length_scale)
        self.origin = finite_or_vector(origin, "origin")

    @abstractmethod
    def _value(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return ``g(t, a, b)``; may overwrite ``t``."""

    @abstractmethod
    def _slopes(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return ``∂g/∂t`` and ``∂g/∂a``."""

    def _scaled(self, X: Any) -> Any:
        matches_columns(self.length_scale, "length_scale", X)
        matches_columns(self.origin, "origin", X)
        if is_sparse(X):
            return X.shifted(self.origin).scaled(self.length_scale)
        return (np.asarray(X, dtype=float) - self.origin) / self.length_scale

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # infinity is reported by whoever uses the matrix
            return self._value(*self._products(X, Y))

    def _products(self, X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Dot products ``t``, and squared norms ``a`` and ``b``."""
        A, B = sparse_pair(X, Y) or (X, Y)
        U = self._scaled(A)
        V = U if B is A else self._scaled(B)
        t = U.products(V) if is_sparse(U) else U @ V.T
        return t, _norms(U)[:, None], _norms(V)

    def _diag(self, X: np.ndarray) -> np.ndarray:
        a = _norms(self._scaled(X))
        with np.errstate(over="ignore", invalid="ignore"):
            return self._value(a.copy(), a, a)

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        g_t, g_a = self._slopes(*self._products(X, X))
        own = np.sum(W * g_a, axis=1) + np.sum(W.T * g_a, axis=1)  # g_b(i, j) = g_a(j, i)
        U, M = self._scaled(X), W * g_t
        blocks = (b for _, b in U.column_blocks()) if is_sparse(U) else iter([U])
        parts = [np.einsum("ic,ic->c", B, M @ B) + own @ B**2 for B in blocks]
        return self._by_length_scale(-2.0 * np.concatenate(parts))

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        U, V = self._scaled(X), self._scaled(Y)
        g_t, g_a = self._slopes(U @ V.T, _norms(U)[:, None], _norms(V))
        for u, v, ell in zip(U.T, V.T, self._scales(X), strict=True):
            yield (g_t * v + 2.0 * g_a * u[:, None]) / ell


class Linear(_DotProduct):
    r"""The linear kernel, :math:`k(x, y) = (x - o)^T (y - o) / \ell^2`; kernel ridge with it is plain ridge.

    Parameters
    ----------
    length_scale : float or array of shape (n_columns,), default=1.0
        Unit in which each column is measured. A larger one shrinks the column's coefficient more.
    origin : float or array of shape (n_columns,), default=0.0
        The point ``o`` that counts as zero. Of no consequence when an intercept is fitted.
    """

    def _value(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return t

    def _slopes(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Any]:
        return np.ones_like(t), np.zeros_like(t)

    def feature_count(self, n_columns: int) -> int | None:
        return n_columns

    def features(self, X: np.ndarray) -> np.ndarray:
        return self._scaled(X)


class Polynomial(_DotProduct):
    r"""The polynomial kernel, :math:`k(x, y) = (c + u^T v)^d`.

    Here :math:`u = (x - o)/\ell` and :math:`v = (y - o)/\ell`.

    Parameters
    ----------
    degree : int, default=3
        The degree ``d``: products of up to ``d`` columns.
    length_scale : float or array of shape (n_columns,), default=1.0
        Unit in which each column is measured. A larger one puts more weight on the terms of low degree.
    bias : float, default=1.0
        The constant ``c``. Zero gives the homogeneous kernel, with terms of degree ``d`` alone.
    origin : float or array of shape (n_columns,), default=0.0
        The point ``o`` that counts as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.kernels import Polynomial
    >>> Polynomial(degree=2)(np.array([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    parameters = ("degree", "length_scale", "bias", "origin")

    def __init__(
        self, degree: int = 3, length_scale: Floats = 1.0, bias: float = 1.0, origin: Floats = 0.0
    ) -> None:
        super().__init__(length_scale, origin)
        self.degree = whole(degree, "degree")
        self.bias = not_negative(bias, "bias")

    @classmethod
    def from_gamma(cls, gamma: float, degree: int = 3, coef0: float = 1.0) -> Self:
        """Return the kernel ``(gamma · xᵀy + coef0) ** degree``, scikit-learn's parameters."""
        return cls(degree, length_scale=positive(gamma, "gamma") ** -0.5, bias=coef0)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(3, length_scale=2.0, bias=0.0), cls(2, length_scale=1.5, bias=0.3, origin=0.5)]

    def _value(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        t += self.bias
        return t**self.degree

    def _slopes(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Any]:
        return self.degree * (t + self.bias) ** (self.degree - 1), np.zeros_like(t)

    def feature_count(self, n_columns: int) -> int | None:
        return comb(n_columns + (self.bias > 0) + self.degree - 1, self.degree)

    def features(self, X: np.ndarray) -> np.ndarray:
        U = self._scaled(X)
        if self.bias > 0:
            U = np.column_stack([U, np.full(len(U), np.sqrt(self.bias))])
        return monomials(U, self.degree)


class NTK(_DotProduct):
    r"""The neural tangent kernel of a fully connected ReLU network of infinite width.

    With the angle cosine :math:`\rho` of the two rows (a constant input :math:`\sqrt{c}` appended),
    :math:`\sigma_0 = \theta_0 = \rho` and

    .. math::
        \sigma_{l+1} = \kappa_1(\sigma_l), \quad \theta_{l+1} = \sigma_{l+1} + \theta_l\, \kappa_0(\sigma_l),

    where :math:`\kappa_0(u) = (\pi - \arccos u)/\pi` and
    :math:`\kappa_1(u) = (u(\pi - \arccos u) + \sqrt{1 - u^2})/\pi`, the value is
    :math:`\|x\|\|y\|\,\theta_{depth}`.

    Parameters
    ----------
    depth : int, default=2
        Number of hidden layers.
    length_scale : float or array of shape (n_columns,), default=1.0
        Unit in which each column is measured.
    bias : float, default=1.0
        Square of the constant input. Zero gives a network without biases.
    origin : float or array of shape (n_columns,), default=0.0
        The point that counts as zero.

    References
    ----------
    Jacot, Gabriel and Hongler (2018), Neural tangent kernel: convergence and generalization in neural
    networks.
    """

    parameters = ("depth", "length_scale", "bias", "origin")

    def __init__(
        self, depth: int = 2, length_scale: Floats = 1.0, bias: float = 1.0, origin: Floats = 0.0
    ) -> None:
        super().__init__(length_scale, origin)
        self.depth = whole(depth, "depth")
        self.bias = not_negative(bias, "bias")

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(depth=1, bias=0.0), cls(depth=3, length_scale=2.0, bias=0.5)]

    def _cosine(
        self, t: np.ndarray, a: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y = np.sqrt(a + self.bias), np.sqrt(b + self.bias)
        size = x * y
        rho = np.divide(t + self.bias, size, out=np.zeros_like(size * t), where=size > 0)
        # rounding keeps identical rows a hair below 1, where the kernel has a kink: 4e-15 below 1 is 9e-8
        # away in angle
        rho[rho > 1.0 - 4e-15] = 1.0
        return np.clip(rho, -1.0, 1.0), x, y

    def _value(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        rho, x, y = self._cosine(t, a, b)
        sigma = theta = rho
        for _ in range(self.depth):
            sigma, theta = _kappa1(sigma), _kappa1(sigma) + theta * _kappa0(sigma)
        return x * y * theta

    def _slopes(self, t: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Any]:
        rho, x, y = self._cosine(t, a, b)
        sigma, theta = rho, rho
        d_sigma = d_theta = np.ones_like(rho)  # derivatives with respect to ρ
        for _ in range(self.depth):
            flat = np.sqrt(np.maximum(1.0 - sigma**2, 0.0))
            # κ0', zero at the kink
            slope0 = np.divide(1.0, np.pi * flat, out=np.zeros_like(flat), where=flat > 1e-8)
            k0 = _kappa0(sigma)
            d_theta = k0 * d_sigma + d_theta * k0 + theta * slope0 * d_sigma
            sigma, theta, d_sigma = _kappa1(sigma), _kappa1(sigma) + theta * k0, k0 * d_sigma
        # k = x y θ(ρ), ρ = (t + c)/(x y), x² = a + c
        ratio = np.divide(y, x, out=np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y))), where=x > 0)
        return d_theta, 0.5 * ratio * (theta - rho * d_theta)


def _kappa0(u: np.ndarray) -> np.ndarray:
    return 1.0 - np.arccos(u) / np.pi


def _kappa1(u: np.ndarray) -> np.ndarray:
    return np.clip(u * _kappa0(u) + np.sqrt(np.maximum(1.0 - u * u, 0.0)) / np.pi, -1.0, 1.0)


def _norms(U: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        return U.squares() if is_sparse(U) else np.einsum("ij,ij->i", U, U)


def monomials(Phi: np.ndarray, degree: int) -> np.ndarray:
    """Features of ``(φᵀψ)^degree``: all monomials of that degree, times roots of multinomial coefficients."""
    columns = []
    for chosen in combinations_with_replacement(range(Phi.shape[1]), degree):
        repeats = prod(factorial(chosen.count(i)) for i in set(chosen))
        columns.append(np.sqrt(factorial(degree) / repeats) * np.prod(Phi[:, chosen], axis=1))
    return np.column_stack(columns)
