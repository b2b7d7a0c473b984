"""Bad input of kernel GLMs: the right answer, or an error that says what to do."""

import numpy as np
import pytest
from glm_oracles import rbf, sample

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelGLMRegressor,
)
from pellucid.exceptions import IndefiniteKernelError
from pellucid.kernels import RBF
from pellucid.losses import Hinge, Poisson

X, COUNTS = sample("poisson", 30)
LABELS = sample("logistic", 30)[1]


def regressor(**options):
    return KernelGLMRegressor(RBF(), **({"alpha": 1.0} | options))


def classifier(**options):
    return KernelClassifier(RBF(), **({"alpha": 1.0} | options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"offset": np.zeros(29)}, r"offset must have one entry per row \(30\)"),
        ({"offset": np.zeros((30, 1))}, "offset must have one entry per row"),
        ({"offset": np.full(30, np.nan)}, "offset contains NaN"),
        ({"exposure": np.zeros(30)}, "exposure must be positive for every row: drop"),
        ({"exposure": -np.ones(30)}, "exposure must be positive"),
        ({"exposure": np.ones(31)}, r"exposure must have one entry per row \(30\)"),
    ],
)
def test_offset_and_exposure(options, words):
    with pytest.raises(ValueError, match=words):
        regressor().fit(X, COUNTS, **options)
    with pytest.raises(ValueError, match=words):
        regressor().fit(X, COUNTS).predict(X, **options)


def test_exposure_needs_a_log_link():
    with pytest.raises(ValueError, match=r"log link.* use offset"):
        regressor(loss="squared").fit(X, COUNTS, exposure=np.ones(30))


def test_offset_of_several_classes():
    with pytest.raises(ValueError, match="offset is for two classes, but y has 3"):
        classifier().fit(X, np.arange(30) % 3, offset=np.zeros(30))


@pytest.mark.parametrize(
    ("loss", "value", "words"),
    [
        ("poisson", -1.0, "not negative, got -1.*loss='squared'"),
        ("gamma", 0.0, "positive targets, got 0.*Drop or model apart"),
        ("gamma", -2.0, "positive targets"),
        ("poisson", np.nan, "Input y contains NaN"),
    ],
)
def test_targets_a_loss_is_not_defined_on(loss, value, words):
    y = COUNTS + 1.0
    y[3] = value
    with pytest.raises(ValueError, match=words):
        regressor(loss=loss).fit(X, y)


def test_counts_that_are_all_zero():
    model = regressor().fit(X, np.zeros(30))
    assert np.all(model.predict(X) < 1e-10)
    assert np.all(model.predict(X) > 0)


@pytest.mark.parametrize("loss", ["squared", "gamma", "poisson"])
def test_constant_targets(loss):
    model = KernelGLMRegressor("rbf", loss=loss).fit(X, np.full(30, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_one_class_only(loss):
    with pytest.raises(ValueError, match=r"only one class \(1\) .* at least 2 classes"):
        classifier(loss=loss).fit(X, np.ones(30, dtype=int))
    weight = LABELS.astype(float)
    with pytest.raises(ValueError, match="with positive weight"):
        classifier(loss=loss).fit(X, LABELS, sample_weight=weight)


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, "cv"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separated_classes(loss, n_classes, alpha):
    y = np.arange(30) % n_classes
    apart = 0.1 * X[:, :2] + 5.0 * np.column_stack([y, y**2])
    model = classifier(loss=loss, alpha=alpha, cv=3).fit(apart, y)
    assert model.score(apart, y) == 1
    assert np.all(np.isfinite(model.decision_function(apart)))
    assert model.optimality_ < 1e-7


def test_separation_is_said_so():
    y = (np.arange(30) % 2).astype(float)
    apart = 0.1 * X + 5.0 * y[:, None]
    assert "of 0 or 1" in str(classifier(alpha=1e-14).fit(apart, y).summary())
    assert "of 0 or 1" not in str(classifier(alpha=1.0).fit(apart, y).summary())


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, None, [], [0.1, 1.0]])
def test_alpha_values(alpha):
    with pytest.raises(ValueError, match="alpha"):
        regressor(alpha=alpha).fit(X, COUNTS)


@pytest.mark.parametrize("alpha", ["gcv", "ml", "auto"])
def test_alpha_names(alpha):
    with pytest.raises(ValueError, match=f"'cv' or 'loo', got '{alpha}'"):
        classifier(alpha=alpha).fit(X, LABELS)


@pytest.mark.parametrize("alphas", [[], [0.0, 1.0], [np.nan], "many"])
def test_alphas(alphas):
    with pytest.raises(ValueError, match="alphas must be positive and finite"):
        regressor(alpha="cv", alphas=alphas).fit(X, COUNTS)


@pytest.mark.parametrize(("loss", "y"), [("hinge", LABELS), ("logistic", np.arange(30) % 3)])
def test_no_leave_one_out_without_curvature_of_one_score(loss, y):
    with pytest.raises(ValueError, match="use alpha='cv'"):
        classifier(loss=loss, alpha="loo").fit(X, y)


