"""Several classes: receipt, shares of deviance and summary speak of the normalised probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from pellucid import AdditiveKernelClassifier


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, AdditiveKernelClassifier().fit(X, y)


@pytest.fixture(scope="module")
def crossed():
    """Three classes, of which one is told by a pair alone."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(420, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=420) > 0, "a", np.where(X[:, 2] > 0, "b", "c"))
    return X, y, AdditiveKernelClassifier(interactions=[("x0", "x1")]).fit(X, y)


@pytest.mark.parametrize("case", ["iris", "crossed"])
def test_receipt_adds_up_to_what_leave_one_out_explains(case, request):
    _, y, model = request.getfixturevalue(case)
    r = model.receipt_
    assert r.main + r.pairs == pytest.approx(model.loo_deviance_explained_, abs=1e-12)
    assert r.main + r.pairs + r.beyond + r.unexplained == pytest.approx(1.0, abs=1e-12)
    assert r.unexplained >= 0
    assert r.beyond >= 0
    share = np.unique(y, return_counts=True)[1] / len(y)
    null = -np.sum(share * np.log(share))
    expected = 1.0 - log_loss(y, model.loo_.predictions) / null
    assert model.loo_deviance_explained_ == pytest.approx(expected, abs=1e-10)


def test_deviance_explained_is_that_of_predicted_probabilities(iris):
    X, y, model = iris
    expected = 1.0 - log_loss(y, model.predict_proba(X)) / np.log(3)
    assert model.deviance_explained_ == pytest.approx(expected, abs=1e-10)


def test_pairs_add_what_is_lost_without_them(crossed):
    X, y, model = crossed
    without = model.edit(X, y, drop=["x0 × x1"])
    assert model.receipt_.main == pytest.approx(max(without.loo_deviance_explained_, 0.0), abs=1e-6)
    assert model.receipt_.pairs > 0.3
    assert without.receipt_.pairs == 0


def test_receipt_of_terms_that_were_frozen(crossed):
    X, y, model = crossed
    frozen = model.edit(X, y, freeze=["x0 × x1"])
    assert frozen.receipt_.explained == pytest.approx(frozen.loo_deviance_explained_, abs=1e-12)
    assert frozen.receipt_.main == pytest.approx(model.receipt_.main, abs=0.02)
    assert frozen.receipt_.pairs > 0.3


def test_summary_breaks_classes_down_and_names_the_class_that_a_term_is_for(crossed):
    _, y, model = crossed
    facts = dict(model.summary().facts)
    assert facts["loss"] == "logistic, each class against the rest"
    lines = facts["classes"].splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["a", "b", "c"]
    found = float(lines[0].split()[3])
    right = model.loo_.predictions[y == "a"].argmax(axis=1) == 0
    assert found == pytest.approx(100 * right.mean(), abs=0.06)
    p = [{name: value for name, _, value in tests} for tests in model.tests_]
    row = next(line for line in facts["terms by importance"].splitlines() if line.strip().startswith("x2"))
    smallest = min(range(3), key=lambda k: p[k]["x2"])
    assert row.split()[-1] == "abc"[smallest]
    assert float(row.split()[-2]) == pytest.approx(p[smallest]["x2"], abs=1e-4)
