"""Ready kernel matrices: good ones, asymmetric ones, indefinite ones."""

import numpy as np
import pytest
from oracles import blobs, curve, loo_residuals, relative_error
from sklearn.model_selection import cross_val_score

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.exceptions import IndefiniteKernelError
from pellucid.kernels import RBF, Precomputed

X, Y = curve(25, 2, q=2)
y = Y[:, 0]
X_NEW = curve(8, 2, seed=4)[0]
KERNEL = RBF(0.9)
K, K_NEW = KERNEL(X), KERNEL(X_NEW, X)
WEIGHT = np.random.default_rng(0).uniform(0.0, 2.0, size=25) * (np.arange(25) % 5 > 0)
RNG = np.random.default_rng(11)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "some of weight zero"])
@pytest.mark.parametrize("alpha", ["loo", 0.1])
def test_it_is_the_kernel_it_was_computed_from(alpha, weight):
    one = KernelRidge("precomputed", alpha=alpha).fit(K, Y, sample_weight=weight)
    other = KernelRidge(KERNEL, alpha=alpha).fit(X, Y, sample_weight=weight)
    assert np.allclose(one.predict(K_NEW), other.predict(X_NEW))
    assert np.allclose(one.loo_.residuals, other.loo_.residuals)
    assert np.allclose(one.predict_interval(K_NEW), other.predict_interval(X_NEW))
    assert np.allclose(one.influence(K_NEW).deletion, other.influence(X_NEW).deletion)
    assert np.allclose(one.predict(K, return_std=True)[1], other.predict(X, return_std=True)[1])


def test_the_standard_deviation_of_new_rows_is_unknown():
    model = KernelRidge("precomputed", alpha=0.1).fit(K, y)
    square = KERNEL(RNG.normal(size=(25, 2)), X)  # as many new rows as old ones
    for rows in (K_NEW, square):
        with pytest.raises(ValueError, match=r"k\(x, x\) of new rows is unknown"):
            model.predict(rows, return_std=True)


def test_no_derivatives_and_nothing_to_learn():
    model = KernelRidge("precomputed", alpha=0.1).fit(K, y)
    with pytest.raises(ValueError, match="no derivatives"):
        model.marginal_effects(K_NEW)
    with pytest.raises(ValueError, match="no parameters to learn"):
        LooSearch(KernelRidge("precomputed")).fit(K, y)


def test_the_kernel_object_is_the_name():
    model = KernelRidge(2.0 * Precomputed(), alpha=0.1).fit(K, y, sample_weight=WEIGHT)
    other = KernelRidge(2.0 * KERNEL, alpha=0.1).fit(X, y, sample_weight=WEIGHT)
    assert np.allclose(model.predict(K_NEW), other.predict(X_NEW))
    with pytest.raises(ValueError, match="square matrix"):
        KernelRidge(Precomputed()).fit(K_NEW, y[:8])


def test_cross_validation_takes_rows_and_columns():
    scores = cross_val_score(KernelRidge("precomputed", alpha=0.1), K, y)
    assert np.allclose(scores, cross_val_score(KernelRidge(KERNEL, alpha=0.1), X, y))


def test_the_caller_keeps_the_matrix():
    before = K.copy()
    model = KernelRidge("precomputed").fit(K, y)
    model.influence(K)
    assert np.array_equal(K, before)


def test_not_square():
    with pytest.raises(ValueError, match=r"square matrix .* got shape \(8, 25\)"):
        KernelRidge("precomputed").fit(K_NEW, y[:8])


@pytest.mark.parametrize("alpha", ["loo", 0.1])
def test_not_symmetric(alpha):
    crooked = K.copy()
    crooked[3, 7] += 0.5
    with pytest.raises(
        IndefiniteKernelError, match=r"not symmetric: entry \(3, 7\) is .*\(smallest eigenvalue"
    ):
        KernelRidge("precomputed", alpha=alpha).fit(crooked, y)


def test_rounding_is_forgiven():
    rounded = K.astype(np.float32)
    crooked = K + 1e-9 * RNG.normal(size=K.shape)
    expected = KernelRidge("precomputed", alpha=0.1).fit(K, y).predict(K_NEW)
    for matrix in (rounded, crooked):
        for alpha in ("loo", 0.1):
            model = KernelRidge("precomputed", alpha=alpha).fit(matrix, y)
        assert np.allclose(model.predict(K_NEW), expected, atol=1e-4)


