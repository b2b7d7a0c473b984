"""An ONNX graph as it grows: constants, operations, names that cannot meet those of columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8


def load_onnx() -> Any:
    """The package onnx, or a sentence on how to get it."""
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install 'pellucid[onnx]'") from None
    return onnx


class Graph:
    """Nodes and constants; ``inputs`` are names that are taken."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.onnx = load_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.taken = set(inputs)
        self._known: dict[tuple[Any, ...], str] = {}
        self._count = 0

    def fresh(self, name: str | None = None) -> str:
        """A name that nothing else has."""
        made = name
        while made is None or made in self.taken:
            self._count += 1
            made = f"p{self._count}" if name is None else f"{made}_"
        self.taken.add(made)
        return made

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """A constant array; equal ones are stored once."""
        array = np.ascontiguousarray(value, dtype=dtype)
        shape = np.shape(value)
        content = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, shape, content)
        if key not in self._known:
            name = self.fresh()
            self.constants.append(self.onnx.numpy_helper.from_array(array.reshape(shape), name))
            self._known[key] = name
        return self._known[key]

    def __call__(
        self,
        op: str,
        *inputs: str,
        name: str | None = None,
        domain: str = "",
        n_outputs: int = 1,
        **attributes: Any,
    ) -> str:
        """Append an operation, and return the name of its first output."""
        out = self.fresh(name)
        others = [self.fresh() for _ in range(n_outputs - 1)]
        node = self.onnx.helper.make_node(op, list(inputs), [out, *others], domain=domain, **attributes)
        self.nodes.append(node)
        return out

    def tensor(self, name: str, kind: str, *shape: int) -> Any:
        """An input or output of the model; its first dimension are the rows."""
        kind = getattr(self.onnx.TensorProto, kind)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["n", *shape])

    # ---------------------------------------------------------- common phrases
    def column(self, X: str, j: int | Sequence[int] | np.ndarray) -> str:
        """Columns of a matrix, as a matrix."""
        return self("Gather", X, self.constant(np.atleast_1d(j), np.int64), axis=1)

    def sum(self, x: str, axis: int, *, keep: bool = False) -> str:
        """Sum along an axis."""
        return self("ReduceSum", x, self.constant([axis], np.int64), keepdims=int(keep))

    def flat(self, x: str, name: str | None = None) -> str:
        """A matrix of one column as a vector."""
        return self("Squeeze", x, self.constant([1], np.int64), name=name)

    def between(self, x: str, low: float, high: float) -> str:
        """Values cut at both ends."""
        return self("Clip", x, self.constant(low), self.constant(high))

    def times(self, x: str, factor: Any) -> str:
        """Multiply by a constant."""
        return self("Mul", x, self.constant(factor))

    def plus(self, x: str, constant: Any) -> str:
        """Add a constant."""
        return self("Add", x, self.constant(constant))

    def power(self, x: str, exponent: float) -> str:
        """Raise to a constant power."""
        return self("Pow", x, self.constant(exponent))

    def fold(self, op: str, parts: Sequence[str]) -> str:
        """Combine some values by an operation of two."""
        return reduce(lambda left, right: self(op, left, right), parts)

    def circle(self, angle: str) -> str:
        """Cosines and sines side by side; the cosine as a sine, as runtimes have none of double precision."""
        return self("Concat", self("Sin", self.plus(angle, np.pi / 2)), self("Sin", angle), axis=1)

    def filled(self, x: str, columns: int, value: float) -> str:
        """A matrix of one value, with as many rows as ``x``."""
        rows = self("Slice", self("Shape", x), *(self.constant([k], np.int64) for k in (0, 1)))
        shape = self("Concat", rows, self.constant([columns], np.int64), axis=0)
        fill = self.onnx.numpy_helper.from_array(np.array([value]))
        return self("ConstantOfShape", shape, value=fill)

    # ------------------------------------------------------------------ whole
    def model(self, inputs: Sequence[Any], outputs: Sequence[Any], notes: dict[str, str]) -> Any:
        """The finished model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "pellucid", list(inputs), list(outputs), self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, producer_name="pellucid", ir_version=IR_VERSION
        )
        helper.set_model_props(model, notes)
        self.onnx.checker.check_model(model)
        return model
