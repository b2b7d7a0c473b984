"""How much each term or feature matters, as bars."""

from typing import Any

import numpy as np

from pellucid.effects.terms import Importances
from pellucid.plots.names import labels
from pellucid.plots.style import BLUE, GREY, key, named_rows, new_axes

_PAIR = "#56b4e9"


def plot_importance(importances: Any, *, top: int = 20, ax: Any = None) -> Any:
    """Draw the importances of terms as bars, the most important on top; pairs are paler.

    Parameters
    ----------
    importances : Importances, fitted model or pipeline
        The importances, or a model with ``importances_``. A model with coefficients and the standard
        deviations of its features has ``|coefficient × sd|`` as importances.
    top : int, default=20
        Number of bars.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import plot_importance
    >>> from pellucid.effects import Importances
    >>> ax = plot_importance(Importances(("age", "dose"), np.array([1.0, 3.0])))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'dose']
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}.")
    table = importances_of(importances)
    if not len(table):
        raise ValueError("The model has no terms: there is nothing to compare.")
    order = table.order[:top][::-1]  # the largest on top
    ax = new_axes(ax, size=(6.0, 1.2 + 0.26 * max(len(order), 4)))
    at = np.arange(len(order))
    pairs = np.array([" × " in table.names[i] for i in order])
    se = None if table.se is None else table.se[order]
    ax.barh(
        at, table.values[order], height=0.7, color=[_PAIR if pair else BLUE for pair in pairs],
        xerr=se, error_kw={"ecolor": GREY, "capsize": 2, "linewidth": 1},
    )  # fmt: skip
    ax.set_xlim(left=min(0.0, float(np.min(table.values[order]))))
    if pairs.any() and not pairs.all():
        key(ax, ((BLUE, "one feature"), (_PAIR, "pair")))
    few = len(order) < len(table)
    title = f"{len(order)} most important of {len(table)} terms" if few else "Importance"
    return named_rows(ax, [labels(table.names, 40)[i] for i in order], title, table.measure)


def importances_of(thing: Any) -> Importances:
    """Importances as they are, of a model of terms, or from coefficients per standard deviation."""
    thing = thing[-1] if hasattr(thing, "steps") else thing
    if isinstance(thing, Importances):
        return thing
    if getattr(thing, "importances_", None) is not None:
        return thing.importances_
    coef = getattr(thing, "coef_", getattr(thing, "coef", None))
    sd = getattr(thing, "feature_sd_", getattr(thing, "feature_sd", None))
    if coef is None or sd is None:
        raise ValueError(
            f"{type(thing).__name__} has no importances_, and no coefficients with standard deviations of "
            f"the features from which to tell them; is it fitted?"
        )
    per_sd = (np.asarray(coef).T * np.asarray(sd)).T
    values = np.abs(per_sd) if per_sd.ndim == 1 else np.sqrt(np.mean(per_sd**2, axis=1))
    names = getattr(thing, "coefficient_names_", getattr(thing, "names", None))
    names = [f"x{j}" for j in range(len(values))] if names is None else names
    measure = "|coefficient × sd|" if per_sd.ndim == 1 else "root mean square of coefficient × sd"
    return Importances(tuple(map(str, names)), values, measure=measure)
