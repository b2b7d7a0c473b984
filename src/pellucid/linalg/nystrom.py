r"""Low-rank factors of kernel matrices by randomly pivoted Cholesky: only a few columns are ever evaluated.

Elimination of pivot :math:`i` from the residual :math:`R = K - F F^T` appends a column to the factor,

.. math:: f = R_{:, i} / \sqrt{R_{ii}}, \qquad F \leftarrow [F, f], \qquad R \leftarrow R - f f^T .

The next pivot is drawn with a probability proportional to the residual diagonal. The expected trace of the
residual then comes near that of the best factor of the same rank, whichever way the spectrum decays [1]_.

**Blocks.** Pivots are proposed a block at a time, all from the current diagonal :math:`d`, and eliminated
from the block one by one. A proposal whose residual has meanwhile shrunk from :math:`d_i` to :math:`h_i` is
accepted with probability :math:`h_i / d_i`. This rejection makes the pivots those of the one-by-one method in
distribution [2]_, while the work on all n rows happens in matrix products. A repetition has :math:`h_i = 0`.

References
----------
.. [1] Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber. Randomly pivoted Cholesky: practical approximation
   of a kernel matrix with few entry evaluations. arXiv:2207.06503, 2023.
.. [2] E. N. Epperly, J. A. Tropp, R. J. Webber. Embrace rejection: kernel matrix approximation by accelerated
   randomly pivoted Cholesky. arXiv:2410.03969, 2024.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.exceptions import IndefiniteKernelError

_ROUNDING = (
    450.0 * np.finfo(float).eps
)  # a residual below this share of the diagonal is rounding error, 1e-13
_N_BLOCKS = 10  # larger blocks would be faster, but propose more pivots that are then rejected


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """A factor of rank m, ``K ≈ F Fᵀ``, exact in the rows and columns of the pivots."""

    factor: np.ndarray  # (n, m): F
    pivots: np.ndarray  # (m,): rows whose columns were used, in the order of elimination
    transfer: np.ndarray  # (m, m): F = K[:, pivots] @ transfer, and so for new rows; upper triangular
    accuracy: float  # 1 − trace(K − F Fᵀ) / trace(K)


def pivoted_cholesky(
    column: Callable[[np.ndarray], np.ndarray],
    diagonal: np.ndarray,
    max_rank: int,
    *,
    tolerance: float = 1e-8,
    random_state: int,
) -> PivotedCholesky:
    """Approximate a positive semi-definite matrix from some of its columns; see the module's formulas.

    Parameters
    ----------
    column : callable
        ``column(indices)`` returns ``K[:, indices]`` of shape (n, k). Called with blocks of distinct indices,
        up to a tenth of ``max_rank`` or 128 at a time.
    diagonal : ndarray of shape (n,)
        Diagonal of ``K``.
    max_rank : int
        Largest number of pivots. Memory is ``8 n max_rank`` bytes and time of the order of ``n max_rank²``.
    tolerance : float
        Share of the trace that may be left out: the iteration ends once ``trace(K − F Fᵀ)`` falls below it.
    random_state : int
        Seed of the draws; the same seed gives the same pivots.

    Returns
    -------
    PivotedCholesky
        With fewer than ``max_rank`` columns where the tolerance is met, or the matrix is used up.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 200)
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> low_rank = pivoted_cholesky(lambda i: K[:, i], np.diag(K), 50, random_state=0)
    >>> low_rank.factor.shape[1] < 10, low_rank.accuracy > 1 - 1e-8
    (True, True)
    """
    diagonal = np.array(diagonal, dtype=np.float64)
    if not np.all((diagonal >= 0) & np.isfinite(diagonal)):
        raise IndefiniteKernelError(
            f"The diagonal of the kernel matrix has the element {diagonal.min():.3g}; a kernel is positive "
            f"semi-definite and finite."
        )
    n, trace = len(diagonal), float(diagonal.sum())
    floor = _ROUNDING * diagonal
    max_rank = min(max_rank, n)
    block = min(max(max_rank // _N_BLOCKS, 1), 128)
    rng = np.random.default_rng(random_state)
    F = np.empty((n, max_rank), order="F")  # columns not reached are never touched, so take no memory
    pivots = np.empty(max_rank, dtype=np.intp)
    residual, rank = diagonal.copy(), 0
    while rank < max_rank and residual.sum() > tolerance * trace:
        chance = np.where(residual > floor, residual, 0.0)
        if not chance.any():
            break
        drawn = rng.choice(n, size=min(block, max_rank - rank), p=chance / chance.sum())
        index, drawn = np.unique(drawn, return_inverse=True)
        R = np.array(column(index), dtype=np.float64, order="F")
        if not np.all(np.isfinite(R)):
            raise IndefiniteKernelError("The kernel matrix contains NaN or infinity.")
        R -= F[:, :rank] @ F[index, :rank].T
        R[pivots[:rank]] = 0.0
        H = R[index]
        residual[index] = np.maximum(H.diagonal(), 0.0)  # more precise than the running difference
        accepted, L = _eliminate(H, floor[index], drawn, rng)
        new = slice(rank, rank + len(accepted))
        pivots[new] = index[accepted]
        F[:, new] = solve_triangular(L, R[:, accepted].T, lower=True, check_finite=False).T
        F[pivots[new], new] = L
        residual -= np.einsum("ij,ij->i", F[:, new], F[:, new])
        if np.any(residual < -3.0 * np.sqrt(_ROUNDING) * diagonal):  # by more than rounding could make it
            raise IndefiniteKernelError(
                "The kernel matrix has negative eigenvalues: its residual diagonal fell below zero in the "
                "pivoted Cholesky factorisation."
            )
        np.maximum(residual, 0.0, out=residual)
        residual[pivots[new]] = 0.0
        rank += len(accepted)
    F, pivots = F[:, :rank], pivots[:rank]
    transfer = solve_triangular(F[pivots], np.eye(rank), lower=True, check_finite=False).T
    accuracy = 1.0 - float(residual.sum()) / trace if trace > 0 else 1.0
    return PivotedCholesky(F, pivots, transfer, accuracy)


def _eliminate(
    H: np.ndarray, floor: np.ndarray, order: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Walk the proposals in order; return the accepted ones and the Cholesky factor of their block."""
    before = H.diagonal().copy()
    H = H.copy()
    accepted: list[int] = []
    g = np.empty((len(H), len(order)))
    for i, least in zip(order, rng.random(len(order)), strict=True):
        if i in accepted or H[i, i] <= floor[i] or H[i, i] < least * before[i]:
            continue
        step = H[:, i] / np.sqrt(H[i, i])
        H -= np.outer(step, step)
        g[:, len(accepted)] = step
        accepted.append(int(i))
    chosen = np.array(accepted, dtype=np.intp)
    return chosen, np.tril(g[chosen, : len(chosen)])
