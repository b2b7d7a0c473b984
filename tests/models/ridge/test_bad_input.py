"""Bad input: a specific error that says what to do, or the right answer. Never anything else."""

import numpy as np
import pytest
from oracles import blobs, curve
from sklearn.exceptions import NotFittedError

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.exceptions import IllConditionedWarning, NotEnoughMemoryError
from pellucid.kernels import RBF, Categorical, Linear

X, Y = curve(20, 3, q=2)
y = Y[:, 0]
LABELS = (y > np.median(y)).astype(int)
ESTIMATORS = {
    "ridge": KernelRidge(),
    "ridge, given kernel": KernelRidge(RBF(), alpha=0.1),
    "classifier": KernelRidgeClassifier(),
    "discriminant": KernelFisherDiscriminant(),
    "grid": LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.5, 1.0]}),
    "descent": LooSearch(KernelRidgeClassifier(RBF())),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def fresh(name):
    from sklearn.base import clone

    return clone(ESTIMATORS[name])


def targets(name):
    return LABELS if name in ("classifier", "discriminant", "descent") else y


def broken(array, value, at=3):
    array = np.array(array, dtype=float)
    array.flat[at] = value
    return array


@every_estimator
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_missing_and_infinite_values(name, value, word):
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        fresh(name).fit(broken(X, value), targets(name))
    with pytest.raises(ValueError, match=f"nput y contains {word}"):
        fresh(name).fit(X, broken(targets(name), value))
    with pytest.raises(ValueError, match=f"Input sample_weight contains {word}"):
        fresh(name).fit(X, targets(name), sample_weight=broken(np.ones(20), value))
    model = fresh(name).fit(X, targets(name))
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        model.predict(broken(X, value))


@every_estimator
def test_shapes_that_do_not_fit(name):
    model, t = fresh(name), targets(name)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], t[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.fit(X[:, :0], t)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        model.fit(X[:, 0], t)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, t[:-1])
    with pytest.raises(ValueError, match="y"):
        model.fit(X, None)
    with pytest.raises(ValueError, match="19 entries, but X has 20 rows"):
        model.fit(X, t, sample_weight=np.ones(19))
    with pytest.raises(ValueError, match="must be 1D array or scalar"):
        model.fit(X, t, sample_weight=np.ones((20, 1)))
    model.fit(X, t)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


def test_targets_of_three_dimensions():
    with pytest.raises(ValueError, match="y must have one or two dimensions, got 3"):
        KernelRidge().fit(X, np.zeros((20, 2, 2)))
    with pytest.raises(ValueError, match="y must have one or two dimensions, got 0"):
        KernelRidge().fit(X, 3.0)
    with pytest.raises(ValueError, match=r"1d array|1D"):
        KernelRidgeClassifier().fit(X, Y > 0)


@every_estimator
def test_weights_that_count_for_nothing(name):
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        fresh(name).fit(X, targets(name), sample_weight=broken(np.ones(20), -1.0))
    with pytest.raises(ValueError, match="All entries of sample_weight are zero"):
        fresh(name).fit(X, targets(name), sample_weight=np.zeros(20))


def test_one_number_for_all_weights():
    one = KernelRidge(RBF(), alpha=0.2).fit(X, y, sample_weight=2.0)
    other = KernelRidge(RBF(), alpha=0.1).fit(X, y)
    assert np.allclose(one.predict(X), other.predict(X))


