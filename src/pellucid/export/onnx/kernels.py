"""Kernels between the rows of an input and fixed rows, in ONNX."""

from collections.abc import Callable
from typing import Any

import numpy as np

import pellucid.kernels as ks
from pellucid.export.onnx.graph import Graph

_DIRECT_COLUMNS = 24  # up to so many columns are differenced one by one, which does not cancel


def gram(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    """Kernel values of shape (n, m) between an input of shape (n, p) and constant rows ``Y``."""
    if isinstance(kernel, ks.Sum | ks.Product):
        parts = [gram(g, part, X, Y) for part in kernel.operands]
        return g.fold("Add" if isinstance(kernel, ks.Sum) else "Mul", parts)
    if isinstance(kernel, ks.Power):
        return g.power(gram(g, kernel.base, X, Y), kernel.exponent)
    if isinstance(kernel, ks.Exponential):
        return g("Exp", gram(g, kernel.base, X, Y))
    if isinstance(kernel, ks.Restricted) and kernel._positions is not None:
        columns = [int(position) % Y.shape[1] for position in kernel._positions]
        return gram(g, kernel.base, g.column(X, columns), Y[:, columns])
    if isinstance(kernel, ks.Constant):
        return g.filled(X, len(Y), kernel.value)
    if type(kernel) in _KINDS:
        return _KINDS[type(kernel)](g, kernel, X, Y)
    names = ", ".join(kind.__name__ for kind in _KINDS)
    raise ValueError(
        f"to_onnx has no formula for the kernel {kernel}; it has for {names}, constants, and what is made of "
        f"them by sums, products, powers, exponentials and on(columns)."
    )


def _rbf(g: Graph, s: str) -> str:
    return g("Exp", g.times(s, -0.5))


def _matern(g: Graph, s: str, nu: float) -> str:
    t = g.between(g("Sqrt", g.times(s, 2.0 * nu)), 0.0, 800.0)
    value = g("Exp", g("Neg", t))
    if nu == 0.5:
        return value
    polynomial = g.plus(t, 1.0)
    if nu == 2.5:
        polynomial = g("Add", polynomial, g.times(g("Mul", t, t), 1.0 / 3.0))
    return g("Mul", polynomial, value)


def _rational(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    s = _squares(g, X, Y, kernel.length_scale)
    return g.power(g.plus(g.times(s, 0.5 / kernel.shape), 1.0), -kernel.shape)


def _laplacian(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    return g("Exp", g("Neg", _over_columns(g, X, Y, kernel.length_scale, lambda d: g("Abs", d))))


def _periodic(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    scale = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), Y.shape[1:])
    circle = g.circle(g.times(X, 2.0 * np.pi / kernel.period))
    return _rbf(g, _squares(g, g.times(circle, 1.0 / np.tile(scale, 2)), kernel._circle(Y), 1.0))


def _dot(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    origin, scale = (
        np.broadcast_to(np.asarray(v, float), Y.shape[1]) for v in (kernel.origin, kernel.length_scale)
    )
    U = g("Div", g("Sub", X, g.constant(origin)), g.constant(scale))
    return g("MatMul", U, g.constant(kernel._scaled(Y).T))


def _polynomial(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    return g.power(g.plus(_dot(g, kernel, X, Y), kernel.bias), kernel.degree)


def _additive_pairs(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    """``((Σz)² - Σz²) / (D (D - 1))``."""
    D = Y.shape[1]
    scale = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), D)
    s = [_squares(g, g.column(X, c), Y[:, [c]], scale[c]) for c in range(D)]
    z = [_rbf(g, one) if kernel.base == "rbf" else _matern(g, one, 1.5) for one in s]
    total, squares = g.fold("Add", z), g.fold("Add", [g("Mul", one, one) for one in z])
    return g.times(g("Sub", g("Mul", total, total), squares), 1.0 / (D * (D - 1)))


_KINDS: dict[type, Callable[[Graph, Any, str, np.ndarray], str]] = {
    ks.RBF: lambda g, kernel, X, Y: _rbf(g, _squares(g, X, Y, kernel.length_scale)),
    ks.Matern: lambda g, kernel, X, Y: _matern(g, _squares(g, X, Y, kernel.length_scale), kernel.nu),
    ks.RationalQuadratic: _rational,
    ks.Laplacian: _laplacian,
    ks.Periodic: _periodic,
    ks.Linear: _dot,
    ks.Polynomial: _polynomial,
    ks.AdditivePairs: _additive_pairs,
}


def _squares(g: Graph, X: str, Y: np.ndarray, length_scale: Any) -> str:
    """Squared distances of scaled rows."""
    if Y.shape[1] <= _DIRECT_COLUMNS:
        return _over_columns(g, X, Y, length_scale, lambda d: g("Mul", d, d))
    scale = np.broadcast_to(np.asarray(length_scale, dtype=float), Y.shape[1:])
    centre = Y.mean(axis=0)
    A = g("Div", g("Sub", X, g.constant(centre)), g.constant(scale))
    B = (Y - centre) / scale
    own = g.plus(g.sum(g("Mul", A, A), 1, keep=True), np.sum(B * B, axis=1)[None, :])
    s = g("Add", own, g("MatMul", A, g.constant(-2.0 * B.T)))
    return g("Max", s, g.constant(0.0))


def _over_columns(g: Graph, X: str, Y: np.ndarray, length_scale: Any, change: Callable[[str], str]) -> str:
    """Sum over columns of a function of the scaled differences."""
    scale = np.broadcast_to(np.asarray(length_scale, dtype=float), Y.shape[1:])
    x = [g("Div", g.column(X, c), g.constant(scale[c])) for c in range(len(scale))]
    parts = [change(g("Sub", x[c], g.constant((Y[:, c] / scale[c])[None, :]))) for c in range(len(scale))]
    return g.fold("Add", parts)
