"""Sparse tables: the model of the same table filled in, without filling it in."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from pellucid import (
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveRegressor,
    load,
    save,
    stability,
)
from pellucid.kernels import RBF, Categorical, Laplacian, Linear, Matern, Periodic, Polynomial
from pellucid.models.kernel_fit import ridge_fit

RNG = np.random.default_rng(0)
N = 60


def table(p):
    S = sparse.random_array((N, p), density=0.15, rng=RNG, format="lil")
    S[5, :] = 0.0  # an empty row
    S[:, 3] = 0.0  # and an empty column
    S[7, :] = S[6, :]
    return sparse.csr_array(S)


WIDE, TALL = table(90), table(12)
WEIGHT = RNG.integers(0, 3, N).astype(float)
NOISE = RNG.standard_normal(N)


def targets(S, kind):
    y = 3.0 * np.asarray(S.sum(axis=1)).ravel() / S.shape[1] ** 0.5 + 0.2 * NOISE
    if kind == "classes":
        return np.where(y > np.median(y), "b", "a")
    return RNG.poisson(np.exp(y - y.max() + 1.0)) if kind == "counts" else y


MODELS = [
    *[(KernelRidge(name), "numbers") for name in ("rbf", "matern", "laplacian", "linear", "polynomial")],
    (KernelRidge("ntk", alpha=0.1, fit_intercept=False), "numbers"),
    (KernelRidge(Linear(origin=0.5), alpha=0.1, fit_intercept=False), "numbers"),
    (KernelRidge("linear", solver="cholesky"), "numbers"),
    (KernelRidge(RBF(2.0) + 0.5 * Matern(nu=0.5) * Linear().on([1, 4]), alpha=0.1), "numbers"),
    (KernelRidge(Polynomial(2, 2.0, origin=0.1), alpha=0.1, solver="iterative", tol=1e-12), "numbers"),
    (KernelRidge(RBF(1.5), alpha=0.1, solver="landmarks", n_components=30), "numbers"),
    (KernelRidgeClassifier(), "classes"),
    (KernelFisherDiscriminant("linear", alpha=0.1), "classes"),
    (KernelGLMRegressor(alpha=1.0), "counts"),
    (KernelClassifier("linear", loss="hinge", alpha=1.0), "classes"),
    (KernelClassifier(RBF(2.0), n_components=30, alpha=1.0), "classes"),
    (InterpretableKernelRegressor(alpha=1.0, loss="squared"), "numbers"),
    (InterpretableKernelClassifier("polynomial", alpha=1.0), "classes"),
    (LooSearch(KernelRidge(RBF())), "numbers"),
    (LooSearch(KernelRidge(Polynomial(2)), {"kernel__length_scale": [1.0, 3.0]}), "numbers"),
]


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.filterwarnings("ignore::pellucid.exceptions.FidelityWarning")
@pytest.mark.parametrize(("model", "kind"), MODELS)
@pytest.mark.parametrize("S", [WIDE, TALL], ids=["wide", "tall"])
def test_a_sparse_table_gives_the_model_of_the_same_table_filled_in(model, kind, S):
    y = targets(S, kind)
    dense = clone(model).fit(S.toarray(), y, WEIGHT)
    model = clone(model).fit(S, y, WEIGHT)
    expected = scores(dense, S.toarray())
    near = {"rtol": 1e-10, "atol": 1e-10 * np.abs(expected).max()}
    np.testing.assert_allclose(scores(model, S), expected, **near)
    np.testing.assert_allclose(scores(model, S.toarray()), expected, **near)
    np.testing.assert_allclose(scores(dense, S.tocsc()), expected, **near)
    for name in ("coef_", "kaf_"):
        if hasattr(dense, name):
            theirs = getattr(dense, name)
            near = {"rtol": 1e-10, "atol": 1e-10 * np.abs(theirs).max()}
            np.testing.assert_allclose(getattr(model, name), theirs, **near)


def test_length_scales_of_every_column_are_learned_as_of_the_table_filled_in():
    y = targets(TALL, "numbers")
    dense, model = (LooSearch(KernelRidge(Matern(2.0)), ard=True).fit(X, y) for X in (TALL.toarray(), TALL))
    scales = [np.asarray(m.best_estimator_.kernel_.length_scale) for m in (model, dense)]
    np.testing.assert_allclose(*scales, rtol=1e-10)


@pytest.mark.parametrize("kind", ["csc", "coo", "dok", "lil", "bsr"])
def test_every_kind_of_sparse_matrix_and_of_index_will_do(kind):
    y = targets(WIDE, "numbers")
    expected = KernelRidge(RBF(2.0), alpha=0.1).fit(WIDE, y).predict(WIDE)
    X = WIDE.asformat(kind)
    np.testing.assert_array_equal(KernelRidge(RBF(2.0), alpha=0.1).fit(X, y).predict(X), expected)
    long = WIDE.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    np.testing.assert_array_equal(KernelRidge(RBF(2.0), alpha=0.1).fit(long, y).predict(long), expected)


def test_float32_stays_float32():
    y = targets(WIDE, "numbers")
    single = WIDE.astype(np.float32)
    model = KernelRidge(RBF(2.0), alpha=0.1).fit(single, y)
    assert model.X_fit_.dtype == model.predict(single).dtype == np.float32


def test_what_is_not_a_number_is_refused():
    bad = WIDE.copy()
    bad.data[4] = np.nan
    for X in (bad, bad.tocsc(), bad.tocoo()):
        with pytest.raises(ValueError, match="NaN"):
            KernelRidge().fit(X, NOISE)
    model = KernelRidge().fit(WIDE, NOISE)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(bad)
    with pytest.raises(ValueError, match="features"):
        model.predict(WIDE[:, :5])


@pytest.mark.parametrize("kernel", [Periodic(), Categorical(), RBF() + Periodic(), "additive_pairs"])
def test_kernels_that_look_at_columns_one_by_one_refuse_with_a_remedy(kernel):
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        KernelRidge(kernel).fit(WIDE, NOISE)
    model = KernelRidge(kernel).fit(TALL.toarray(), NOISE)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        model.predict(TALL)


@pytest.mark.parametrize("model", [AdditiveKernelRegressor(), ISKRegressor(), SparseAdditiveRegressor()])
def test_models_of_terms_refuse_with_a_remedy(model):
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        model.fit(TALL, NOISE)


def test_posteriors_intervals_and_influence_work_and_derivatives_say_what_to_do():
    y = targets(WIDE, "numbers")
    model = KernelRidge(RBF(2.0), alpha=0.1).fit(WIDE, y)
    dense = KernelRidge(RBF(2.0), alpha=0.1).fit(WIDE.toarray(), y)
    for sparsely, filled in (
        (model.predict(WIDE, return_std=True)[1], dense.predict(WIDE.toarray(), return_std=True)[1]),
        (model.predict_interval(WIDE), dense.predict_interval(WIDE.toarray())),
        (
            model.predict_interval(WIDE, width="scaled"),
            dense.predict_interval(WIDE.toarray(), width="scaled"),
        ),
        (model.influence(WIDE[:3]).contributions, dense.influence(WIDE[:3].toarray()).contributions),
        (model.linear_view().predict(WIDE), dense.linear_view().predict(WIDE.toarray())),
    ):
        np.testing.assert_allclose(sparsely, filled, rtol=1e-8, atol=1e-9)
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        model.marginal_effects()


def test_models_of_sparse_rows_are_saved_and_loaded(tmp_path):
    y = targets(WIDE, "numbers")
    for k, model in enumerate((KernelRidge(Laplacian(2.0)), InterpretableKernelRegressor("linear"))):
        model.fit(WIDE, y)
        save(model, tmp_path / f"{k}.pellucid")
        np.testing.assert_array_equal(load(tmp_path / f"{k}.pellucid").predict(WIDE), model.predict(WIDE))


def test_stability_takes_sparse_tables():
    y = targets(WIDE, "numbers")
    model = InterpretableKernelRegressor("linear", alpha=1.0, certify=0)
    found = stability(model, WIDE.tocoo(), y, n_splits=3)
    expected = stability(model, WIDE.toarray(), y, n_splits=3)
    np.testing.assert_allclose(found.test_error, expected.test_error, rtol=1e-9)


def test_a_table_too_large_to_fill_in_is_fitted():
    p = 3_000_000  # 1.4 GB if it were filled in
    S = sparse.random_array((N, p), density=3e-5, rng=RNG, format="csr")
    y = np.asarray(S.sum(axis=1)).ravel()
    model = InterpretableKernelRegressor("linear", alpha=1e-3, certify=0).fit(S, y)
    assert model.coef_.shape == (p,)
    assert model.certificate_.exact
    np.testing.assert_allclose(model.predict(S), y, rtol=0.05, atol=0.5)


def test_many_sparse_rows_and_columns_are_multiplied_and_never_squared(monkeypatch):
    monkeypatch.setattr(ridge_fit, "_DENSE_FEATURES", 5)
    y = targets(TALL, "numbers")
    primal = KernelRidge(Linear(), alpha=0.1, solver="primal").fit(TALL, y)
    assert KernelRidge(Linear(), alpha=0.1).fit(TALL, y).solver_ == "cholesky"
    model = KernelRidge(Linear(), alpha=0.1, solver="iterative", tol=1e-12).fit(TALL, y)
    np.testing.assert_allclose(model.predict(TALL), primal.predict(TALL), rtol=1e-9, atol=1e-9)
    assert model.solver_report_.residual <= 1e-12


@pytest.mark.parametrize(
    "model", [KernelRidge(), KernelRidge("linear"), InterpretableKernelRegressor(alpha=1.0)]
)
def test_tables_of_zeros_and_single_rows_are_constant_models(model):
    zeros = sparse.csr_array((20, 5))
    np.testing.assert_allclose(model.fit(zeros, np.arange(20.0)).predict(zeros), 9.5)
    one = sparse.csr_array(np.array([[1.0, 0.0, 2.0]]))
    np.testing.assert_allclose(KernelRidge(RBF(), alpha=1.0).fit(one, [3.0]).predict(one), [3.0])


def test_sparse_data_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    y = targets(TALL, "numbers")
    frame = pd.DataFrame.sparse.from_spmatrix(TALL, columns=[f"word{c}" for c in range(12)])
    kernel = RBF(2.0).on(["word1", "word4"]) + Linear()
    model = KernelRidge(kernel, alpha=0.1).fit(frame, y)
    dense = KernelRidge(kernel, alpha=0.1).fit(pd.DataFrame(TALL.toarray(), columns=frame.columns), y)
    np.testing.assert_allclose(model.predict(frame), dense.predict(frame.sparse.to_dense()), rtol=1e-10)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.X_fit_.matrix.nnz < TALL.shape[0] * 12
