"""Other people's models behind one interface, for ``pellucid compare``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.cli import catalog
from pellucid.cli.errors import UserError, need
from pellucid.cli.recipe import Recipe
from pellucid.cli.scores import measure


class Contestant(Protocol):
    """Fits on some rows and is scored on others."""

    def score(self, train: Any, test: Any) -> dict[str, float]:
        """Measures on the test rows."""


@dataclass
class Ours:
    """One of the models of the catalog."""

    choice: catalog.Choice
    recipe: Recipe

    def score(self, train: Any, test: Any) -> dict[str, float]:
        """Fit with all that pellucid takes."""
        X, y, weight, known = train
        recipe = self.recipe.learn(X)
        model = self.choice.make(recipe.task, {})
        catalog.fit(model, recipe.apply(X), y, weight, known, self.choice.name)
        X, y, weight, known = test
        return measure(model, recipe.apply(X), y, recipe.task, weight, known)


@dataclass
class Theirs:
    """A rival: of counts it fits the rate per exposure, and an offset of numbers is taken off."""

    make: Callable[[str, Recipe], Any]
    recipe: Recipe
    weighted: str = "sample_weight"
    """Name under which weights are passed to ``fit``."""

    def score(self, train: Any, test: Any) -> dict[str, float]:
        """Fit, and give the predictions their exposure or offset back."""
        X, y, weight, known = train
        task, recipe = self.recipe.task, self.recipe.learn(X)
        model = self.make(task, recipe)
        weight = np.ones(len(y)) if weight is None else weight
        amount = _amount(known, len(y))
        if task == "counts":
            y, weight = y / amount, weight * amount
        elif task == "regression":
            y = y - known.get("offset", 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(recipe.apply(X), y, **{self.weighted: weight})
            X, y, weight, known = test
            return measure(_Back(model, task), recipe.apply(X), y, task, weight, known)


@dataclass
class _Back:
    """A rival's predictions with exposure and offset."""

    model: Any
    task: str

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def predict(self, X: Any, **known: Any) -> Any:
        """Predict."""
        found = self.model.predict(X)
        if self.task == "counts":
            return found * _amount(known, len(found))
        return found + known["offset"] if "offset" in known else found

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes."""
        return self.model.predict_proba(X)


def _amount(known: dict[str, Any], n: int) -> np.ndarray:
    return np.asarray(known.get("exposure", np.ones(n))) * np.exp(
        np.asarray(known.get("offset", np.zeros(n)))
    )


# --------------------------------------------------------------------- who they are
def _dummy(task: str, recipe: Recipe) -> Any:
    return DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()


def _linear(task: str, recipe: Recipe) -> Any:
    if task == "classification":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    if task == "counts":
        return make_pipeline(StandardScaler(), PoissonRegressor(alpha=1e-4, max_iter=2000))
    return make_pipeline(StandardScaler(), LinearRegression())


def _ebm(task: str, recipe: Recipe) -> Any:
    glassbox: Any = need("interpret.glassbox", "The model ebm")
    if task == "classification":
        return glassbox.ExplainableBoostingClassifier(n_jobs=1, random_state=0)
    objective = "poisson_deviance" if task == "counts" else "rmse"
    return glassbox.ExplainableBoostingRegressor(n_jobs=1, random_state=0, objective=objective)


def _lightgbm(task: str, recipe: Recipe) -> Any:
    lightgbm: Any = need("lightgbm", "The model lightgbm")
    options = {"verbose": -1, "n_jobs": 1, "random_state": 0}
    if task == "classification":
        return _Numbered(lightgbm.LGBMClassifier(**options))
    objective = "poisson" if task == "counts" else "regression"
    return _Numbered(lightgbm.LGBMRegressor(objective=objective, **options))


@dataclass
class _Numbered:
    """LightGBM allows few characters in names of columns: they are numbered."""

    model: Any

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def fit(self, X: pd.DataFrame, y: Any, sample_weight: Any) -> None:
        self.model.fit(self._rows(X), y, sample_weight=sample_weight)

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(self._rows(X))

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(self._rows(X))

    def _rows(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)


_RIVALS: dict[str, tuple[Callable[[str, Recipe], Any], str, str, str]] = {
    "dummy": (_dummy, "numbers", "sample_weight", ""),
    "linear": (_linear, "numbers", "", ""),
    "ebm": (_ebm, "filled", "sample_weight", "interpret"),
    "lightgbm": (_lightgbm, "numbers", "sample_weight", "lightgbm"),
}

NAMES = (*_RIVALS, *catalog.MODELS)
"""All that can be compared."""


def contestant(name: str, recipe: Recipe) -> Contestant:
    """A model or rival by name, ready for a task."""
    from dataclasses import replace

    if name in catalog.MODELS:
        choice = catalog.find(name)
        choice.make(recipe.task, {})  # refuses a task that it is not for
        return Ours(choice, replace(recipe, model=name, takes=choice.takes))
    if name not in _RIVALS:
        raise UserError(f"There is no model {name!r}; there are {', '.join(NAMES)}.")
    make, takes, weighted, package = _RIVALS[name]
    if package and find_spec(package) is None:
        raise UserError(f"The model {name} needs {package}: pip install {package}")
    if recipe.offset is not None and recipe.task == "classification":
        raise UserError(f"The model {name} takes no offset for classes.")
    if not weighted:  # in a pipeline, weights are those of its last step
        last = make(recipe.task, recipe).steps[-1][0]
        weighted = f"{last}__sample_weight"
    return Theirs(make, replace(recipe, takes=takes), weighted)


def usual(recipe: Recipe, n_rows: int) -> list[str]:
    """The models that are compared if none are named: those for the task that are here and not too slow."""
    names = ["dummy", "linear", "sparse-additive", "isk", "additive"]
    if n_rows <= 3000:
        names.append("glm" if recipe.task == "counts" else "ridge")
    names += [name for name in ("ebm", "lightgbm") if find_spec(_RIVALS[name][3]) is not None]
    if recipe.task == "counts":
        names = [name for name in names if name not in ("sparse-additive", "isk")]
    if recipe.offset is not None:
        names = [name for name in names if name not in ("sparse-additive", "isk", "ridge")]
        if recipe.task == "classification":
            names = [name for name in names if name in catalog.MODELS]
    return names
