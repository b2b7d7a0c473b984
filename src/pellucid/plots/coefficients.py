"""Coefficients of one model, as bars or as a profile over ordered features."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects.stability import features_first
from pellucid.plots.names import labels, plain
from pellucid.plots.style import BLUE, GREY, ORANGE, named_rows, new_axes, tidy

_NUMBERED = re.compile(r"(\D{0,8}?)(\d+(?:\.\d+)?)(\D{0,8})")


def plot_coefficients(
    view: Any,
    names: Sequence[Any] | None = None,
    *,
    kind: str = "bars",
    top: int = 20,
    output: int = 0,
    se: Any = None,
    xlabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the coefficients of one model: the largest as bars, or all of them as a profile.

    Where the standard deviations of the features are known, each coefficient is multiplied by that of its
    feature, so that features in different units can be compared.

    Parameters
    ----------
    view : LinearView, fitted estimator, pipeline, or array of shape (p,) or (p, classes)
        Anything with a ``coef`` or ``coef_``; ``feature_sd`` (or ``feature_sd_``) and names of features are
        used if present.
    names : sequence of length p, optional
        Names of the features, in place of those of ``view``.
    kind : {"bars", "profile"}, default="bars"
        Bars for the largest coefficients, or a line over the features in their order. The profile takes names
        that are numbers, such as wavelengths, as positions; all of them may have the same letters around the
        number, as in ``"X1100nm"``.
    top : int, default=20
        Number of bars.
    output : int, default=0
        Which class or output, where there are several.
    se : array-like of shape (p,), optional
        Standard errors of the coefficients, such as ``coefficient_frame()["standard_error"]``; 1.96 of them
        to either side are drawn as bars or as a band.
    xlabel : str, optional
        What the features of a profile are, for the axis: ``"wavelength (nm)"``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from pellucid import plot_coefficients
    >>> ax = plot_coefficients([0.3, -0.8, 0.1], names=["age", "dose", "weight"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['weight', 'age', 'dose']
    """
    if kind not in ("bars", "profile"):
        raise ValueError(f"kind must be one of bars, profile, got {kind!r}.")
    values, found, sd = _read(view, names, output)
    what = "coefficient" if sd is None else "coefficient × sd"
    reach = None if se is None else _reach(se, values, sd)
    if kind == "profile":
        return _profile(values, found, reach, what, xlabel, ax)
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}.")
    return _bars(values, [str(name) for name in found], reach, top, what, ax)


def _read(
    view: Any, names: Sequence[Any] | None, output: int
) -> tuple[np.ndarray, list[Any], np.ndarray | None]:
    """Coefficients of one output, their names, and the deviations by which they have been multiplied."""
    model = view.steps[-1][1] if hasattr(view, "steps") else view
    coef = _first(model, "coef", "coef_")
    bare = coef is None
    if bare and (hasattr(model, "fit") or hasattr(model, "certificate")):
        raise ValueError(f"{type(model).__name__} has no coefficients: it is not fitted, or not linear.")
    coef = model if bare else coef
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float)
    sd = _first(model, "feature_sd", "feature_sd_")
    if names is None and not bare:
        names = _first(model, "names", "coefficient_names_", "feature_names_in_")
    p = (
        len(sd)
        if sd is not None
        else getattr(model, "n_features_in_", len(names) if names is not None else None)
    )
    rows = bare or type(model).__module__.split(".")[0] == "pellucid"
    coef = features_first(np.atleast_1d(coef), p, rows=rows)
    if coef.ndim > 2:
        raise ValueError(f"Coefficients must have one or two dimensions, got shape {coef.shape}.")
    if coef.ndim == 2:
        if not 0 <= output < coef.shape[1]:
            raise ValueError(f"output must be between 0 and {coef.shape[1] - 1}, got {output!r}.")
        coef = coef[:, output]
    found = [f"x{j}" for j in range(len(coef))] if names is None else list(names)
    if len(found) != len(coef):
        raise ValueError(f"There are {len(found)} names for {len(coef)} coefficients.")
    return (coef, found, None) if sd is None else (coef * np.asarray(sd), found, np.asarray(sd))


def _reach(se: Any, values: np.ndarray, sd: np.ndarray | None) -> np.ndarray:
    """Half widths of 95 % intervals, in the units of the values drawn."""
    errors = np.asarray(se, dtype=float)
    if errors.shape != values.shape:
        raise ValueError(f"se must have one value per coefficient ({len(values)}), got shape {errors.shape}.")
    return 1.96 * errors * (1.0 if sd is None else sd)


def _first(thing: Any, *attributes: str) -> Any:
    found = (getattr(thing, name, None) for name in attributes)
    return next((value for value in found if value is not None and not callable(value)), None)


def _bars(
    values: np.ndarray, names: list[str], reach: np.ndarray | None, top: int, what: str, ax: Any
) -> Any:
    order = np.argsort(-np.abs(values), kind="stable")[:top][::-1]  # the largest on top
    ax = new_axes(ax, size=(6.0, 1.3 + 0.25 * max(len(order), 4)))
    at = np.arange(len(order))
    ax.barh(at, values[order], color=[BLUE if v >= 0 else ORANGE for v in values[order]], height=0.7)
    if reach is not None:
        ax.errorbar(values[order], at, xerr=reach[order], fmt="none", ecolor="0.25", capsize=2, linewidth=1)
    ax.axvline(0.0, color=GREY, linewidth=1)
    few = len(order) < len(values)
    title = f"{len(order)} largest of {len(values)} coefficients" if few else "Coefficients"
    return named_rows(ax, [labels(names)[j] for j in order], title, what)


def _profile(
    values: np.ndarray, names: list[Any], reach: np.ndarray | None, what: str, xlabel: str | None, ax: Any
) -> Any:
    places = _positions(names)
    ax = new_axes(ax, size=(7.2, 3.6 if places is not None else 4.8))  # names written upwards take room
    at = np.arange(len(values)) if places is None else places
    order = np.argsort(at, kind="stable")
    at, values = at[order], values[order]
    ax.axhline(0.0, color=GREY, linewidth=1)
    if reach is not None:
        low, high = values - reach[order], values + reach[order]
        ax.fill_between(at, low, high, color=BLUE, alpha=0.25, linewidth=0)
    else:
        ax.fill_between(at, values, where=values >= 0, color=BLUE, alpha=0.18, linewidth=0, interpolate=True)
        ax.fill_between(
            at, values, where=values <= 0, color=ORANGE, alpha=0.18, linewidth=0, interpolate=True
        )
    ax.plot(at, values, color=BLUE, linewidth=1.4, marker="o" if len(values) <= 40 else None, markersize=3.5)
    if places is None:
        ticks = np.arange(0, len(values), -(-len(values) // 30))
        ax.set_xticks(ticks, labels=[labels(names)[j] for j in ticks], rotation=90)
    ax.margins(x=0.01)
    label = plain(xlabel) if xlabel else "feature"
    return tidy(ax, f"Profile of {len(values)} coefficients", label, what)


def _positions(names: Sequence[Any]) -> np.ndarray | None:
    """Names as numbers; ``None`` unless all of them are finite and different.

    Up to eight letters around the number are allowed, the same in all names.
    """
    try:
        at = np.array([float(name) for name in names])
    except (TypeError, ValueError):
        parts = [_NUMBERED.fullmatch(str(name)) for name in names]
        if len({part and (part[1], part[3]) for part in parts}) != 1 or parts[0] is None:
            return None
        at = np.array([float(part[2]) for part in parts if part])
    return at if np.all(np.isfinite(at)) and len(np.unique(at)) == len(at) else None
