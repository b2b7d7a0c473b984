"""Products with a triangle, at half the work of a full matrix."""

import numpy as np
from scipy.linalg import blas


def times_upper(K: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return ``K T`` for an upper triangular ``T``, in place where ``K`` is C-contiguous.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        float32 or float64; overwritten.
    T : ndarray of shape (m, r), r at most m
        Upper triangular, of the same type, best Fortran-contiguous. With fewer columns than rows it is a
        product as usual.

    Examples
    --------
    >>> times_upper(np.array([[1.0, 1.0]]), np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 5.]])
    """
    if T.shape[0] != T.shape[1] or not K.flags.c_contiguous:
        return K @ T
    multiply = blas.strmm if K.dtype == np.float32 else blas.dtrmm
    out: np.ndarray = multiply(1.0, T, K.T, lower=0, trans_a=1, overwrite_b=1).T
    return out
