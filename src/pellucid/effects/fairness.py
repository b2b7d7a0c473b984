"""Whether a model treats groups of rows alike: means, errors, calibration, wrong decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.effects.concordance import concordance
from pellucid.effects.drift import text_table
from pellucid.effects.html import html_table
from pellucid.effects.outcome_measures import Outcome, takes_exposure
from pellucid.losses import Expectile, Quantile

Measure = Callable[[np.ndarray], tuple[float, float]]
"""From positions of rows to a value and its standard error."""


@dataclass(frozen=True)
class GroupTable:
    """Measures of a model by group, each with a standard error.

    Examples
    --------
    >>> y, mu = np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> table = groups_of_numbers(y, mu, np.array(["a", "a", "b", "b"]))
    >>> table.values["mean absolute error"]
    array([0., 1.])
    >>> table.gaps()["mean absolute error"]
    1.0
    """

    groups: tuple[str, ...]
    """Names of the groups."""
    counts: np.ndarray
    """Rows of each group."""
    values: Mapping[str, np.ndarray]
    """Each measure by group; NaN where a group has no rows of the kind."""
    errors: Mapping[str, np.ndarray]
    """Standard errors of the values."""

    def gaps(self) -> dict[str, float]:
        """The largest less the smallest value of each measure."""
        return {
            name: float(np.nanmax(v) - np.nanmin(v)) if np.isfinite(v).any() else float("nan")
            for name, v in self.values.items()
        }

    def head_and_rows(self) -> tuple[list[str], list[list[str]]]:
        """The table as text."""
        head = ["group", "rows", *self.values]
        rows = [
            [f"{count:,}", *(_cell(v[g], self.errors[key][g]) for key, v in self.values.items())]
            for g, count in enumerate(self.counts)
        ]
        return head, [[name, *cells] for name, cells in zip(self.groups, rows, strict=True)]

    def __str__(self) -> str:
        return text_table(*self.head_and_rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("By group", *self.head_and_rows())


def _cell(value: float, error: float) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.4g} ± {error:.2g}" if np.isfinite(error) else f"{value:.4g}"


def groups_of_numbers(
    y: np.ndarray,
    mu: np.ndarray,
    groups: np.ndarray,
    *,
    ratio: bool = False,
    weight: np.ndarray | None = None,
) -> GroupTable:
    """Means, bias and errors of predicted numbers.

    ``ratio`` adds predictions over targets, for amounts; ``weight`` is what rows count for, such as trials.
    """
    wrong, w = mu - y, np.ones(len(y)) if weight is None else weight
    measures: dict[str, Measure] = {
        "mean target": lambda rows: _mean(y[rows], w[rows]),
        "mean prediction": lambda rows: _mean(mu[rows], w[rows]),
        "mean error": lambda rows: _mean(wrong[rows], w[rows]),
        "mean absolute error": lambda rows: _mean(np.abs(wrong[rows]), w[rows]),
        "RMSE": lambda rows: _root_mean_square(wrong[rows], w[rows]),
    }
    if ratio:
        measures["predicted / observed"] = lambda rows: _ratio(mu[rows], y[rows])
    return _by_group(groups, measures)


def groups_of_outcomes(outcome: Outcome, groups: np.ndarray) -> GroupTable:
    """What a loss is about, by group: events beside those expected, shares below quantiles, or numbers."""
    y, mu, loss = outcome.y, outcome.mu, outcome.loss
    measures: dict[str, Measure]
    if loss.kind == "survival":
        time, event, expected = np.abs(y), ~np.signbit(y) * 1.0, outcome.expected_events()
        measures = {
            "share of events": lambda rows: _rate(event[rows]),
            "expected / observed": lambda rows: _ratio(expected[rows], event[rows]),
            "concordance": lambda rows: (
                concordance(time[rows], event[rows] > 0, mu[rows, 0]),
                float("nan"),
            ),
        }
        return _by_group(groups, measures)
    if isinstance(loss, Quantile):
        lost = outcome.pinball()
        measures = {
            "mean target": lambda rows: _mean(y[rows]),
            "pinball loss": lambda rows: _mean(lost[rows]),
        }
        for level, q in zip(outcome.levels, mu.T, strict=True):
            measures[f"below {100 * level:g} %"] = _share(y <= q)
        return _by_group(groups, measures)
    if isinstance(loss, Expectile):
        lost = outcome.asymmetric()
        measures = {
            "mean target": lambda rows: _mean(y[rows]),
            "asymmetric squared error": lambda rows: _mean(lost[rows]),
        }
        return _by_group(groups, measures)
    trials = outcome.weight if loss.kind == "proportions" else None
    return groups_of_numbers(y, mu[:, 0], groups, ratio=takes_exposure(loss), weight=trials)


def groups_of_classes(
    y: np.ndarray, predicted: np.ndarray, groups: np.ndarray, P: np.ndarray | None, classes: np.ndarray
) -> GroupTable:
    """Accuracy, and for two classes calibration and both kinds of wrong decisions about the second class."""
    right = y == predicted
    measures: dict[str, Measure] = {"accuracy": lambda rows: _rate(right[rows])}
    if len(classes) == 2:
        yes, said = y == classes[1], predicted == classes[1]
        measures |= {
            f"share of {classes[1]}": lambda rows: _rate(yes[rows]),
            f"predicted {classes[1]}": lambda rows: _rate(said[rows]),
            "false positives": lambda rows: _rate(said[rows[~yes[rows]]]),
            "false negatives": lambda rows: _rate(~said[rows[yes[rows]]]),
        }
        if P is not None:
            measures["mean probability"] = lambda rows: _mean(P[rows, 1])
            measures["calibration error"] = lambda rows: _mean(P[rows, 1] - yes[rows])
    if P is not None:
        place = np.searchsorted(classes, y).clip(0, len(classes) - 1)
        loss = -np.log(np.clip(P[np.arange(len(y)), place], 1e-15, 1.0))
        measures["log loss"] = lambda rows: _mean(loss[rows])
    return _by_group(groups, measures)


def _by_group(groups: np.ndarray, measures: Mapping[str, Measure]) -> GroupTable:
    names, place = np.unique(groups, return_inverse=True)
    members = [np.flatnonzero(place == g) for g in range(len(names))]
    found = {key: np.array([measure(rows) for rows in members]) for key, measure in measures.items()}
    return GroupTable(
        tuple(map(str, names)),
        np.array([len(rows) for rows in members]),
        {key: pairs[:, 0] for key, pairs in found.items()},
        {key: pairs[:, 1] for key, pairs in found.items()},
    )


def _mean(values: np.ndarray, weight: np.ndarray | None = None) -> tuple[float, float]:
    """A mean, weighted as a ratio of sums."""
    w = np.ones(len(values)) if weight is None else weight
    return _ratio(w * values, w)


def _share(hits: np.ndarray) -> Measure:
    return lambda rows: _rate(hits[rows])


def _rate(hits: np.ndarray) -> tuple[float, float]:
    """A share; its error is that of two hits and two misses more, so that no hits at all prove little."""
    n, k = len(hits), int(np.count_nonzero(hits))
    p = (k + 2) / (n + 4)
    return (k / n, float(np.sqrt(p * (1 - p) / (n + 4)))) if n else (float("nan"), float("nan"))


def _root_mean_square(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    square, error = _mean(values**2, weight)
    root = float(np.sqrt(square))
    return root, error / (2 * root) if root > 0 else 0.0


def _ratio(top: np.ndarray, bottom: np.ndarray) -> tuple[float, float]:
    """Ratio of sums, its error by linearisation."""
    below = float(bottom.sum())
    if below <= 0:
        return float("nan"), float("nan")
    ratio = float(top.sum()) / below
    n = len(top)
    rest = top - ratio * bottom
    return ratio, float(np.sqrt(n / max(n - 1, 1) * np.sum(rest**2)) / below) if n > 1 else float("nan")