@pytest.mark.parametrize("kind", [KernelGLMRegressor, InterpretableKernelRegressor])
@pytest.mark.parametrize("loss", ["poison", "logistic", "multinomial", Hinge()])
def test_a_regressor_lists_the_losses_that_it_takes(kind, loss):
    with pytest.raises(ValueError, match=r"not take the loss .* Known names: .*gamma, huber,.* squared.*\.$"):
        kind(RBF(), loss=loss, alpha=1.0).fit(X, COUNTS)


@pytest.mark.parametrize("kind", [KernelClassifier, InterpretableKernelClassifier])
@pytest.mark.parametrize("loss", ["logit", "squared", Poisson()])
def test_a_classifier_lists_the_losses_that_it_takes(kind, loss):
    ordinal = "ordinal, " if kind is KernelClassifier else ""
    names = f"hinge, logistic, multinomial, {ordinal}squared_hinge"
    model = kind(RBF(), loss=loss, alpha=1.0)
    with pytest.raises(ValueError, match=rf"does not take the loss .* Known names: {names}\.$"):
        model.fit(X, LABELS)
    assert not hasattr(model, "predict_proba")


def test_a_loss_is_passed_not_its_class():
    with pytest.raises(TypeError, match=r"Poisson\(\) instead of Poisson"):
        regressor(loss=Poisson).fit(X, COUNTS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
    ],
)
def test_other_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        regressor(**options).fit(X, COUNTS)


def test_folds_without_rows():
    with pytest.raises(ValueError, match="at least one fold"):
        regressor(alpha="cv", cv=[]).fit(X, COUNTS)
    with pytest.raises(ValueError, match="there are n_samples=1 rows"):
        regressor(alpha="cv").fit(X[:1], COUNTS[:1])


def test_folds_from_a_generator_are_used_up_only_once():
    pairs = [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]
    listed, drawn = (
        InterpretableKernelRegressor(RBF(), cv=cv, certify=0).fit(X, COUNTS)
        for cv in (pairs, (pair for pair in pairs))
    )
    np.testing.assert_array_equal(listed.coef_, drawn.coef_)


def test_a_fold_without_one_of_the_classes():
    y = (np.arange(30) < 3).astype(int)
    pairs = [(np.arange(3, 30), np.arange(3)), (np.arange(20), np.arange(20, 30))]
    for loss in ("logistic", "hinge", "squared_hinge"):
        model = classifier(loss=loss, alpha="cv", cv=pairs).fit(X, y)
        assert np.all(np.isfinite(model.alpha_path_.deviance))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_no_intercept(loss):
    model = classifier(loss=loss, fit_intercept=False).fit(X, LABELS)
    assert model.intercept_ == 0
    assert model.optimality_ < 1e-8


def test_constant_columns_and_constant_rows():
    constant = np.column_stack([X, np.full(30, 7.0)])
    one = KernelGLMRegressor("rbf", alpha=1.0).fit(constant, COUNTS)
    other = KernelGLMRegressor("rbf", alpha=1.0).fit(X, COUNTS)
    assert np.all(np.isfinite(one.predict(constant)))
    assert np.all(np.isfinite(other.predict(X)))
    same = KernelGLMRegressor("rbf").fit(np.ones((30, 2)), COUNTS)
    np.testing.assert_allclose(same.predict(np.ones((2, 2))), COUNTS.mean(), rtol=1e-8)


def test_indefinite_kernels_are_refused():
    K = rbf(X) - 0.5 * np.eye(30)
    with pytest.raises(IndefiniteKernelError, match=r"negative eigenvalues.*indefinite='clip'"):
        KernelClassifier("precomputed", alpha=1.0).fit(K, LABELS)
    with pytest.raises(ValueError, match="square"):
        KernelClassifier("precomputed", alpha=1.0).fit(K[:, :20], LABELS)


def test_too_few_steps_warn():
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="max_iter"):
        regressor(alpha=1e-6, max_iter=1).fit(X, COUNTS)


def test_no_probabilities_without_a_likelihood():
    model = classifier(loss="hinge").fit(X, LABELS)
    assert not hasattr(model, "predict_proba")
    assert hasattr(classifier(), "predict_proba")


@pytest.mark.parametrize("n", [2, 3, 4])
def test_as_many_folds_as_rows(n):
    for model in (KernelGLMRegressor(), KernelGLMRegressor(loss="squared")):
        assert np.all(np.isfinite(model.fit(X[:n], COUNTS[:n]).predict(X)))


@pytest.mark.parametrize("labels", ["abb", "abab", "aaaaab", "aaaaabbc", "aabbc"])
def test_folds_of_tiny_classes(labels):
    y = np.array(list(labels))
    model = KernelClassifier().fit(X[: len(y)], y)
    assert set(model.predict(X)) <= set(labels)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_classes_of_one_row_each_have_no_folds():
    with pytest.raises(ValueError, match=r"no class has two rows. Pass alpha as a number\."):
        KernelClassifier().fit(X[:3], ["a", "b", "c"])
    assert set(KernelClassifier(alpha=0.1).fit(X[:3], ["a", "b", "c"]).predict(X[:3])) == {"a", "b", "c"}
