"""Contributions that sum to predictions, deletions that equal refits."""

import numpy as np
import pytest
from oracles import blobs, curve
from sklearn.gaussian_process import kernels as gp

from pellucid import KernelRidge, KernelRidgeClassifier
from pellucid.kernels import RBF, Linear, Matern

X, Y = curve(20, 2, q=2)
X_NEW = curve(5, 2, seed=3)[0]


@pytest.mark.parametrize("kernel", [RBF(), Matern() + 0.5, Linear(), gp.RBF() + gp.WhiteKernel(0.1)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_contributions_and_deletions(kernel, fit_intercept, weighted):
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=20) if weighted else np.ones(20)
    options = {"alpha": 0.2, "fit_intercept": fit_intercept}
    model = KernelRidge(kernel, **options).fit(X, Y, sample_weight=weight)
    influence = model.influence(X_NEW)
    prediction = model.predict(X_NEW)
    assert influence.contributions.shape == influence.deletion.shape == (5, 20, 2)
    assert np.allclose(influence.contributions.sum(axis=1) + influence.intercept, prediction)
    for i in range(20):
        rest = np.arange(20) != i
        other = KernelRidge(kernel, **options).fit(X[rest], Y[rest], sample_weight=weight[rest])
        assert np.allclose(influence.deletion[:, i], other.predict(X_NEW) - prediction, atol=1e-9)


def test_the_training_rows_themselves():
    """Also for a kernel with noise on the diagonal, and for the very array that was fitted."""
    model = KernelRidge(gp.RBF() + gp.WhiteKernel(0.1), alpha=0.2).fit(X, Y)
    for rows in (X, model.X_fit_):
        influence = model.influence(rows)
        assert np.allclose(influence.contributions.sum(axis=1) + influence.intercept, model.predict(rows))
    model = KernelRidge(RBF(), alpha=0.2).fit(X, Y)
    own = model.influence(X).deletion[np.arange(20), np.arange(20)]
    assert np.allclose(model.predict(X) + own, model.loo_.predictions)


def test_rows_of_weight_zero_have_none():
    weight = np.ones(20)
    weight[4] = 0.0
    influence = KernelRidge(RBF(), alpha=0.2).fit(X, Y[:, 0], sample_weight=weight).influence(X_NEW)
    assert influence.contributions.shape == (5, 20)
    assert np.all(influence.deletion[:, 4] == 0.0)
    assert np.all(influence.contributions[:, 4] == 0.0)
    assert isinstance(influence.intercept, float)


def test_the_rows_that_matter_most():
    influence = KernelRidge(RBF(0.5), alpha=0.01).fit(X, Y).influence(X_NEW)
    top = influence.top(2, n_rows=3)
    size = np.abs(influence.deletion[2]).max(axis=1)
    assert list(top) == list(np.argsort(-size)[:3])
    single = KernelRidge(RBF(0.5), alpha=0.01).fit(X, Y[:, 0]).influence(X_NEW)
    assert single.top()[0] == np.argmax(np.abs(single.deletion[0]))
    assert len(single.top()) == 5


def test_scores_of_a_classifier():
    rows, labels = blobs(3)
    model = KernelRidgeClassifier(RBF(), alpha=0.1).fit(rows, labels)
    influence = model.influence(rows[:4])
    assert np.allclose(
        influence.contributions.sum(axis=1) + influence.intercept, model.decision_function(rows[:4])
    )
