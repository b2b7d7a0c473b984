"""Inner loops of Fourier features and tables: with numba where it is installed (extra ``fast``), else NumPy.

This is the only module that knows numba. The NumPy versions are the meaning of the functions; the compiled
ones may differ from them by rounding. ``PELLUCID_NUMBA=0`` in the environment switches the latter off.
"""

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

_WORTH_COMPILING = 1 << 22  # numbers: below, NumPy is done before a compiled version is loaded
_VERY_FEW_COLUMNS = 12  # up to here, without a compiler, sines of all angles cost less than products
_FEW_COLUMNS = 32  # beyond, the angles of all pairs cost more than the products of factors


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """The module of compiled loops, or ``None`` without numba."""
    if importlib.util.find_spec("numba") is None:
        return None
    from pellucid.features import _compiled as loops

    return loops


def compiled() -> Any:
    """The compiled loops where they are installed and wanted, else ``None``."""
    return None if os.environ.get("PELLUCID_NUMBA", "1") == "0" else _compiled()


def compiled_for(work: int, worth: int) -> Any:
    """The compiled loops for so much work: where it is worth loading them, or where they are loaded."""
    loaded = "pellucid.features._compiled" in sys.modules
    return compiled() if loaded or work >= worth else None


def sincos(phase: np.ndarray, unit: np.ndarray) -> None:
    """Write ``cos(phase) + i sin(phase)`` into ``unit``."""
    loops = compiled() if phase.dtype == np.float32 and phase.size >= _WORTH_COMPILING // 64 else None
    if loops is not None:
        loops.sincos(phase.ravel(), np.float32(1.0), unit.view(np.float32).ravel())
        return
    np.cos(phase, out=unit.real)
    np.sin(phase, out=unit.imag)


def features(U: np.ndarray, omega: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Write the features of rows ``U`` (n, D) into ``out`` (n, K d), all of one precision."""
    worth = out.dtype == np.float32 and out.size >= _WORTH_COMPILING // 8 and U.shape[1] <= _FEW_COLUMNS
    loops = compiled() if worth else None
    if loops is not None:
        # a compiled sine is so cheap that taking all of them beats multiplying factors
        M = _pair_frequencies(U.shape[1], omega)
        for rows in _short_blocks(len(U), out.shape[1] * out.itemsize):
            loops.sincos((U[rows] @ M).ravel(), np.float32(scale), out[rows].ravel())
        return
    if U.shape[1] <= _VERY_FEW_COLUMNS:
        # sin x = cos(x − π/2): one product gives the angles of both, in place
        M = np.repeat(_pair_frequencies(U.shape[1], omega), 2, axis=1)
        shift = np.zeros((1, out.shape[1]), dtype=out.dtype)
        shift[0, 1::2] = -0.5 * np.pi
        M = np.vstack([M, shift])
        V = np.hstack([U, np.ones((len(U), 1), dtype=U.dtype)])
        for rows in _short_blocks(len(U), out.shape[1] * out.itemsize):
            part = out[rows]
            np.matmul(V[rows], M, out=part)
            np.cos(part, out=part)
            part *= out.dtype.type(scale)
        return
    for rows in _short_blocks(len(U), out.shape[1] * out.itemsize):
        a, b = _by_row(U[rows], omega[:, 0]), _by_row(U[rows], omega[:, 1])
        a *= out.dtype.type(scale)
        _multiply_pairs(a, b, out[rows])


def _pair_frequencies(D: int, omega: np.ndarray) -> np.ndarray:
    """Matrix (D, K d/2) that takes rows to the angles of all pairs."""
    first, second = np.triu_indices(D, 1)
    M = np.zeros((D, len(first), len(omega)), dtype=omega.dtype)
    k = np.arange(len(first))
    M[first, k], M[second, k] = omega[:, 0], omega[:, 1]
    return M.reshape(D, -1)


def pair_products(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write the features into ``out`` (n, K d) for given factors of shape (n, D, d/2)."""
    for rows in _short_blocks(len(a), out.shape[1] * out.itemsize):
        _multiply_pairs(a[rows].transpose(1, 2, 0).copy(), b[rows].transpose(1, 2, 0).copy(), out[rows])


def _short_blocks(n: int, row_bytes: int) -> Iterator[slice]:
    """Blocks of rows whose features stay in the cache."""
    step = max(32, (1 << 20) // row_bytes)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _by_row(U: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Unit numbers of a few rows with the rows last, (D, d/2, n): so the loops over them are long."""
    phase = np.ascontiguousarray(U.T)[:, None, :] * omega[:, None]
    unit = np.empty(phase.shape, dtype=np.result_type(phase.dtype, np.complex64))
    unit.real, unit.imag = np.cos(phase), np.sin(phase)
    return unit


def _multiply_pairs(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    D, m, n = a.shape
    products = np.empty((D * (D - 1) // 2, m, n), dtype=a.dtype)
    k = 0
    for p in range(D - 1):
        np.multiply(a[p], b[p + 1 :], out=products[k : k + D - 1 - p])
        k += D - 1 - p
    out.view(a.dtype)[:] = products.reshape(-1, n).T


def weighted_pairs(
    a: np.ndarray, b: np.ndarray, w: np.ndarray, pairs: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Interaction parts ``Σ_i Re w̄_i (a_pi b_qi − a_pi − b_qi)`` of the pairs numbered ``wanted``.

    Parameters
    ----------
    a, b : ndarray of shape (n, D, d/2)
    w : ndarray of shape (K, d/2)
        Complex weights.
    pairs : ndarray of shape (K, 2)
    wanted : ndarray of int of shape (k,)

    Returns
    -------
    parts : ndarray of shape (n, k), float64
    """
    out = np.empty((len(a), len(wanted)))
    loops = compiled() if len(a) * len(wanted) * a.shape[2] >= _WORTH_COMPILING // 4 else None
    if loops is not None:
        loops.weighted_pairs(a, b, w, pairs, wanted, out)
        return out
    step = max(1, (1 << 15) // max(1, a.shape[1] * a.shape[2]))
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        for j, k in enumerate(wanted):
            p, q = pairs[k]
            z = a[rows, p] * b[rows, q] - a[rows, p] - b[rows, q]
            out[rows, j] = z.real @ w[k].real + z.imag @ w[k].imag
    return out
