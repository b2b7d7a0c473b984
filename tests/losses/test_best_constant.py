import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pellucid.losses import Gamma, Hinge, Logistic, Loss, Multinomial, Poisson, Squared, SquaredHinge, base

SEEDS = st.integers(0, 2**32 - 1)
SPREADS = st.sampled_from([0.0, 0.5, 5.0, 50.0])


def _problem(loss, sample, seed, n, spread):
    rng = np.random.default_rng(seed)
    y, offset = sample(loss, rng, n=n, scale=spread)
    weight = rng.uniform(size=n) * (rng.uniform(size=n) < 0.8)
    weight[rng.integers(n)] = 1.0
    return y, weight, offset


@given(seed=SEEDS, n=st.integers(1, 30), spread=SPREADS)
@settings(max_examples=60, deadline=None)
def test_no_constant_nearby_or_far_is_better(loss, sample, seed, n, spread):
    y, weight, offset = _problem(loss, sample, seed, n, spread)
    b = loss.best_constant(y, weight, offset)
    assert np.all(np.isfinite(b))
    best = weight @ loss.value(y, offset + b)
    rng = np.random.default_rng(seed)
    for size in (1e-4, 1e-2, 1.0, 10.0):
        for _ in range(4):
            other = weight @ loss.value(y, offset + b + size * rng.choice([-1, 1], size=np.shape(b)))
            assert best <= other + 1e-10 * (1 + abs(best))


@given(seed=SEEDS, n=st.integers(1, 30), spread=SPREADS)
@settings(max_examples=60, deadline=None)
def test_the_slope_vanishes(smooth_loss, sample, slope, seed, n, spread):
    y, weight, offset = _problem(smooth_loss, sample, seed, n, spread)
    used = np.unique(y[weight > 0])
    if smooth_loss.kind == "counts":
        assume(used.max() > 0)
    if smooth_loss.kind == "classification":
        assume(len(used) > 1)
    b = smooth_loss.best_constant(y, weight, offset)
    # terms of both signs cancel: the largest of them sets the scale of rounding
    largest = np.abs(smooth_loss.gradient(y, offset + b)).max()
    assert np.max(np.abs(slope(smooth_loss, y, weight, offset + b))) <= 1e-11 * n * (1 + largest)


@given(seed=SEEDS, spread=SPREADS)
@settings(max_examples=30, deadline=None)
def test_the_subgradients_of_the_hinge_loss_hold_zero(sample, slope, seed, spread):
    y, weight, offset = _problem(Hinge(), sample, seed, 20, spread)
    b = Hinge().best_constant(y, weight, offset)
    assert slope(Hinge(), y, weight, offset + b - 1e-9) <= 1e-9
    assert slope(Hinge(), y, weight, offset + b + 1e-9) >= -1e-9


def test_offsets_and_weights_are_optional(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    a = loss.best_constant(y)
    b = loss.best_constant(y, np.ones(len(y)), 0.0 * eta)
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_weight_two_is_the_row_twice(loss, sample):
    y, offset = sample(loss, np.random.default_rng(3), n=15)
    times = np.random.default_rng(4).integers(0, 3, size=15)
    a = loss.best_constant(y, times, offset)
    b = loss.best_constant(np.repeat(y, times), None, np.repeat(offset, times, axis=0))
    present = np.unique(np.repeat(y, times)).astype(int) if loss.multiclass else ...
    np.testing.assert_allclose(np.asarray(a)[present], np.asarray(b)[present], rtol=1e-9, atol=1e-11)


def test_the_scale_of_the_weights_does_not_matter(loss, sample):
    y, offset = sample(loss, np.random.default_rng(5))
    weight = np.random.default_rng(6).uniform(0.1, 1, len(y))
    a, *scaled = (loss.best_constant(y, f * weight, offset) for f in (1.0, 1e-300, 0.3, 1e307))
    for b in scaled:
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_a_shifted_offset_shifts_the_constant(scalar_loss, sample):
    y, offset = sample(scalar_loss, np.random.default_rng(7))
    a = scalar_loss.best_constant(y, None, offset)
    assert scalar_loss.best_constant(y, None, offset + 2.5) == pytest.approx(a - 2.5, abs=1e-10)


def test_known_constants():
    y, s = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 2.0, 0.5, 0.5])
    assert Squared().best_constant(y, s) == pytest.approx(0.5)
    assert Logistic().best_constant(y, s) == pytest.approx(0.0, abs=1e-15)
    assert Logistic().best_constant(y) == pytest.approx(np.log(3))
    assert Poisson().best_constant(y) == pytest.approx(np.log(0.75))
    assert Gamma().best_constant([1.0, 3.0]) == pytest.approx(np.log(2))
    assert Hinge().best_constant(y) == 1.0
    assert Hinge().best_constant(1 - y) == -1.0
    assert Hinge().best_constant(y, s) == 0.0  # everything from -1 to 1 is as good
    assert SquaredHinge().best_constant(y) == pytest.approx(0.5)
    np.testing.assert_allclose(Multinomial().best_constant([0, 1, 1, 2]), np.log([0.25, 0.5, 0.25]))


