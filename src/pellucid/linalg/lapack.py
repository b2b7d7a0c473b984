"""LAPACK and BLAS without the interpreter lock: Cholesky factor, inverse of a triangle, sums of squares.

SciPy's own functions hold the lock, so that threads which each factor a matrix of their own take turns. Here
the same routines are called without it, at the addresses that SciPy gives to Cython. Each works in place.
"""

import ctypes
import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.linalg import blas, cython_blas, cython_lapack, lapack

_LOWER, _FULL, _TRANSPOSED = b"L", b"N", b"T"  # the lower triangle; its diagonal is not one
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
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
    failed = _call_lapack("potrf", L, _LOWER)
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
    _call_lapack("trtri", L, _LOWER, _FULL)
    return L


def add_squares(C: np.ndarray, Zt: np.ndarray) -> None:
    """Add ZᵀZ to the lower triangle of C.

    Parameters
    ----------
    C : ndarray of shape (F, F)
        Fortran-contiguous, float32 or float64. What is above its diagonal stays as it is.
    Zt : ndarray of shape (F, n)
        The columns of Z, each in one piece: C-contiguous, of the same type.

    Examples
    --------
    >>> C = np.zeros((2, 2), order="F")
    >>> add_squares(C, np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> C.tolist()
    [[5.0, 0.0], [6.0, 9.0]]
    """
    Z = Zt.T
    kind = _kind(C)
    if _kind(Z) != kind or C.shape != (len(Zt), len(Zt)) or not C.flags.writeable:
        raise ValueError("Sums and columns do not fit together.")
    routine = _routine(kind + "syrk", 10)
    if Z.size == 0:
        return
    if routine is None:
        getattr(blas, kind + "syrk")(1.0, Z, beta=1.0, c=C, trans=1, lower=1, overwrite_c=1)
        return
    F, n = ctypes.c_int(len(C)), ctypes.c_int(len(Z))
    one = ctypes.byref((ctypes.c_float if kind == "s" else ctypes.c_double)(1.0))
    Z_at, C_at = ctypes.c_void_p(Z.ctypes.data), ctypes.c_void_p(C.ctypes.data)
    n_at, F_at = ctypes.byref(n), ctypes.byref(F)
    routine(_LOWER, _TRANSPOSED, F_at, n_at, one, Z_at, n_at, one, C_at, F_at)


def _kind(A: np.ndarray) -> str:
    """First letter of the routines for a matrix that can be worked on in place."""
    if A.ndim != 2 or not A.flags.f_contiguous or A.dtype not in (np.float32, np.float64):
        raise ValueError("BLAS and LAPACK work in place on Fortran-contiguous matrices, float32 or float64.")
    return "s" if A.dtype == np.float32 else "d"


def _call_lapack(name: str, A: np.ndarray, *options: bytes) -> int:
    """Call a routine of LAPACK on a square matrix; what it returns is 0 if all went well."""
    name = _kind(A) + name
    if len(A) != A.shape[1] or not A.flags.writeable:
        raise ValueError("The matrix is to be square, and overwritten.")
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
    """A routine as SciPy gives it to Cython; None where there is none, or its integers are not C's."""
    module = cython_blas if name.endswith("syrk") else cython_lapack
    capsule = getattr(module, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    signature = _capsule_name(capsule)
    if not re.search(rb"[(,] ?int \*", signature) or signature.count(b",") + 1 != n_arguments:
        return None
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(
        _capsule_pointer(capsule, signature)
    )
    return routine
