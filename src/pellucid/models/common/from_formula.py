"""Estimators made and fitted by a formula and a table."""

from __future__ import annotations

import inspect
from typing import Any, Self

from pellucid.data.formula import read_formula
from pellucid.data.table import as_frame


def fit_formula(
    estimator: Any,
    formula: str,
    data: Any,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
) -> Any:
    """Fit an estimator to a table, as a formula tells.

    Parameters
    ----------
    estimator : estimator
        What to fit; it is fitted itself, not a copy. Of an additive kernel machine the pairs of the formula
        become ``interactions``, unless that was set to something else than ``"auto"`` and the formula names
        none; other models take no pairs.
    formula : str
        Such as ``"y ~ age + region + age:income"``: the column that is predicted, and the features. ``a*b``
        is ``a + b + a:b``; ``.`` stands for all other columns; back quotes hold names with blanks. A pair
        brings its features along. Curves are learned, so there are no transformations.
    data : data frame
        Table with these columns; others are not looked at, now or in ``predict``.
    sample_weight, offset, exposure : str or array-like of shape (n,), optional
        As in the estimator's ``fit``; a text names a column of the table.

    Returns
    -------
    The estimator; its ``formula_`` is the formula, and its ``predict`` takes tables with any other columns
    beside those that it needs, in any order.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from pellucid import AdditiveKernelRegressor, fit_formula
    >>> rng = np.random.default_rng(0)
    >>> data = pd.DataFrame(rng.uniform(-1, 1, size=(300, 3)), columns=["a", "b", "c"])
    >>> data["y"] = data["a"] * data["b"] + data["c"]
    >>> model = fit_formula(AdditiveKernelRegressor(), "y ~ a * b + c", data)
    >>> model.importances_.top(2)
    ['c', 'a × b']
    >>> model.predict(data).shape
    (300,)
    """
    frame = as_frame(data, "data")
    if frame is None:
        raise TypeError(f"A formula is about a data frame with named columns, got {type(data).__name__}.")
    read = read_formula(formula, [str(name) for name in frame.columns])
    parameters = estimator.get_params(deep=False)
    if "interactions" in parameters:
        if read.pairs and parameters["interactions"] != "auto":
            raise ValueError("The pairs are in the formula: leave out interactions.")
        if read.pairs or parameters["interactions"] == "auto":
            estimator.set_params(interactions=list(read.pairs) or 0)
    elif read.pairs:
        raise ValueError(
            f"The formula {formula!r} names pairs, and {type(estimator).__name__} does not take them one by "
            f"one: name its features alone."
        )
    given = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
    known = {key: _column(frame, value, key) for key, value in given.items() if value is not None}
    for key in known.keys() - inspect.signature(estimator.fit).parameters.keys():
        raise TypeError(f"{type(estimator).__name__} takes no {key}.")
    y = frame.get_column(read.target).to_native()
    estimator.fit(frame.select(list(read.features)).to_native(), y, **known)
    estimator.formula_ = formula
    return estimator


def _column(frame: Any, value: Any, what: str) -> Any:
    if not isinstance(value, str):
        return value
    if value not in frame.columns:
        raise ValueError(f"{what} names {value!r}, and the table has no such column.")
    return frame.get_column(value).to_numpy()


class FromFormula:
    """Adds :meth:`from_formula` to an estimator."""

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        **parameters: Any,
    ) -> Self:
        """Make an estimator and fit it to a table, as a formula tells; see :func:`~pellucid.fit_formula`.

        Parameters
        ----------
        formula : str
            Such as ``"y ~ age + region"``.
        data : data frame
            Table with these columns.
        sample_weight, offset, exposure : str or array-like of shape (n,), optional
            As in :meth:`fit`; a text names a column.
        **parameters
            Of the estimator.

        Returns
        -------
        The fitted estimator.
        """
        known = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        return fit_formula(cls(**parameters), formula, data, **known)
