r"""Kernels of the scaled distance: :math:`k(x, y) = h(s)` with :math:`s = \sum_c (x_c - y_c)^2 / \ell_c^2`.

A kernel here is its profile ``h`` and the derivative ``h'``; those that are twice differentiable at zero
distance have ``h''`` too. Everything else follows, with :math:`d_c = x_c - y_c`:

.. math::
    \partial k/\partial x_c = 2 h'(s)\, d_c / \ell_c^2, \qquad
    \partial k/\partial \log \ell_c = -2 h'(s)\, d_c^2 / \ell_c^2 .
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Self

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import Floats, matches_columns, positive
from pellucid.kernels.scaled import _Scaled
from pellucid.linalg import (
    contract_squared_differences,
    for_each_block,
    scaled_squared_distances,
    squared_distances,
)


class _Stationary(_Scaled):
    """A profile of the scaled squared distance; subclasses give ``_profile`` and ``_slope``."""

    _compares_sparse = True

    @abstractmethod
    def _profile(self, s: np.ndarray) -> np.ndarray:
        """Return ``h(s)``; may overwrite ``s``."""

    @abstractmethod
    def _slope(self, s: np.ndarray) -> np.ndarray:
        """Return ``h'(s)``, any finite value at ``s = 0`` where it is infinite."""

    def _bend(self, s: np.ndarray) -> np.ndarray:
        """Return ``h''(s)`` where it is finite everywhere: functions then have derivatives with a kernel."""
        raise self._missing("second derivative at zero distance")

    def _squares(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        for rows in (X, Y):
            matches_columns(self.length_scale, "length_scale", rows)
        return scaled_squared_distances(X, Y, self.length_scale)

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        s = self._squares(X, Y)

        def work(rows: slice) -> None:
            s[rows] = self._profile(s[rows])

        for_each_block(work, len(s), 8.0 * s.shape[1])
        return s

    def sample_frequencies(self, n: int, dim: int, rng: np.random.RandomState) -> np.ndarray:
        # a function of the scaled distance is a mixture over t of Gaussian kernels exp(−t s / 2), each of
        # which has the spectrum N(0, t / ℓ²)
        scale = np.broadcast_to(self.length_scale, (dim,))
        normal = rng.standard_normal((n, dim))
        return normal * np.sqrt(self._sample_precisions(n, rng))[:, None] / scale

    def _sample_precisions(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw ``t`` of the mixture ``h(s) = E exp(−t s / 2)``."""
        raise NotImplementedError

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        M = self._squares(X, X)

        def work(rows: slice) -> None:
            M[rows] = self._slope(M[rows])
            M[rows] *= W[rows]

        for_each_block(work, len(M), 8.0 * M.shape[1])
        return self._length_scale_gradient(self._scaled(X), M)

    def _length_scale_gradient(self, A: np.ndarray, M: np.ndarray) -> np.ndarray:
        """Return ``−2 Σ_ij M_ij (a_ic − a_jc)²`` per column, summed when the length-scale is shared."""
        return self._by_length_scale(-2.0 * contract_squared_differences(M, A))

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        A, B = self._scaled(X), self._scaled(Y)
        slope = 2.0 * self._slope(squared_distances(A, B))
        for a, b, ell in zip(A.T, B.T, self._scales(X), strict=True):
            yield slope * ((a[:, None] - b) / ell)


class RBF(_Stationary):
    r"""The Gaussian kernel, :math:`k(x, y) = \exp(-\|x - y\|^2 / (2\ell^2))`; the smoothest functions.

    Parameters
    ----------
    length_scale : float or array of shape (n_columns,), default=1.0
        How far apart two rows can be and still be alike. Larger is smoother; an array gives each column its
        own.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.kernels import RBF
    >>> RBF(2.0)(np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        """Return the kernel ``exp(−gamma · ‖x − y‖²)``, scikit-learn's parameter."""
        return cls(length_scale=(2.0 * positive(gamma, "gamma")) ** -0.5)

    def _profile(self, s: np.ndarray) -> np.ndarray:
        s *= -0.5
        return np.exp(s, out=s)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return -0.5 * np.exp(-0.5 * s)

    def _bend(self, s: np.ndarray) -> np.ndarray:
        return 0.25 * np.exp(-0.5 * s)

    def _sample_precisions(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        return np.ones(n)


class Matern(_Stationary):
    r"""The Matérn kernel of half-integer smoothness; functions with a few derivatives.

    With :math:`r = \|x - y\| / \ell` and :math:`t = \sqrt{2\nu}\, r`, the values are :math:`e^{-t}` for
    ``nu=0.5``, :math:`(1 + t) e^{-t}` for ``nu=1.5`` and :math:`(1 + t + t^2/3) e^{-t}` for ``nu=2.5``.

    Parameters
    ----------
    length_scale : float or array of shape (n_columns,), default=1.0
        How far apart two rows can be and still be alike. Larger is smoother; an array gives each column its
        own.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness: functions have ``nu − 0.5`` derivatives. With 0.5 the kernel has a kink at zero
        distance, where its derivative with respect to the inputs is taken as zero.

    Examples
    --------
    >>> from pellucid.kernels import Matern
    >>> Matern(0.5, nu=2.5)
    Matern(length_scale=0.5, nu=2.5)
    """

    parameters = ("length_scale", "nu")

    def __init__(self, length_scale: Floats = 1.0, nu: float = 1.5) -> None:
        super().__init__(length_scale)
        if nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {nu!r}; for a smoother kernel use RBF.")
        self.nu = float(nu)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(0.8, nu) for nu in (0.5, 1.5, 2.5)]

    def _profile(self, s: np.ndarray) -> np.ndarray:
        t = self._distance(s)
        value = np.negative(t)
        np.exp(value, out=value)
        if self.nu == 1.5:
            t += 1.0
            value *= t
        elif self.nu == 2.5:  # 1 + t + t²/3 by Horner's rule
            p = t / 3.0
            p += 1.0
            p *= t
            p += 1.0
            value *= p
        return value

    def _distance(self, s: np.ndarray) -> np.ndarray:
        # beyond 800 the exponential is zero, and the polynomial before it must not be infinite
        t = np.sqrt(2.0 * self.nu * s)
        return np.minimum(t, 800.0, out=t)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        t = self._distance(s)
        if self.nu == 0.5:
            # rows that differ by rounding alone count as equal: 1/t would magnify that rounding
            return np.divide(-0.5 * np.exp(-t), t, out=np.zeros_like(t), where=~(t <= 1e-8))
        if self.nu == 1.5:
            return -1.5 * np.exp(-t)
        return -5.0 / 6.0 * (1.0 + t) * np.exp(-t)

    def _bend(self, s: np.ndarray) -> np.ndarray:
        if self.nu != 2.5:
            return super()._bend(s)
        return 25.0 / 12.0 * np.exp(-self._distance(s))

    def _sample_precisions(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        # so ω is Student's t with 2ν degrees of freedom
        return 2.0 * self.nu / rng.chisquare(2.0 * self.nu, n)


class RationalQuadratic(_Stationary):
    r"""A mixture of Gaussian kernels of many length-scales, :math:`k(x, y) = (1 + s / (2\kappa))^{-\kappa}`.

    Here :math:`s = \|x - y\|^2 / \ell^2`.

    Parameters
    ----------
    length_scale : float or array of shape (n_columns,), default=1.0
        How far apart two rows can be and still be alike. Larger is smoother; an array gives each column its
        own.
    shape : float, default=1.0
        The exponent κ. Larger means fewer scales; the limit is the Gaussian kernel.
    """

    parameters = ("length_scale", "shape")
    hyperparameters = ("length_scale", "shape")

    def __init__(self, length_scale: Floats = 1.0, shape: float = 1.0) -> None:
        super().__init__(length_scale)
        self.shape = positive(shape, "shape")

    def _profile(self, s: np.ndarray) -> np.ndarray:
        s /= 2.0 * self.shape
        s += 1.0
        return np.power(s, -self.shape, out=s)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return -0.5 * (1.0 + s / (2.0 * self.shape)) ** (-self.shape - 1.0)

    def _bend(self, s: np.ndarray) -> np.ndarray:
        u = 1.0 + s / (2.0 * self.shape)
        return 0.25 * (1.0 + 1.0 / self.shape) * u ** (-self.shape - 2.0)

    def _sample_precisions(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        return rng.gamma(self.shape, 1.0 / self.shape, n)

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        s = self._squares(X, X)
        scales = self._length_scale_gradient(self._scaled(X), W * self._slope(s))
        u = s / (2.0 * self.shape)
        by_shape = self.shape * (1.0 + u) ** -self.shape * (u / (1.0 + u) - np.log1p(u))
        return np.append(scales, np.sum(W * by_shape))