@every_estimator
def test_not_fitted(name):
    model = fresh(name)
    for method in ("predict", "decision_function", "transform", "predict_interval", "influence"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(model, method)(X)
    for attribute in ("loo_", "noise_variance_"):
        assert not hasattr(model, attribute)
    with pytest.raises((NotFittedError, AttributeError)):
        model.summary()


def test_a_failed_fit_leaves_no_half_fitted_model():
    model = KernelRidge(RBF(), alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken(X, np.nan), y)
    with pytest.raises(NotFittedError):
        model.predict(X)


# ------------------------------------------------------------------ few rows
def test_one_row():
    with pytest.raises(ValueError, match=r"at least 2 rows, got n_samples = 1\. Pass alpha as a number"):
        KernelRidge().fit(X[:1], y[:1])
    model = KernelRidge(RBF(), alpha=1.0).fit(X[:1], y[:1])
    assert np.allclose(model.predict(X), y[0])
    flat = KernelRidge("rbf", alpha=1.0, fit_intercept=False).fit(X[:1], y[:1])
    assert flat.predict(X[:1]) == pytest.approx(y[0] / 2)
    assert flat.loo_.residuals == pytest.approx(y[0])
    assert np.all(np.isfinite(model.predict(X[:2], return_std=True)[1]))


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_two_and_three_rows(n, kernel):
    for fit_intercept in (True, False):
        model = KernelRidge(kernel, fit_intercept=fit_intercept).fit(X[:n], y[:n])
        assert np.all(np.isfinite(model.predict(X)))
        assert np.all(np.isfinite(model.loo_.residuals))
    classifier = KernelRidgeClassifier(kernel).fit(X[:n], np.arange(n) % 2)
    assert np.all(np.isfinite(classifier.predict_proba(X)))


@pytest.mark.parametrize("model", [KernelRidgeClassifier(), KernelFisherDiscriminant()])
def test_one_class_only(model):
    with pytest.raises(ValueError, match=r"only one class \('yes'\)"):
        model.fit(X, ["yes"] * 20)
    with pytest.raises(ValueError, match=r"only one class \(1\) "):
        model.fit(X, LABELS, sample_weight=(LABELS == 1).astype(float))


def test_a_class_without_weight_is_not_learned():
    labels = np.arange(20) % 3
    weight = (labels != 1).astype(float)
    model = KernelRidgeClassifier(RBF(), alpha=0.1).fit(X, labels, sample_weight=weight)
    kept = labels != 1
    other = KernelRidgeClassifier(RBF(), alpha=0.1).fit(X[kept], labels[kept])
    assert list(model.classes_) == [0, 2]
    assert np.array_equal(model.predict(X), other.predict(X))
    assert model.loo_.error_rate == other.loo_.error_rate


# ----------------------------------------------------------- degenerate data
@every_estimator
def test_constant_columns_say_nothing(name):
    wide = np.column_stack([X, np.full(20, 7.0), np.zeros(20)])
    model = fresh(name).fit(wide, targets(name))
    other = fresh(name).fit(X, targets(name))
    assert np.all(np.isfinite(other.loo_.residuals))
    if name in ("ridge, given kernel", "grid"):  # a named kernel grows its length-scale with the columns
        assert np.allclose(model.predict(wide), other.predict(X))
    assert np.all(np.isfinite(model.loo_.residuals))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", RBF()])
def test_all_columns_constant(kernel):
    model = KernelRidge(kernel).fit(np.ones((10, 2)), y[:10])
    assert np.allclose(model.predict(np.ones((1, 2))), y[:10].mean())


@pytest.mark.parametrize("value", [0.0, 0.1, -3e200, 5e-300])
@pytest.mark.parametrize("criterion", ["loo", "gcv", "ml", 0.1])
def test_constant_targets_are_predicted(criterion, value):
    constant = np.full(20, value)
    for model in (KernelRidge(alpha=criterion), LooSearch(KernelRidge(RBF(), alpha=criterion))):
        model.fit(X, constant)
        assert np.allclose(model.predict(X + 1.0), value, rtol=1e-12)
    assert np.all(model.loo_.residuals == 0)
    assert np.all(model.predict(X, return_std=True)[1] >= 0)


def test_one_constant_output_among_others():
    mixed = np.column_stack([y, np.full(20, 2.5)])
    for criterion in ("loo", "ml"):
        search = LooSearch(KernelRidge(RBF(), alpha=criterion)).fit(X, mixed)
        assert np.allclose(search.predict(X)[:, 1], 2.5)
        alone = LooSearch(KernelRidge(RBF(), alpha=criterion)).fit(X, y)
        assert np.isclose(
            search.best_estimator_.kernel_.length_scale, alone.best_estimator_.kernel_.length_scale
        )


def test_repeated_rows_and_a_tiny_alpha():
    twice = np.vstack([X, X])
    model = KernelRidge(RBF(), alpha=1e-6).fit(twice, np.tile(y, 2))
    assert np.allclose(model.predict(X), y, atol=1e-3)
    with pytest.warns(IllConditionedWarning, match="raise alpha"):
        worse = KernelRidge(RBF(), alpha=1e-18).fit(twice, np.tile(y, 2))
    assert np.allclose(worse.predict(X), y, atol=1e-3)
    different = np.concatenate([y, y + 1.0])  # the same rows, other targets
    between = KernelRidge(RBF(), alpha=1e-6).fit(twice, different)
    assert np.allclose(between.predict(X), y + 0.5, atol=1e-3)


@pytest.mark.parametrize("alpha", [0, 0.0, -1.0, np.nan, np.inf, None, [1.0, 0.0]])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="alpha must be positive"):
        KernelRidge(alpha=alpha).fit(X, Y)


def test_alpha_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"alpha has 3 entries, but y has 2 output\(s\)"):
        KernelRidge(alpha=[1.0, 2.0, 3.0]).fit(X, Y)


@pytest.mark.parametrize("alphas", [[], [0.0, 1.0], [-1.0], [np.nan], [np.inf]])
def test_candidates_must_be_positive(alphas):
    with pytest.raises(ValueError, match="alphas must be positive and finite"):
        KernelRidge(alphas=alphas).fit(X, y)


