"""The inner loops of Fourier features: with numba where it is installed (extra ``fast``), else with NumPy.

This is the only module that knows numba. The NumPy versions are the meaning of the functions; the compiled
ones may differ from them by rounding. ``PELLUCID_NUMBA=0`` in the environment switches the latter off.
"""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from typing import Any

import numpy as np

_WORTH_COMPILING = 1 << 22  # numbers: below, NumPy is done before a compiled version is loaded


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


def sincos(phase: np.ndarray, unit: np.ndarray) -> None:
    """Write ``cos(phase) + i sin(phase)`` into ``unit``."""
    loops = compiled() if phase.dtype == np.float32 and phase.size >= _WORTH_COMPILING // 64 else None
    if loops is not None:
        loops.sincos(phase.ravel(), unit.view(np.float32).ravel())
        return
    np.cos(phase, out=unit.real)
    np.sin(phase, out=unit.imag)


def pair_products(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write ``a_pi b_qi`` of all pairs p < q into ``out`` of shape (n, K, d/2)."""
    loops = compiled() if out.size >= _WORTH_COMPILING // 8 else None
    if loops is not None:
        loops.pair_products(a, b, out)
        return
    n, D, m = a.shape
    step = max(1, (1 << 15) // max(1, D * m))  # rows whose factors stay in the cache
    for start in range(0, n, step):
        rows, k = slice(start, start + step), 0
        for p in range(D - 1):
            np.multiply(a[rows, p, None], b[rows, p + 1 :], out=out[rows, k : k + D - 1 - p])
            k += D - 1 - p


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
