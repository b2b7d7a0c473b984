"""Kernel ridge of many rows against the dense solution."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pellucid import KernelRidge, KernelRidgeClassifier, LooSearch, load, save
from pellucid.exceptions import IndefiniteKernelError
from pellucid.kernels import RBF, Laplacian, Matern
from pellucid.models.kernel_fit import landmark_fit, length_scale, tall_fit
from pellucid.models.search import gradient_search
from pellucid.solvers import choice, choose_solver, landmarks

RNG = np.random.default_rng(0)
N = 500
X = RNG.uniform(-1.0, 1.0, (N, 4))
Y = np.column_stack([np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2], 50 + np.cos(4 * X[:, 3])])
Y += 0.1 * RNG.standard_normal(Y.shape)
W = RNG.uniform(0.3, 3.0, N)
W[5] = 0.0
NEW = RNG.uniform(-1.0, 1.0, (30, 4))
KERNEL = Matern(1.5, nu=2.5)


def fit(solver, y=Y, weight=None, **options):
    return KernelRidge(options.pop("kernel", KERNEL), solver=solver, **options).fit(X, y, weight)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weight", [None, W])
def test_iterative_is_the_dense_solution(fit_intercept, weight):
    options = {"alpha": 0.03, "fit_intercept": fit_intercept}
    exact = fit("cholesky", weight=weight, **options)
    model = fit("iterative", weight=weight, tol=1e-12, **options)
    np.testing.assert_allclose(model.predict(NEW), exact.predict(NEW), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, exact.dual_coef_, rtol=1e-7, atol=1e-8)
    assert model.solver_report_.residual <= 1e-12
    assert model.solver_report_.gap < 1e-10


def test_tolerance_bounds_the_difference_of_fitted_values():
    exact = fit("cholesky", Y[:, 0], alpha=0.01)
    for tol in (1e-2, 1e-4):
        model = fit("iterative", Y[:, 0], alpha=0.01, tol=tol)
        off = np.sqrt(np.mean((model.predict(X) - exact.predict(X)) ** 2))
        assert off <= 1.01 * tol * Y[:, 0].std()


def test_float32_blocks_lead_to_the_same_answer(monkeypatch):
    exact = fit("cholesky", alpha=0.03)
    monkeypatch.setattr(tall_fit, "_SINGLE_ROWS", 2)
    monkeypatch.setattr(tall_fit, "_TILE", 64)
    model = fit("iterative", alpha=0.03, tol=1e-11)
    assert model.solver_report_.precision == "float32"
    np.testing.assert_allclose(model.predict(NEW), exact.predict(NEW), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weight", [None, W])
@pytest.mark.parametrize("alpha", [1e-2, 0.3])
def test_estimated_leave_one_out_is_within_its_stated_error(weight, alpha):
    exact = fit("cholesky", Y[:, 0], weight, alpha=alpha)
    for seed in range(3):
        model = fit("iterative", Y[:, 0], weight, alpha=alpha, random_state=seed)
        stated = model.solver_report_.loo_error
        assert stated < (0.5 if alpha < 0.1 else 0.1)
        assert model._criteria["loo"] == pytest.approx(exact._criteria["loo"], rel=2.0 * stated)
        assert model.effective_dof_ == pytest.approx(exact.effective_dof_, rel=0.05, abs=3.0)


def test_alpha_is_chosen_about_as_by_exact_leave_one_out():
    exact = fit("spectral", Y[:, 0])
    for solver in ("iterative", "landmarks"):
        model = fit(solver, Y[:, 0])
        assert abs(np.log10(model.alpha_ / exact.alpha_)) < 1.6
        at = fit("cholesky", Y[:, 0], alpha=model.alpha_).loo_.mse
        assert at < 1.02 * exact.loo_.mse
        assert model.loo_.path.alphas.min() <= model.alpha_ <= model.loo_.path.alphas.max()


def test_a_path_on_a_sample_serves_all_rows(monkeypatch):
    monkeypatch.setattr(tall_fit, "_WALK_ROWS", 200)
    model = fit("iterative", Y[:, 0])
    assert fit("cholesky", Y[:, 0], alpha=model.alpha_).loo_.mse < 1.1 * fit("spectral", Y[:, 0]).loo_.mse


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weight", [None, W])
def test_landmarks_at_all_rows_are_the_dense_solution(fit_intercept, weight):
    options = {"alpha": 0.03, "fit_intercept": fit_intercept, "kernel": RBF(0.7)}
    exact = fit("cholesky", weight=weight, **options)
    model = fit("landmarks", weight=weight, n_components=N, **options)
    np.testing.assert_allclose(model.predict(NEW), exact.predict(NEW), atol=1e-5)
    np.testing.assert_allclose(model.loo_.residuals, exact.loo_.residuals, atol=1e-4)
    np.testing.assert_allclose(model.effective_dof_, exact.effective_dof_, rtol=1e-4)
    assert model.solver_report_.gap < 1e-5


def test_leave_one_out_of_landmarks_is_that_of_refits_on_the_same_landmarks():
    model = fit("landmarks", Y[:, 0], W, alpha=0.05, n_components=40)
    C = model.X_fit_
    Z, K = KERNEL(X[W > 0], C), KERNEL(C)
    y, s = Y[W > 0, 0], W[W > 0]
    for i in (0, 17, 300):
        keep = np.arange(len(y)) != i
        A = np.column_stack([Z, np.ones(len(y))])[keep]
        P = np.zeros((len(C) + 1, len(C) + 1))
        P[:-1, :-1] = K
        coef = np.linalg.solve(A.T * s[keep] @ A + 0.05 * P, A.T * s[keep] @ y[keep])
        held_out = y[i] - np.append(Z[i], 1.0) @ coef
        assert model.loo_.residuals[W > 0][i] == pytest.approx(held_out, rel=1e-5, abs=1e-7)


def test_landmarks_in_float32_and_blocks_agree(monkeypatch):
    double = fit("landmarks", alpha=0.05, n_components=60)
    monkeypatch.setattr(landmark_fit, "_SINGLE_WORK", 0)
    monkeypatch.setattr("pellucid.solvers.landmarks.blocks_of", lambda n, m: [slice(0, 123), slice(123, n)])
    single = fit("landmarks", alpha=0.05, n_components=60)
    assert single.solver_report_.precision == "float32"
    np.testing.assert_allclose(single.predict(NEW), double.predict(NEW), atol=2e-3)
    assert fit("landmarks", alpha=1e-9, n_components=60).solver_report_.precision == "float64"


@pytest.mark.parametrize("solver", ["iterative", "landmarks"])
def test_the_same_seed_gives_the_same_model(solver):
    one, two = (fit(solver, Y[:, 0], alpha=0.1, random_state=3, n_components=50) for _ in range(2))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.loo_.residuals, two.loo_.residuals)


@pytest.mark.parametrize("solver", ["iterative", "landmarks"])
def test_classes(solver):
    labels = np.where(Y[:, 0] > 0.3, "high", np.where(Y[:, 0] > -0.5, "middle", "low"))
    exact = KernelRidgeClassifier(KERNEL, solver="spectral").fit(X, labels)
    model = KernelRidgeClassifier(KERNEL, solver=solver).fit(X, labels)
    assert np.mean(model.predict(NEW) == exact.predict(NEW)) > 0.9
    assert abs(model.loo_.error_rate - exact.loo_.error_rate) < 0.05
    assert np.abs(model.predict_proba(NEW) - exact.predict_proba(NEW)).max() < 0.2


@pytest.mark.parametrize("solver", ["iterative", "landmarks"])
def test_what_was_done_is_stored_shown_and_saved(solver, tmp_path):
    model = fit(solver, Y[:, 0], alpha=0.1)
    text = repr(model.solver_report_)
    assert solver in text
    assert "gap to the exact answer" in text
    assert "gap to the exact answer" in str(model.summary())
    assert not hasattr(model, "log_marginal_likelihood_")
    save(model, tmp_path / "tall.pellucid")
    again = load(tmp_path / "tall.pellucid")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert repr(again.solver_report_) == text


def test_landmark_models_refuse_what_needs_all_rows():
    model = fit("landmarks", Y[:, 0], alpha=0.1, n_components=50)
    for ask in (lambda: model.predict(NEW, return_std=True), lambda: model.influence(NEW)):
        with pytest.raises(ValueError, match="landmarks"):
            ask()


@pytest.mark.parametrize("solver", ["iterative", "landmarks"])
def test_refusals(solver):
    with pytest.raises(ValueError, match="'ml'"):
        fit(solver, alpha="ml")
    with pytest.raises(ValueError, match="precomputed"):
        KernelRidge("precomputed", solver=solver).fit(KERNEL(X), Y)
    with pytest.raises(ValueError, match="n_components"):
        fit(solver, n_components=0)
    with pytest.raises(ValueError, match="tol"):
        fit(solver, tol=0.0)


def test_a_solution_short_of_its_tolerance_says_so(monkeypatch):
    monkeypatch.setattr("pellucid.solvers.iterative._ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="residual of .* above tol"):
        fit("iterative", Y[:, 0], alpha=1e-2, tol=1e-15)


def test_an_indefinite_matrix_is_refused():
    class Wrong(RBF):
        def _gram(self, X, Y):
            return -super()._gram(X, Y)

    with pytest.raises(IndefiniteKernelError):
        fit("iterative", Y[:, 0], alpha=0.1, kernel=Wrong(1.0))


def test_choice_by_rows():
    names = [
        choose_solver("auto", n_rows=n, n_features=None, n_alphas=1).name for n in (5000, 20_000, 200_000)
    ]
    assert names == ["cholesky", "iterative", "landmarks"]
    assert choose_solver("auto", n_rows=20_000, n_features=5, n_alphas=1).name == "primal"
    assert choose_solver("auto", n_rows=20_000, n_features=None, n_alphas=1, dense=True).name == "cholesky"


def test_many_rows_that_are_badly_conditioned_take_a_factor(monkeypatch):
    monkeypatch.setattr(choice, "_DENSE_ROWS", 400)
    rough, smooth = (fit("auto", Y[:, 0], alpha=a, kernel=Matern(0.3, nu=1.5)) for a in (1e-6, 10.0))
    assert (rough.solver_, smooth.solver_) == ("cholesky", "iterative")
    assert "steps of conjugate gradients would cost more" in rough.solver_reason_
    exact = fit("spectral", Y[:, 0], alpha=1e-6, kernel=Matern(0.3, nu=1.5))
    np.testing.assert_allclose(rough.predict(NEW), exact.predict(NEW), rtol=1e-8)
    clean = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]
    chosen, exact = fit("auto", clean), fit("spectral", clean)
    assert chosen.solver_ == "cholesky"
    assert chosen.loo_.mse < 1.1 * exact.loo_.mse
    assert fit("iterative", Y[:, 0], alpha=1e-6, tol=0.1).solver_ == "iterative"


def test_named_kernels_and_ard_learn_from_a_sample(monkeypatch):
    monkeypatch.setattr(length_scale, "SEARCH_ROWS", 150)
    A, y = X[:300], Y[:300, 0]
    model = KernelRidge("matern", solver="iterative").fit(A, y)
    whole = KernelRidge("matern").fit(A, y)
    assert model.loo_.mse < 1.15 * whole.loo_.mse
    monkeypatch.setattr(gradient_search, "MOST_ROWS", 200)
    search = LooSearch(KernelRidge(Matern(), solver="landmarks"), ard=True).fit(A, y)
    assert search.best_estimator_.loo_.mse < 1.15 * whole.loo_.mse


def test_any_kernel_and_n_of_one_or_two():
    model = fit("iterative", Y[:, 0], alpha=0.1, kernel=Laplacian(2.0), tol=1e-10)
    exact = fit("cholesky", Y[:, 0], alpha=0.1, kernel=Laplacian(2.0))
    np.testing.assert_allclose(model.predict(NEW), exact.predict(NEW), atol=1e-8)
    for n in (1, 2):
        for solver in ("iterative", "landmarks"):
            few = KernelRidge(KERNEL, alpha=0.1, solver=solver).fit(X[:n], Y[:n, 0])
            dense = KernelRidge(KERNEL, alpha=0.1, solver="cholesky").fit(X[:n], Y[:n, 0])
            np.testing.assert_allclose(few.predict(NEW), dense.predict(NEW), atol=1e-4)


@pytest.mark.parametrize("solver", ["iterative", "landmarks"])
def test_the_same_data_and_seed_give_the_same_model_bit_for_bit(solver, monkeypatch):
    monkeypatch.setattr(tall_fit, "_SINGLE_ROWS", 2)
    monkeypatch.setattr(landmark_fit, "_SINGLE_WORK", 1.0)
    one, two = (fit(solver, weight=W, n_components=60) for _ in range(2))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.loo_.residuals, two.loo_.residuals)
    other = fit(solver, weight=W, n_components=60, random_state=1)
    assert not np.array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("single", [True, False])
def test_neither_blocks_nor_threads_change_the_answer_by_more_than_rounding(single, monkeypatch):
    monkeypatch.setattr(tall_fit, "_SINGLE_ROWS", 2 if single else 10**9)
    monkeypatch.setattr(landmark_fit, "_SINGLE_WORK", 1.0 if single else np.inf)
    found = {}
    for solver, tile in (("iterative", 64), ("iterative", 200), ("landmarks", 40), ("landmarks", 500)):
        monkeypatch.setattr(tall_fit, "_TILE", tile)
        blocks = [slice(i, min(i + tile, N)) for i in range(0, N, tile)]
        monkeypatch.setattr(
            landmarks, "blocks_of", lambda n, m, blocks=blocks: [s for s in blocks if s.start < n]
        )
        options = {"alpha": 0.1, "n_components": 60, "tol": 1e-12}
        with threadpool_limits(1 if tile % 20 else 2):
            found.setdefault(solver, []).append(fit(solver, **options).predict(NEW))
    near = {"iterative": 1e-10, "landmarks": 1e-7 if single else 1e-10}
    for solver, (one, two) in found.items():
        np.testing.assert_allclose(one, two, rtol=near[solver], atol=near[solver])
