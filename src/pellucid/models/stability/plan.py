"""What :func:`~pellucid.stability` is to do: methods, data, the rows of each split, the error measure."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state

from pellucid.data.roles import table_in_memory
from pellucid.data.weights import check_weight
from pellucid.kernels.base import column_names

Score = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Method:
    """One way to predict: an estimator, and options for its ``predict``."""

    name: str
    fit: int  # which of the distinct estimators
    options: dict[str, Any]  # for predict


@dataclass(frozen=True)
class Data:
    """Rows, targets and weights, with the names of the columns."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    names: list[str]


@dataclass(frozen=True)
class Plan:
    """Everything that a split depends on, apart from the data and its number."""

    estimators: list[Any]
    methods: list[Method]
    test_size: float | int
    stratify: bool
    seed: int
    scoring: Score | None
    classify: bool

    def seeds(self, split: int) -> tuple[int, int]:
        """Seeds for the rows and for the estimators of one split, whatever the number of splits."""
        first, second = np.random.SeedSequence(self.seed, spawn_key=(split,)).generate_state(2)
        return int(first), int(second >> 1)  # some estimators want 31 bits

    def rows(self, split: int, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of one split."""
        kind = StratifiedShuffleSplit if self.stratify else ShuffleSplit
        splitter = kind(n_splits=1, test_size=self.test_size, random_state=self.seeds(split)[0])
        return next(splitter.split(np.zeros(len(y)), y))

    def fit_name(self, fit: int) -> str:
        """Name of the first method that uses a fit."""
        return next(method.name for method in self.methods if method.fit == fit)

    @property
    def measure(self) -> str:
        """What the errors are called."""
        if self.scoring is not None:
            return getattr(self.scoring, "__name__", type(self.scoring).__name__).replace("<lambda>", "error")
        return "misclassification rate" if self.classify else "RMSE"

    def error(self, y: np.ndarray, predicted: Any, weight: np.ndarray | None) -> float:
        """Error of predictions."""
        if self.scoring is not None:
            return float(self.scoring(y, predicted))
        predicted = np.asarray(predicted)
        if predicted.shape != y.shape:
            predicted = predicted.reshape(y.shape)  # some return one column for one target
        if self.classify:
            return float(np.average(predicted != y, weights=weight))
        return float(np.sqrt(np.mean(np.average((predicted - y) ** 2, axis=0, weights=weight))))


def make_plan(
    estimator: Any,
    X: Any,
    y: Any,
    test_size: float | int,
    stratify: str | bool,
    random_state: Any,
    scoring: Score | None,
    sample_weight: Any,
) -> tuple[Plan, Data]:
    """Check the arguments of :func:`~pellucid.stability` and settle what they leave open."""
    estimators, methods = _methods(estimator)
    if scoring is not None and not callable(scoring):
        raise TypeError(
            f"scoring must be a function of y_true and y_pred of which smaller values are better, "
            f"got {scoring!r}."
        )
    kinds = [is_classifier(e) for e in estimators]
    if scoring is None and not all(k or is_regressor(e) for k, e in zip(kinds, estimators, strict=True)):
        raise ValueError("A method is neither a classifier nor a regressor: pass scoring.")
    if any(kinds) and not all(kinds):
        raise ValueError("Classifiers and regressors cannot be compared with each other.")
    if not isinstance(stratify, bool | np.bool_) and stratify != "auto":
        raise ValueError(f"stratify must be 'auto', True or False, got {stratify!r}.")
    data = _data(X, y, sample_weight)
    if data.weight is not None:
        for method in methods:
            if not _takes_weights(estimators[method.fit]):
                raise ValueError(f"The method {method.name!r} does not take sample_weight.")
    if isinstance(random_state, Integral):
        seed = int(random_state)
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    classify = all(kinds)
    stratified = classify if isinstance(stratify, str) else bool(stratify)
    return Plan(estimators, methods, test_size, stratified, seed, scoring, classify), data


def _methods(estimator: Any) -> tuple[list[Any], list[Method]]:
    """The distinct estimators, and the methods that use them."""
    if not isinstance(estimator, Mapping):
        estimator = {type(_last(estimator)).__name__: estimator}
    if not estimator:
        raise ValueError("There are no methods: the dict of estimators is empty.")
    distinct: list[Any] = []
    methods = []
    for name, value in estimator.items():
        options: Any = {}
        if isinstance(value, tuple):
            if len(value) != 2 or not isinstance(value[1], Mapping):
                raise TypeError(
                    f"The method {name!r} must be an estimator, or a pair of it and a dict for predict."
                )
            value, options = value
        if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
            raise TypeError(f"The method {name!r} must be an estimator with fit and predict, got {value!r}.")
        place = next((i for i, known in enumerate(distinct) if known is value), len(distinct))
        if place == len(distinct):
            distinct.append(value)
        methods.append(Method(str(name), place, dict(options)))
    if len({method.name for method in methods}) < len(methods):
        raise ValueError("Two methods have the same name.")
    return distinct, methods


def _data(X: Any, y: Any, sample_weight: Any) -> Data:
    if any(isinstance(value, str) for value in (y, sample_weight)):
        X, given = table_in_memory(X, y=y, sample_weight=sample_weight)
        y, sample_weight = given.values()
    if isinstance(X, list | tuple):
        with suppress(ValueError):  # rows of different lengths stay as they are
            as_array = np.asarray(X)
            X = as_array if as_array.ndim == 2 and as_array.dtype.kind in "fiub" else X
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {targets.ndim}.")
    if hasattr(X, "tocsr"):  # of the kinds of sparse matrices, rows of this one can be picked
        X = X.tocsr()
    check_consistent_length(X, targets)
    weight = None if sample_weight is None else check_weight(sample_weight, len(targets))
    return Data(X, targets, weight, _feature_names(X))


def _feature_names(X: Any) -> list[str]:
    names = column_names(X)
    if names is not None:
        return names
    shape: tuple[int, ...] = getattr(X, "shape", ())
    p = shape[1] if len(shape) == 2 else 0
    labels = list(getattr(X, "columns", range(p)))  # wavelengths are often numbers, which column_names skips
    return [f"x{c}" for c in range(p)] if labels == list(range(p)) else [str(label) for label in labels]


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _takes_weights(estimator: Any) -> bool:
    parameters = inspect.signature(_last(estimator).fit).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)
