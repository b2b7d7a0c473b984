"""Kernel values from a formula of plain lists, as the page computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

Formula = dict[str, Any]


def similarity(k: Formula, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Kernel values of one row against many: what the page computes."""
    op = k["op"]
    if op == "constant":
        return np.full(len(rows), float(k["value"]))
    if op == "power":
        return similarity(k["of"], x, rows) ** k["exponent"]
    if op in ("sum", "product"):
        parts = [similarity(part, x, rows) for part in k["of"]]
        return np.sum(parts, axis=0) if op == "sum" else np.prod(parts, axis=0)
    columns, scale = k["columns"], np.asarray(k["length_scale"])
    u, v = x[columns], rows[:, columns]
    if "origin" in k:
        t = ((v - k["origin"]) / scale) @ ((u - k["origin"]) / scale)
        return t if op == "linear" else (k["bias"] + t) ** k["degree"]
    gap = (v - u) / scale
    if op == "laplacian":
        return np.exp(-np.abs(gap).sum(axis=1))
    if op == "periodic":
        return np.exp(-2.0 * np.sum((np.sin(np.pi * (v - u) / k["period"]) / scale) ** 2, axis=1))
    s = np.sum(gap**2, axis=1)
    if op == "rbf":
        return np.exp(-0.5 * s)
    if op == "rationalquadratic":
        return (1.0 + s / (2.0 * k["shape"])) ** -k["shape"]
    t = np.minimum(np.sqrt(2.0 * k["nu"] * s), 800.0)
    return np.exp(-t) * {0.5: 1.0, 1.5: 1.0 + t, 2.5: 1.0 + t + t * t / 3.0}[k["nu"]]
