r"""Arithmetic of pairwise Fourier features, on which the transformer and the ISK models stand.

For scaled rows :math:`u`, frequencies :math:`\omega_i = (\omega_{i1}, \omega_{i2})` and the pair
:math:`p < q`, feature :math:`i` is the complex number

.. math:: e^{\mathrm{i}(\omega_{i1} u_p + \omega_{i2} u_q)} = a_{pi}\, b_{qi}, \qquad
          a_{pi} = e^{\mathrm{i}\omega_{i1} u_p}, \quad b_{qi} = e^{\mathrm{i}\omega_{i2} u_q},

whose real and imaginary part are the cosine and the sine of the published map. So sines and cosines are taken
O(D d) times per row, and the O(D² d) features are products. The same factors give products of the feature
matrix with vectors without the matrix: for each frequency one product of an n × D with a D × D matrix.

Arrays of weights and features have the published order: pairs (1, 2), (1, 3), ..., (D-1, D), in each of them
cos ω₁, sin ω₁, cos ω₂, ...; so an array of features, seen as complex numbers, has shape (n, K, d/2).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.features import fourier_loops

_EXACT_PHASE = 1e3  # beyond this angle float32 has lost too many digits: the turns are taken off in float64


@dataclass(frozen=True)
class Factors:
    """The unit numbers ``a`` and ``b`` of some rows, each of shape (n, D, d/2)."""

    a: np.ndarray
    b: np.ndarray

    @cached_property
    def by_frequency(self) -> tuple[np.ndarray, np.ndarray]:
        """The same numbers with the frequency first, of shape (d/2, n, D)."""
        return tuple(np.ascontiguousarray(np.moveaxis(z, 2, 0)) for z in (self.a, self.b))  # type: ignore


@dataclass(frozen=True)
class PairMap:
    """Frequencies of shape (d/2, 2), shared by all pairs of ``D`` columns."""

    omega: np.ndarray
    D: int
    dtype: type = np.float32

    # ---------------------------------------------------------------- sizes
    @property
    def K(self) -> int:  # noqa: N802
        """Number of pairs."""
        return self.D * (self.D - 1) // 2

    @property
    def d(self) -> int:
        """Features per pair."""
        return 2 * len(self.omega)

    @property
    def F(self) -> int:  # noqa: N802
        """Number of features."""
        return self.K * self.d

    @property
    def scale(self) -> float:
        """Factor that makes the inner product of a row with itself one."""
        return float(np.sqrt(2.0 / (self.K * self.d)))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, in the order of the features."""
        return [(p, q) for p in range(self.D) for q in range(p + 1, self.D)]

    @cached_property
    def _first(self) -> np.ndarray:
        """Number of the first pair whose smaller column is ``p``."""
        return np.concatenate([[0], np.cumsum(np.arange(self.D - 1, 0, -1))])

    @property
    def row_bytes(self) -> int:
        """Bytes of the factors of one row."""
        return 4 * self.D * self.d // 2 * np.dtype(self.dtype).itemsize

    # ------------------------------------------------------------- features
    def factors(self, U: np.ndarray) -> Factors:
        """Return the factors of scaled rows ``U`` of shape (n, D)."""
        return Factors(*(self._unit_numbers(U, self.omega[:, side]) for side in (0, 1)))

    def _unit_numbers(self, U: np.ndarray, omega: np.ndarray) -> np.ndarray:
        phase = self._angles(U, omega)
        unit = np.empty(phase.shape, dtype=np.result_type(self.dtype, np.complex64))
        fourier_loops.sincos(phase, unit)
        return unit

    def _angles(self, U: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Angles of shape (n, D, d/2); whole turns are taken off where they would cost digits."""
        if self._wide(U):
            return np.remainder(U[:, :, None].astype(float) * omega, 2.0 * np.pi).astype(self.dtype)
        return U.astype(self.dtype)[:, :, None] * omega.astype(self.dtype)

    def _wide(self, U: np.ndarray) -> bool:
        size = max(float(U.max(initial=0.0)), -float(U.min(initial=0.0)))
        return size * float(np.abs(self.omega).max(initial=0.0)) > _EXACT_PHASE

    def features(self, U: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of scaled rows, of shape (n, K d)."""
        if out is None:
            out = np.empty((len(U), self.F), dtype=self.dtype)
        if self._wide(U):
            factors = self.factors(U)
            fourier_loops.pair_products(factors.a * self.dtype(self.scale), factors.b, out)
        else:
            fourier_loops.features(
                U.astype(self.dtype, copy=False), self.omega.astype(self.dtype), self.scale, out
            )
        return out

    # ------------------------------------------- products with the whole matrix
    def pair_weights(self, w: np.ndarray) -> np.ndarray:
        """Weights of shape (K d,) as complex numbers of shape (K, d/2), times the scale of the features."""
        return np.ascontiguousarray(w, dtype=float).view(complex).reshape(self.K, -1) * self.scale

    def weight_matrix(self, w: np.ndarray) -> np.ndarray:
        """Weights of shape (K d,) as complex strictly upper triangles of shape (d/2, D, D)."""
        W = np.zeros((self.d // 2, self.D, self.D), dtype=np.result_type(self.dtype, np.complex64))
        rows, columns = np.triu_indices(self.D, 1)
        W[:, rows, columns] = self.pair_weights(w).conj().T
        return W

    def times(self, factors: Factors, w: np.ndarray) -> np.ndarray:
        """Return the features times the weights ``w``, float64 of shape (n,), without the features."""
        a, b = factors.by_frequency
        V = np.matmul(b, self.weight_matrix(w).transpose(0, 2, 1))  # (d/2, n, D): Σ_q b_q w̄_pq
        V *= a
        return np.einsum("inp->n", V.real, dtype=float)

    def transposed_times(self, factors: Factors, r: np.ndarray) -> np.ndarray:
        """Return the transposed features times ``r``, float64 of shape (K d,)."""
        a, b = factors.by_frequency
        weighted = a * r.astype(a.real.dtype)[:, None]
        M = np.matmul(weighted.transpose(0, 2, 1), b)  # (d/2, D, D): Σ_n r a_p b_q
        rows, columns = np.triu_indices(self.D, 1)
        pairs = np.ascontiguousarray(M[:, rows, columns].T.astype(complex)) * self.scale
        return pairs.view(float).ravel()

    # ----------------------------------------------------------- components
    def main_weights(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of ``a`` and of ``b`` in the main components: complex, each of shape (D, d/2).

        The part of column ``p`` in the cosine of a pair is ``cos(ω₁ u_p)`` where it comes first in the pair
        and ``cos(ω₂ u_p)`` where it comes second.
        """
        W = np.zeros((self.D, self.D, self.d // 2), dtype=complex)
        W[np.triu_indices(self.D, 1)] = self.pair_weights(w)
        return W.sum(axis=1), W.sum(axis=0)

    def components(
        self, factors: Factors, w: np.ndarray, terms: list[tuple[int, ...]] | None = None
    ) -> np.ndarray:
        """Return the parts into which the split breaks ``features @ w``, float64 of shape (n, n_terms).

        With ``a_p = cos + i sin`` the pair component is what is left of the feature after both main parts:
        the row sums over all ``D + K`` terms give back ``features @ w``.

        Parameters
        ----------
        factors : Factors
        w : ndarray of shape (K d,)
        terms : list of tuples, optional
            Terms wanted; all main effects and all pairs by default.
        """
        a, b = factors.a, factors.b
        A, B = self.main_weights(w)
        both = [
            np.einsum("npi,pi->np", part, weight.astype(z.real.dtype), dtype=float)
            for z, parts in ((a, A), (b, B))
            for part, weight in ((z.real, parts.real), (z.imag, parts.imag))
        ]
        main = sum(both)
        wanted = list(range(self.K)) if terms is None else [self._number(t) for t in terms if len(t) == 2]
        products = fourier_loops.weighted_pairs(
            a, b, self.pair_weights(w).astype(a.dtype), np.array(self.pairs), np.array(wanted, int)
        )
        if terms is None:
            return np.hstack([main, products])
        out = np.empty((len(a), len(terms)))
        column = iter(products.T)
        for j, term in enumerate(terms):
            out[:, j] = main[:, term[0]] if len(term) == 1 else next(column)
        return out

    def curve(self, u: np.ndarray, p: int, w: np.ndarray) -> np.ndarray:
        """Main component of column ``p`` at scaled values ``u``."""
        A, B = self.main_weights(w)
        a, b = (np.exp(1j * np.outer(u, self.omega[:, side])) for side in (0, 1))
        return (a @ A[p].conj() + b @ B[p].conj()).real

    def surface(self, u: np.ndarray, v: np.ndarray, pair: tuple[int, ...], w: np.ndarray) -> np.ndarray:
        """Component of a pair at scaled values ``u`` of its first and ``v`` of its second column."""
        weight = self.pair_weights(w)[self._number(pair)].conj()
        a, b = np.exp(1j * np.outer(u, self.omega[:, 0])), np.exp(1j * np.outer(v, self.omega[:, 1]))
        return ((a * weight) @ b.T).real - (a @ weight).real[:, None] - (b @ weight).real

    def _number(self, term: tuple[int, ...]) -> int:
        p, q = term
        return int(self._first[p] + q - p - 1)
