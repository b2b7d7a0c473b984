"""Why one prediction is what it is: the contribution of each term at one row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.effects.stability import features_first


@dataclass(frozen=True)
class Explanation:
    """One prediction as a sum: ``intercept + Σ contributions`` is the linear predictor.

    Examples
    --------
    >>> print(Explanation(("age", "dose"), np.array([1.5, -0.25]), 10.0, inputs=("61", "3.5")))
    intercept              10
    age = 61             +1.5
    dose = 3.5          -0.25
    sum                 11.25
    """

    names: tuple[str, ...]
    """Names of the terms."""
    contributions: np.ndarray
    """Contribution of each term, of shape (n_terms,)."""
    intercept: float
    """Where the sum begins: the linear predictor when no term contributes."""
    inputs: tuple[str, ...] = ()
    """The row's values in each term as text, or nothing."""
    prediction: Any = None
    """What the model predicts for the row."""
    output: str = ""
    """The class or target that the sum speaks for, where there are several."""
    scale: str = "linear predictor"
    """What the contributions add up to, in words."""
    start: str = "intercept"
    """What the sum begins with, in words."""

    @property
    def total(self) -> float:
        """The linear predictor at the row."""
        return float(self.intercept + np.sum(self.contributions))

    def labels(self) -> list[str]:
        """Names of the terms with the row's values, such as ``age = 61``."""
        if not self.inputs:
            return list(self.names)
        pairs = zip(self.names, self.inputs, strict=True)
        return [f"{name} = {value}" if value else name for name, value in pairs]

    def top(self, n: int = 10) -> Explanation:
        """The ``n`` largest contributions, largest first, and the sum of the rest as one more."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        kept, rest = order[:n], order[n:]
        if len(rest) == 1:  # one line for one term: show the term itself
            kept, rest = order, order[:0]
        names = [self.names[i] for i in kept]
        values = list(self.contributions[kept])
        inputs = [self.inputs[i] for i in kept] if self.inputs else []
        if len(rest):
            names.append(f"{len(rest)} other terms")
            values.append(float(self.contributions[rest].sum()))
            inputs += [""] if self.inputs else []
        return replace(self, names=tuple(names), contributions=np.array(values), inputs=tuple(inputs))

    def __str__(self) -> str:
        shown = self.top(20)
        rows = [(self.start, f"{self.intercept:.5g}")]
        rows += [(t, f"{c:+.5g}") for t, c in zip(shown.labels(), shown.contributions, strict=True)]
        rows.append(("sum", f"{self.total:.5g}"))
        width = max(len(label) for label, _ in rows) + 2
        return "\n".join(f"{label:<{width}}{value:>{max(24 - width, 12)}}" for label, value in rows)


def explain_row(model: Any, row: Any, *, output: Any = None, reference: Any = None) -> Explanation:
    """Contributions of a fitted model's terms, or coefficients, at one row.

    Parameters
    ----------
    model : fitted estimator or pipeline
        With ``contributions(X)``, or with ``coef_`` and ``intercept_``.
    row : array-like of shape (p,) or (1, p), or one row of a data frame
        The row to explain.
    output : int or class label, optional
        Which class or target, where there are several; by default the class that is predicted.
    reference : array-like of shape (p,) or (m, p), optional
        For models with coefficients: where contributions are zero. Rows stand for their mean. Default: the
        model's ``feature_mean_`` if it has one, and zero otherwise.

    Returns
    -------
    explanation : Explanation

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], [1.0, 3.0, 0.0])
    >>> explain_row(model, [2.0, 4.0]).contributions
    array([ 4., -2.])
    """
    row = one_row(row)
    prediction = model.predict(row)[0]
    model, (row,) = unwrapped(model, row)
    if hasattr(model, "contributions"):
        values, names, start = model.contributions(row)[0], model.term_names_, model.intercept_
        terms = model.terms_
    elif getattr(model, "coef_", None) is not None:
        values, names, start = _linear(model, row, reference)
        terms = [(j,) for j in range(len(names))]
    else:
        raise ValueError(
            f"{type(model).__name__} has neither terms nor coefficients, so its predictions have no "
            f"contributions of features; model.linear_view() reads a kernel model as a linear one."
        )
    values, start = np.asarray(values, dtype=float), np.asarray(start, dtype=float)
    which, label = _output(model, values, output, prediction)
    if which is not None:
        values, start = values[:, which], start[which]
    cells = np.asarray(row, dtype=object)[0]
    inputs = tuple(", ".join(cell_text(cells[j]) for j in term) for term in terms) if len(cells) else ()
    first = float(np.ravel(start)[0])
    return Explanation(tuple(map(str, names)), values, first, inputs, prediction, label, scale_of(model))


def unwrapped(model: Any, *tables: Any) -> tuple[Any, list[Any]]:
    """The estimator inside of pipelines and searches, and tables as its pipeline hands them on."""
    rows = list(tables)
    while hasattr(model, "steps") or hasattr(model, "best_estimator_"):
        if hasattr(model, "steps"):
            before = model[:-1] if len(model.steps) > 1 else None
            rows = [X if X is None or before is None else before.transform(X) for X in rows]
            model = model[-1]
        else:
            model = model.best_estimator_
    return model, rows


def one_row(row: Any) -> Any:
    """A row in the form in which ``predict`` takes it: two dimensions, names kept."""
    if hasattr(row, "to_frame") and getattr(row, "ndim", 0) == 1:  # a row of a pandas data frame
        return row.to_frame().T.infer_objects()
    if not hasattr(row, "shape"):
        row = np.asarray(row)
        row = row.astype(object) if row.dtype.kind in "US" else row
    if len(row.shape) == 1:
        row = row.reshape(1, -1)
    if len(row.shape) != 2 or row.shape[0] != 1:
        raise ValueError(f"One row is explained at a time, got an array of shape {tuple(row.shape)}.")
    return row


def scale_of(model: Any) -> str:
    """What the terms of a model add up to, in words."""
    fitted = getattr(model, "loss_", None)
    loss = getattr(fitted, "name", getattr(model, "loss", "squared"))
    classes = getattr(model, "classes_", None)
    if classes is not None:
        if loss == "ordinal":
            return "position among the classes"
        logistic = loss in ("logistic", "multinomial")
        if len(classes) > 2:
            return "score of the class" if not logistic else "log-odds of the class"
        return f"{'log-odds' if logistic else 'score'} of {classes[-1]}"
    words = {"log": "log of the prediction", "logit": "log-odds of the prediction"}
    return words.get(getattr(fitted, "link", "identity"), "prediction")


def _linear(model: Any, row: Any, reference: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    coef = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, dtype=float)
    x = np.asarray(row, dtype=float)[0]
    coef = features_first(coef, len(x), rows=type(model).__module__.split(".")[0] == "pellucid")
    if reference is None:
        reference = getattr(model, "feature_mean_", np.zeros(len(x)))
    zero = np.atleast_2d(np.asarray(reference, dtype=float)).mean(axis=0)
    if zero.shape != x.shape:
        raise ValueError(f"reference must have {len(x)} features like the row, got {zero.shape[0]}.")
    names = getattr(model, "coefficient_names_", getattr(model, "feature_names_in_", None))
    names = [f"x{j}" for j in range(len(x))] if names is None else list(names)
    return (coef.T * (x - zero)).T, names, np.asarray(model.intercept_) + zero @ coef


def _output(model: Any, values: np.ndarray, output: Any, prediction: Any) -> tuple[int | None, str]:
    """Position and name of the output asked for; ``None`` where there is only one."""
    classes = getattr(model, "classes_", None)
    if values.ndim == 1:
        return None, "" if classes is None else str(classes[-1])
    names = list(classes) if classes is not None else list(range(values.shape[1]))
    if output is None:
        output = prediction if classes is not None else 0
    if output in names:
        return names.index(output), str(output)
    if isinstance(output, (int, np.integer)) and 0 <= output < len(names):
        return int(output), str(names[output])
    raise ValueError(f"There is no output {output!r}; there are {', '.join(map(str, names))}.")


def cell_text(value: Any) -> str:
    """A cell of a table as text."""
    if isinstance(value, (float, np.floating)):
        return "(missing)" if np.isnan(value) else f"{value:.6g}"
    return "(missing)" if value is None else str(value)
