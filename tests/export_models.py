"""Small fitted models of every kind that can be exported, and rows that are hard to score."""

import warnings
from functools import cache

import numpy as np
import pytest

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelFisherDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
)
from pellucid.exceptions import FidelityWarning
from pellucid.kernels import Linear

pandas = pytest.importorskip("pandas")

HOSTILE = ('a"; DROP TABLE data; --', "it's\na\t'new' line \\ \"\"\"", "=1+1 🌡️ {x} %s")
TOWNS = ["Ulm", "ULM", "it's; --", '=cmd|"x"', "🌡️\nnew", "*"]


def frame(n=160, seed=0, *, gaps=False):
    """Two numeric columns and one with levels, under hostile names, and a target that depends on all."""
    rng = np.random.default_rng(seed)
    age, dose = rng.uniform(20, 80, n), rng.exponential(2.0, n).round(1)
    town = rng.choice(TOWNS, n).astype(object)
    y = np.sin(age / 10) + 0.5 * dose + (town == "Ulm") + 0.02 * (age - 50) * dose + 0.1 * rng.normal(size=n)
    if gaps:
        age[::9], town[::7] = np.nan, None
    return pandas.DataFrame(dict(zip(HOSTILE, (age, dose, town), strict=True))), y


def hard_rows(*, gaps=False):
    """New rows: beyond the range, at knots, levels that were never seen, missing values where allowed."""
    X, _ = frame(12, seed=1)
    first, second, third = HOSTILE
    X.loc[0, first], X.loc[1, first], X.loc[2, second], X.loc[3, second] = -1e6, 1e6, -5.0, 1e9
    X.loc[4, third], X.loc[5, third] = "never seen", "ulm"
    train, _ = frame()
    X.loc[6, first], X.loc[7, second] = train[first].max(), train[second].min()
    if gaps:
        X.loc[8, first], X.loc[9, second] = np.nan, np.nan
        X.loc[10, third] = None
        X.loc[11] = [np.nan, np.nan, None]
    return X


def three(y):
    return np.array(["low", "mid 'q'", "high; --"])[np.digitize(y, np.quantile(y, [0.33, 0.66]))]


ISK = {
    "sigma": 1.0,
    "n_components": 8,
    "alpha": 1e-2,
    "sparse_alpha": 1e-3,
    "l1_ratio": 0.5,
    "random_state": 0,
}


def _make(kind):
    X, y = frame()
    holes, y_holes = frame(gaps=True)
    N = X[list(HOSTILE[:2])]
    counts = np.round(np.exp(y / 3))
    return {
        "additive": lambda: (AdditiveKernelRegressor(), X, y),
        "additive gaps": lambda: (AdditiveKernelRegressor([(0, 1), (0, 2), (1, 2)]), holes, y_holes),
        "additive counts": lambda: (AdditiveKernelRegressor(loss="poisson"), X, counts),
        "additive two": lambda: (AdditiveKernelClassifier(), holes, y_holes > y_holes.mean()),
        "additive three": lambda: (AdditiveKernelClassifier(), holes, three(y_holes)),
        "additive numbers": lambda: (AdditiveKernelRegressor(), N.to_numpy(), y),
        "sparse": lambda: (SparseAdditiveRegressor(0.02, n_basis=6), X, y),
        "sparse three": lambda: (SparseAdditiveClassifier(0.02, n_basis=4), X, three(y)),
        "sparse hinge": lambda: (
            SparseAdditiveClassifier(0.02, loss="squared_hinge", n_basis=4),
            X,
            (y > y.mean()).astype(int),
        ),
        "isk": lambda: (ISKRegressor(**ISK), X, y),
        "isk two": lambda: (ISKClassifier(**ISK), X, y > y.mean()),
        "isk three": lambda: (ISKClassifier(**ISK), N, three(y)),
        "coefficients": lambda: (InterpretableKernelRegressor(alpha=1.0), N, y),
        "coefficients counts": lambda: (InterpretableKernelRegressor(loss="poisson", alpha=1.0), N, counts),
        "coefficients three": lambda: (InterpretableKernelClassifier(alpha=1.0, certify=0), N, three(y)),
        "coefficients hinge": lambda: (
            InterpretableKernelClassifier(loss="squared_hinge", alpha=1.0, certify=0),
            N,
            np.where(y > 1, "yes", "no"),
        ),
        "linear ridge": lambda: (KernelRidge(Linear(2.0, origin=1.0)), N, np.column_stack([y, y**2])),
        "linear classes": lambda: (KernelRidgeClassifier(Linear()), N, three(y)),
        "linear two": lambda: (KernelRidgeClassifier(Linear()), N, y > 1),
        "linear fisher": lambda: (KernelFisherDiscriminant(Linear()), N, three(y)),
    }[kind]()


KINDS = [
    "additive",
    "additive gaps",
    "additive counts",
    "additive two",
    "additive three",
    "additive numbers",
    "sparse",
    "sparse three",
    "sparse hinge",
    "isk",
    "isk two",
    "isk three",
    "coefficients",
    "coefficients counts",
    "coefficients three",
    "coefficients hinge",
    "linear ridge",
    "linear classes",
    "linear two",
    "linear fisher",
]


@cache
def fitted(kind):
    """A fitted model, and hard rows in the form of its training table."""
    model, X, y = _make(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    rows = hard_rows(gaps=kind.startswith("additive"))
    rows = rows[list(HOSTILE[: X.shape[1]])]
    return model, rows.to_numpy(float) if isinstance(X, np.ndarray) else rows


def said(model, method, rows):
    """What a model says, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        return getattr(model, method)(rows)


def dicts(model, rows):
    """Rows as dicts, missing values as None."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        rows = pandas.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    rows = rows.astype(object).where(rows.notna(), None)
    return rows.to_dict("records")
