"""The ridge problem of the first Newton step from the null model: what a kernel is chosen by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.losses.constant import weighted_quantile
from pellucid.solvers import GLMProblem

_FAR_OUT = 3.0  # Tukey's fence: so many interquartile ranges beyond the quartiles


def first_step(problems: Sequence[GLMProblem]) -> tuple[np.ndarray, np.ndarray]:
    """Working targets, one column per problem (or class), and weights.

    Of losses of residuals other than the squared one, the targets themselves, those far out drawn in.
    """
    targets = []
    weight = problems[0].weight
    for p in problems:
        if p.loss.multiclass:
            targets += [np.where(p.y == c, 1.0, -1.0) for c in range(p.offset.shape[1])]
        elif not p.loss.smooth or p.loss.name == "squared_hinge":
            targets.append(2.0 * p.y - 1.0)
        elif p.loss.degree:
            r = p.y - p.offset
            targets.append(r if p.loss.name == "squared" else _drawn_in(r, p.weight))
        else:
            b = p.loss.best_constant(p.y, p.weight, p.offset)
            eta = p.offset + b
            w = np.maximum(p.loss.curvature(p.y, eta), 1e-10)
            targets.append(-p.loss.gradient(p.y, eta) / w)
            weight = p.weight * w / w.max()  # no curvature may pass for a repeated row
    return np.column_stack(targets), weight


def _drawn_in(r: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Values with those beyond the fences put on them; as they are where most are alike."""
    low, high = (weighted_quantile(r, weight, level) for level in (0.25, 0.75))
    reach = _FAR_OUT * (high - low)
    return np.clip(r, low - reach, high + reach) if reach > 0 else r
