"""Cholesky factors, and inverses of triangles, by threads that do not wait for each other.

SciPy's functions for LAPACK hold the interpreter lock, so that threads which each factor a matrix of their
own take turns. The same routines, at the addresses that SciPy gives to Cython, are called without it here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.linalg import cython_lapack, lapack

_LOWER, _FULL = b"L", b"N"  # the lower triangle; its diagonal is not one
_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def lower_factor(A: np.ndarray) -> np.ndarray:
    """The lower triangle L with A = LLᵀ, zero above its diagonal, written over ``A``.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric and C-contiguous, float32 or float64. Overwritten.

    Returns
    -------
    L : ndarray of shape (n, n)
        Fortran-contiguous.

    Raises
    ------
    FloatingPointError
        If the matrix is not positive definite in its precision, or not finite.

    Examples
    --------
    >>> lower_factor(np.array([[4.0, 2.0], [2.0, 10.0]])).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
    """
    L = A.T
    failed = _in_place("potrf", L, _LOWER)
    if failed or not np.all(np.isfinite(L.diagonal())):  # not every LAPACK reports NaN
        raise FloatingPointError("The matrix is not positive definite in its precision.")
    for j in range(1, len(L)):
        L[:j, j] = 0.0
    return L


def lower_inverse(L: np.ndarray) -> np.ndarray:
    """The inverse of a lower triangle without zeros on its diagonal, written over it.

    Examples
    --------
    >>> lower_inverse(np.array([[2.0, 0.0], [1.0, 4.0]], order="F")).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """
    _in_place("trtri", L, _LOWER, _FULL)
    return L


def _in_place(name: str, A: np.ndarray, *options: bytes) -> int:
    """Call a routine that works on a square matrix in place; what it returns is 0 if all went well."""
    if not A.flags.f_contiguous or A.dtype not in (np.float32, np.float64):
        raise ValueError("LAPACK works in place on Fortran-contiguous float32 or float64.")
    name = ("s" if A.dtype == np.float32 else "d") + name
    routine = _routine(name, len(options) + 4)
    if routine is None:
        A[...], info = getattr(lapack, name)(A, lower=1)
        return int(info)
    n, lead, failed = ctypes.c_int(len(A)), ctypes.c_int(max(len(A), 1)), ctypes.c_int(0)
    at = [ctypes.byref(n), ctypes.c_void_p(A.ctypes.data), ctypes.byref(lead), ctypes.byref(failed)]
    routine(*options, *at)
    return failed.value


@lru_cache
def _routine(name: str, n_arguments: int) -> Callable[..., None] | None:
    """A routine of LAPACK as SciPy gives it to Cython; None where its integers are not C's."""
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    signature = _NAME(capsule)
    if b"int *" not in signature or signature.count(b",") + 1 != n_arguments:
        return None
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(
        _POINTER(capsule, signature)
    )
    return routine
