r"""Exact Shapley values of functions :math:`f(x) = \sum_i d_i k(x, x_i)`, the kernel known column by column.

The value of a coalition :math:`S` of features at a row :math:`x` is the mean prediction over a background
while the features in :math:`S` have their values of :math:`x`: a mean over whole background rows :math:`z`,

.. math:: v(S) = \frac1m \sum_z f(x_S, z_{\bar S}),

or, with independent features, over the product of the background's marginal distributions. A product kernel
then factorises, :math:`\mathrm{E}\, k = \prod_{j \in S} k_j(x_j, x_{ij}) \prod_{j \notin S} \mathrm{E}\,
k_j(Z_j, x_{ij})`, so that all background rows count as one.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels import Kernel
from pellucid.kernels.columnwise import ColumnTerm, column_terms
from pellucid.linalg import row_blocks
from pellucid.linalg.attribution import pair_shapley, product_shapley, sum_shapley, symmetric_value

_VALUES = 1 << 24  # numbers in the columns' values of one block


def kernel_shapley(
    kernel: Kernel,
    X: np.ndarray,
    X_fit: np.ndarray,
    dual: np.ndarray,
    background: np.ndarray,
    weight: np.ndarray,
    *,
    independent: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values of the features, and the mean of the function over the background.

    Parameters
    ----------
    kernel : Kernel
        A sum of products of kernels of single columns.
    X, X_fit, background : ndarrays of shape (m, p), (n, p), (b, p)
        Rows to explain, rows of the model, rows to compare with.
    dual : ndarray of shape (n, q)
        Coefficients of the model.
    weight : ndarray of shape (b,)
        Weights of the background rows.
    independent : bool
        Whether the features of the background count as independent.

    Returns
    -------
    values : ndarray of shape (m, p, q)
    base : ndarray of shape (q,)
    """
    p = 1 if X.ndim == 1 else X.shape[1]
    values, base = np.zeros((len(X), p, dual.shape[1])), np.zeros(dual.shape[1])
    share = weight / weight.sum()
    for term in column_terms(kernel, p):
        coef = term.factor * dual
        if not term.columns:
            base += coef.sum(axis=0)
            continue
        columns = list(term.columns)
        if independent:
            B = [_mean_values(term, c, background, share, X_fit) for c in columns]
            base += (symmetric_value(B, term.order) @ coef)[0]
            for rows in row_blocks(len(X), 1.0, _per_block(term, len(X_fit))):
                A = [term.values(c, X[rows], X_fit) for c in columns]
                values[rows, columns] += np.moveaxis(_shapley(term, A, B, coef), 0, 1)
            continue
        for part in row_blocks(len(background), 1.0, _per_block(term, len(X_fit))):
            B = [term.values(c, background[part], X_fit) for c in columns]
            base += share[part] @ (symmetric_value(B, term.order) @ coef)
            for i in range(len(X)):
                A = [term.values(c, X[i : i + 1], X_fit) for c in columns]
                values[i, columns] += np.einsum("b,jbq->jq", share[part], _shapley(term, A, B, coef))
    return values, base


def _per_block(term: ColumnTerm, n_fit: int) -> int:
    return max(1, _VALUES // (len(term.columns) * n_fit))


def _shapley(term: ColumnTerm, A: list[np.ndarray], B: list[np.ndarray], coef: np.ndarray) -> np.ndarray:
    if term.order == 1:
        return sum_shapley(A, B, coef)
    return (product_shapley if term.whole else pair_shapley)(A, B, coef)


def _mean_values(
    term: ColumnTerm, column: int, background: np.ndarray, share: np.ndarray, X_fit: np.ndarray
) -> np.ndarray:
    """Mean of a column's values over the background, of shape (1, n)."""
    mean = np.zeros((1, len(X_fit)))
    for part in row_blocks(len(background), 8.0 * 3 * len(X_fit)):
        mean += share[part] @ term.values(column, background[part], X_fit)
    return mean
