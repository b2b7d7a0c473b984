"""Kernels typed on the command line: ``tanimoto(smiles) + 0.5 * rbf(dose, length_scale=2)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pellucid.kernels.base import REGISTRY, Kernel


def parse_kernel(text: str) -> Kernel:
    """Read a formula of kernels; nothing in it is executed.

    Kernels are called by name, in any case and with or without underscores. Names without a value are
    columns, in quotes where they are more than a word; names with a value are parameters. Kernels and
    positive numbers are joined by ``+`` and ``*``, and raised to whole powers by ``**``.

    Examples
    --------
    >>> from pellucid.kernels.structured.parse import parse_kernel
    >>> parse_kernel("spectrum(promoter, k=4) + 0.5 * rbf(dose, 'mean age')")
    Spectrum(k=4, normalise=True).on(['promoter']) + 0.5 * RBF(length_scale=1.0).on(['dose', 'mean age'])
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f"{text!r} is not a kernel. Write kernels with their columns, such as 'tanimoto(smiles)' or "
            f"'spectrum(promoter, k=4) + rbf(dose)'."
        ) from None
    return _kernel(tree, text)


def _kernel(node: ast.expr, text: str) -> Kernel:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _operand(node.left, text), _operand(node.right, text)
        joined = left + right if isinstance(node.op, ast.Add) else left * right
        if isinstance(joined, Kernel):
            return joined
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _kernel(node.left, text) ** _value(node.right, text)
    if isinstance(node, ast.Name):
        return _built(node.id, [], {}, text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        columns = [_column(argument, text) for argument in node.args]
        options = {str(k.arg): _value(k.value, text) for k in node.keywords if k.arg is not None}
        return _built(node.func.id, columns, options, text)
    raise _objection(node, text)


def _operand(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Constant):
        return _value(node, text)
    return _kernel(node, text)


def _built(name: str, columns: Sequence[str], options: dict[str, Any], text: str) -> Kernel:
    known = {key.lower(): cls for key, cls in REGISTRY.items() if cls.__module__.startswith("pellucid.")}
    wanted = name.replace("_", "").lower()
    cls = known.get(wanted)
    if cls is None or not cls.parameters or "function" in cls.parameters or "kernel" in cls.parameters:
        names = [key for key, c in REGISTRY.items() if c.parameters and known.get(key.lower()) is c]
        simple = [n for n in names if not {"function", "kernel"} & set(REGISTRY[n].parameters)]
        raise ValueError(f"There is no kernel {name!r} in {text!r}. Known are {', '.join(sorted(simple))}.")
    wrong = [key for key in options if key not in cls.parameters]
    if wrong:
        raise ValueError(
            f"{cls.__name__} has no parameter {wrong[0]!r}; it has {', '.join(cls.parameters) or 'none'}."
        )
    kernel = cls(**options)
    return kernel.on(list(columns)) if columns else kernel


def _column(node: ast.expr, text: str) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise _objection(node, text)


def _value(node: ast.expr, text: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _objection(node, text) from None


def _objection(node: ast.expr, text: str) -> ValueError:
    where = ast.get_source_segment(text.strip(), node) or text
    return ValueError(
        f"{where!r} in {text!r} is not understood: write kernels with their columns, numbers, +, * and **."
    )