def test_known_constants_with_offset():
    y, o = np.array([2.0, 5.0, 1.0]), np.array([0.1, -0.4, 1.0])
    assert Squared().best_constant(y, None, o) == pytest.approx(np.mean(y - o))
    assert Poisson().best_constant(y, None, o) == pytest.approx(np.log(8 / np.exp(o).sum()))
    assert Gamma().best_constant(y, None, o) == pytest.approx(np.log(np.mean(y * np.exp(-o))))


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_rows_of_one_class_give_a_finite_constant(binary_loss, label):
    y, offset = np.full(5, label), np.linspace(-2, 4, 5)
    for o in (None, offset):
        b = binary_loss.best_constant(y, None, o)
        assert np.isfinite(b)
        assert np.all(binary_loss.deviance(y, b + (0.0 if o is None else o)) < 1e-10)


def test_infinite_constants_are_cut_at_thirty():
    offset = np.array([1.0, 2.0, 6.0])
    assert Logistic().best_constant(np.ones(3)) == 30.0
    assert Logistic().best_constant(np.ones(3), None, offset) == 29.0
    assert Logistic().best_constant(np.zeros(3), None, offset) == -36.0
    assert Poisson().best_constant(np.zeros(3)) == -30.0
    assert Poisson().best_constant(np.zeros(3), [1, 1, 0], offset) == -32.0
    assert Poisson().best_constant([0, 0, 4], [1, 1, 0]) == -30.0  # the only event has no weight


def test_large_constants_are_not_cut():
    assert Poisson().best_constant([1e20]) == pytest.approx(np.log(1e20))
    assert Gamma().best_constant([1e-200]) == pytest.approx(np.log(1e-200))


def test_huge_offsets_are_survived(loss, sample):
    y, offset = sample(loss, np.random.default_rng(8), scale=1.0)
    assert np.all(np.isfinite(loss.best_constant(y, None, 1e6 * offset)))


def test_a_new_loss_needs_no_closed_form(monkeypatch):
    monkeypatch.setattr(base, "REGISTRY", dict(base.REGISTRY))

    class LogCosh(Loss):
        name, kind = "log_cosh", "regression"

        def _value(self, y, eta):
            return np.logaddexp(y - eta, eta - y) - np.log(2)

        def _gradient(self, y, eta):
            return np.tanh(eta - y)

        def _deviance(self, y, eta):
            return 2 * self._value(y, eta)

    class Falling(LogCosh):
        name = "falling"

        def _gradient(self, y, eta):
            return -np.ones_like(eta)

    assert LogCosh().best_constant([1.0, 2.0, 1e6]) == pytest.approx(2.0, abs=20)
    assert LogCosh().best_constant([-1e6, -1e6], None, [3.0, 3.0]) == pytest.approx(-1e6 - 3)
    assert LogCosh().best_constant([3.0]) == pytest.approx(3.0)
    assert LogCosh().best_constant([0.0]) == 0.0
    assert Falling().best_constant([0.0, 0.0], None, [1.0, 3.0]) == 29.0
    with pytest.raises(NotImplementedError, match="_curvature"):
        LogCosh().curvature([1.0], [2.0])


def test_bad_weights(loss):
    for weight in ([1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match=r"[Ww]eight"):
            loss.best_constant([1, 1], weight)


def test_bad_targets_and_offsets(scalar_loss):
    with pytest.raises(ValueError, match="at least one row"):
        scalar_loss.best_constant([])
    with pytest.raises(ValueError, match="offset"):
        scalar_loss.best_constant([1, 1], None, [1.0])
    with pytest.raises(ValueError, match="offset"):
        scalar_loss.best_constant([1, 1], None, [1.0, np.inf])
