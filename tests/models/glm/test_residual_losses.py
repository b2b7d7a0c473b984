"""Huber, expectile and quantile losses: other libraries, units, levels, crossings, exports."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import expectile
from sklearn.metrics import d2_pinball_score

from pellucid import InterpretableKernelRegressor, KernelGLMRegressor, load, save, to_onnx
from pellucid.kernels import RBF, Linear
from pellucid.losses import Expectile, Huber, Quantile

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
Y = 1.0 + X @ [1.0, -2.0, 0.5] + (0.5 + 0.3 * np.abs(X[:, 0])) * rng.standard_t(4, size=150)
WEIGHT = rng.integers(1, 4, size=150)
TINY = {"kernel": Linear(), "alpha": 1e-9, "max_iter": 500}


def _lines(model):
    """Intercept and coefficients of a model that is linear."""
    at = model.predict(np.vstack([np.zeros(3), np.eye(3)]))
    return np.append(at[0], at[1:] - at[0])


@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_quantile_regression_of_statsmodels(level):
    other = sm.QuantReg(Y, sm.add_constant(X)).fit(q=level, max_iter=5000, p_tol=1e-9)
    model = KernelGLMRegressor(loss=Quantile(level, bandwidth=1e-4), **TINY).fit(X, Y)
    np.testing.assert_allclose(_lines(model), other.params, atol=2e-3)


def test_robust_regression_of_statsmodels():
    other = sm.RLM(Y, sm.add_constant(X), M=sm.robust.norms.HuberT(1.345)).fit(tol=1e-12, maxiter=500)
    model = KernelGLMRegressor(loss=Huber(1.345 * other.scale), **TINY).fit(X, Y)
    np.testing.assert_allclose(_lines(model), other.params, atol=1e-6)
    found = KernelGLMRegressor(loss="huber", **TINY).fit(X, Y).loss_.threshold
    assert found == pytest.approx(1.345 * other.scale, rel=0.1)  # residuals of rows left out are a bit larger


def test_expectiles_by_weighted_least_squares():
    model = KernelGLMRegressor(loss="expectile", quantile=0.8, **TINY).fit(X, Y)
    A = sm.add_constant(X)
    weight = np.where(model.predict(X) < Y, 0.8, 0.2)
    np.testing.assert_allclose(
        _lines(model), np.linalg.solve((A.T * weight) @ A, (A.T * weight) @ Y), atol=1e-7
    )
    assert Expectile(0.8).best_constant(Y, WEIGHT) == pytest.approx(expectile(Y, 0.8, weights=WEIGHT))


@pytest.mark.parametrize("loss", [Huber(0.5), Expectile(0.7), Quantile(0.3, 0.1)])
def test_weight_two_is_the_row_twice(loss):
    model = KernelGLMRegressor(RBF(2.0), loss=loss, alpha=0.5).fit(X, Y, WEIGHT)
    twin = KernelGLMRegressor(RBF(2.0), loss=loss, alpha=0.5).fit(
        np.repeat(X, WEIGHT, 0), np.repeat(Y, WEIGHT)
    )
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-7)
    assert model.score(X, Y, WEIGHT) == pytest.approx(
        twin.score(np.repeat(X, WEIGHT, 0), np.repeat(Y, WEIGHT))
    )


@pytest.mark.parametrize("loss", ["huber", "expectile", "quantile"])
def test_another_unit_of_the_targets_changes_nothing_else(loss):
    model = KernelGLMRegressor(RBF(2.0), loss=loss, alpha="loo").fit(X, Y)
    unit = 2.0**40
    other = KernelGLMRegressor(RBF(2.0), loss=loss, alpha="loo").fit(X, unit * Y + unit)
    np.testing.assert_allclose(other.predict(X) / unit - 1.0, model.predict(X), rtol=1e-6, atol=1e-8)
    assert other.score(X, unit * Y + unit) == pytest.approx(model.score(X, Y))
    named = loss if loss == "quantile" else other.loss_  # the loss itself has no centre
    given = KernelGLMRegressor(RBF(2.0), loss=named, alpha=other.alpha_).fit(X, unit * Y + unit)
    np.testing.assert_allclose(given.predict(X), other.predict(X), rtol=1e-7)


@pytest.mark.parametrize("loss", [Expectile(0.8), Quantile(0.3, 0.4), Huber(1.0)])
def test_leave_one_out_is_near_refits(loss):
    from pellucid.solvers import GLMProblem, fit_glm

    Z, y, rows = X[:40], Y[:40], np.arange(40)
    p = GLMProblem(y, np.ones(40), np.zeros(40), loss)
    near = fit_glm(Z, p, 1.0).loo_eta(Z, p, np.ones(40))
    moved = fit_glm(Z, p, 1.0).eta
    true = np.empty(40)
    for i in rows:
        fit = fit_glm(np.delete(Z, i, 0), p.rows(np.delete(rows, i)), 1.0)
        true[i] = Z[i] @ fit.delta + fit.intercept
    assert np.abs(near - true).mean() < 0.1 * np.abs(moved - true).mean()


def test_several_quantiles_do_not_cross_and_keep_their_order():
    rough = {"kernel": RBF(0.3), "loss": "quantile", "alpha": 0.03}
    both = KernelGLMRegressor(quantile=[0.9, 0.1, 0.5], **rough).fit(X, Y)
    new = rng.normal(size=(200, 3))
    Q = both.predict(new)
    assert np.all(Q[:, 0] >= Q[:, 2])
    assert np.all(Q[:, 2] >= Q[:, 1])
    one = KernelGLMRegressor(quantile=0.5, **rough).fit(X, Y)
    alone = np.column_stack(
        [KernelGLMRegressor(quantile=q, **rough).fit(X, Y).predict(new) for q in (0.1, 0.5, 0.9)]
    )
    np.testing.assert_allclose(
        np.sort(alone, axis=1)[:, [2, 0, 1]], Q, atol=5e-3
    )  # bandwidths settle together
    assert one.predict(new).shape == (200,)
    assert [loss.level for loss in both.losses_] == [0.9, 0.1, 0.5]
    scores = [
        both.losses_[k].explained(Y, both.predict(X)[:, k], np.ones(150), np.zeros(150)) for k in range(3)
    ]
    assert both.score(X, Y) == pytest.approx(np.mean(scores))


def test_the_score_is_that_of_the_pinball_loss():
    model = KernelGLMRegressor(RBF(2.0), loss=Quantile(0.8, 1e-4), alpha=1.0, max_iter=500).fit(X, Y)
    assert model.score(X, Y) == pytest.approx(d2_pinball_score(Y, model.predict(X), alpha=0.8), abs=1e-3)


def test_levels_hold_on_new_rows():
    rng = np.random.default_rng(3)

    def draw(n):
        u = rng.uniform(-2, 2, size=(n, 1))
        return u, np.sin(2 * u[:, 0]) + (0.3 + 0.2 * u[:, 0] ** 2) * rng.normal(size=n)

    model = KernelGLMRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], alpha="loo").fit(*draw(500))
    new, y = draw(4000)
    np.testing.assert_allclose(np.mean(y[:, None] < model.predict(new), axis=0), [0.1, 0.5, 0.9], atol=0.05)


def test_files_and_graphs(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = KernelGLMRegressor(RBF(0.5), loss="quantile", quantile=[0.8, 0.2, 0.5], alpha=0.1).fit(X, Y)
    save(model, tmp_path / "m.pellucid")
    np.testing.assert_array_equal(load(tmp_path / "m.pellucid").predict(X), model.predict(X))
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    np.testing.assert_allclose(session.run(["prediction"], {"X": X})[0], model.predict(X), atol=1e-9)


def test_coefficients_of_a_quantile():
    y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(1).standard_t(4, size=150)
    model = InterpretableKernelRegressor(Linear(), loss="quantile", quantile=0.5, alpha=1e-3, certify=0)
    model.fit(X, y)
    other = sm.QuantReg(y, sm.add_constant(X)).fit(q=0.5, vcov="iid")
    np.testing.assert_allclose(model.coef_, other.params[1:], atol=0.05)
    for kind in ("model", "robust"):
        error = model.coefficient_frame(kind=kind)["standard_error"]
        np.testing.assert_allclose(error, other.bse[1:], rtol=0.3)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match=r"quantile=0\.9 goes with loss='quantile'"):
        KernelGLMRegressor(loss="huber", quantile=0.9).fit(X, Y)
    for level in (0.0, 1.5, "high", [0.5, 2.0]):
        with pytest.raises(ValueError, match="level"):
            KernelGLMRegressor(loss="quantile", quantile=level).fit(X, Y)
    with pytest.raises(ValueError, match="threshold must be a positive number"):
        Huber(-1.0)
    with pytest.raises(ValueError, match="one level"):
        InterpretableKernelRegressor(loss="quantile", quantile=[0.1, 0.9]).fit(X, Y)


@pytest.mark.parametrize("loss", ["huber", "quantile", "expectile"])
@pytest.mark.parametrize("y", [np.zeros(150), np.full(150, 3.0), np.repeat([0.0, 1.0], 75)])
def test_targets_that_hardly_vary(loss, y):
    model = KernelGLMRegressor(RBF(), loss=loss, alpha=1.0).fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))


@pytest.mark.parametrize("value", [3.0, 0.0, -1e-9])
def test_quantiles_of_a_constant_are_that_constant_at_once(value):
    y = np.full(len(X), value)
    model = KernelGLMRegressor(loss="quantile", quantile=[0.1, 0.9], alpha="loo").fit(X, y)
    np.testing.assert_allclose(model.predict(X[:3]), value, atol=1e-6 * (abs(value) or 1.0))
    assert model.optimality_ < 1e-7
