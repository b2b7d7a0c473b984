"""Classification: codes, probabilities, and Fisher's direction."""

import numpy as np
import pytest
from oracles import blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import balanced_accuracy_score, log_loss

from pellucid import KernelRidge, KernelRidgeClassifier
from pellucid.kernels import RBF, Linear

NAMES = np.array(["ash", "birch", "cedar"])


def test_two_classes_are_a_regression_on_signs():
    X, labels = blobs(2)
    model = KernelRidgeClassifier(RBF()).fit(X, labels)
    ridge = KernelRidge(RBF(), alpha=model.alpha_).fit(X, np.where(labels == 1, 1.0, -1.0))
    assert np.allclose(model.decision_function(X), ridge.predict(X))
    assert model.dual_coef_.shape == (45,)
    assert np.allclose(model.dual_coef_, ridge.dual_coef_)
    assert model.intercept_ == pytest.approx(ridge.intercept_)
    assert model.log_marginal_likelihood_ < 0


@pytest.mark.parametrize("targets", ["signed", "fisher"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_names_of_classes_and_consistent_answers(n_classes, targets):
    X, labels = blobs(n_classes)
    model = KernelRidgeClassifier(RBF(), targets=targets).fit(X, NAMES[labels])
    assert list(model.classes_) == list(NAMES[:n_classes])
    scores, p = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == ((45,) if n_classes == 2 else (45, 3))
    assert p.shape == (45, n_classes)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.score(X, NAMES[labels]) > 0.7


def test_several_classes_are_one_against_the_rest():
    X, labels = blobs(3)
    model = KernelRidgeClassifier(RBF(), alpha=0.1).fit(X, labels)
    for c in range(3):
        alone = KernelRidgeClassifier(RBF(), alpha=0.1).fit(X, labels == c)
        assert np.allclose(model.decision_function(X)[:, c], alone.decision_function(X))


def test_probabilities_are_calibrated():
    """On fresh data they are worth about as much as the best slope that could be chosen with hindsight."""
    X, labels = blobs(2, n=600, spread=2.5, seed=2)
    model = KernelRidgeClassifier().fit(X[:200], labels[:200])
    p = model.predict_proba(X[200:])
    scores = model.decision_function(X[200:])
    hindsight = min(
        log_loss(labels[200:], 1.0 / (1.0 + np.exp(-s * scores))) for s in np.geomspace(0.05, 50, 60)
    )
    assert log_loss(labels[200:], p) < hindsight + 0.02
    said = p[:, 1].mean()
    assert said == pytest.approx(labels[200:].mean(), abs=0.07)


@pytest.mark.parametrize("weighted", [False, True])
def test_fisher_targets_give_fishers_direction(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    labels = np.arange(60) % 3 == 0  # of different size
    X[labels] += [1.0, 0.5, -0.5, 2.0]
    weight = rng.integers(1, 4, size=60) if weighted else np.ones(60, dtype=int)
    model = KernelRidgeClassifier(Linear(), alpha=1e-8, targets="fisher").fit(X, labels, sample_weight=weight)
    direction = model.X_fit_.T @ model.dual_coef_
    rows = np.repeat(np.arange(60), weight)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X[rows], labels[rows])
    cosine = direction @ lda.coef_[0] / np.linalg.norm(direction) / np.linalg.norm(lda.coef_[0])
    assert cosine == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("kernel", [Linear(), RBF(2.0)])
def test_fisher_targets_treat_small_classes_alike(kernel):
    """A score of zero is half-way between the classes, whatever their sizes."""
    rng = np.random.default_rng(3)
    labels = np.arange(2000) % 10 == 0
    X = rng.normal(size=(2000, 2))
    X[labels] += [2.0, 0.0]
    fit, test = slice(0, 400), slice(400, None)
    fisher = KernelRidgeClassifier(kernel, targets="fisher").fit(X[fit], labels[fit])
    signed = KernelRidgeClassifier(kernel).fit(X[fit], labels[fit])
    left_out = fisher.loo_.predictions
    assert left_out[labels[fit]].mean() == pytest.approx(-left_out[~labels[fit]].mean())
    assert balanced_accuracy_score(labels[test], fisher.predict(X[test])) > 0.79  # at best 0.841
    assert balanced_accuracy_score(labels[test], signed.predict(X[test])) < 0.77
    p = fisher.predict_proba(X[test])[:, 1]
    balance = np.where(labels[test], 9.0, 1.0)
    assert np.average(p, weights=balance) == pytest.approx(0.5, abs=0.06)


def test_codes_of_the_formula():
    X, labels = blobs(3, n=10)
    model = KernelRidgeClassifier(RBF(), alpha=0.1, targets="fisher").fit(X, labels)
    codes = (
        model.loo_.predictions + model.loo_.residuals
    )  # up to a constant, which moves the zero of the scores
    n, inside = 10, np.bincount(labels)
    for c in range(3):
        assert np.ptp(codes[labels == c, c]) == pytest.approx(0.0, abs=1e-12)
        assert np.ptp(codes[labels != c, c]) == pytest.approx(0.0, abs=1e-12)
        gap = codes[labels == c, c][0] - codes[labels != c, c][0]
        assert gap == pytest.approx(n / inside[c] + n / (n - inside[c]))


def test_without_an_intercept():
    X, labels = blobs(2)
    model = KernelRidgeClassifier(Linear(), alpha=0.1, fit_intercept=False).fit(X, labels)
    assert model.intercept_ == 0.0
    assert np.allclose(model.decision_function(-X), -model.decision_function(X))


def test_a_column_of_labels_is_warned_about():
    from sklearn.exceptions import DataConversionWarning

    X, labels = blobs(2)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        KernelRidgeClassifier(RBF(), alpha=0.1).fit(X, labels[:, None])


def test_real_targets_are_no_classes():
    X, labels = blobs(2)
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelRidgeClassifier().fit(X, labels + 0.37 * X[:, 0])
