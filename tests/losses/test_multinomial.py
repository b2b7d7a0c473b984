import numpy as np
import pytest
from sklearn.metrics import log_loss

from pellucid.losses import Logistic, Multinomial

LOSS = Multinomial()


def _rows(C=4, n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, C, n), 2 * rng.normal(size=(n, C))


def _hessian(eta):
    p = np.exp(eta - eta.max())
    p /= p.sum()
    return np.diag(p) - np.outer(p, p)


def test_two_classes_are_the_logistic_loss():
    y, eta = _rows(C=2)
    margin = eta[:, 1] - eta[:, 0]
    np.testing.assert_allclose(LOSS.value(y, eta), Logistic().value(y, margin), rtol=1e-12)
    np.testing.assert_allclose(LOSS.gradient(y, eta)[:, 1], Logistic().gradient(y, margin), rtol=1e-12)
    np.testing.assert_allclose(LOSS.mean(eta)[:, 1], Logistic().mean(margin), rtol=1e-12)


def test_value_and_deviance_agree_with_scikit_learn():
    y, eta = _rows()
    weight = np.random.default_rng(1).uniform(size=len(y))
    total = log_loss(y, LOSS.mean(eta), sample_weight=weight, normalize=False, labels=range(4))
    assert weight @ LOSS.value(y, eta) == pytest.approx(total)
    assert weight @ LOSS.deviance(y, eta) == pytest.approx(2 * total)


def test_gradients_add_up_to_zero():
    y, eta = _rows()
    np.testing.assert_allclose(LOSS.gradient(y, eta).sum(axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(LOSS.gradient(y, eta), LOSS.mean(eta) - np.eye(4)[y], atol=1e-15)


def test_a_constant_in_all_columns_changes_nothing():
    y, eta = _rows()
    np.testing.assert_allclose(LOSS.value(y, eta + 100.0), LOSS.value(y, eta), rtol=1e-12)


def test_curvature_is_the_diagonal_of_the_hessian():
    _, eta = _rows()
    diagonal = np.array([np.diag(_hessian(e)) for e in eta])
    np.testing.assert_allclose(LOSS.curvature(np.zeros(len(eta)), eta), diagonal, atol=1e-14)


@pytest.mark.parametrize("C", [2, 3, 10])
def test_the_bound_of_boehning(C):
    rng = np.random.default_rng(C)
    bound = LOSS.bound() * (np.eye(C) - np.ones((C, C)) / C)
    for scale in (0.0, 0.1, 1.0, 10.0):
        for _ in range(20):
            H = _hessian(scale * rng.normal(size=C))
            assert np.linalg.eigvalsh(bound - H).min() >= -1e-14
    # and it is reached, by two classes that share the probability
    eta = np.where(np.arange(C) < 2, 50.0, 0.0)
    assert np.linalg.eigvalsh(_hessian(eta)).max() == pytest.approx(LOSS.bound())


def test_shapes_and_class_numbers_are_checked():
    for eta in (np.zeros(3), np.zeros((3, 1)), np.zeros((3, 2, 2))):
        with pytest.raises(ValueError, match="one column per class"):
            LOSS.value([0, 1, 0], eta)
    with pytest.raises(ValueError, match="y must have shape"):
        LOSS.value([0, 1], np.zeros((3, 2)))
    for y in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(ValueError, match="0 to 1 for 2 classes"):
            LOSS.value(y, np.zeros((3, 2)))


def test_empty_classes_get_a_finite_constant():
    b = LOSS.best_constant([0, 0, 2, 2, 2], n_classes=5)
    assert np.all(np.isfinite(b))
    np.testing.assert_allclose(LOSS.mean(b[None, :]), [[0.4, 0, 0.6, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(b[[0, 2]], np.log([0.4, 0.6]))


def test_empty_classes_stay_unlikely_whatever_their_offset():
    y = np.array([0, 0, 2, 2, 2])
    offset = np.random.default_rng(0).normal(size=(5, 4)) * 10
    b = LOSS.best_constant(y, [1.0, 2.0, 1.0, 0.5, 0.5], offset)
    P = LOSS.mean(offset + b)
    assert np.all(P[:, [1, 3]] < 1e-12)
    np.testing.assert_allclose([1.0, 2.0, 1.0, 0.5, 0.5] @ P, [3.0, 0.0, 2.0, 0.0], atol=1e-11)


def test_one_class_alone():
    b = LOSS.best_constant([0, 0, 0])
    assert b.shape == (2,)
    assert np.all(LOSS.deviance([0], b[None, :]) < 1e-12)


@pytest.mark.parametrize("scale", [1.0, 20.0, 300.0, 3e4])
def test_average_probabilities_are_the_shares_with_any_offset(scale):
    y, offset = _rows(n=200)
    weight = np.random.default_rng(3).uniform(size=200)
    b = LOSS.best_constant(y, weight, scale * offset)
    shares = np.bincount(y, weights=weight)
    np.testing.assert_allclose(weight @ LOSS.mean(scale * offset + b), shares, atol=1e-9)
    assert np.logaddexp.reduce(b) == pytest.approx(0.0, abs=1e-9)


def test_bad_arguments_of_best_constant():
    with pytest.raises(ValueError, match="offset must be finite and of shape"):
        LOSS.best_constant([0, 1], None, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="n_classes is 3"):
        LOSS.best_constant([0, 1], None, np.zeros((2, 2)), n_classes=3)
    with pytest.raises(ValueError, match="0 to 1"):
        LOSS.best_constant([0, 5], n_classes=2)
