"""Other people's models behind one interface, for ``pellucid compare``."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.cli import catalog
from pellucid.cli.errors import UserError, need
from pellucid.cli.scores import amount_of, measure
from pellucid.cli.table_spec import TableSpec


@dataclass
class Contestant:
    """A model that is fitted on some rows and scored on others."""

    name: str
    spec: TableSpec
    fit: Callable[..., Any]
    """From features, targets, weights or ``None``, and exposure and offset to a fitted model."""

    def score(self, train: Any, test: Any) -> dict[str, float]:
        """Measures on the test rows."""
        X, y, weight, known = train
        spec = self.spec.learn(X)
        model = self.fit(spec.apply(X), y, weight, known)
        X, y, weight, known = test
        return measure(model, spec.apply(X), y, spec.task, weight, known)


@dataclass
class _Rival:
    """A model that knows neither exposure nor offset.

    Of counts it fits the rate per exposure, and an offset of numbers is taken off; predictions get them back.
    Columns are numbered, as some packages allow few characters in their names.
    """

    model: Any
    task: str

    def fit(self, X: pd.DataFrame, y: np.ndarray, weight: Any, known: dict[str, Any]) -> Self:
        weight = np.ones(len(y)) if weight is None else weight
        if self.task == "counts":
            amount = amount_of(known, len(y))
            y, weight = y / amount, weight * amount
        elif self.task == "regression":
            y = y - known.get("offset", 0.0)
        last = f"{self.model.steps[-1][0]}__" if hasattr(self.model, "steps") else ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(_numbered(X), y, **{f"{last}sample_weight": weight})
        return self

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def predict(self, X: pd.DataFrame, **known: Any) -> Any:
        found = self.model.predict(_numbered(X))
        if self.task == "counts":
            return found * amount_of(known, len(found))
        return found + known["offset"] if "offset" in known else found

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(_numbered(X))


def _numbered(X: pd.DataFrame) -> pd.DataFrame:
    return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)


# --------------------------------------------------------------------- who they are
def _dummy(task: str) -> Any:
    return DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()


def _linear(task: str) -> Any:
    last = {
        "classification": LogisticRegression(max_iter=2000),
        "counts": PoissonRegressor(alpha=1e-4, max_iter=2000),
        "regression": LinearRegression(),
    }
    return make_pipeline(StandardScaler(), last[task])


def _ebm(task: str) -> Any:
    glassbox: Any = need("interpret.glassbox", "The model ebm")
    if task == "classification":
        return glassbox.ExplainableBoostingClassifier(n_jobs=1, random_state=0)
    objective = "poisson_deviance" if task == "counts" else "rmse"
    return glassbox.ExplainableBoostingRegressor(n_jobs=1, random_state=0, objective=objective)


def _lightgbm(task: str) -> Any:
    lightgbm: Any = need("lightgbm", "The model lightgbm")
    options = {"verbose": -1, "n_jobs": 1, "random_state": 0}
    if task == "classification":
        return lightgbm.LGBMClassifier(**options)
    return lightgbm.LGBMRegressor(objective="poisson" if task == "counts" else "regression", **options)


_RIVALS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "dummy": (_dummy, "numbers", ""),
    "linear": (_linear, "numbers", ""),
    "ebm": (_ebm, "filled", "interpret"),
    "lightgbm": (_lightgbm, "numbers", "lightgbm"),
}
"""How each is made, what it takes, and the package that it needs."""


def contestant(name: str, spec: TableSpec) -> Contestant:
    """A model or rival by name, ready for a task."""
    task = spec.task
    if name in catalog.MODELS:
        choice = catalog.find(name)
        options = {} if spec.weights_as is None else {"weights": spec.weights_as}
        choice.make(task, options)  # refuses a task that it is not for
        return Contestant(
            name,
            replace(spec, model=name, takes=choice.takes),
            lambda X, y, weight, known: catalog.fit(choice.make(task, options), X, y, weight, known, name),
        )
    if name not in _RIVALS:
        known = ", ".join((*_RIVALS, *catalog.MODELS))
        raise UserError(f"There is no model {name!r}; there are {known}.")
    make, takes, package = _RIVALS[name]
    if package and find_spec(package) is None:
        raise UserError(f"The model {name} needs {package}: pip install {package}")
    if spec.offset is not None and task == "classification":
        raise UserError(f"The model {name} takes no offset for classes.")
    return Contestant(name, replace(spec, takes=takes), lambda *rows: _Rival(make(task), task).fit(*rows))


def usual(spec: TableSpec, n_rows: int) -> list[str]:
    """The models that are compared if none are named: those for the task that are here and not too slow."""
    names = ["dummy", "linear", "sparse-additive", "isk", "additive"]
    if n_rows <= 3000:
        names.append("glm" if spec.task == "counts" else "ridge")
    names += [name for name in ("ebm", "lightgbm") if find_spec(_RIVALS[name][2]) is not None]
    left_out = set()
    if spec.task == "counts" or spec.offset is not None:
        left_out |= {"sparse-additive", "isk"}
    if spec.offset is not None:
        left_out |= {"ridge"} | (set(_RIVALS) if spec.task == "classification" else set())
    return [name for name in names if name not in left_out]
