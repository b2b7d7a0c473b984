"""Standard errors against explicit formulas, and against the spread of repeated draws."""

import numpy as np
import pytest
from glm_oracles import centering, rbf, sample, side
from scipy import stats
from scipy.special import expit

from pellucid import InterpretableKernelClassifier, InterpretableKernelRegressor
from pellucid.kernels import RBF

N = 40
KERNEL = RBF.from_gamma(0.3)


def weighted_parts(X, weight, alpha):
    """Hat matrix ``H`` and coefficients' smoother ``L`` of the projected, weighted ridge: dense and slow."""
    share = weight / weight.sum()
    J = np.eye(len(X)) - share
    R = np.diag(np.sqrt(weight))
    Xw = R @ J @ X
    P = Xw @ np.linalg.pinv(Xw)
    K = P @ R @ J @ rbf(X) @ J.T @ R @ P
    smooth = K @ np.linalg.inv(K + alpha * np.eye(len(X)))
    to_f = np.linalg.inv(R) @ smooth @ R @ J  # of centred fitted values
    H = to_f + np.ones((len(X), 1)) * share
    return H, np.linalg.pinv(Xw) @ R @ to_f


@pytest.fixture(scope="module", params=["equal", "weighted"])
def squared(request):
    X, y = sample("squared", N)
    weight = np.ones(N) if request.param == "equal" else np.maximum(1.0, side(N)[0])
    model = InterpretableKernelRegressor(KERNEL, alpha=0.3, certify=0).fit(X, y, sample_weight=weight)
    H, L = weighted_parts(X, weight, 0.3)
    return model, y, weight, H, L


def test_coefficients_are_the_smoother_times_the_targets(squared):
    model, y, _, _, L = squared
    np.testing.assert_allclose(model.coef_, L @ y, atol=1e-9)


def test_squared_loss_by_the_explicit_formula(squared):
    model, y, weight, H, L = squared
    r = y - H @ y
    free = weight.sum() - np.trace(H)
    variance = weight @ r**2 / free
    expected = np.sqrt(variance * np.diag(L @ np.diag(1 / weight) @ L.T))
    frame = model.coefficient_frame()
    np.testing.assert_allclose(frame["standard_error"], expected, rtol=1e-8)
    reach = stats.t.ppf(0.975, free) * expected
    np.testing.assert_allclose(frame["high"] - frame["coefficient"], reach, rtol=1e-8)
    t = np.abs(model.coef_) / expected
    np.testing.assert_allclose(frame["p_value"], 2 * stats.t.sf(t, free), rtol=1e-6)


def test_robust_errors_are_hc3(squared):
    model, y, weight, H, L = squared
    own = (y - H @ y) / (1 - np.diag(H) / weight)
    expected = np.sqrt(L**2 @ (own**2 / weight))
    np.testing.assert_allclose(model.coefficient_frame(kind="robust")["standard_error"], expected, rtol=1e-8)


def test_clustered_errors_by_brute_force(squared):
    model, y, weight, H, L = squared
    groups = np.arange(N) % 7
    own = (y - H @ y) / (1 - np.diag(H) / weight)
    total = sum((L[:, groups == g] @ own[groups == g]) ** 2 for g in range(7))
    frame = model.coefficient_frame(kind="clustered", groups=groups.astype(str))
    np.testing.assert_allclose(frame["standard_error"], np.sqrt(total * 7 / 6), rtol=1e-8)


@pytest.mark.parametrize("kind", ["model", "robust", "clustered"])
@pytest.mark.parametrize("name", ["squared", "poisson", "gamma", "logistic"])
def test_weights_are_repeated_rows(name, kind):
    X, y = sample(name, N)
    copies = np.arange(N) % 3 + 1
    index = np.repeat(np.arange(N), copies)
    groups = np.arange(N) // 4 if kind == "clustered" else None
    kind_of = InterpretableKernelClassifier if name == "logistic" else InterpretableKernelRegressor
    one, many = (kind_of(KERNEL, loss=name, alpha=0.3, certify=0) for _ in range(2))
    one.fit(X, y, sample_weight=copies)
    many.fit(X[index], y[index])
    first = one.coefficient_frame(kind=kind, groups=groups)
    second = many.coefficient_frame(kind=kind, groups=None if groups is None else groups[index])
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", ["poisson", "gamma", "logistic"])
def test_errors_of_other_losses_by_a_dense_sandwich(name):
    X, y = sample(name, N)
    kind_of = InterpretableKernelClassifier if name == "logistic" else InterpretableKernelRegressor
    model = kind_of(KERNEL, loss=name, alpha=0.3, certify=0).fit(X, y)
    fit, problem, J = model._fits[0], model._problems[0], centering(N)
    Z1 = np.column_stack([model._Z, np.ones(N)])
    W = np.diag(problem.loss.curvature(problem.y, fit.eta))
    A = Z1.T @ W @ Z1 + np.diag(np.append(np.full(Z1.shape[1] - 1, 0.3), 0.0))
    hat = np.diag(np.sqrt(W) @ Z1 @ np.linalg.solve(A, Z1.T @ np.sqrt(W)))
    G = np.linalg.pinv(J @ X) @ J @ Z1 @ np.linalg.inv(A) @ Z1.T
    phi = np.sum((y / np.exp(fit.eta) - 1) ** 2) / (N - hat.sum()) if name == "gamma" else 1.0
    expected = np.sqrt(phi * np.diag(G @ W @ G.T))
    np.testing.assert_allclose(model.coefficient_frame()["standard_error"], expected, rtol=1e-7)
    own = problem.loss.gradient(problem.y, fit.eta) / (1 - hat)
    robust = model.coefficient_frame(kind="robust")["standard_error"]
    np.testing.assert_allclose(robust, np.sqrt(G**2 @ own**2), rtol=1e-7)


def coverage(draw, fit, estimand, replications=150):
    hits = []
    for seed in range(replications):
        frame = fit(draw(np.random.default_rng(seed)))
        hits.append((frame["low"] <= estimand) & (estimand <= frame["high"]))
    return np.mean(hits)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["model", "robust"])
def test_coverage_of_the_penalised_estimand_squared(kind):
    X, _ = sample("squared", 80)
    f = 0.8 * X[:, 0] - 0.5 * X[:, 1]  # what is not linear would count as noise
    _, L = weighted_parts(X, np.ones(80), 1.0)

    def fit(y):
        model = InterpretableKernelRegressor(KERNEL, alpha=1.0, certify=0).fit(X, y)
        return model.coefficient_frame(kind=kind)

    reached = coverage(lambda rng: f + 0.5 * rng.normal(size=80), fit, L @ f)
    assert 0.90 < reached < 0.985


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["model", "robust"])
def test_coverage_of_the_penalised_estimand_logistic(kind):
    X, _ = sample("logistic", 150)
    p = expit(np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1])

    def model(y):
        return InterpretableKernelClassifier(KERNEL, alpha=3.0, certify=0).fit(X, y)

    draws = [np.random.default_rng(1000 + seed).uniform(size=150) < p for seed in range(300)]
    estimand = np.mean([model(y).coef_ for y in draws], axis=0)
    reached = coverage(
        lambda rng: rng.uniform(size=150) < p, lambda y: model(y).coefficient_frame(kind=kind), estimand
    )
    assert 0.90 < reached < 0.985
