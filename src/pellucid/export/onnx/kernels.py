"""Kernels between the rows of an input and fixed rows, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid.kernels as ks
from pellucid.export.onnx.graph import Graph

_DIRECT_COLUMNS = 24  # up to so many columns are differenced one by one, which does not cancel


def gram(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    """Kernel values of shape (n, m) between an input of shape (n, p) and constant rows ``Y``."""
    if isinstance(kernel, ks.Sum | ks.Product):
        K = gram(g, kernel.operands[0], X, Y)
        for part in kernel.operands[1:]:
            K = g("Add" if isinstance(kernel, ks.Sum) else "Mul", K, gram(g, part, X, Y))
        return K
    if isinstance(kernel, ks.Power):
        return g("Pow", gram(g, kernel.base, X, Y), g.constant(np.float64(kernel.exponent)))
    if isinstance(kernel, ks.Exponential):
        return g("Exp", gram(g, kernel.base, X, Y))
    if isinstance(kernel, ks.Restricted) and kernel._positions is not None:
        columns = [int(position) % Y.shape[1] for position in kernel._positions]
        return gram(g, kernel.base, g.column(X, columns), Y[:, columns])
    if isinstance(kernel, ks.Constant):
        return g.filled(X, len(Y), kernel.value)
    for kind, build in _KINDS.items():
        if type(kernel) is kind:
            return build(g, kernel, X, Y)
    names = ", ".join(kind.__name__ for kind in _KINDS)
    raise ValueError(
        f"to_onnx has no formula for the kernel {kernel}; it has for {names}, constants, and what is made of "
        f"them by sums, products, powers, exponentials and on(columns)."
    )


def _rbf(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    return g("Exp", g.times(_squares(g, X, Y, kernel.length_scale), np.float64(-0.5)))


def _matern(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    return _matern_of(g, _squares(g, X, Y, kernel.length_scale), kernel.nu)


def _matern_of(g: Graph, s: str, nu: float) -> str:
    t = g.between(g("Sqrt", g.times(s, np.float64(2.0 * nu))), 0.0, 800.0)
    value = g("Exp", g("Neg", t))
    if nu == 0.5:
        return value
    polynomial = g.plus(t, np.float64(1.0))
    if nu == 2.5:
        polynomial = g("Add", polynomial, g.times(g("Mul", t, t), np.float64(1.0 / 3.0)))
    return g("Mul", polynomial, value)


def _rational(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    base = g.plus(
        g.times(_squares(g, X, Y, kernel.length_scale), np.float64(0.5 / kernel.shape)), np.float64(1.0)
    )
    return g("Pow", base, g.constant(np.float64(-kernel.shape)))


def _laplacian(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    scale = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), Y.shape[1:])
    return g("Exp", g("Neg", _over_columns(g, X, Y, scale, lambda d: g("Abs", d))))


def _periodic(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    scale = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), Y.shape[1:])
    turn = g.times(X, np.float64(2.0 * np.pi / kernel.period))
    # the cosine as a sine: runtimes have no cosine of double precision
    circle = g("Concat", g("Sin", g.plus(turn, np.float64(np.pi / 2))), g("Sin", turn), axis=1)
    s = _squares(g, g.times(circle, 1.0 / np.tile(scale, 2)), kernel._circle(Y), 1.0)
    return g("Exp", g.times(s, np.float64(-0.5)))


def _dot(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    p = Y.shape[1]
    origin, scale = (
        np.broadcast_to(np.asarray(v, dtype=float), p) for v in (kernel.origin, kernel.length_scale)
    )
    U = g("Div", g("Sub", X, g.constant(origin)), g.constant(scale))
    return g("MatMul", U, g.constant(kernel._scaled(Y).T))


def _polynomial(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    base = g.plus(_dot(g, kernel, X, Y), np.float64(kernel.bias))
    return g("Pow", base, g.constant(np.float64(kernel.degree)))


def _additive_pairs(g: Graph, kernel: Any, X: str, Y: np.ndarray) -> str:
    """``((Σz)² - Σz²) / (D (D - 1))``."""
    D = Y.shape[1]
    scale = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), D)
    total = squares = ""
    for c in range(D):
        s = _squares(g, g.column(X, c), Y[:, [c]], scale[c])
        z = g("Exp", g.times(s, np.float64(-0.5))) if kernel.base == "rbf" else _matern_of(g, s, 1.5)
        total = z if not total else g("Add", total, z)
        square = g("Mul", z, z)
        squares = square if not squares else g("Add", squares, square)
    return g.times(g("Sub", g("Mul", total, total), squares), np.float64(1.0 / (D * (D - 1))))


_KINDS: dict[type, Any] = {
    ks.RBF: _rbf,
    ks.Matern: _matern,
    ks.RationalQuadratic: _rational,
    ks.Laplacian: _laplacian,
    ks.Periodic: _periodic,
    ks.Linear: _dot,
    ks.Polynomial: _polynomial,
    ks.AdditivePairs: _additive_pairs,
}


def _squares(g: Graph, X: str, Y: np.ndarray, length_scale: Any) -> str:
    """Squared distances of scaled rows."""
    scale = np.broadcast_to(np.asarray(length_scale, dtype=float), Y.shape[1:])
    if Y.shape[1] <= _DIRECT_COLUMNS:
        return _over_columns(g, X, Y, scale, lambda d: g("Mul", d, d))
    centre = Y.mean(axis=0)
    A = g("Div", g("Sub", X, g.constant(centre)), g.constant(scale))
    B = (Y - centre) / scale
    own = g.plus(g.sum(g("Mul", A, A), 1, keep=True), np.sum(B * B, axis=1)[None, :])
    s = g("Add", own, g("MatMul", A, g.constant(-2.0 * B.T)))
    return g("Max", s, g.constant(np.float64(0.0)))


def _over_columns(g: Graph, X: str, Y: np.ndarray, scale: np.ndarray, change: Any) -> str:
    """Sum over columns of a function of the scaled differences."""
    total = ""
    for c in range(Y.shape[1]):
        x = g("Div", g.column(X, c), g.constant(np.float64(scale[c])))
        part = change(g("Sub", x, g.constant((Y[:, c] / scale[c])[None, :])))
        total = part if not total else g("Add", total, part)
    return total
