"""Bad input of interpretable models: the right answer, or an error that says what to do."""

import numpy as np
import pytest
from glm_oracles import rbf, sample

from pellucid import InterpretableKernelClassifier, InterpretableKernelRegressor
from pellucid.kernels import RBF, Linear

X, Y = sample("squared", 40)
LABELS = sample("logistic", 40)[1]


def regressor(**options):
    return InterpretableKernelRegressor(RBF(3.0), **({"alpha": 1.0, "certify": 0} | options))


def classifier(**options):
    return InterpretableKernelClassifier(RBF(3.0), **({"alpha": 1.0, "certify": 0} | options))


@pytest.mark.parametrize(("loss", "y"), [("hinge", LABELS), ("logistic", np.arange(40) % 3)])
def test_no_p_values_where_they_do_not_exist(loss, y):
    model = classifier(loss=loss).fit(X, y)
    with pytest.raises(
        ValueError, match=r"p-values do not exist for the (hinge|multinomial) loss; use stability"
    ):
        model.coefficient_frame()


def test_squared_hinge_has_robust_errors_only():
    model = classifier(loss="squared_hinge").fit(X, LABELS)
    with pytest.raises(ValueError, match="kind='robust'"):
        model.coefficient_frame()
    assert np.all(model.coefficient_frame(kind="robust")["standard_error"] > 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "hc0"}, "'model', 'robust' or 'clustered'"),
        ({"kind": "clustered"}, "needs groups"),
        ({"groups": np.zeros(40)}, "other kinds take none"),
        ({"kind": "clustered", "groups": np.zeros(39)}, r"one label per training row \(40\)"),
        ({"kind": "clustered", "groups": np.zeros(40)}, "at least two groups"),
        ({"level": 95}, "between 0 and 1"),
        ({"output": 1}, "output must be below 1"),
    ],
)
def test_questions_without_an_answer(options, words):
    with pytest.raises(ValueError, match=words):
        regressor().fit(X, Y).coefficient_frame(**options)


def test_no_degrees_of_freedom_left():
    wide, y = sample("squared", 20, p=40)
    model = regressor(alpha=1e-13).fit(wide, y)
    with pytest.raises(ValueError, match="raise alpha"):
        model.coefficient_frame()


def test_how_must_be_known():
    with pytest.raises(ValueError, match="'linear' or 'kernel', got 'both'"):
        regressor().fit(X, Y).predict(X, how="both")
    with pytest.raises(ValueError, match="'linear' or 'kernel', got 'both'"):
        classifier().fit(X, LABELS).predict_proba(X, how="both")


@pytest.mark.parametrize("certify", [-1, 2.5, None])
def test_certify_is_a_number_of_folds(certify):
    with pytest.raises(ValueError, match="certify must be a whole number of at least 0"):
        regressor(certify=certify).fit(X, Y)


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="2 or more, or 0 for none"):
        regressor(certify=1).fit(X, Y)


def test_kernel_matrices_have_no_features():
    with pytest.raises(ValueError, match=r"Coefficients need numeric features.*KernelGLMRegressor"):
        InterpretableKernelRegressor("precomputed", alpha=1.0).fit(rbf(X), Y)


def test_strings_have_no_features():
    with pytest.raises(ValueError, match="Coefficients need numeric features"):
        InterpretableKernelClassifier(lambda a, b: float(a == b), alpha=1.0).fit(["a", "b"] * 5, [0, 1] * 5)


def test_repeated_columns_share_the_effect():
    model = InterpretableKernelRegressor(Linear(), alpha=1.0, certify=0).fit(np.column_stack([X, X[:, 0]]), Y)
    assert model.coef_[0] == pytest.approx(model.coef_[3])
    assert np.all(np.isfinite(model.coefficient_frame()))
    once = InterpretableKernelRegressor(RBF(3.0), alpha=1.0, certify=0).fit(X, Y)
    assert np.all(np.isfinite(once.coef_))


def test_constant_columns_have_no_effect():
    constant = np.column_stack([X, np.full(40, 7.0)])
    model = regressor(certify=4).fit(constant, Y)
    plain = regressor().fit(X, Y)
    np.testing.assert_allclose(model.coef_, [*plain.coef_, 0.0], atol=1e-10)
    frame = model.coefficient_frame()
    assert frame["standard_error"].iloc[3] == pytest.approx(0, abs=1e-12)
    assert frame["p_value"].iloc[3] == 1


def test_only_constant_columns():
    model = regressor().fit(np.ones((40, 2)), Y)
    np.testing.assert_array_equal(model.coef_, 0)
    np.testing.assert_allclose(model.predict(np.ones((3, 2))), Y.mean())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values(value):
    bad = X.copy()
    bad[2, 1] = value
    with pytest.raises(ValueError, match="Input X contains"):
        regressor().fit(bad, Y)
    with pytest.raises(ValueError, match="Input X contains"):
        regressor().fit(X, Y).predict(bad)


@pytest.mark.parametrize("p", [3, 60])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_separated_classes(loss, p):
    wide = sample("logistic", 40, p=p)[0]
    wide[:, 0] = 5.0 * LABELS + 0.1 * wide[:, 0]
    model = classifier(loss=loss, alpha=1e-4).fit(wide, LABELS)
    assert np.all(np.isfinite(model.coef_))
    assert model.score(wide, LABELS) == 1
    assert model.optimality_ < 1e-7


def test_several_classes_have_a_column_each():
    y = np.arange(40) % 3
    model = classifier().fit(X, y)
    assert model.coef_.shape == (3, 3)
    np.testing.assert_allclose(model.coef_.sum(axis=1), 0, atol=1e-8)
    rest = classifier(loss="squared_hinge").fit(X, y)
    frame = rest.coefficient_frame(kind="robust", output=2)
    np.testing.assert_allclose(frame["coefficient"], rest.coef_[:, 2])
