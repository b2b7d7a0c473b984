"""Small things that users met: each was once a raw error, a silence, or a false alarm."""

import numpy as np
import pandas as pd
import pytest

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
)
from pellucid.kernels import RBF, Categorical, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = X[:, 0] + np.sin(X[:, 1])


@pytest.mark.parametrize("matrix", [np.ones((40, 40)), np.zeros((40, 40))])
@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_a_constant_kernel_matrix_predicts_the_mean(matrix, alpha):
    model = KernelRidge("precomputed", alpha=alpha).fit(matrix, y)
    np.testing.assert_allclose(model.predict(matrix), y.mean(), atol=1e-8)


def test_a_numeric_kernel_on_a_column_of_text_says_what_to_do():
    frame = pd.DataFrame({"age": X[:, 0], "city": np.where(X[:, 1] > 0, "Oslo", "Rome")})
    with pytest.raises(
        ValueError, match=r"could not convert.*restrict that part to numeric columns with \.on"
    ):
        KernelRidge(Categorical().on(["city"]) + Linear()).fit(frame, y)
    KernelRidge(Categorical().on(["city"]) * RBF().on(["age"]) + 0.5 * Linear().on(["age"])).fit(frame, y)


def test_constant_columns_have_coefficients_of_zero():
    model = InterpretableKernelRegressor(alpha=1.0).fit(np.ones((20, 2)), y[:20])
    np.testing.assert_allclose(model.coef_, 0.0)
    assert "not computed" in str(model.certificate_)


def test_multinomial_is_logistic_by_another_name():
    labels = np.digitize(y, [-0.5, 0.5])
    one = KernelClassifier(loss="multinomial", alpha=1.0).fit(X, labels)
    other = KernelClassifier(loss="logistic", alpha=1.0).fit(X, labels)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X))


def test_a_view_says_for_which_class_it_speaks():
    labels = np.where(y > 0, "hi", "lo")
    view = InterpretableKernelClassifier(alpha=1.0).fit(X, labels).linear_view()
    assert str(view).startswith("positive coefficients speak for class lo\n")
    several = KernelRidgeClassifier(alpha=1.0).fit(X, np.digitize(y, [-0.5, 0.5])).linear_view()
    assert "class 0, the first of 3" in str(several)
    assert "output 0, the first of 2" in str(KernelRidge(alpha=1.0).fit(X, np.c_[y, -y]).linear_view())


def test_too_small_an_alpha_is_named():
    with pytest.raises(ValueError, match="alpha=1e-300 is too small"):
        InterpretableKernelRegressor(RBF(5.0), alpha=1e-300).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))


def test_few_rows_point_to_folds_or_alpha():
    with pytest.raises(ValueError, match="Pass fewer folds as cv, or alpha as a number"):
        KernelClassifier(cv=7).fit(X[:4], [0, 1, 0, 1])


def test_a_search_passes_on_what_the_best_estimator_can_say():
    search = LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [1.0, 2.0]}).fit(X, y)
    best = search.best_estimator_
    np.testing.assert_allclose(search.marginal_effects().average, best.marginal_effects().average)
    np.testing.assert_allclose(search.influence(X[:2]).deletion, best.influence(X[:2]).deletion)
    np.testing.assert_allclose(search.linear_view().coef, best.linear_view().coef)


def test_a_given_alpha_is_said_to_be_a_noise_variance():
    assert "alpha as its noise variance" in str(KernelRidge(alpha=1.0).fit(X, y).summary())
    assert "noise variance" not in str(KernelRidge().fit(X, y).summary())
