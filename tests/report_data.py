"""Small data and quickly fitted models of every kind that a report shows."""

import json
import re

import numpy as np
import pytest

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKRegressor,
    KernelRidge,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
)
from pellucid.kernels import GappedKmer, Mismatch, NGrams, Spectrum, WeightedDegree

pandas = pytest.importorskip("pandas")

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"double\" 'single' `back`",
    "emoji 🌡️ \u2028 line",
    "x" * 200,
    "__proto__",
]

WORD_KERNELS = [
    Spectrum(3),
    Spectrum(2, normalise=False),
    Spectrum(3, alphabet="ACGT", skip_unknown=True, reverse_complement=True),
    Mismatch(3, 1, skip_unknown=True),
    Mismatch(3, 2, skip_unknown=True, reverse_complement=True),
    GappedKmer(4, 2),
    GappedKmer(4, 2, reverse_complement=True, skip_unknown=True),
    WeightedDegree(3),
    WeightedDegree(2, alphabet="ACGT", skip_unknown=True, normalise=False),
    NGrams(2),
    NGrams(3, "character", lowercase=False),
]


def texts(kernel, n=30, seed=0):
    """Strings that the kernel reads, unusual ones among them."""
    rng = np.random.default_rng(seed)
    if isinstance(kernel, NGrams):
        words = ["Über", "cat", "Cat", "x", "two_2", "näïve", "-", "𝔘𝔫𝔦", "dog"]
        return [" ".join(rng.choice(words, rng.integers(0, 8))) for _ in range(n)]
    letters = "ACGTN" if getattr(kernel, "skip_unknown", False) else "ACGT"
    return ["".join(rng.choice(list(letters), rng.integers(0, 25))) for _ in range(n)]


def frame(n=120, names=("age", "dose", "town"), seed=0):
    """Two numeric features and one with levels, and a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    age, dose = rng.uniform(20, 80, n), rng.exponential(2.0, n)
    town = rng.choice(["Ulm", "<b>Bonn</b>", "Köln & Deutz"], n)
    y = np.sin(age / 10) + 0.5 * dose + (town == "Ulm") + 0.1 * rng.normal(size=n)
    X = pandas.DataFrame(dict(zip(names, (age, dose, town), strict=True)))
    return X, pandas.Series(y, name="strength")


def with_gaps(X):
    """The same data with missing numbers and levels."""
    X = X.copy()
    X.loc[::9, "age"] = np.nan
    X.loc[::7, "town"] = None
    return X


def payload(report):
    """The data inside a page."""
    text = re.search(r'<script type="application/json" id="payload">(.*?)</script>', report.html, re.S)[1]
    return json.loads(text)


def fitted(kind):
    X, y = frame()
    numbers = X[["age", "dose"]]
    three = np.array(["low", "mid", "high"])[np.digitize(y, np.quantile(y, [0.33, 0.66]))]
    models = {
        "coefficients": (InterpretableKernelRegressor(alpha=1.0), numbers, y),
        "logistic": (InterpretableKernelClassifier(alpha=1.0), numbers, y > y.mean()),
        "counts": (
            InterpretableKernelRegressor(loss="poisson", alpha=1.0),
            numbers,
            np.round(np.exp(y / 3)),
        ),
        "hinge": (
            InterpretableKernelClassifier(loss="squared_hinge", alpha=1.0, certify=0),
            numbers,
            three == "low",
        ),
        "multinomial": (InterpretableKernelClassifier(alpha=1.0, certify=0), numbers, three),
        "additive": (SparseAdditiveRegressor(0.02, n_basis=6), X, y),
        "additive classes": (SparseAdditiveClassifier(0.02, n_basis=4), X, three),
        "isk": (
            ISKRegressor(
                sigma=1.0, n_components=8, alpha=1e-2, sparse_alpha=1e-3, l1_ratio=0.5, random_state=0
            ),
            X,
            y,
        ),
        "tables": (AdditiveKernelRegressor(), with_gaps(X), y),
        "tables classes": (AdditiveKernelClassifier(), with_gaps(X), three),
        "kernel": (KernelRidge(), numbers, y),
    }
    model, X, y = models[kind]
    return model.fit(X, y), X, y


KINDS = [
    "coefficients",
    "logistic",
    "counts",
    "hinge",
    "multinomial",
    "additive",
    "additive classes",
    "isk",
    "tables",
    "tables classes",
    "kernel",
]
