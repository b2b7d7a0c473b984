"""A kernel typed as a formula: which columns it reads, whether they can be read, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.console import say
from pellucid.cli.errors import UserError
from pellucid.kernels import Constant, Kernel, Restricted
from pellucid.kernels.structured.parse import Formula, Open
from pellucid.models import LooSearch

_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the spread of the columns, tried as length-scales
_MACHINES = ("ridge", "glm")


def read_formula(text: str, columns: Sequence[str]) -> Formula:
    """Read the formula of ``--kernel`` for a table with these columns.

    A kernel of strings, graphs or molecules that names no column reads the only one there is.
    """
    formula = _formula(text)
    parts = list(_leaves(formula.kernel()))
    bare = [kernel for kernel, names in parts if names is None]
    objects = [kernel for kernel in bare if kernel.reads_objects]
    if objects and len(parts) == 1 and len(columns) == 1:
        return _formula(_on(formula, columns[0]))
    if objects or (bare and len(bare) < len(parts)):
        name = type((objects or bare)[0]).__name__
        example = columns[0] if objects and columns else "column"
        raise UserError(
            f"--kernel {text!r} does not say which column {name} reads: write "
            f"{name.lower()}({example}); the table has {_listed(columns)}."
        )
    for kernel, names in parts:
        for name in names or ():
            if name not in columns:
                raise UserError(
                    f"--kernel {text!r} reads a column {name!r}, which is not among the features "
                    f"{_listed(columns)}."
                )
        if kernel.reads_objects and len(names or ()) > 1:
            raise UserError(
                f"{type(kernel).__name__} reads one column, and --kernel gives it {_listed(names)}."
            )
    return formula


def columns_read(kernel: Kernel) -> dict[str, str]:
    """Columns that a kernel names, each as ``text``, ``levels`` or ``numbers``; none if it reads them all."""
    found: dict[str, str] = {}
    for leaf, names in _leaves(kernel):
        what = "text" if leaf.reads_objects else "levels" if leaf.reads_levels else "numbers"
        for name in names or ():
            if found.setdefault(name, what) != what:
                raise UserError(f"--kernel reads the column {name!r} as {found[name]} and as {what}.")
    return found


def check_objects(kernel: Kernel, X: pd.DataFrame) -> None:
    """Raise, with the row counted from 1, if a string, graph or molecule cannot be read."""
    for leaf, names in _leaves(kernel):
        if not leaf.reads_objects:
            continue
        name = str((names or X.columns)[0])
        cells = X[name].to_numpy(dtype=object)
        try:
            leaf.read_objects(cells)
        except ImportError as error:
            raise UserError(str(error)) from None
        except ValueError:
            for i in range(len(cells)):
                try:
                    leaf.read_objects(cells[i : i + 1])
                except ValueError as error:
                    what = str(error).removeprefix("row 0: ")
                    raise UserError(f"Column {name!r}, row {i + 1}: {what}") from None
            raise


def choose(estimator: Any, formula: Formula, X: pd.DataFrame, y: np.ndarray, weight: Any) -> Any:
    """The estimator with its kernel; what the formula leaves open is chosen one after the other.

    Ridge models choose by exact leave-one-out on these rows. Others have no such thing and take the
    defaults, with length-scales equal to the spread of the columns.
    """
    chosen: dict[Open, Any] = {}
    tried: dict[Open, list[Any]] = {}
    for one in formula.open:
        values = list(one.values) or _length_scales(X[list(one.columns)] if one.columns else X)
        if not one.values:
            chosen[one] = values[len(values) // 2]
        tried[one] = values
    if "loss" not in estimator.get_params():
        for one, values in tried.items():
            kernels = [kernel for value in values if (kernel := _possible(formula, {**chosen, one: value}))]
            search = LooSearch(estimator, {"kernel": kernels}).fit(X, y, sample_weight=weight)
            best = next(i for i, k in enumerate(kernels) if k is search.best_params_["kernel"])
            chosen[one] = values[best]
    kernel = formula.kernel(chosen)
    if tried:
        say(f"Kernel: {kernel}.")
    return estimator.set_params(kernel=kernel)


def machine(model: str | None, formula: str | None) -> str:
    """Name of the model: additive if nothing is said, ridge if a kernel is."""
    if formula is None:
        return model or "additive"
    if model is not None and model not in _MACHINES:
        raise UserError(f"--kernel is for the models {' and '.join(_MACHINES)}, not for {model!r}.")
    return model or "ridge"


def _formula(text: str) -> Formula:
    try:
        return Formula(text)
    except (ValueError, TypeError) as error:
        raise UserError(f"--kernel: {error}") from None


def _on(formula: Formula, column: str) -> str:
    """The formula of one kernel with its column put in."""
    name, _, rest = formula.text.partition("(")
    inside = rest.rpartition(")")[0].strip()
    return f"{name}({column!r}{', ' if inside else ''}{inside})"


def _possible(formula: Formula, chosen: dict[Open, Any]) -> Kernel | None:
    try:
        return formula.kernel(chosen)
    except ValueError:  # such as more letters read than there are in a window
        return None


def _length_scales(X: pd.DataFrame) -> list[Any]:
    """Multiples of the spread of each column, larger for more columns, as distances are."""
    spread = X.to_numpy(dtype=float).std(axis=0)
    spread = np.where(spread > 0, spread, 1.0) * np.sqrt(X.shape[1])
    return [
        (factor * spread).tolist() if len(spread) > 1 else float(factor * spread[0]) for factor in _FACTORS
    ]


def _leaves(kernel: Kernel) -> Iterator[tuple[Kernel, list[str] | None]]:
    """The kernels of a formula with the columns that they name."""
    if isinstance(kernel, Restricted):
        yield kernel.base, [str(c) for c in kernel.columns]
    elif kernel.children:
        for child in kernel.children:
            yield from _leaves(child)
    elif not isinstance(kernel, Constant):
        yield kernel, None


def _listed(names: Sequence[str] | None) -> str:
    names = list(names or ())
    return ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
