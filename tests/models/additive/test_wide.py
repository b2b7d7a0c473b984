"""Additive models of more features than get columns: which ones stay, and what the others do."""

import pickle

import numpy as np
import pytest

from pellucid import AdditiveKernelRegressor
from pellucid.models.additive.engine import structure

RNG = np.random.default_rng(2)
X = RNG.normal(size=(600, 25))
Y = X[:, 4] + 2 * X[:, 17] * X[:, 21] + 0.5 * RNG.normal(size=600)


@pytest.fixture(scope="module")
def fit():
    """Fits with one pair where only six features get columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "WORK", 2.3e6)  # 48 columns, of which a pair has 8
        yield lambda X, Y: AdditiveKernelRegressor(interactions=1).fit(X, Y)


@pytest.fixture(scope="module")
def model(fit):
    return fit(X, Y)


def test_a_pair_without_main_effects_is_found(model):
    assert (17, 21) in model.terms_
    assert len({j for term in model.terms_ for j in term}) <= 6
    new = RNG.normal(size=(500, 25))
    truth = new[:, 4] + 2 * new[:, 17] * new[:, 21]
    assert np.mean((model.predict(new) - truth) ** 2) < 0.1 * np.var(truth)


def test_features_without_columns_change_nothing(model):
    idle = [j for j in range(25) if all(j not in term for term in model.terms_)]
    assert len(idle) >= 19
    moved = X.copy()
    moved[:, idle] = 1e6
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))


def test_wide_models_can_be_saved_and_edited(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    edited = again.edit(X, Y, drop=[(17, 21)])
    assert (17, 21) not in edited.terms_
    assert (4,) in edited.terms_


def test_the_order_of_rows_does_not_matter(fit, model):
    order = RNG.permutation(len(Y))
    other = fit(X[order], Y[order])
    assert other.terms_ == model.terms_
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=1e-6)
