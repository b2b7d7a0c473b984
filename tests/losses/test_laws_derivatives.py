import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st


def _nudges(eta, size):
    """Perturbations of each column of ``eta``, with the index of the entries that they change."""
    if eta.ndim == 1:
        return [(np.full(len(eta), size), slice(None))]
    return [(size * np.eye(eta.shape[1])[c], (slice(None), c)) for c in range(eta.shape[1])]


def test_gradient_is_the_slope_of_the_value(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    gradient = loss.gradient(y, eta)
    for nudge, entry in _nudges(eta, 1e-5):
        slope = (loss.value(y, eta + nudge) - loss.value(y, eta - nudge)) / 2e-5
        np.testing.assert_allclose(gradient[entry], slope, rtol=1e-6, atol=1e-7)


def test_curvature_is_the_slope_of_the_gradient(smooth_loss, sample):
    y, eta = sample(smooth_loss, np.random.default_rng(1))
    curvature = smooth_loss.curvature(y, eta)
    assert np.all(curvature >= 0)
    for nudge, entry in _nudges(eta, 1e-5):
        slope = (smooth_loss.gradient(y, eta + nudge) - smooth_loss.gradient(y, eta - nudge)) / 2e-5
        np.testing.assert_allclose(curvature[entry], slope[entry], rtol=1e-6, atol=1e-7)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.1, 1.0, 10.0, 400.0]), share=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_values_are_convex_along_every_line(loss, sample, seed, scale, share):
    rng = np.random.default_rng(seed)
    y, a = sample(loss, rng, n=10, scale=scale)
    b = a + scale * rng.normal(size=a.shape)
    chord = share * loss.value(y, a) + (1 - share) * loss.value(y, b)
    between = loss.value(y, share * a + (1 - share) * b)
    assert np.all(between <= chord + 1e-9 * (1 + np.abs(chord) + np.abs(y) * scale))


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.1, 1.0, 10.0, 400.0]))
@settings(max_examples=40, deadline=None)
def test_values_lie_above_every_tangent(loss, sample, seed, scale):
    rng = np.random.default_rng(seed)
    y, a = sample(loss, rng, n=10, scale=scale)
    d = scale * rng.normal(size=a.shape)
    rise = loss.gradient(y, a) * d
    tangent = loss.value(y, a) + (rise.sum(axis=1) if loss.multiclass else rise)
    above = loss.value(y, a + d)
    size = 1 + np.abs(above) + np.abs(loss.value(y, a)) + np.abs(tangent)
    assert np.all(above >= tangent - 1e-9 * size)


def test_no_curvature_exceeds_the_bound(smooth_loss, sample):
    y, eta = sample(smooth_loss, np.random.default_rng(2), n=500, scale=1.0)
    largest = smooth_loss.curvature(y, 0.0 * eta).max()
    assert max(largest, smooth_loss.curvature(y, eta).max()) <= smooth_loss.bound()


def test_bounds():
    from pellucid.losses import Gamma, Hinge, Logistic, Multinomial, Poisson, Squared, SquaredHinge

    assert (Squared().bound(), Logistic().bound(), SquaredHinge().bound()) == (1.0, 0.25, 2.0)
    assert Multinomial().bound() == 0.5
    assert Poisson().bound() == Gamma().bound() == Hinge().bound() == np.inf
