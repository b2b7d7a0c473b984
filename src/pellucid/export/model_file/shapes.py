"""Shapes of arrays that have to go together in an instance: a file that was altered fails here, not in a sum.

Each letter is a length, the same wherever it stands among the fields of an instance; ``m+1`` is one more than
``m``, and whatever stands for ``...`` may be of any shape. Of a list or tuple the length counts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.export.model_file.fitted import _GLM, _ISK, _LINEAR, _RIDGE, _SPARSE

SHAPES: dict[str, dict[str, str]] = {
    f"{_RIDGE} {_GLM}": {"_intercept": "q", "X_fit_": "m ...", "_dual": "m q"},
    _RIDGE: {"_alpha _dof _likelihood _residual_square _scale _shift _unit": "q"},
    "KernelFisherDiscriminant": {"classes_ priors_": "k", "means_": "k v", "scalings_": "q v"},
    _LINEAR: {"feature_sd_": "p", "_linear_intercept": "q", "_linear_coef": "p q"},
    f"{_SPARSE} {_ISK}": {"_intercept": "q", "terms_ term_names_": "t"},
    _ISK: {"_W": "f q", "_beta _mean _sd": "t q"},
    _SPARSE: {"_kept": "t", "_coef": "f q"},
    "Importances": {"names values se": "t"},
    "Smooth": {"knots density": "m", "table": "m+1 r"},
    "Warp": {"knots values": "k"},
    "RowSums": {"c column_mean": "f"},
    "LeaveOneOut": {"predictions residuals leverages": "n ..."},
}


def misfit(cls: type, state: Mapping[str, Any]) -> str | None:
    """What is wrong with the shapes of an instance, to be put after its path; ``None`` if nothing is."""
    if cls.__name__ == "TermTables":
        return _misfit_of_tables(state)
    levels = state.get("quantile")  # one number, or one for each output
    if isinstance(levels, list | tuple | np.ndarray) and _shape(state.get("_intercept")) != _shape(levels):
        return f", a {cls.__name__}, has .quantile of the shape {_shape(levels)}, other than its outputs"
    lengths: dict[str, int] = {}
    for classes, shapes in SHAPES.items():
        for names, letters in shapes.items() if cls.__name__ in classes.split() else ():
            for name in names.split():
                if state.get(name) is not None and not _bind(letters.split(), _shape(state[name]), lengths):
                    return f".{name} is of the shape {_shape(state[name])}, which does not go with the rest"
    return None


def _shape(value: Any) -> tuple[int, ...]:
    return (len(value),) if isinstance(value, list | tuple) else np.shape(value)


def _bind(letters: list[str], shape: tuple[int, ...], lengths: dict[str, int]) -> bool:
    """Take the lengths of letters met for the first time; whether the others are as they were."""
    if letters[-1] == "...":
        letters, shape = letters[:-1], shape[: len(letters) - 1]
    wanted = (
        lengths.setdefault(letter[0], size - letter.endswith("+1")) + letter.endswith("+1")
        for letter, size in zip(letters, shape, strict=False)
    )
    return len(letters) == len(shape) and tuple(wanted) == shape


def _misfit_of_tables(state: Mapping[str, Any]) -> str | None:
    """Tables have one entry more than their axes have points, and one axis more for several outputs."""
    outputs = np.shape(state["intercept"])
    for t, (term, table) in enumerate(zip(state["terms"], state["tables"], strict=False)):
        axes = state["fine" if len(term) == 1 else "coarse"]
        if np.shape(table) != (*(len(axes[j]) + 1 for j in term), *outputs):
            return f".tables[{t}] is of the shape {np.shape(table)}, which does not go with its axes"
    return None if len(state["terms"]) == len(state["tables"]) else " has other tables than terms"
