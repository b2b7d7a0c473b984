"""Several models on the same splits: their scores, and how they rank."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.effects.stability import Stability, average_ranks
from pellucid.effects.summary import counted
from pellucid.plots.names import labels
from pellucid.plots.style import BLUE, GREY, ORANGE, named_rows, new_axes


def plot_comparison(
    scores: Any, *, lower_is_better: bool | None = None, measure: str = "score", ax: Any = None
) -> Any:
    r"""Draw the scores of several models over the same splits, best mean rank on top.

    Each grey dot is one split, the line the range of the middle half, the large dot the median. Splits differ
    in difficulty, so overlapping ranges do not mean that two models are equally good: the ranks compare
    them split by split.

    Parameters
    ----------
    scores : Stability or mapping of name to array of shape (n_splits,)
        What :func:`pellucid.stability` returns (its test errors are drawn), a data frame, or a dictionary.
    lower_is_better : bool, optional
        Whether small values are good. Default: yes for errors of a ``Stability``, no otherwise.
    measure : str, default="score"
        What the values are, for the axis.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from pellucid import plot_comparison
    >>> ax = plot_comparison(
    ...     {"ridge": [0.7, 0.6, 0.8], "forest": [0.8, 0.7, 0.7]}, measure="R²"
    ... )
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['ridge\nmean rank 1.67', 'forest\nmean rank 1.33']
    """
    if isinstance(scores, Stability):
        names, values, measure = list(scores.methods), scores.test_error, f"test error ({scores.measure})"
        lower = True if lower_is_better is None else lower_is_better
    else:
        names, values = _columns(scores)
        lower = bool(lower_is_better)
    ranks = average_ranks(values if lower else -values).mean(axis=0)
    order = np.argsort(-ranks, kind="stable")  # the best on top
    best = ranks == ranks.min()
    ax = new_axes(ax, size=(6.4, 1.5 + 0.5 * max(len(names), 2)))
    jitter = np.random.default_rng(0).uniform(-0.16, 0.16, size=len(values))
    for at, j in enumerate(order):
        colour = ORANGE if best[j] and len(names) > 1 else BLUE
        lower_quarter, median, upper_quarter = np.quantile(values[:, j], [0.25, 0.5, 0.75])
        ax.scatter(values[:, j], at + jitter, s=12, color=GREY, alpha=0.45, linewidths=0, zorder=2)
        ax.plot([lower_quarter, upper_quarter], [at, at], color=colour, linewidth=3, zorder=3)
        ax.plot(median, at, "o", color=colour, markersize=8, zorder=4)
    texts = labels(names)
    if len(names) > 1:
        texts = [f"{text}\nmean rank {rank:.2f}" for text, rank in zip(texts, ranks, strict=True)]
    better = "smaller is better" if lower else "larger is better"
    title = f"{counted(len(values), 'split')}, the same for all"
    return named_rows(ax, [texts[j] for j in order], title, f"{measure}, {better}")


def _columns(scores: Any) -> tuple[list[str], np.ndarray]:
    if not isinstance(scores, Mapping) and not hasattr(scores, "columns"):
        raise ValueError("scores must be a Stability, a data frame, or a mapping of names to arrays.")
    names = list(scores.keys() if isinstance(scores, Mapping) else scores.columns)
    arrays = [np.asarray(scores[name], dtype=float).ravel() for name in names]
    if not arrays or len({len(array) for array in arrays}) != 1 or not len(arrays[0]):
        raise ValueError("Every model needs one score per split, on the same splits.")
    values = np.column_stack(arrays)
    if not np.all(np.isfinite(values)):
        raise ValueError("Scores contain NaN or infinity.")
    return [str(name) for name in names], values
