"""The published Crohn study: misclassification, kernel accounted for, and the signs of known genera."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pellucid import InterpretableKernelClassifier
from pellucid.kernels import RBF

ALPHAS = np.logspace(-2.0, 1.5, 8)  # a coarse grid around what the default search finds, for time
pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.fixture(scope="module")
def splits():
    folder = os.environ.get("PELLUCID_DATA")
    if not folder or not (Path(folder) / "crohn.parquet").exists():
        pytest.skip("PELLUCID_DATA does not name a folder with crohn.parquet")
    pandas = pytest.importorskip("pandas")
    table = pandas.read_parquet(Path(folder) / "crohn.parquet")
    y = (table["y"] == "CD").to_numpy()
    X = table.iloc[:, :-1].to_numpy(float)
    X = (X / X.sum(axis=1, keepdims=True)) ** 0.28
    found = []
    for seed in range(10):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, random_state=seed, stratify=y
        )
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        model = InterpretableKernelClassifier(RBF.from_gamma(1 / 48), cv=10, certify=0, alphas=ALPHAS)
        model.fit(X_train, y_train)
        errors = [
            np.mean(model.predict(rows, how=how) != labels)
            for how in ("kernel", "linear")
            for rows, labels in ((X_train, y_train), (X_test, y_test))
        ]
        found.append((errors, model.kaf_, dict(zip(table.columns, model.coef_, strict=False))))
    return found


def medians(splits):
    return np.median([errors for errors, _, _ in splits], axis=0)


def test_misclassification_of_the_kernel_model(splits):
    np.testing.assert_allclose(medians(splits)[:2], [0.029, 0.163], atol=0.02)


def test_misclassification_of_the_coefficients(splits):
    np.testing.assert_allclose(medians(splits)[2:], [0.173, 0.200], atol=0.02)


def test_kernel_accounted_for(splits):
    assert np.median([kaf for _, kaf, _ in splits]) == pytest.approx(0.749, abs=0.008)


@pytest.mark.parametrize(("genus", "sign"), [("Dialister", 1), ("Roseburia", -1), ("Bacteroides", -1)])
def test_signs_that_hold_in_every_split(splits, genus, sign):
    assert all(np.sign(coef[f"g__{genus}"]) == sign for _, _, coef in splits)
