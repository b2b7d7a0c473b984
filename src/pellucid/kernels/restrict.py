"""Kernels that see only some of the columns, by name or number."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from pellucid.kernels.algebra import _Wrapper
from pellucid.kernels.base import Kernel
from pellucid.kernels.dot import Linear
from pellucid.kernels.stationary import RBF


class Restricted(_Wrapper):
    """A kernel that sees only some columns, ``k.on(columns)``."""

    def __init__(self, base: Kernel, columns: Sequence[str | int] | str | int) -> None:
        super().__init__(base)
        if isinstance(columns, str | int | np.integer):
            columns = [columns]
        self.columns = [_column(c) for c in columns]
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"on(columns) needs at least one column and none twice, got {columns!r}.")
        numbers = [c for c in self.columns if isinstance(c, int)]
        self._positions = numbers if len(numbers) == len(self.columns) else None

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(RBF(0.7), [1]), cls(RBF(0.7) + Linear(2.0), [2, 0])]

    def _names_columns(self) -> bool:
        return any(isinstance(c, str) for c in self.columns)

    def _look_up(self, names: list[str]) -> None:
        missing = [c for c in self.columns if isinstance(c, str) and c not in names]
        if missing:
            raise ValueError(f"The kernel {self} names columns that X does not have: {missing}.")
        positions = [names.index(c) if isinstance(c, str) else c for c in self.columns]
        self._check(positions, len(names))
        self._positions = positions
        self.base._look_up([names[p] for p in positions])

    def _check(self, positions: list[int], n_columns: int) -> None:
        if max(positions) >= n_columns or min(positions) < -n_columns:
            raise ValueError(f"The kernel {self} asks for columns that X, with {n_columns}, does not have.")
        if len({p % n_columns for p in positions}) < len(positions):
            raise ValueError(f"The kernel {self} asks for a column of X, which has {n_columns}, twice.")

    def _takes_objects(self) -> bool:
        return False  # it takes the table, and hands on the column

    def read_objects(self, rows: np.ndarray) -> np.ndarray:
        if not self.base._takes_objects():
            return super().read_objects(rows)
        column = self._select(rows)
        try:
            read = self.base.read_objects(column)
        except ValueError as error:
            raise ValueError(f"Column {self.columns[0]!r}: {error}") from None
        if read is not column:
            rows = np.array(rows, dtype=object)
            rows[:, (self._positions or [])[0]] = read
        return rows

    def _select(self, X: np.ndarray) -> np.ndarray:
        if self._positions is None:
            raise ValueError(
                f"The kernel {self} names its columns, but X has no column names. Pass a data frame, or use "
                f"column numbers in on(...)."
            )
        if X.ndim != 2:
            raise ValueError(f"The kernel {self} asks for columns, but X has {X.ndim} dimension(s).")
        self._check(self._positions, X.shape[1])
        selected = X[:, self._positions]
        if self.base._takes_objects():
            if len(self._positions) > 1:
                raise ValueError(
                    f"The kernel {self.base} compares one column of objects, got {self.columns}."
                )
            return selected[:, 0]
        # numbers from a table that also holds strings arrive as objects
        numeric = self.base.vectors and not self.base.reads_levels
        return selected.astype(float) if numeric and selected.dtype == object else selected

    def _pair(self, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A = self._select(X)
        return A, A if Y is X else self._select(Y)

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.base._gram(*self._pair(X, Y))

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return self.base._diag(self._select(X))

    def parameter_gradient(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        return self.base.parameter_gradient(self._select(X), W)

    def input_gradients(self, X: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
        A, B = self._pair(X, Y)
        positions = [p % X.shape[1] for p in self._positions or []]
        inner = dict(zip(positions, self.base.input_gradients(A, B), strict=True))
        for column in range(X.shape[1]):
            yield inner[column] if column in inner else np.zeros((len(X), len(Y)))

    def feature_count(self, n_columns: int) -> int | None:
        return self.base.feature_count(len(self.columns))

    def features(self, X: np.ndarray) -> np.ndarray:
        return self.base.features(self._select(X))

    def _widen(self, n_columns: int) -> None:
        self.base._widen(len(self.columns))

    def _key(self) -> tuple[Any, ...]:
        return ("Restricted", tuple(self.columns), self.base._key())

    def _formula(self, number: Any) -> str:
        return f"{self._inner(number)}.on({self.columns!r})"


def _column(column: Any) -> str | int:
    if isinstance(column, str):
        return str(column)
    if not isinstance(column, bool) and isinstance(column, Integral):
        return int(column)
    raise TypeError(f"on(columns) takes names and numbers of columns, got {column!r}.")
