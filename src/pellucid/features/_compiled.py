"""Loops compiled by numba; imported by :mod:`pellucid.features.fourier_loops` alone.

``fastmath`` is limited to contraction and the sign of zero: with all of it the error of the sine grows with
the angle. The sine and cosine are polynomials on [-π/4, π/4] after the multiple of π/2 is taken off in three
parts, without branches, so that the compiler makes vectors of them; errors stay below 1e-7 up to angles of
1e4.
"""

import numba
import numpy as np

from pellucid.data.table import UNKNOWN
from pellucid.features.bucket_index import MARK

Arrays = tuple[np.ndarray, ...]

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


# What follows makes the steps of pellucid.features.lookup in the same order and without contraction: equal
# results, bit for bit. Numbers without a sign as indices save a test whether they count from the end.


@numba.njit(cache=True, nogil=True, error_model="numpy")
def locate(X: np.ndarray, columns: Arrays, pieces: Arrays, places: Arrays) -> None:
    """Write value as a term of its own, point and share of each column.

    The first and the last loop have no branches; what is crowded, missing or below the lowest knot is marked
    by the first one and mended by the second. Pieces are counted from the first one of the column.
    """
    used, levels, low, scale, lowest, highest, start, first, missing, nowhere = columns
    edge, left, value, slope, left2, inverse, point = pieces
    curve, at_point, share = places
    n, last, number = len(X), start.shape[1] - 1.0, np.uint32(MARK - 1)
    mark = np.uint32(MARK)
    for k in range(used.size):
        x_k, start_k = X[:, used[k]], start[k]
        curve_k, piece_k, share_k = curve[k], at_point[k], share[k]
        low_k, scale_k, lowest_k, highest_k = low[k], scale[k], lowest[k], highest[k]
        f = first[k]
        edge_k, left_k, value_k, slope_k = edge[f:], left[f:], value[f:], slope[f:]
        left2_k, inverse_k, point_k = left2[f:], inverse[f:], point[f:]
        marked = np.uint32(0)
        for r in range(n):
            x = x_k[r]
            y = x if x > lowest_k else lowest_k
            y = y if y < highest_k else highest_k
            at = (y - low_k) * scale_k
            at = at if at > 0.0 else 0.0
            at = at if at < last else last
            found = np.uint32(start_k[np.uint64(np.int32(at))])
            piece = found & number
            piece += np.uint32(1) if y >= edge_k[np.uint64(piece)] else np.uint32(0)
            odd = (found & mark) | (np.uint32(0) if x >= lowest_k else mark)
            piece_k[r] = piece | odd
            marked |= odd
            share_k[r] = y
        if marked != 0:
            for r in range(n):
                if piece_k[r] < mark:
                    continue
                x = x_k[r]
                if x != x:
                    piece_k[r] = missing[k] - f
                elif levels[k] and x == UNKNOWN:
                    piece_k[r] = nowhere[k] - f
                else:
                    a, b = 0, missing[k] - f - 1  # the piece is the first whose right end is beyond x
                    while a < b:
                        c = (a + b) >> 1
                        if edge_k[c] <= x:
                            a = c + 1
                        else:
                            b = c
                    piece_k[r] = a
        for r in range(n):
            y, i = share_k[r], np.uint64(piece_k[r])
            curve_k[r] = (y - left_k[i]) * slope_k[i] + value_k[i]
            share_k[r] = (y - left2_k[i]) * inverse_k[i]
            piece_k[r] = point_k[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def look_up(
    n: int,
    places: Arrays,
    terms: np.ndarray,
    offset: np.ndarray,
    width: np.ndarray,
    flat: np.ndarray,
    out: np.ndarray | None,
    total: np.ndarray | None,
) -> None:
    """Write the value of each term at ``n`` located rows, and add it to a total in the order of the terms.

    Either may be ``None``: its statements are then left out when the loop is compiled.
    """
    curve, point, share = places
    for t in range(len(terms)):
        p, q = terms[t, 0], terms[t, 1]
        if out is not None:
            out_t = out[t]
        if q < 0:
            curve_p = curve[p]
            for r in range(n):
                if out is not None:
                    out_t[r] = curve_p[r]
                if total is not None:
                    total[r] += curve_p[r]
            continue
        m = np.uint32(width[t])
        f0 = flat[offset[t] :]
        f1, g0, g1 = f0[1:], f0[width[t] :], f0[width[t] + 1 :]
        point_p, point_q, share_p, share_q = point[p], point[q], share[p], share[q]
        for r in range(n):
            i = np.uint64(np.uint32(point_p[r] * m + point_q[r]))
            v = share_q[r]
            a, c = f0[i], g0[i]
            low, high = (f1[i] - a) * v + a, (g1[i] - c) * v + c
            z = (high - low) * share_p[r] + low
            if out is not None:
                out_t[r] = z
            if total is not None:
                total[r] += z