def indefinite(n=25, shift=4.0):
    A = RNG.normal(size=(n, n))
    return (A + A.T) / 2 + shift * np.eye(n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", ["loo", 0.1, 100.0])
def test_indefinite_matrices_are_refused_by_their_worst_eigenvalue(alpha, fit_intercept):
    """Even where a large alpha would hide it."""
    A = indefinite()
    J = np.eye(25) - fit_intercept / 25
    worst = np.linalg.eigvalsh(J @ A @ J).min()
    with pytest.raises(IndefiniteKernelError, match=rf"the worst is {worst:.4g}.*indefinite='clip'"):
        KernelRidge("precomputed", alpha=alpha, fit_intercept=fit_intercept).fit(A, y)


def test_small_whole_numbers_are_no_excuse():
    with pytest.raises(IndefiniteKernelError, match="the worst is -1"):
        KernelRidge("precomputed", alpha=0.1, fit_intercept=False).fit([[1, 2], [2, 1]], [0.0, 1.0])


def clipped(A):
    values, U = np.linalg.eigh(A)
    positive = values > 0
    return (U * np.maximum(values, 0.0)) @ U.T, U[:, positive] @ U[:, positive].T


@pytest.mark.parametrize("solver", ["auto", "cholesky", "spectral"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", ["loo", 0.3])
def test_clipping_equals_the_fit_on_the_clipped_matrix(alpha, fit_intercept, solver):
    A = indefinite()
    A_plus, projector = clipped(A)
    new = RNG.normal(size=(6, 25))
    options = {"alpha": alpha, "fit_intercept": fit_intercept, "solver": solver}
    model = KernelRidge("precomputed", indefinite="clip", **options).fit(A, Y)
    other = KernelRidge("precomputed", **options).fit(A_plus, Y)
    assert np.isclose(np.max(model.alpha_), np.max(other.alpha_))
    assert np.allclose(model.predict(A), other.predict(A_plus))
    assert np.allclose(model.predict(new), other.predict(new @ projector))
    assert np.allclose(model.loo_.residuals, other.loo_.residuals)
    assert np.allclose(model.log_marginal_likelihood_, other.log_marginal_likelihood_)
    if alpha != "loo":
        expected = loo_residuals(A_plus, Y, np.ones(25), alpha, fit_intercept)
        assert relative_error(model.loo_.residuals, expected) < 1e-8


def test_clipping_with_weights():
    A = indefinite()
    counts = RNG.integers(0, 4, size=25)
    rows = np.repeat(np.arange(25), counts)
    weighted = KernelRidge("precomputed", indefinite="clip").fit(A, y, sample_weight=counts)
    repeated = KernelRidge("precomputed", indefinite="clip").fit(A[np.ix_(rows, rows)], y[rows])
    assert np.isclose(weighted.alpha_, repeated.alpha_)
    assert np.allclose(weighted.predict(A), repeated.predict(A[:, rows]))


def test_clipping_leaves_good_matrices_alone_and_has_no_posterior():
    for kernel, data in (("precomputed", K), (KERNEL, X)):
        plain = KernelRidge(kernel, alpha=0.1).fit(data, y)
        clip = KernelRidge(kernel, alpha=0.1, indefinite="clip").fit(data, y)
        assert np.allclose(plain.predict(data), clip.predict(data))
    assert np.allclose(clip.influence(X).deletion, plain.influence(X).deletion)
    model = KernelRidge("precomputed", alpha=0.1, indefinite="clip").fit(K, y)
    with pytest.raises(ValueError, match="no Gaussian process"):
        model.predict_interval(K)


def test_functions_are_checked_as_well():
    def sigmoid(a, b):
        return np.tanh(a @ b.T - 1.0)

    with pytest.raises(IndefiniteKernelError, match="the worst is"):
        KernelRidge(sigmoid, alpha=0.1).fit(X, y)
    model = KernelRidge(sigmoid, alpha=0.1, indefinite="clip").fit(X, y)
    assert np.all(np.isfinite(model.predict(X_NEW)))
    with pytest.raises(IndefiniteKernelError, match="not symmetric"):
        KernelRidge(lambda a, b: a @ (2.0 * b).T + a[:, :1], alpha=0.1).fit(X, y)


@pytest.mark.parametrize("estimator", [KernelRidgeClassifier, KernelFisherDiscriminant])
def test_classes_from_a_matrix(estimator):
    X, labels = blobs(3)
    one = estimator("precomputed").fit(KERNEL(X), labels)
    other = estimator(KERNEL).fit(X, labels)
    assert np.allclose(one.predict_proba(KERNEL(X_NEW, X)), other.predict_proba(X_NEW))
