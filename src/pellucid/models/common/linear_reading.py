"""Read any fitted kernel model as a linear one, on whatever rows are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects.linear import Certificate, LinearView, WeightedColumns, fidelity, in_sample_gap
from pellucid.kernels import Kernel, Precomputed
from pellucid.linalg import column_moments
from pellucid.models.common.glm_fit import kernel_features

_FOLDS = 5


def read_linear(
    kernel: Kernel,
    rows: np.ndarray,
    weight: np.ndarray,
    scores: np.ndarray,
    *,
    fit_intercept: bool,
    names: Sequence[str] | None,
    outputs: Sequence[str] = (),
) -> LinearView:
    """Coefficients of the fitted function on ``rows``, with their certificate.

    The coefficients are those of the linear function nearest to the scores. The held-out fidelity reads
    them from four fifths of the rows and compares them with the fitted function on the last fifth; the
    function itself is not fitted again.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the model, for KAF.
    rows : ndarray of shape (n, p)
        Rows on which the model is read.
    weight : ndarray of shape (n,)
        Weights of the rows.
    scores : ndarray of shape (n, q)
        The fitted function on these rows.
    fit_intercept : bool
        Whether the model has an intercept.
    names : sequence of str, optional
        Names of the features.
    outputs : sequence of str, optional
        What each column of the scores speaks for.
    """
    if isinstance(kernel, Precomputed) or rows.ndim != 2 or rows.dtype == object:
        raise ValueError(
            "Coefficients need numeric features: this model was fitted on kernel values or objects."
        )
    columns = WeightedColumns.of(rows, weight, fit_intercept=fit_intercept)
    coef = columns.coefficients(scores)
    intercept = columns.share @ scores - columns.mean @ coef
    exact, kaf = True, 1.0
    if not columns.exact:
        F = kernel_features(kernel, rows, None).Z
        exact = columns.hold(F)  # a linear kernel has nothing else, however few the columns
        kaf = 1.0 if exact else columns.kaf(F)
    certificate = Certificate(
        exact,
        kaf,
        in_sample_gap(scores, columns.fitted(scores), weight),
        _held_out_fidelity(columns.coordinates, weight, scores, fit_intercept),
        None,
        None,
        None,
        f"{_FOLDS}-fold reading of the fitted function",
    )
    single = scores.shape[1] == 1
    return LinearView(
        coef[:, 0] if single else coef,
        float(intercept[0]) if single else intercept,
        certificate,
        [f"x{c}" for c in range(rows.shape[1])] if names is None else list(names),
        column_moments(rows, weight)[1],
        outputs,
    )


def output_names(model: Any, n_outputs: int) -> list[str]:
    """What each score of a fitted model speaks for; nothing for a regression with one output."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return [] if n_outputs == 1 else [f"output {q}" for q in range(n_outputs)]
    return [f"class {c}" for c in (classes[1:] if n_outputs == 1 else classes)]


def _held_out_fidelity(
    coordinates: np.ndarray, weight: np.ndarray, scores: np.ndarray, fit_intercept: bool
) -> float | None:
    n = len(scores)
    if n < 2 * _FOLDS or coordinates.shape[1] == 0:
        return None
    linear = np.empty_like(scores)
    for test in np.array_split(np.random.default_rng(0).permutation(n), _FOLDS):
        train = np.setdiff1d(np.arange(n), test)
        columns = WeightedColumns.of(coordinates[train], weight[train], fit_intercept=fit_intercept)
        coef = columns.coefficients(scores[train])
        linear[test] = (coordinates[test] - columns.mean) @ coef + columns.share @ scores[train]
    return fidelity(scores, linear, weight)
