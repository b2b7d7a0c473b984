"""Whether a change leaves predictions as they were: every estimator, eight tables, two versions of the code.

Run it once with each version on the path, then compare::

    PYTHONPATH=before/src python benchmarks/_unchanged.py write before.npz
    PYTHONPATH=after/src  python benchmarks/_unchanged.py write after.npz
    python benchmarks/_unchanged.py compare before.npz after.npz

The comparison prints the largest difference of each estimator and table, relative to the spread of its
predictions, and ends with an error if one exceeds 1e-10.
"""

import sys
import warnings
from typing import Any

import numpy as np
from _measure import data_folder
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import pellucid as pl
from pellucid.datasets import load_dataset
from pellucid.kernels import RBF, Categorical, Linear

TOLERANCE = 1e-10


def some(name: str, n: int) -> tuple[Any, np.ndarray]:
    X, y = load_dataset(name, folder=data_folder(), return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]


def tables() -> dict[str, tuple[Any, np.ndarray, list[Any]]]:
    """Each table with the estimators for it; the last quarter of its rows is predicted."""
    numbers = [
        pl.KernelRidge(),
        pl.KernelRidge("matern", alpha="ml"),
        pl.KernelRidge(RBF(2.0) + Linear(), alpha=0.3),
        pl.LooSearch(pl.KernelRidge(RBF()), {"kernel__length_scale": [1.0, 10.0, 100.0]}),
        pl.KernelGLMRegressor(loss="squared"),
        pl.InterpretableKernelRegressor(),
    ]
    terms = [
        pl.ISKRegressor(n_components=10, random_state=0),
        pl.SparseAdditiveRegressor(),
        pl.AdditiveKernelRegressor(),
    ]
    classes = [
        pl.KernelRidgeClassifier(),
        pl.KernelRidgeClassifier(targets="fisher"),
        pl.KernelFisherDiscriminant(),
        pl.KernelClassifier(),
        pl.KernelClassifier(loss="squared_hinge", alpha=1.0),
        pl.InterpretableKernelClassifier(),
    ]
    class_terms = [
        pl.ISKClassifier(n_components=6, random_state=0),
        pl.SparseAdditiveClassifier(),
        pl.AdditiveKernelClassifier(),
    ]
    counts = [
        pl.KernelGLMRegressor(),
        pl.InterpretableKernelRegressor(loss="poisson"),
        pl.AdditiveKernelRegressor(loss="poisson"),
    ]
    wide = load_dataset("corn_nir_m5", folder=data_folder(), return_X_y=True)
    bank, yes = some("bank", 900)
    mixed = RBF(10.0).on(["age"]) * Categorical().on(["job"])
    return {
        "diabetes": (*load_diabetes(return_X_y=True, as_frame=True, scaled=False), [*numbers, *terms]),
        "airfoil": (*some("airfoil", 600), [*numbers, *terms]),
        "corn": (wide[0], np.asarray(wide[1], dtype=float), numbers[:2] + numbers[4:]),
        "california": (*some("california", 1500), [terms[2]]),
        "randhie": (*some("randhie", 600), counts),
        "breast cancer": (*load_breast_cancer(return_X_y=True), [*classes, *class_terms[1:]]),
        "iris": (*load_iris(return_X_y=True), [*classes, *class_terms]),
        "bank": (bank, yes, [class_terms[1], class_terms[2], pl.KernelRidgeClassifier(mixed)]),
    }


def predictions() -> dict[str, np.ndarray]:
    found = {}
    for name, (X, y, models) in tables().items():
        order = np.random.default_rng(1).permutation(len(y))
        X = X.iloc[order] if hasattr(X, "iloc") else X[order]
        y = np.asarray(y)[order]
        cut = 3 * len(y) // 4
        for number, model in enumerate(models):
            fitted = clone(model).fit(X[:cut], y[:cut])
            key = f"{name}: {number} {type(model).__name__}"
            scores = is_classifier(model) and hasattr(fitted, "decision_function")
            found[key] = np.asarray((fitted.decision_function if scores else fitted.predict)(X[cut:]), float)
            if hasattr(fitted, "coef_"):
                found[f"{key}, coef_"] = np.asarray(fitted.coef_)
            if hasattr(fitted, "contributions"):
                parts = fitted.contributions(X[cut:])
                found[f"{key}, contributions"] = np.asarray(parts).sum(axis=1)
            print(key, flush=True)
    return found


def compare(one: str, other: str) -> int:
    a, b = np.load(one), np.load(other)
    bad = 0
    for key in sorted(set(a.files) | set(b.files)):
        if key not in a.files or key not in b.files:
            print(f"{key:60} only in one")
            bad += 1
            continue
        spread = max(float(np.ptp(a[key])), np.finfo(float).tiny)
        gap = float(np.max(np.abs(a[key] - b[key]))) / spread if a[key].shape == b[key].shape else np.inf
        bad += gap > TOLERANCE
        print(f"{key:60} {gap:.1e}{'   <-- differs' if gap > TOLERANCE else ''}")
    print("all equal" if not bad else f"{bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:4]))
    warnings.simplefilter("ignore")
    np.savez(sys.argv[2], **predictions())
