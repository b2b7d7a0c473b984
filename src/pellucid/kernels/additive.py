"""The exact kernel of all pairs of columns, at the cost of the columns alone."""

from collections.abc import Iterator

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import Floats
from pellucid.kernels.scaled import _Scaled
from pellucid.kernels.stationary import RBF, Matern


class AdditivePairs(_Scaled):
    r"""Mean over all pairs of columns of the product of two one-dimensional kernels.

    .. math:: k(x, y) = \frac{2}{D(D-1)} \sum_{p<q} z_p z_q
              = \frac{(\sum_p z_p)^2 - \sum_p z_p^2}{D(D-1)}, \qquad z_p = k_1(x_p, y_p),

    so that functions of at most two columns at a time are learned. The second form costs O(D) per entry where
    the first costs O(D²).

    Parameters
    ----------
    base : {"rbf", "matern"}, default="rbf"
        The one-dimensional kernel: Gaussian, or Matérn with ν = 3/2.
    length_scale : float or array of shape (n_columns,), default=1.0
        How far apart two values of a column can be and still be alike.
    """

    parameters = ("base", "length_scale")

    def __init__(self, base: str = "rbf", length_scale: Floats = 1.0) -> None:
        super().__init__(length_scale)
        if base not in ("rbf", "matern"):
            raise ValueError(f"base must be 'rbf' or 'matern', got {base!r}.")
        self.base = base

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls("matern", 0.7)]

    def _columns(self, X: np.ndarray) -> list[Kernel]:
        if X.shape[1] < 2:
            raise ValueError("AdditivePairs needs at least two columns.")
        kind = RBF if self.base == "rbf" else Matern
        return [kind(float(ell)) for ell in self._scales(X)]

    def _grams(self, X: np.ndarray, Y: np.ndarray) -> Iterator[tuple[int, Kernel, np.ndarray]]:
        for c, kernel in enumerate(self._columns(X)):
            x = X[:, [c]]
            yield c, kernel, kernel._gram(x, x if Y is X else Y[:, [c]])

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        total = np.zeros((len(X), len(Y)))
        squares = np.zeros((len(X), len(Y)))
        for _, _, z in self._grams(X, Y):
            total += z
            z *= z
            squares += z
        total *= total
        total -= squares
        total /= X.shape[1] * (X.shape[1] - 1)
        return total

    def _diag(self, X: np.ndarray) -> np.ndarray:
        self._columns(X)
        return np.ones(len(X))

    def _total(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        total = np.zeros((len(X), len(Y)))
        for _, _, z in self._grams(X, Y):
            total += z
        return total

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        total = self._total(X, X)
        W = 2.0 / (X.shape[1] * (X.shape[1] - 1)) * W
        per_column = np.array(
            [k.parameter_gradient(X[:, [c]], W * (total - z))[0] for c, k, z in self._grams(X, X)]
        )
        return self._by_length_scale(per_column)

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        total = self._total(X, Y)
        factor = 2.0 / (X.shape[1] * (X.shape[1] - 1))
        for c, kernel, z in self._grams(X, Y):
            yield factor * (total - z) * next(kernel.input_gradients(X[:, [c]], Y[:, [c]]))
