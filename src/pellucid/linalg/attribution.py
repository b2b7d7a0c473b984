r"""Shapley values of functions that are multilinear in their columns, from the values of each column alone.

For a coalition :math:`S` let column :math:`j` have the value :math:`a_j` if :math:`j \in S`, and :math:`b_j`
otherwise. The Shapley value of :math:`j` in a game :math:`v` is an integral over its multilinear extension,

.. math::
    \phi_j = \int_0^1 \mathrm{E}\bigl[v(S_t \cup j) - v(S_t \setminus j)\bigr] dt,

where each other column is in :math:`S_t` independently with probability :math:`t`. For the product
:math:`v(S) = \prod_{j \in S} a_j \prod_{j \notin S} b_j` the expectation is a product again,

.. math::
    \phi_j = (a_j - b_j) \int_0^1 \prod_{l \ne j} \bigl(t\, a_l + (1 - t)\, b_l\bigr) dt,

a polynomial of degree :math:`p - 1` in :math:`t`, which :math:`\lceil p/2 \rceil` Gauss-Legendre nodes
integrate exactly. All weights of the rule are positive: nothing alternates in sign, however many columns
there are. Products of all but one column come from partial products from either end, so that zeros do no
harm.

References
----------
Owen (1972), Multilinear extensions of games, Management Science 18. Shapley (1953), A
value for n-person games.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_TRAIN = 4096  # training rows at a time
_CACHE = 1 << 21  # numbers in one array of all columns


def product_shapley(A: Sequence[np.ndarray], B: Sequence[np.ndarray], dual: np.ndarray) -> np.ndarray:
    r"""Shapley values of :math:`\sum_i d_i \prod_j z_{ij}` with :math:`z_j` either ``A[j]`` or ``B[j]``.

    Parameters
    ----------
    A, B : sequences of p arrays of shape (m, n) or (1, n)
        Values of each column inside and outside of the coalition; one row stands for all.
    dual : ndarray of shape (n, q)
        Coefficients ``d``.

    Returns
    -------
    ndarray of shape (p, m, q)

    Examples
    --------
    >>> a, b = np.array([[2.0]]), np.array([[1.0]])
    >>> product_shapley([a, a], [b, b], np.ones((1, 1))).ravel()
    array([1.5, 1.5])
    """
    m = max(len(M) for M in (*A, *B))
    out = np.zeros((len(A), m, dual.shape[1]))
    step = max(1, _CACHE // (len(A) * min(len(dual), _TRAIN)))
    for begin in range(0, len(dual), _TRAIN):
        part = slice(begin, begin + _TRAIN)
        for start in range(0, m, step):
            rows = slice(start, start + step)
            a, b = ([M[rows if len(M) > 1 else slice(None), part] for M in side] for side in (A, B))
            out[:, rows] += _product_block(a, b, dual[part])
    return out


def _product_block(A: Sequence[np.ndarray], B: Sequence[np.ndarray], dual: np.ndarray) -> np.ndarray:
    p, m = len(A), max(len(M) for M in (*A, *B))
    D = [a - b for a, b in zip(A, B, strict=True)]
    integral = np.zeros((p, m, len(dual)))
    after = np.empty_like(integral)
    nodes, weights = np.polynomial.legendre.leggauss((p + 1) // 2)
    for t, w in zip((nodes + 1.0) / 2.0, weights / 2.0, strict=True):
        M = [b + t * d for b, d in zip(B, D, strict=True)]
        after[-1] = w
        for j in range(p - 1, 0, -1):
            np.multiply(after[j], M[j], out=after[j - 1])
        before = np.ones((m, len(dual)))
        for j in range(p):
            after[j] *= before
            integral[j] += after[j]
            before *= M[j]
    return np.stack([(d * one) @ dual for d, one in zip(D, integral, strict=True)])


def pair_shapley(A: Sequence[np.ndarray], B: Sequence[np.ndarray], dual: np.ndarray) -> np.ndarray:
    r"""The same of :math:`\sum_i d_i \sum_{j<l} z_{ij} z_{il}`.

    Each pair gives :math:`j` the value :math:`(a_j - b_j)(a_l + b_l)/2`.
    """
    total = sum((a + b for a, b in zip(A, B, strict=True)), start=np.zeros((1, len(dual))))
    return np.stack([0.5 * ((a - b) * (total - a - b)) @ dual for a, b in zip(A, B, strict=True)])


def sum_shapley(A: Sequence[np.ndarray], B: Sequence[np.ndarray], dual: np.ndarray) -> np.ndarray:
    r"""The same of :math:`\sum_i d_i \sum_j z_{ij}`: each column has what it adds itself."""
    m = max(len(M) for M in (*A, *B))
    values = [(a - b) @ dual for a, b in zip(A, B, strict=True)]
    return np.stack([np.broadcast_to(value, (m, dual.shape[1])) for value in values])


def symmetric_value(Z: Sequence[np.ndarray], order: int) -> np.ndarray:
    """Elementary symmetric polynomial of the columns: of order one, two, or the product of all."""
    if order == len(Z):
        product = np.ones((1, 1))
        for z in Z:
            product = product * z
        return product
    total = sum(Z[1:], start=Z[0])
    return total if order == 1 else 0.5 * (total**2 - sum((z * z for z in Z[1:]), start=Z[0] ** 2))


def symmetric_rest(Z: Sequence[np.ndarray], order: int) -> list[np.ndarray]:
    """For each column, what its value is multiplied by in :func:`symmetric_value`."""
    if order == len(Z):
        return all_but_one(Z)
    if order == 1:
        return [np.ones((1, 1)) for _ in Z]
    total = sum(Z[1:], start=Z[0])
    return [total - z for z in Z]


def all_but_one(Z: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Products of all arrays but each, without division.

    Examples
    --------
    >>> all_but_one([np.array([2.0, 0.0]), np.array([3.0, 3.0])])
    [array([3., 3.]), array([2., 0.])]
    """
    after = [np.ones((1,) * Z[0].ndim)]
    for z in Z[:0:-1]:
        after.append(after[-1] * z)
    before, found = np.ones((1,) * Z[0].ndim), []
    for z, rest in zip(Z, reversed(after), strict=True):
        found.append(before * rest)
        before = before * z
    return found
