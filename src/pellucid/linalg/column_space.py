r"""The column space of a data matrix: what part of a kernel a linear function of the columns can express.

For the standardised matrix :math:`Z = (X - 1\,\mathrm{mean}^T)\,\mathrm{diag}(\mathrm{scale})^{-1}` of rank
:math:`r` and its singular value decomposition :math:`Z = U \Sigma V^T`,

.. math:: P = Z Z^+ = U U^T, \qquad Z^+ = V \Sigma^{-1} U^T = Z^T\, U \Sigma^{-2} U^T .

The second form of the pseudo-inverse needs no :math:`V`, which for wide data would be as large as the data:
:math:`Z^T` is applied block by block.

**Weights.** With weights :math:`s` the mean is the weighted one, :math:`X^T s / \sum_i s_i`. The projection
itself is orthogonal in the plain sense: weights move the origin, not the angles.

**Which decomposition.** Tall data are decomposed directly, as the basis is as large as they are. So are wide
data of moderate size, by a QR factorisation of :math:`Z^T` and the decomposition of its triangle. Both keep
singular values down to ``max(n, p) eps σ₁``. For larger wide data the eigenvalues of :math:`Z Z^T`, summed
over column blocks, are the squares of the singular values. Squaring costs half of the digits, so singular
values below ``σ₁ √(4 (n + √p) eps)``, about 1e-6 σ₁, are rounding error and count as zero. For float32 data
nothing below ``4 eps`` of that type, 5e-7 σ₁, counts in either case: a column that is the sum of others is so
only up to the rounding of its elements.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.linalg.low_rank_eigh import positive_spectrum
from pellucid.linalg.memory import require_memory
from pellucid.linalg.sparse_rows import SparseRows, is_sparse
from pellucid.linalg.wide import apply_transpose, column_mean, gram_by_columns, shares

_DIRECT_ROWS = 2000  # wide data with more rows, or
_DIRECT_BYTES = 1 << 28  # larger than this in float64, go through the Gram matrix
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ColumnSpace:
    """Orthonormal basis of the column space of ``Z = (X − 1 meanᵀ) / scale``; see the module's formulas.

    Examples
    --------
    >>> space = ColumnSpace.of(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]))
    >>> space.rank, space.exact
    (1, False)
    >>> space.pinv_apply(np.array([[-4.0], [-1.0], [5.0]])).ravel()
    array([0.6, 1.2])
    """

    X: np.ndarray | SparseRows = field(repr=False)  # (n, p): the data, by reference
    mean: np.ndarray = field(repr=False)  # (p,)
    scale: np.ndarray = field(repr=False)  # (p,)
    basis: np.ndarray = field(repr=False)  # (n, r): U
    singular: np.ndarray = field(repr=False)  # (r,): decreasing
    centered: bool

    @classmethod
    def of(
        cls,
        X: Any,
        weight: np.ndarray | None = None,
        center: bool = True,
        *,
        scale: np.ndarray | None = None,
    ) -> "ColumnSpace":
        """Column space of ``X``.

        Parameters
        ----------
        X : ndarray, memory map or SparseRows of shape (n, p)
            Kept by reference, for :meth:`pinv_apply`.
        weight : ndarray of shape (n,), optional
            Weights of the rows in the means.
        center : bool
            Whether to subtract the means, as goes with an unpenalised intercept.
        scale : ndarray of shape (p,), optional
            Divides the columns. The space stays the same, but singular values, the rank that rounding leaves
            and the pseudo-inverse are those of the scaled columns.
        """
        n, p = X.shape
        scale = np.ones(p) if scale is None else scale
        if is_sparse(X) and n <= p:
            U, singular, mean = _of_sparse(X, shares(weight, n), center, scale)
            tolerance = np.sqrt(4.0 * (n + np.sqrt(p)) * _EPS)
        elif n <= p and (n > _DIRECT_ROWS or 8 * n * p > _DIRECT_BYTES):
            G, mean = gram_by_columns(X, weight=weight, center=center, scale=scale)
            values, vectors = positive_spectrum(np.ascontiguousarray(G))
            U, singular = vectors[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
            tolerance = np.sqrt(4.0 * (n + np.sqrt(p)) * _EPS)
        else:
            if is_sparse(X):  # a basis of tall data is as large as they are, filled in
                require_memory(n, 3.0 * p / n, what="the basis of the columns")
                Z = np.hstack([block for _, block in X.column_blocks()])
            else:
                Z = np.array(X, dtype=np.float64)
            mean = column_mean(Z, shares(weight, n)) if center else np.zeros(p)
            Z -= mean
            Z /= scale
            if center:  # once more, for what the rounding of a mean far from zero has left
                Z -= np.average(Z, axis=0, weights=weight)
            if n <= p:
                Z = np.asarray(np.linalg.qr(Z.T, mode="r")).T
            U, singular, _ = np.linalg.svd(Z, full_matrices=False)
            tolerance = max(n, p) * _EPS
        if X.dtype.kind == "f":  # what the rounding of the data may cause
            tolerance = max(tolerance, 4.0 * float(np.finfo(X.dtype).eps))
        above = int(np.sum(singular > tolerance * singular.max(initial=0.0)))
        rank = min(above, n - center)  # centring leaves no room for more
        return cls(X, mean, scale, np.ascontiguousarray(U[:, :rank]), singular[:rank], center)

    @property
    def rank(self) -> int:
        """Rank ``r`` of the standardised data."""
        return len(self.singular)

    @property
    def exact(self) -> bool:
        """Whether the space holds every (centred) vector: rank n, or n − 1 after centring."""
        return self.rank == len(self.basis) - self.centered

    def project(self, V: np.ndarray) -> np.ndarray:
        """Return ``P V = U Uᵀ V``, the fit of ``V`` by the columns; shape (n, k), or (n,) for a vector."""
        return self.basis @ (self.basis.T @ V)

    def pinv_apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z⁺ V``: the coefficients of least norm with ``Z coef = P V``, for scaled columns."""
        inner = self.basis.T @ V
        # twice by σ instead of once by σ², which could vanish
        inner = (inner.T / self.singular / self.singular).T
        return apply_transpose(self.X, self.basis @ inner, self.mean, self.scale)

    def kaf(self, F: np.ndarray) -> float:
        """Kernel accounted for, ``‖P K P‖²_F / ‖K‖²_F``, between 0 and 1, of ``K = F Fᵀ``.

        ``F`` of shape (n, m) is centred with the same weights if the space is. ``K`` is never formed:
        ``‖P F Fᵀ P‖_F = ‖Wᵀ W‖_F`` with ``W = Uᵀ F``, and ``‖K‖_F = ‖Fᵀ F‖_F``. Exactly 1 where the space is
        exact, and for ``K = 0``.
        """
        size = np.abs(F).max(initial=0.0)
        if self.exact or size == 0:
            return 1.0
        F = F / size
        W = self.basis.T @ F
        part, whole = W.T @ W, F.T @ F
        return float(np.clip(np.vdot(part, part) / np.vdot(whole, whole), 0.0, 1.0))


def _of_sparse(
    X: SparseRows, share: np.ndarray, center: bool, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Basis, singular values and means of wide sparse rows, from their products."""
    mean = X.transposed_times(share) if center else np.zeros(X.n_columns)
    Z = X.shifted(mean).scaled(scale)
    G = Z.products(Z)
    if center:  # once more, for what rounding has left
        G -= share @ G
        G -= (G @ share)[:, None]
    values, vectors = positive_spectrum((G + G.T) / 2.0)
    return vectors[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0)), mean
