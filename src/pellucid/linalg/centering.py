r"""One preparation of the kernel matrix for weights and an unpenalised intercept.

The bordered system of weighted kernel ridge with intercept,

.. math:: (K + \alpha S^{-1}) a + b 1 = y, \qquad 1^T a = 0,

becomes, with :math:`R = S^{1/2}`, :math:`a = R\tilde a`, :math:`\tilde y = R y` and the unit vector
:math:`q = R1 / \|R1\|`, an ordinary ridge system on the complement of :math:`q`:

.. math:: (P R K R P + \alpha I)\, \tilde a = P \tilde y, \qquad P = I - q q^T.

Adding :math:`\tau q q^T` with a large :math:`\tau` leaves that complement alone, makes the matrix positive
definite everywhere, and turns :math:`q` into a known eigenvector. Both solvers start from this matrix, so
they share weights, intercept and leave-one-out without a special case. Without an intercept there is no
:math:`q` and the matrix is :math:`RKR`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger


@dataclass(frozen=True)
class Prepared:
    """The matrix that solvers factor, and what is needed to return from it to the original units."""

    matrix: np.ndarray  # (n, n): RKR, or P R K R P + τ q qᵀ
    root: np.ndarray  # (n,): square roots of the weights
    q: np.ndarray | None  # (n,): unit vector of the intercept, None without one
    tau: float
    column_mean: np.ndarray | None  # (n,): weighted mean of each column of K, for the intercept

    def project(self, Y: np.ndarray) -> np.ndarray:
        """Return ``P R Y``, the targets in the units of ``matrix``."""
        Z = self.root[:, None] * Y
        return Z if self.q is None else Z - np.outer(self.q, self.q @ Z)

    def intercept(self, Y: np.ndarray, dual_coef: np.ndarray) -> np.ndarray:
        """Return the ``b`` that makes weighted residuals sum to zero: ``mean(y) − mean_cols(K) a``."""
        if self.column_mean is None:
            return np.zeros(Y.shape[1])
        s = self.root**2
        return s @ Y / s.sum() - self.column_mean @ dual_coef


def prepare(K: np.ndarray, weight: np.ndarray, *, fit_intercept: bool) -> Prepared:
    """Weight and centre ``K`` **in place** (see the module's formula)."""
    root = np.sqrt(weight)
    if not fit_intercept:
        if np.any(weight != 1.0):
            K *= root[:, None]
            K *= root
        return Prepared(K, root, None, 0.0, None)
    share = weight / weight.sum()
    column_mean = share @ K
    # P R K R P = R (I − 1 shareᵀ) K (I − share 1ᵀ) R: centre first, then weight. Centring first keeps a
    # large common offset of the kernel (a constant or uncentred linear part) from drowning the rest in
    # rounding error.
    K -= column_mean
    K -= (K @ share)[:, None]
    if np.any(weight != 1.0):
        K *= root[:, None]
        K *= root
    trace = float(np.trace(K))
    tau = 2.0 * trace if trace > 0 else 1.0
    q = root / np.sqrt(weight.sum())
    K = rank_one_update(K, tau, q)
    return Prepared(K, root, q, tau, column_mean)


def rank_one_update(A: np.ndarray, factor: float, v: np.ndarray) -> np.ndarray:
    """Return ``A + factor · v vᵀ``, in place for a C-contiguous symmetric float64 ``A``."""
    return dger(factor, v, v, a=A.T, overwrite_a=1).T
