"""Quantiles by name: a common centre, departures from it, and levels that rows left out confirm."""

import numpy as np
import pytest
import statsmodels.api as sm

from pellucid import KernelGLMRegressor, load, save
from pellucid._progress import Progress
from pellucid.exceptions import SearchWarning
from pellucid.kernels import RBF, Linear
from pellucid.losses import Quantile

LEVELS = [0.1, 0.5, 0.9]


def draw(n, rng, spread=0.0):
    X = rng.uniform(-2, 2, size=(n, 2))
    size = 0.2 * np.exp(spread * X[:, 1])
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + size * rng.normal(size=n)


def pinball(y, q, level):
    return np.mean(np.maximum(level * (y - q), (level - 1) * (y - q)))


def test_without_departures_curves_are_the_robust_centre_moved():
    X, y = draw(120, np.random.default_rng(0))
    model = KernelGLMRegressor(RBF(), loss="quantile", quantile=LEVELS, alpha=1e10).fit(X, y)
    centre = KernelGLMRegressor(RBF(), loss="huber", alpha="loo").fit(X, y)
    assert model.centre_alpha_ == centre.alpha_
    apart = model.predict(X) - centre.predict(X)[:, None]
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0], apart.shape), atol=1e-6)
    assert np.all(np.diff(apart[0]) > 0)


def test_the_constant_gives_rows_left_out_their_level():
    from pellucid.models.common.levels import level_shift
    from pellucid.models.glm_fit.centre import at_level
    from pellucid.models.glm_fit.nuisance import left_out
    from pellucid.solvers import GLMProblem, fit_glm

    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(199, 3)), rng.gumbel(size=199)
    p = GLMProblem(y, np.ones(199), np.zeros(199), Quantile(0.9, 0.5))  # a wide kink: far from its level
    fit = fit_glm(Z, p, 1.0)
    moved = at_level(Z, p, fit)
    out = left_out(Z, p, fit) + moved.intercept - fit.intercept
    assert np.sum(y <= out + 1e-12) == 180  # of 200 ranks, 0.9
    assert level_shift(y - out, np.ones(199), 0.9) == pytest.approx(0.0, abs=1e-9)


def test_levels_of_new_rows():
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = KernelGLMRegressor(RBF(), loss="quantile", quantile=LEVELS, alpha="loo")
        model.fit(*draw(120, rng, spread=0.7))
        X, y = draw(4000, rng, spread=0.7)
        Q = model.predict(X)
        shares.append(np.mean(y[:, None] <= Q, axis=0))
        assert np.all(np.diff(Q, axis=1) >= 0)
    np.testing.assert_allclose(np.mean(shares, axis=0), LEVELS, atol=0.025)


@pytest.mark.parametrize("level", [0.1, 0.5])
def test_a_centre_brings_new_rows_nearer_than_the_check_loss_alone(level):
    rng = np.random.default_rng(2)
    X, y = draw(150, rng)
    new, truth = draw(3000, rng)
    named = KernelGLMRegressor(RBF(), loss="quantile", quantile=level, alpha="loo").fit(X, y)
    alone = KernelGLMRegressor(RBF(), loss=Quantile(level), alpha="loo").fit(X, y)
    assert pinball(truth, named.predict(new), level) < pinball(truth, alone.predict(new), level)
    assert not hasattr(alone, "centre_alpha_")


def test_departures_follow_the_spread():
    rng = np.random.default_rng(3)
    model = KernelGLMRegressor(RBF(2.0), loss="quantile", quantile=[0.1, 0.9], alpha="loo")
    model.fit(*draw(400, rng, spread=0.8))
    width = np.diff(model.predict([[0.0, -1.5], [0.0, 1.5]]), axis=1)[:, 0]
    true = 2 * 1.2816 * 0.2 * np.exp(0.8 * np.array([-1.5, 1.5]))
    np.testing.assert_allclose(width, true, atol=0.3)  # what is not known of the centre is in the width
    assert width[1] > 5 * width[0]


def test_lines_of_statsmodels():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1000, 2))
    y = 1.0 + X @ [1.0, -2.0] + (1.0 + 0.4 * X[:, 0]) * rng.normal(size=1000)
    model = KernelGLMRegressor(Linear(), loss="quantile", quantile=0.8, alpha=1e-6, max_iter=500).fit(X, y)
    other = sm.QuantReg(y, sm.add_constant(X)).fit(q=0.8)
    at = model.predict(np.vstack([np.zeros(2), np.eye(2)]))
    np.testing.assert_allclose(np.append(at[0], at[1:] - at[0]), other.params, atol=0.05)


def test_weight_two_is_the_row_twice_and_zero_is_none():
    rng = np.random.default_rng(5)
    X, y = draw(80, rng)
    weight = rng.integers(0, 3, size=80)
    options = {"loss": "quantile", "quantile": [0.2, 0.7], "alpha": 0.5}
    model = KernelGLMRegressor(RBF(), **options).fit(X, y, weight)
    twin = KernelGLMRegressor(RBF(), **options).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-6)


def test_an_offset_and_no_intercept():
    rng = np.random.default_rng(6)
    X, y = draw(100, rng)
    model = KernelGLMRegressor(RBF(), loss="quantile", alpha=0.5).fit(
        X, y + 7.0 * X[:, 0], offset=7.0 * X[:, 0]
    )
    plain = KernelGLMRegressor(RBF(), loss="quantile", alpha=0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=1e-5)
    assert (
        KernelGLMRegressor(RBF(), loss="quantile", alpha=0.5, fit_intercept=False).fit(X, y).intercept_ == 0
    )


def test_another_loss_afterwards_and_files(tmp_path):
    X, y = draw(60, np.random.default_rng(7))
    model = KernelGLMRegressor(RBF(), loss="quantile", alpha=0.5).fit(X, y)
    assert "centre" in str(model.summary())
    save(model, tmp_path / "m.pellucid")
    again = load(tmp_path / "m.pellucid")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.centre_alpha_ == model.centre_alpha_
    assert not hasattr(model.set_params(loss="huber").fit(X, y), "centre_alpha_")


def test_time_that_is_up():
    X, y = draw(60, np.random.default_rng(8))
    with pytest.warns(SearchWarning, match="time was up"):
        model = KernelGLMRegressor(RBF(), loss="squared", max_time=1e-9).fit(X, y)
    assert len(model.alpha_path_.alphas) == 1
    with pytest.raises(ValueError, match="max_time must be a positive number"):
        KernelGLMRegressor(loss="squared", max_time=0).fit(X, y)


def test_progress_is_told_where_asked(monkeypatch, capsys):
    start = Progress.__init__
    monkeypatch.setattr(
        Progress, "__init__", lambda self, *a, **k: start(self, *a, **{**k, "patience": -1.0})
    )
    X, y = draw(60, np.random.default_rng(9))
    KernelGLMRegressor(RBF(), loss="squared", verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "choosing alpha: 1 of 21" in said
    assert "s left" in said
