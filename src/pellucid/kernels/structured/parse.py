"""Kernels typed on the command line: ``tanimoto(smiles) + 0.5 * rbf(dose, length_scale=2)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.kernels.base import REGISTRY, Kernel

_WRAPPING = {"function", "kernel"}  # parameters that cannot be written as a value


@dataclass(frozen=True)
class Open:
    """A parameter that a formula leaves open, with the values that are worth trying."""

    call: int
    """Number of the kernel in the formula, from the left."""
    kernel: str
    name: str
    values: tuple[Any, ...]
    """Empty for length-scales: what is worth trying depends on the columns."""
    columns: tuple[str, ...]


class Formula:
    """A formula of kernels; nothing in it is executed.

    Kernels are called by name, in any case and with or without underscores. Names without a value are
    columns, in quotes where they are more than a word; names with a value are parameters. Kernels and
    positive numbers are joined by ``+`` and ``*``, and raised to whole powers by ``**``.

    Examples
    --------
    >>> from pellucid.kernels.structured.parse import Formula
    >>> formula = Formula("tanimoto(smiles) + rbf(dose, length_scale=2)")
    >>> [(one.kernel, one.name, one.values) for one in formula.open]
    [('Tanimoto', 'radius', (1, 2, 3))]
    >>> formula.kernel({formula.open[0]: 3})
    Tanimoto(radius=3, fragments='morgan', counts=True).on(['smiles']) + RBF(length_scale=2.0).on(['dose'])
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        try:
            self._tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(
                f"{text!r} is not a kernel. Write kernels with their columns, such as 'tanimoto(smiles)' or "
                f"'spectrum(promoter, k=4) + rbf(dose)'."
            ) from None
        self.open: tuple[Open, ...] = ()
        self.kernel()  # objections are raised now

    def kernel(self, chosen: Mapping[Open, Any] | None = None) -> Kernel:
        """The kernel, with values for parameters that were left open; the others have their defaults."""
        self._chosen = {(one.call, one.name): value for one, value in (chosen or {}).items()}
        self._found: list[Open] = []
        self._calls = 0
        made = self._kernel(self._tree)
        self.open = tuple(self._found)
        return made

    def _kernel(self, node: ast.expr) -> Kernel:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            left, right = self._operand(node.left), self._operand(node.right)
            joined = left + right if isinstance(node.op, ast.Add) else left * right
            if isinstance(joined, Kernel):
                return joined
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self._kernel(node.left) ** self._value(node.right)
        if isinstance(node, ast.Name):
            return self._built(node.id, [], {})
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            columns = [self._column(argument) for argument in node.args]
            options = {str(k.arg): self._value(k.value) for k in node.keywords if k.arg is not None}
            return self._built(node.func.id, columns, options)
        raise self._objection(node)

    def _operand(self, node: ast.expr) -> Any:
        return self._value(node) if isinstance(node, ast.Constant) else self._kernel(node)

    def _built(self, name: str, columns: Sequence[str], options: dict[str, Any]) -> Kernel:
        cls = self._class(name)
        wrong = [key for key in options if key not in cls.parameters]
        if wrong:
            raise ValueError(
                f"{cls.__name__} has no parameter {wrong[0]!r}; it has {', '.join(cls.parameters) or 'none'}."
            )
        ladder = dict(cls.worth_trying) | ({"length_scale": ()} if "length_scale" in cls.parameters else {})
        for key, values in ladder.items():
            if key not in options:
                self._found.append(Open(self._calls, cls.__name__, key, values, tuple(columns)))
                if (self._calls, key) in self._chosen:
                    options[key] = self._chosen[self._calls, key]
        self._calls += 1
        kernel = cls(**options)
        return kernel.on(list(columns)) if columns else kernel

    def _class(self, name: str) -> type[Kernel]:
        ours = {key.lower(): cls for key, cls in REGISTRY.items() if cls.__module__.startswith("pellucid.")}
        cls = ours.get(name.replace("_", "").lower())
        if cls is None or not cls.parameters or _WRAPPING & set(cls.parameters):
            named = [c for c in ours.values() if c.parameters and not _WRAPPING & set(c.parameters)]
            names = ", ".join(sorted(c.__name__ for c in named))
            raise ValueError(f"There is no kernel {name!r} in {self.text!r}. Known are {names}.")
        return cls

    def _column(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        raise self._objection(node)

    def _value(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise self._objection(node) from None

    def _objection(self, node: ast.expr) -> ValueError:
        where = ast.get_source_segment(self.text, node) or self.text
        return ValueError(
            f"{where!r} in {self.text!r} is not understood: write kernels with their columns, numbers, +, * "
            f"and **."
        )


def parse_kernel(text: str) -> Kernel:
    """Read a formula of kernels, with defaults for what it leaves open; see :class:`Formula`.

    Examples
    --------
    >>> from pellucid.kernels.structured.parse import parse_kernel
    >>> parse_kernel("spectrum(promoter, k=4) + 0.5 * rbf(dose, 'mean age')")
    Spectrum(k=4, normalise=True).on(['promoter']) + 0.5 * RBF(length_scale=1.0).on(['dose', 'mean age'])
    """
    return Formula(text).kernel()
