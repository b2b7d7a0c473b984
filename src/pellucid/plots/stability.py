"""Coefficients and errors over random splits of the data, as box plots."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects.stability import Stability
from pellucid.effects.summary import counted
from pellucid.plots.names import labels, plain
from pellucid.plots.style import BLUE, GREY, key, named_rows, new_axes


def plot_stability(
    result: Stability,
    method: str | Sequence[str] | None = None,
    *,
    kind: str = "coefficients",
    only_constant: bool = False,
    max_features: int = 30,
    output: int = 0,
    ax: Any = None,
) -> Any:
    """Draw coefficients or test errors over random splits as box plots.

    Boxes hold the middle half of the splits, whiskers reach to the extremes. Coefficients are in the order of
    their medians, and coloured where zero lies outside their whole range.

    Parameters
    ----------
    result : Stability
        What :func:`pellucid.stability` returns.
    method : str, optional
        Whose coefficients; may be left out if only one method has them. For errors, one name or a list of
        names; all methods by default.
    kind : {"coefficients", "errors"}, default="coefficients"
        What to draw.
    only_constant : bool, default=False
        Whether to show only coefficients that have the same sign in all splits.
    max_features : int, default=30
        Show at most so many coefficients, those with the largest medians in absolute value.
    output : int, default=0
        Which class or output, where there are several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from pellucid import plot_stability, stability
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_stability(stability(Ridge(0.1), X, y, n_splits=10))
    >>> [label.get_text() for label in ax.get_yticklabels()][-2:]
    ['s5', 'bmi']
    """
    if kind == "errors":
        return _errors(result, method, ax)
    if kind != "coefficients":
        raise ValueError(f"kind must be one of coefficients, errors, got {kind!r}.")
    if method is not None and not isinstance(method, str):
        raise ValueError("Coefficients are drawn for one method at a time: pass its name.")
    if max_features < 1:
        raise ValueError(f"max_features must be at least 1, got {max_features!r}.")
    return _coefficients(result, result.which(method), only_constant, max_features, output, ax)


def _coefficients(
    result: Stability, method: str, only_constant: bool, max_features: int, output: int, ax: Any
) -> Any:
    coef, names = result.replicates(method, output=output), result.names_of(method)
    outside = result.zero_outside[method]
    outside = outside if outside.ndim == 1 else outside[:, output]
    candidates = np.flatnonzero(outside) if only_constant else np.arange(len(names))
    if len(candidates) == 0:
        raise ValueError("No coefficient has the same sign in all splits; leave only_constant out.")
    median = np.median(coef, axis=0)
    largest = candidates[np.argsort(-np.abs(median[candidates]), kind="stable")[:max_features]]
    order = largest[np.argsort(median[largest], kind="stable")]
    ax = new_axes(ax, size=(6.4, 1.5 + 0.25 * max(len(order), 4)))
    colours = [BLUE if flag else "0.75" for flag in outside[order]]
    ax.axvline(0.0, color=GREY, linewidth=1, zorder=1)
    _boxes(ax, coef[:, order], colours)
    which, whole = "", result.coef[method]
    if whole is not None and whole.ndim == 3:
        named = len(result.classes) == whole.shape[2]
        which = f", class {result.classes[output]}" if named else f", output {output}"
    what = "of constant sign" if only_constant else "coefficients"
    shown = f"{len(order)} largest of {len(candidates)} {what}" if len(order) < len(candidates) else ""
    if only_constant and not shown:
        shown = f"{len(order)} of {len(names)} coefficients keep their sign"
    elif not only_constant:
        kinds = ((BLUE, "same sign in all splits", outside), ("0.75", "sign not constant", ~outside))
        key(ax, [(colour, text) for colour, text, kind in kinds if kind[order].any()])
        kept = f"{int(outside.sum())} of {len(names)} keep their sign"
        shown = f"{shown}; {kept}" if shown else kept
    title = f"{method}{which}: {counted(result.n_splits, 'split')}\n{shown}"
    return named_rows(ax, [labels(names)[j] for j in order], plain(title), "coefficient", first=1)


def _errors(result: Stability, method: str | Sequence[str] | None, ax: Any) -> Any:
    methods = list(result.methods)
    wanted = methods if method is None else [method] if isinstance(method, str) else list(method)
    unknown = [name for name in wanted if name not in methods]
    if unknown or not wanted:
        raise ValueError(
            f"There is no method {', '.join(map(repr, unknown))}; there are {', '.join(methods)}."
        )
    columns = [methods.index(name) for name in reversed(wanted)]  # the first one on top
    errors = result.test_error[:, columns]
    ax = new_axes(ax, size=(6.4, 1.5 + 0.45 * max(len(columns), 2)))
    best = np.median(errors, axis=0) == np.median(errors, axis=0).min()
    _boxes(ax, errors, [BLUE if flag and len(columns) > 1 else "0.75" for flag in best])
    ranks = result.mean_ranks["test"]
    texts = [labels(methods)[j] for j in columns]
    if len(methods) > 1:
        texts = [f"{text}\nmean rank {ranks[j]:.2f}" for text, j in zip(texts, columns, strict=True)]
    title = f"Rows left out of the fit, {counted(result.n_splits, 'split')}"
    return named_rows(ax, texts, title, f"test error ({result.measure})", first=1)


def _boxes(ax: Any, values: np.ndarray, colours: list[str]) -> None:
    """Horizontal boxes with whiskers to the extremes, from plain lines and bars.

    The keyword of ``Axes.boxplot`` that lays boxes down is not the same in all versions of matplotlib.
    """
    at = np.arange(1, values.shape[1] + 1)
    low, lower, median, upper, high = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)
    ax.hlines([*at, *at], [*low, *upper], [*lower, *high], color="0.35", linewidth=0.9, zorder=2)
    ax.vlines([*low, *high], [*at - 0.16, *at - 0.16], [*at + 0.16, *at + 0.16], color="0.35", linewidth=0.9)
    ax.barh(
        at, upper - lower, left=lower, height=0.62, color=colours, edgecolor="0.25", linewidth=0.6, zorder=3
    )
    ax.vlines(median, at - 0.31, at + 0.31, color="black", linewidth=1.6, zorder=4)
