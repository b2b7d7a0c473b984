"""The page model of a kernel machine: its training rows, their coefficients, and the kernel as a formula.

The page evaluates ``b + Σ_i a_i k(x, x_i)``. Kernels of distances and dot products, and what is made of them
by sums, products, powers and restriction to columns, are understood; models with other kernels, or too many
rows for a page, have no page model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.report.packing import pack
from pellucid.report.page_model import PageModel
from pellucid.report.similarity import Formula

_MOST_NUMBERS = 30_000  # of training rows in a page, some 600 kB


def kernel_model(model: Any) -> PageModel | None:
    """Rows, coefficients and kernel of a fitted kernel model; nothing if the page could not evaluate it."""
    rows, dual = getattr(model, "X_fit_", None), getattr(model, "_dual", None)
    if rows is None or dual is None:
        return None
    rows = rows[:]
    if getattr(rows, "ndim", 0) != 2 or rows.dtype == object or rows.size > _MOST_NUMBERS:
        return None
    kernel = formula(getattr(model, "kernel_", None), np.arange(rows.shape[1]))
    if kernel is None:
        return None
    return {
        "intercept": np.asarray(model._intercept, dtype=float).tolist(),
        "terms": [],
        "kernel": kernel,
        "rows": pack(rows),
        "dual": pack(dual),
    }


def formula(kernel: Any, columns: np.ndarray) -> Formula | None:
    """A kernel as nested dictionaries, or nothing if there is a part that the page does not know.

    Examples
    --------
    >>> from pellucid import kernels
    >>> formula(2.0 * kernels.RBF(3.0).on([1]), np.arange(2))["op"]
    'product'
    """
    name = type(kernel).__name__
    if name in ("Sum", "Product"):
        parts = [formula(part, columns) for part in kernel.operands]
        return None if None in parts else {"op": name.lower(), "of": parts}
    if name == "Power":
        inner = formula(kernel.base, columns)
        return None if inner is None else {"op": "power", "of": inner, "exponent": kernel.exponent}
    if name == "Restricted":
        return None if kernel._positions is None else formula(kernel.base, columns[kernel._positions])
    if name == "Constant":
        return {"op": "constant", "value": kernel.value}
    if name not in _PARAMETERS:
        return None
    made: Formula = {"op": name.lower(), "columns": columns.tolist()}
    for key in ("length_scale", "origin"):
        if hasattr(kernel, key):
            made[key] = np.broadcast_to(np.asarray(getattr(kernel, key), float), len(columns)).tolist()
    return made | {key: getattr(kernel, key) for key in _PARAMETERS[name]}


_PARAMETERS: dict[str, tuple[str, ...]] = {
    "RBF": (),
    "Matern": ("nu",),
    "RationalQuadratic": ("shape",),
    "Laplacian": (),
    "Periodic": ("period",),
    "Linear": (),
    "Polynomial": ("degree", "bias"),
}
"""Kernels that the page knows, with their parameters besides length-scale and origin."""
