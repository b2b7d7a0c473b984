"""Products of one-dimensional kernels over the columns: Laplacian and periodic."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import Floats, matches_columns, positive
from pellucid.kernels.scaled import _Scaled
from pellucid.linalg import is_sparse, manhattan_distances, squared_distances


class Laplacian(_Scaled):
    r"""The Laplacian kernel, :math:`k(x, y) = \exp(-\sum_c |x_c - y_c| / \ell_c)`; rough functions.

    Parameters
    ----------
    length_scale : float or array of shape (n_columns,), default=1.0
        How far apart two rows can be and still be alike. Larger is smoother; an array gives each column its
        own.

    Examples
    --------
    >>> from pellucid.kernels import Laplacian
    >>> Laplacian.from_gamma(0.5)
    Laplacian(length_scale=2.0)
    """

    _compares_sparse = True

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        """Return the kernel ``exp(−gamma · Σ|x − y|)``, scikit-learn's parameter."""
        return cls(length_scale=1.0 / positive(gamma, "gamma"))

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        A = self._scaled(X)
        D = manhattan_distances(A, A if Y is X else self._scaled(Y))
        np.negative(D, out=D)
        return np.exp(D, out=D)

    def sample_frequencies(self, n: int, dim: int, rng: np.random.RandomState) -> np.ndarray:
        return rng.standard_cauchy((n, dim)) / np.broadcast_to(self.length_scale, (dim,))

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        A = self._scaled(X)
        M = W * self._gram(X, X)
        blocks = (b for _, b in A.column_blocks()) if is_sparse(A) else iter([A])
        per_column = np.array([np.sum(M * np.abs(a[:, None] - a)) for B in blocks for a in B.T])
        return self._by_length_scale(per_column)

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        A, B = self._scaled(X), self._scaled(Y)
        K = self._gram(X, Y)
        for a, b, ell in zip(A.T, B.T, self._scales(X), strict=True):
            yield -K * np.sign(a[:, None] - b) / ell


class Periodic(_Scaled):
    r"""The periodic kernel, :math:`k(x, y) = \exp(-2 \sum_c \sin^2(\pi (x_c - y_c)/\rho) / \ell_c^2)`.

    It is the Gaussian kernel after each column is wrapped around a circle, hence positive semi-definite in
    any number of columns.

    Parameters
    ----------
    period : float, default=1.0
        Distance ρ after which everything repeats.
    length_scale : float or array of shape (n_columns,), default=1.0
        Smoothness within a period. Larger is smoother.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.kernels import Periodic
    >>> Periodic(period=7.0)(np.array([[0.0], [7.0]])).round(6)
    array([[1., 1.],
           [1., 1.]])
    """

    parameters = ("period", "length_scale")
    hyperparameters = ("period", "length_scale")

    def __init__(self, period: float = 1.0, length_scale: Floats = 1.0) -> None:
        super().__init__(length_scale)
        self.period = positive(period, "period")

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(3.1, 0.9), cls()]

    def _circle(self, X: np.ndarray) -> np.ndarray:
        matches_columns(self.length_scale, "length_scale", X)
        angle = 2.0 * np.pi / self.period * np.asarray(X, dtype=float)
        return np.hstack([np.cos(angle) / self.length_scale, np.sin(angle) / self.length_scale])

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        A = self._circle(X)
        D = squared_distances(A, A if Y is X else self._circle(Y))
        D *= -0.5  # the squared chord is 4 sin²
        return np.exp(D, out=D)

    def _angles(self, X: np.ndarray, Y: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
        A, B = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        for a, b, ell in zip(A.T, B.T, self._scales(X), strict=True):
            yield np.pi / self.period * (a[:, None] - b), ell**-2.0

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        M = W * self._gram(X, X)
        by_period, per_column = 0.0, []
        for angle, precision in self._angles(X, X):
            by_period += 2.0 * precision * np.sum(M * angle * np.sin(2.0 * angle))
            per_column.append(4.0 * precision * np.sum(M * np.sin(angle) ** 2))
        return np.array([by_period, *self._by_length_scale(np.array(per_column))])

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        K = self._gram(X, Y)
        for angle, precision in self._angles(X, Y):
            yield -2.0 * np.pi / self.period * precision * K * np.sin(2.0 * angle)
