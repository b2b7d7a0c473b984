"""One prediction as a waterfall: from the intercept, term by term, to the sum."""

from typing import Any

import numpy as np

from pellucid.effects.explanation import Explanation, explain_row
from pellucid.plots.names import labels, plain, wrapped
from pellucid.plots.style import BLUE, GREY, ORANGE, named_rows, new_axes


def plot_contributions(
    model: Any, row: Any = None, *, output: Any = None, top: int = 10, reference: Any = None, ax: Any = None
) -> Any:
    """Draw why one prediction is what it is: contributions of the terms, from the intercept to the sum.

    Parameters
    ----------
    model : fitted model, pipeline or Explanation
        A model with terms or with coefficients, or a prediction already explained.
    row : array-like of shape (p,) or (1, p), or one row of a data frame
        The row whose prediction is explained.
    output : int or class label, optional
        Which class or target, where there are several; by default the class that is predicted.
    top : int, default=10
        Number of contributions shown; the others are added up in one bar.
    reference : array-like of shape (p,) or (m, p), optional
        For models with coefficients: where contributions are zero, for instance the training rows, which
        stand for their mean.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pellucid import plot_contributions
    >>> model = LinearRegression().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], [1.0, 3.0, 0.0])
    >>> ax = plot_contributions(model, [2.0, 4.0])
    >>> [float(bar.get_width()) for bar in ax.patches]
    [4.0, -2.0]
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}.")
    if isinstance(model, Explanation):
        explanation = model
    elif row is None:
        raise ValueError("Pass the row whose prediction is to be explained.")
    else:
        explanation = explain_row(model, row, output=output, reference=reference)
    shown = explanation.top(top)
    values = shown.contributions
    ends = explanation.intercept + np.cumsum(values)
    starts = ends - values
    ax = new_axes(ax, size=(6.4, 1.6 + 0.32 * max(len(values), 3)))
    at = np.arange(len(values))
    ax.barh(
        at, values, left=starts, height=0.62, color=[BLUE if v >= 0 else ORANGE for v in values], zorder=3
    )
    ax.vlines(ends[:-1], at[:-1], at[1:], color=GREY, linewidth=0.8, zorder=2)
    ax.axvline(explanation.intercept, color=GREY, linewidth=1, linestyle="--", zorder=1)
    ax.axvline(explanation.total, color="black", linewidth=1.2, zorder=1)
    low, high = min(starts.min(), ends.min()), max(starts.max(), ends.max())
    span = (high - low) or 1.0
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    for i, value in enumerate(values):
        text = f"{value:+.3g}".replace("-", "−")
        right = max(starts[i], ends[i]) + 0.012 * span
        ax.text(right, i, text, va="center", fontsize=9, zorder=4, bbox=paper)
    ax.set_xlim(low - 0.05 * span, high + 0.14 * span)
    predicted = _text(explanation.prediction)
    output = explanation.output
    which = f" ({output})" if output and output not in explanation.scale else ""
    title = f"from {explanation.intercept:.4g} ({explanation.start}) to {explanation.total:.4g}"
    title = f"Predicted {predicted}\n{title}" if predicted else title[:1].upper() + title[1:]
    named_rows(ax, _labels(shown), plain(title), wrapped(f"{explanation.scale}{which}", 60))
    ax.invert_yaxis()  # the largest on top
    return ax


def _labels(shown: Explanation) -> list[str]:
    """Names with the row's values, both cut if they are long."""
    names = labels(shown.names, 28)
    if not shown.inputs:
        return names
    values = [labels([value], 18)[0] if value else "" for value in shown.inputs]
    return [f"{name} = {value}" if value else name for name, value in zip(names, values, strict=True)]


def _text(prediction: Any) -> str:
    if prediction is None:
        return ""
    return (
        f"{prediction:.4g}" if isinstance(prediction, (float, np.floating)) else labels([prediction], 40)[0]
    )
