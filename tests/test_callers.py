"""Warnings point at the line of the person who called, for every estimator that warns."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    stability,
)
from pellucid._callers import warn_caller
from pellucid.kernels import RBF

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
LABELS = (Y > 0).astype(int)
ISK = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9, "n_components": 6}
REGRESSORS = [
    AdditiveKernelRegressor(interactions=0),
    KernelRidge(alpha=1.0),
    KernelGLMRegressor(loss="squared", alpha=1.0),
    InterpretableKernelRegressor(alpha=1.0),
    ISKRegressor(**ISK),
    SparseAdditiveRegressor(0.01, n_basis=4),
    LooSearch(KernelRidge(RBF(), alpha=1.0), {"kernel__length_scale": [1.0, 2.0]}),
]
CLASSIFIERS = [
    AdditiveKernelClassifier(interactions=0),
    KernelRidgeClassifier(alpha=1.0),
    KernelFisherDiscriminant(alpha=1.0),
    KernelClassifier(alpha=1.0),
    InterpretableKernelClassifier(alpha=1.0),
    ISKClassifier(**ISK),
    SparseAdditiveClassifier(0.01, n_basis=4),
]
EVERY = [*((model, Y) for model in REGRESSORS), *((model, LABELS) for model in CLASSIFIERS)]
every = pytest.mark.parametrize(("model", "y"), EVERY, ids=[type(model).__name__ for model, _ in EVERY])


def caught(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


def points_here(call, category):
    """Whether a call warns, and its warnings point at this file."""
    found = [w for w in caught(call) if w.category.__name__ == category]
    assert found, category
    assert {w.filename for w in found} == {__file__}


@every
def test_weights_that_are_no_counts(model, y):
    points_here(lambda: clone(model).fit(X, y, sample_weight=np.full(60, 1e3)), "WeightWarning")


@every
def test_targets_in_a_column(model, y):
    if isinstance(model, AdditiveKernelRegressor | KernelRidge | LooSearch):  # these take several
        pytest.skip("a column is a target of one output")
    points_here(lambda: clone(model).fit(X, y[:, None]), "DataConversionWarning")


@every
def test_in_a_pipeline(model, y):
    pipeline, name = make_pipeline(StandardScaler(), clone(model)), type(model).__name__.lower()
    weights = {f"{name}__sample_weight": np.full(60, 1e3)}
    points_here(lambda: pipeline.fit(X, y, **weights), "WeightWarning")


RATES = np.abs(Y) + 0.5
CALLS = {
    "additive, rates": (lambda: AdditiveKernelRegressor(0, loss="poisson").fit(X, RATES), "RateWarning"),
    "glm, rates": (lambda: KernelGLMRegressor(alpha=1.0).fit(X, RATES), "RateWarning"),
    "interpretable, rates": (
        lambda: InterpretableKernelRegressor(loss="poisson", alpha=1.0).fit(X, RATES),
        "RateWarning",
    ),
    "additive, time": (lambda: AdditiveKernelRegressor(max_time=1e-6).fit(X, Y), "ConvergenceWarning"),
    "glm, time": (lambda: KernelGLMRegressor(loss="squared", max_time=1e-9).fit(X, Y), "SearchWarning"),
    "classifier, time": (lambda: KernelClassifier(max_time=1e-9).fit(X, LABELS), "SearchWarning"),
    "isk, time": (lambda: ISKRegressor(n_components=4, max_time=1e-9).fit(X, Y), "SearchWarning"),
    "isk, steps": (lambda: ISKClassifier(**ISK, max_iter=1).fit(X, LABELS), "ConvergenceWarning"),
    "search, time": (
        lambda: LooSearch(KernelRidge(RBF()), {"alpha": [1.0, 2.0, 3.0]}, max_time=1e-9).fit(X, Y),
        "SearchWarning",
    ),
    "descent, time": (
        lambda: LooSearch(KernelRidge(RBF()), ard=True, max_time=1e-9).fit(X, Y),
        "SearchWarning",
    ),
    "fidelity": (
        lambda: InterpretableKernelRegressor(RBF(0.2), alpha=0.1).fit(X, np.abs(Y)).predict(X),
        "FidelityWarning",
    ),
    "ill-conditioned": (
        lambda: KernelRidge(RBF(50.0), alpha=1e-15).fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2)),
        "IllConditionedWarning",
    ),
    "names": (
        lambda: (
            AdditiveKernelRegressor(interactions=0).fit(pd.DataFrame(X, columns=list("abc")), Y).predict(X)
        ),
        "UserWarning",
    ),
    "splits": (
        lambda: stability(KernelRidge(alpha=1.0), X, Y, n_splits=3, random_state=0, max_time=1e-9),
        "UserWarning",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_warnings(name):
    points_here(*CALLS[name])


def test_the_helper_is_the_only_one_that_warns():
    source = Path(pellucid.__file__).parent
    for path in source.rglob("*.py"):
        if path.name != "_callers.py":
            assert not re.search(r"\bwarnings\.warn(_explicit)?\(|stacklevel", path.read_text()), path


def test_without_a_caller_it_points_at_the_line_that_warns(monkeypatch):
    (here,) = caught(lambda: warn_caller("a word"))
    assert (here.filename, str(here.message), here.category) == (__file__, "a word", UserWarning)
    monkeypatch.setattr("pellucid._callers._side", lambda file: "own")  # as at the bottom of a thread
    (here,) = caught(lambda: warn_caller("a word"))
    assert here.filename == __file__
