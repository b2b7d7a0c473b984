"""One split of :func:`~pellucid.stability`: fit every method to one part of the rows, test it on the rest."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split
from threadpoolctl import threadpool_limits

from pellucid.effects.stability import features_first
from pellucid.models.stability.plan import Data, Plan


@dataclass(frozen=True)
class Outcome:
    """What one split gave: errors by method; coefficients and their names by fit; warnings by method."""

    train_error: list[float]
    test_error: list[float]
    coef: list[np.ndarray | None]
    names: list[list[str]]
    warned: list[tuple[str, type[Warning], str]]


def one_split(plan: Plan, data: Data, split: int) -> Outcome:
    """Fit every estimator once and test every method, with one thread for linear algebra."""
    train, test = plan.rows(split, data.y)
    outcome = Outcome([], [], [], [], [])
    models = []
    with threadpool_limits(1):
        for fit, estimator in enumerate(plan.estimators):
            with _blame(plan.fit_name(fit), split, "fit"), _noted(plan.fit_name(fit), outcome):
                model = _fitted(estimator, data, train, plan.seeds(split)[1])
                coef, names = _coefficients(model, data.names)
                models.append(model)
                outcome.coef.append(coef)
                outcome.names.append(names)
        for method in plan.methods:
            with _blame(method.name, split, "predict"), _noted(method.name, outcome):
                for rows, errors in ((train, outcome.train_error), (test, outcome.test_error)):
                    X, y = _safe_split(plan.estimators[method.fit], data.X, data.y, rows, train)
                    predicted = models[method.fit].predict(X, **method.options)
                    weight = None if data.weight is None else data.weight[rows]
                    errors.append(plan.error(y, predicted, weight))
    return outcome


def _fitted(estimator: Any, data: Data, train: np.ndarray, seed: int) -> Any:
    model = clone(estimator)
    unseeded = {
        key: seed
        for key, value in model.get_params(deep=True).items()
        if value is None and key.split("__")[-1] == "random_state"
    }
    if unseeded:
        model.set_params(**unseeded)
    X, y = _safe_split(estimator, data.X, data.y, train)
    if data.weight is None:
        return model.fit(X, y)
    key = f"{model.steps[-1][0]}__sample_weight" if isinstance(model, Pipeline) else "sample_weight"
    return model.fit(X, y, **{key: data.weight[train]})


@contextmanager
def _blame(method: str, split: int, doing: str) -> Iterator[None]:
    """Say in an error which method, which split."""
    try:
        yield
    except Exception as error:
        kind = next((k for k in (ValueError, TypeError, MemoryError) if isinstance(error, k)), RuntimeError)
        text = f"Method {method!r} failed in split {split} ({doing}): {type(error).__name__}: {error}"
        raise kind(text) from error


@contextmanager
def _noted(method: str, outcome: Outcome) -> Iterator[None]:
    """Collect warnings: a hundred splits would otherwise repeat them a hundred times."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    outcome.warned.extend((method, note.category, str(note.message)) for note in caught)


def _coefficients(model: Any, names: list[str]) -> tuple[np.ndarray | None, list[str]]:
    """Coefficients of a fitted model as (p,) or (p, classes), and their names."""
    own: list[str] | None = names
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            own = _names_after(model, own)
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None, []
    coef = np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=float)
    if coef.ndim not in (1, 2):
        return None, []
    of_pellucid = type(model).__module__.split(".")[0] == "pellucid"
    coef = features_first(coef, getattr(model, "n_features_in_", None), rows=of_pellucid)
    if own is None or len(own) != len(coef):  # a step does not tell what it made of the features
        own = [f"coef{j}" for j in range(len(coef))]
    places = {name: j for j, name in enumerate(names)}
    if own != names and len(places) == len(names) and len(set(own)) == len(own) and set(own) <= set(places):
        whole = np.zeros((len(names), *coef.shape[1:]))  # a step has dropped or reordered features
        whole[[places[name] for name in own]] = coef
        return whole, names
    return coef, own


def _names_after(pipeline: Pipeline, names: list[str] | None) -> list[str] | None:
    """Names of what the last step sees; ``None`` where a step cannot tell."""
    if names is None or len(pipeline.steps) == 1:
        return names
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out(names)]
    except Exception:  # names are a courtesy, whatever the transformers of others do
        return None
