"""Loops compiled by numba; imported by :mod:`pellucid.features.fast` alone.

``fastmath`` is limited to contraction and the sign of zero: with all of it the error of the sine grows with
the angle. The sine and cosine are polynomials on [-π/4, π/4] after the multiple of π/2 is taken off in three
parts, without branches, so that the compiler makes vectors of them; errors stay below 1e-7 up to angles of
1e4.
"""

import numba
import numpy as np

_MATH = {"contract", "nsz"}
_f = np.float32
_TWO_OVER_PI = _f(0.6366197723675814)
_P1, _P2, _P3 = _f(1.5703125), _f(4.837512969970703125e-4), _f(7.549789948768648e-8)  # sum: π/2
_S1, _S2, _S3 = _f(-0.16666654611), _f(8.3321608736e-3), _f(-1.9515295891e-4)
_C1, _C2, _C3 = _f(4.166664568298827e-2), _f(-1.388731625493765e-3), _f(2.443315711809948e-5)
_HALF, _ONE = _f(0.5), _f(1.0)


@numba.njit(fastmath=_MATH, cache=True, nogil=True, error_model="numpy")
def sincos(phase: np.ndarray, scale: np.float32, unit: np.ndarray) -> None:
    """Write cosine and sine of float32 angles times ``scale``, interleaved."""
    for j in range(phase.size):
        x = phase[j]
        t = np.floor(x * _TWO_OVER_PI + _HALF)  # quarter turns
        r = ((x - t * _P1) - t * _P2) - t * _P3
        z = r * r
        s = r + r * z * (_S1 + z * (_S2 + z * _S3))
        c = _ONE - _HALF * z + z * z * (_C1 + z * (_C2 + z * _C3))
        quarter = np.int32(t)
        odd = (quarter & 1) != 0
        u = s if odd else c
        v = c if odd else s
        unit[2 * j] = -scale * u if ((quarter + 1) & 2) != 0 else scale * u
        unit[2 * j + 1] = -scale * v if (quarter & 2) != 0 else scale * v


@numba.njit(fastmath=_MATH | {"reassoc"}, cache=True, nogil=True)
def weighted_pairs(
    a: np.ndarray, b: np.ndarray, w: np.ndarray, pairs: np.ndarray, wanted: np.ndarray, out: np.ndarray
) -> None:
    """Write the interaction parts of the wanted pairs."""
    n, _, m = a.shape
    for r in range(n):
        for j in range(wanted.size):
            k = wanted[j]
            p, q = pairs[k, 0], pairs[k, 1]
            total = a[0, 0, 0].real * 0
            for i in range(m):
                x, y, c = a[r, p, i], b[r, q, i], w[k, i]
                total += c.real * (x.real * y.real - x.imag * y.imag - x.real - y.real)
                total += c.imag * (x.real * y.imag + x.imag * y.real - x.imag - y.imag)
            out[r, j] = total
