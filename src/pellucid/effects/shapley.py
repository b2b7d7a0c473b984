"""Shapley values: each prediction less the mean one, shared out among the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.effects.explanation import Explanation, cell_text
from pellucid.effects.html import html_table
from pellucid.effects.summary import counted
from pellucid.effects.terms import Importances


@dataclass(frozen=True)
class ShapleyValues:
    """What each feature adds to each prediction: ``base + values.sum(axis=1)`` is the linear predictor.

    Examples
    --------
    >>> found = ShapleyValues(("age", "dose"), np.array([[1.5, -0.5], [0.5, 0.5]]), 10.0)
    >>> found.predictor
    array([11., 11.])
    >>> print(found.importances)
    term  mean |Shapley value|  relative
    age                      1     1.000
    dose                   0.5     0.500
    """

    names: tuple[str, ...]
    """Names of the features."""
    values: np.ndarray
    """Shapley values, of shape (m, n_features), or (m, n_features, n_outputs)."""
    base: float | np.ndarray
    """The mean linear predictor over the background, one number or one per output."""
    inputs: np.ndarray | None = None
    """The rows explained, as they came, of shape (m, n_features)."""
    background: str = "the background"
    """What the values compare with, in words."""
    scale: str = "linear predictor"
    """What base and values add up to, in words."""
    outputs: tuple[str, ...] = ()
    """Names of the classes or targets, where there are several."""
    predictions: np.ndarray | None = None
    """What the model predicts for the rows."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def predictor(self) -> np.ndarray:
        """The linear predictor of the rows, of shape (m,) or (m, n_outputs)."""
        return self.base + self.values.sum(axis=1)

    @property
    def importances(self) -> Importances:
        """Mean absolute value of each feature over the rows, and over the outputs where there are several."""
        size = np.abs(self.values).mean(axis=tuple(i for i in range(self.values.ndim) if i != 1))
        return Importances(self.names, size, measure="mean |Shapley value|")

    def of(self, output: Any = None) -> ShapleyValues:
        """The values of one output, by name or number; of the first by default."""
        if self.values.ndim == 2:
            return self
        k = self._output(output)
        base = float(np.asarray(self.base)[k])
        return ShapleyValues(
            self.names, self.values[:, :, k], base, self.inputs, self.background, self.scale,
            (self.outputs[k],), self.predictions,
        )  # fmt: skip

    def explanation(self, row: int = 0, output: Any = None) -> Explanation:
        """One row as an :class:`Explanation`, which prints, and which ``plot_contributions`` draws.

        Parameters
        ----------
        row : int, default=0
            Position of the row among those explained.
        output : int or class label, optional
            Which class or target, where there are several; by default the class that is predicted.
        """
        prediction = None if self.predictions is None else self.predictions[row]
        if self.values.ndim == 3 and output is None and str(prediction) in self.outputs:
            output = prediction
        one = self.of(output)
        inputs = () if self.inputs is None else tuple(cell_text(cell) for cell in self.inputs[row])
        name = one.outputs[0] if one.outputs else ""
        start = f"mean over {self.background}"
        return Explanation(
            self.names, one.values[row], float(one.base), inputs, prediction, name, self.scale, start
        )

    def __str__(self) -> str:
        base = ", ".join(f"{b:.5g}" for b in np.ravel(self.base)[:6])
        title = f"Shapley values of {counted(len(self), 'row')} of the {self.scale}"
        return f"{title}\nbase {base}, the mean over {self.background}\n\n{self.importances}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.importances
        rows = [[table.names[i], f"{table.values[i]:.4g}"] for i in table.order[:20]]
        title = f"Shapley values of {counted(len(self), 'row')}, against {self.background}"
        return html_table(title, ["feature", table.measure], rows)

    def _output(self, output: Any) -> int:
        if output is None:
            return 0
        if str(output) in self.outputs:
            return self.outputs.index(str(output))
        if isinstance(output, (int, np.integer)) and 0 <= output < self.values.shape[2]:
            return int(output)
        raise ValueError(f"There is no output {output!r}; there are {', '.join(self.outputs)}.")
