"""Kernel Fisher discriminant against linear discriminant analysis."""

import numpy as np
import pytest
from oracles import blobs
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pellucid import KernelFisherDiscriminant
from pellucid.kernels import RBF, Linear


def canonical_correlations(A, B):
    """Correlations between the spaces spanned by the columns of two sets of variates."""
    Qa, Qb = (np.linalg.qr(V - V.mean(axis=0))[0] for V in (A, B))
    return np.linalg.svd(Qa.T @ Qb)[1]


def test_two_classes_have_the_variate_of_linear_discriminants():
    X, labels = blobs(2, n=80, p=4)
    model = KernelFisherDiscriminant(Linear(), alpha=1e-9).fit(X, labels)
    lda = LinearDiscriminantAnalysis().fit(X, labels)
    ours, theirs = model.transform(X)[:, 0], lda.transform(X)[:, 0]
    assert abs(np.corrcoef(ours, theirs)[0, 1]) == pytest.approx(1.0, abs=1e-10)
    assert np.mean(model.predict(X) == lda.predict(X)) > 0.97


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_three_classes_have_the_same_subspace_and_nearly_the_same_predictions(load):
    X, labels = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = KernelFisherDiscriminant(Linear(), alpha=1e-8).fit(X, labels)
    lda = LinearDiscriminantAnalysis().fit(X, labels)
    correlations = canonical_correlations(model.transform(X), lda.transform(X))
    assert np.allclose(correlations, 1.0, atol=1e-8)
    assert np.mean(model.predict(X) == lda.predict(X)) > 0.98
    leading = np.corrcoef(model.transform(X)[:, 0], lda.transform(X)[:, 0])[0, 1]
    assert abs(leading) > 0.999
    assert np.all(np.diff(model.explained_) < 0)


def test_variates_left_out_have_unit_variance_within_classes():
    X, labels = blobs(3, n=60)
    model = KernelFisherDiscriminant(RBF()).fit(X, labels)
    variates = model.loo_.predictions @ model.scalings_
    means = np.array([variates[labels == c].mean(axis=0) for c in range(3)])
    within = variates - means[labels]
    assert np.allclose(within.T @ within / 60, np.eye(2), atol=1e-3)
    assert np.allclose(model.means_, means)
    between = (means - variates.mean(axis=0)).T @ (means - variates.mean(axis=0)) / 3
    ratio = np.diag(between)
    assert np.allclose(model.explained_, ratio / (1.0 + ratio), atol=1e-3)
    assert np.allclose(model.priors_, 1 / 3)


def test_fewer_variates():
    X, labels = blobs(4, n=80, p=3)
    full = KernelFisherDiscriminant(RBF(), alpha=0.1).fit(X, labels)
    one = KernelFisherDiscriminant(RBF(), alpha=0.1, n_components=1).fit(X, labels)
    assert full.transform(X).shape == (80, 3)
    assert one.transform(X).shape == (80, 1)
    assert np.allclose(one.transform(X)[:, 0], full.transform(X)[:, 0])
    assert list(one.get_feature_names_out()) == ["kernelfisherdiscriminant0"]
    assert np.allclose(one.predict_proba(X).sum(axis=1), 1.0)


def test_answers_are_consistent():
    for n_classes in (2, 3):
        X, labels = blobs(n_classes, n=60)
        model = KernelFisherDiscriminant(RBF()).fit(X, labels)
        scores, p = model.decision_function(X), model.predict_proba(X)
        winners = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        assert np.array_equal(model.predict(X), winners)
        assert np.array_equal(model.predict(X), p.argmax(axis=1))
        assert 0.0 <= model.loo_.error_rate < 0.5


def test_a_kernel_separates_rings():
    rng = np.random.default_rng(0)
    angle, labels = rng.uniform(0, 2 * np.pi, size=120), np.arange(120) % 2
    X = ((1.0 + 2.0 * labels) * [np.cos(angle), np.sin(angle)]).T + 0.2 * rng.normal(size=(120, 2))
    model = KernelFisherDiscriminant().fit(X, labels)
    assert model.loo_.error_rate == 0.0
    assert model.explained_[0] > 0.9
    assert KernelFisherDiscriminant("linear").fit(X, labels).explained_[0] < 0.2