# -------------------------------------------------------------- unknown names
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelRidge("gauss"), "Unknown kernel 'gauss'. Known names: additive_pairs"),
        (KernelRidge(solver="svd"), "Unknown solver 'svd'; choose from"),
        (KernelRidge(RBF(), solver="primal"), "solver='primal' needs"),
        (KernelRidge(alpha="aic"), "'loo', 'gcv' or 'ml', got 'aic'"),
        (KernelRidge(indefinite="ignore"), "indefinite must be 'raise' or 'clip'"),
        (KernelRidge(fit_intercept="yes"), "fit_intercept must be True or False"),
        (KernelRidgeClassifier(targets="onehot"), "targets must be 'signed' or 'fisher', got 'onehot'"),
        (KernelFisherDiscriminant(n_components=2), "n_components must be between 1 and 1 for 2 classes"),
    ],
)
def test_unknown_options_are_named(model, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        model.fit(X, LABELS)


@pytest.mark.parametrize("kernel", [RBF, 3.0, None, ["rbf"]])
def test_not_a_kernel(kernel):
    with pytest.raises(TypeError, match=r"kernel"):
        KernelRidge(kernel).fit(X, y)


def test_intervals_that_cannot_be():
    model = KernelRidge(RBF(), alpha=0.1).fit(X, y)
    for coverage in (0.0, 1.0, -1, 2):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="needs at least 99 rows, got 20"):
        model.predict_interval(X, 0.99)


# --------------------------------------------------------------------- memory
@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(RBF()),
        KernelRidge(RBF(), alpha=0.1),
        KernelRidge(),
        KernelRidge("precomputed"),
        KernelRidgeClassifier(RBF()),
    ],
    ids=str,
)
def test_a_matrix_too_large_is_refused_before_it_is_made(model, monkeypatch):
    data = X @ X.T if model.kernel == "precomputed" else X
    monkeypatch.setenv("PELLUCID_MEMORY", "3000")
    if isinstance(model.kernel, RBF):
        monkeypatch.setattr(RBF, "_gram", lambda *a: pytest.fail("the matrix was computed"))
    with pytest.raises(
        NotEnoughMemoryError, match=r"of 20 rows needs about .* About \d+ rows would fit"
    ) as caught:
        model.fit(data, LABELS)
    assert isinstance(caught.value, MemoryError)


def test_what_is_said_to_fit_does_fit(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "3000")
    with pytest.raises(NotEnoughMemoryError) as caught:
        KernelRidge(RBF(), alpha=0.1).fit(X, y)
    fits = int(str(caught.value).split("About ")[1].split()[0])
    KernelRidge(RBF(), alpha=0.1).fit(X[:fits], y[:fits])
    with pytest.raises(NotEnoughMemoryError):
        KernelRidge(RBF(), alpha=0.1).fit(X[: fits + 1], y[: fits + 1])


def test_explicit_features_need_no_matrix(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "3000")
    model = KernelRidge(Linear(), alpha=0.1).fit(X, y)
    assert model.solver_ == "primal"
    monkeypatch.setenv("PELLUCID_MEMORY", "1000")
    with pytest.raises(NotEnoughMemoryError, match="explicit features"):
        KernelRidge(Linear(), alpha=0.1).fit(X, y)


# -------------------------------------------------------------- other kernels
def test_a_kernel_that_overflows_is_named():
    with pytest.raises(ValueError, match=r"Linear.* too large to compute with on these data\. Rescale"):
        KernelRidge(Linear(), solver="cholesky").fit(1e200 * X, y)


def test_strings_need_a_kernel_for_them():
    with pytest.raises(ValueError, match="could not convert string to float"):
        KernelRidge().fit([["a"], ["b"], ["a"]], [1.0, 2.0, 3.0])


def test_missing_values_in_columns_of_strings():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"colour": ["red", None, "blue"] * 3, "x": np.arange(9.0)})
    kernel = Categorical().on(["colour"]) * RBF().on(["x"])
    with pytest.raises(ValueError, match=r"missing values in columns \['colour'\]"):
        KernelRidge(kernel).fit(frame, np.arange(9.0))
    frame = pandas.DataFrame({"colour": ["red", "green", "blue"] * 3, "x": [np.nan, *range(8)]})
    with pytest.raises(ValueError, match=r"missing values in columns \['x'\]"):
        KernelRidge(kernel).fit(frame, np.arange(9.0))


def test_perfectly_separated_duplicates_are_no_accident():
    rows = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    labels = np.repeat([0, 1, 2], 4)
    for model in (KernelRidgeClassifier(), KernelFisherDiscriminant(), KernelFisherDiscriminant(RBF(0.1))):
        model.fit(rows, labels)
        assert np.array_equal(model.predict(rows), labels)
        assert np.all(np.isfinite(model.predict_proba(rows)))


def test_blobs_far_away():
    X, labels = blobs(3)
    for model in (KernelRidgeClassifier(), KernelFisherDiscriminant()):
        probabilities = model.fit(X, labels).predict_proba(1e6 + X)
        assert np.all(np.isfinite(probabilities))
        assert np.allclose(probabilities.sum(axis=1), 1.0)
