"""Leave-one-out diagnostics: predictions against targets, residuals, and the path over alphas."""

from typing import Any

import numpy as np

from pellucid.effects import LeaveOneOut
from pellucid.plots.style import BLUE, GREY, ORANGE, new_axes, tidy

_POINTS: dict[str, Any] = {"s": 14, "color": BLUE, "alpha": 0.6, "linewidths": 0}


def plot_loo(model: Any, kind: str = "predictions", *, output: int = 0, ax: Any = None) -> Any:
    """Draw what leave-one-out says about a model.

    Parameters
    ----------
    model : fitted estimator or LeaveOneOut
        Anything with a ``loo_``, or that object itself.
    kind : {"predictions", "residuals", "leverages", "path"}, default="predictions"
        Predictions for left-out rows against their targets; their residuals against the predictions; against
        the leverages; or the leave-one-out error along the path over alphas.
    output : int, default=0
        Which output, where there are several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pellucid import KernelRidge, plot_loo
    >>> model = KernelRidge().fit(*load_diabetes(return_X_y=True))
    >>> plot_loo(model, "path").get_xscale()
    'log'
    """
    loo = model if isinstance(model, LeaveOneOut) else model.loo_
    draw = {"predictions": _predictions, "residuals": _residuals, "leverages": _leverages, "path": _path}
    if kind not in draw:
        raise ValueError(f"kind must be one of {', '.join(draw)}, got {kind!r}.")
    if kind == "path" and loo.path is None:
        raise ValueError("alpha was given as a number, so there is no path over alphas to draw.")
    return draw[kind](loo, output, new_axes(ax))


def _column(values: Any, output: int) -> np.ndarray:
    values = np.asarray(values)
    return values if values.ndim == 1 else values[:, output]


def _predictions(loo: LeaveOneOut, output: int, ax: Any) -> Any:
    predicted = _column(loo.predictions, output)
    observed = predicted + _column(loo.residuals, output)
    ends = [min(observed.min(), predicted.min()), max(observed.max(), predicted.max())]
    ax.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="prediction = target")
    ax.scatter(predicted, observed, **_POINTS)
    ax.legend(frameon=False, loc="upper left")
    error = float(np.ravel(loo.rmse)[output if np.size(loo.mse) > 1 else 0])
    return tidy(ax, f"Leave-one-out RMSE {error:.4g}", "prediction without the row", "target")


def _against(x: Any, loo: LeaveOneOut, output: int, ax: Any) -> None:
    """Residuals of the rows left out against something."""
    ax.axhline(0.0, color=GREY, linewidth=1)
    ax.scatter(_column(x, output), _column(loo.residuals, output), **_POINTS)


def _residuals(loo: LeaveOneOut, output: int, ax: Any) -> Any:
    _against(loo.predictions, loo, output, ax)
    return tidy(ax, "Leave-one-out residuals", "prediction without the row", "target − prediction")


def _leverages(loo: LeaveOneOut, output: int, ax: Any) -> Any:
    _against(loo.leverages, loo, output, ax)
    return tidy(ax, "Rows that pull hard are on the right", "leverage", "leave-one-out residual")


def _path(loo: LeaveOneOut, output: int, ax: Any) -> Any:
    path = loo.path
    assert path is not None  # checked by the caller
    error = np.sqrt(_column(path.mse, output))
    best = int(np.argmin(error))
    ax.plot(path.alphas, error, color=BLUE, linewidth=1.8, marker="o" if len(error) < 12 else None)
    label = f"alpha {path.alphas[best]:.3g}, RMSE {error[best]:.4g}"
    ax.plot(path.alphas[best], error[best], "o", color=ORANGE, label=label)
    ax.set_xscale("log")
    ax.legend(frameon=False)
    return tidy(ax, "Leave-one-out error along the path", "alpha", "leave-one-out RMSE")
