import warnings

import numpy as np
import pytest

from pellucid.losses import Logistic, Multinomial, Poisson

EXTREMES = [30.0, 299.9, 300.0, 300.1, 700.0, 709.0, 710.0, 745.0, 746.0, 1e3, 1e6, 1e12]


def _everywhere(loss, sample):
    """Targets against predictors of both signs and all sizes, one class far off if there are several."""
    y, eta = sample(loss, np.random.default_rng(0), n=20)
    for size in EXTREMES:
        for sign in (-1.0, 1.0):
            far = np.full(eta.shape, sign * size)
            if loss.multiclass:
                far[:, 1:] = 0.0
            yield y, far


def _methods(loss):
    yield from (loss.value, loss.gradient, loss.deviance)
    if loss.smooth:
        yield loss.curvature


def test_every_result_is_finite_and_silent(loss, sample):
    for y, eta in _everywhere(loss, sample):
        for method in _methods(loss):
            assert np.all(np.isfinite(method(y, eta)))


def test_a_warning_would_have_been_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            np.exp(np.array([1e3]))


def test_squares_are_finite_and_nothing_is_nan_up_to_the_largest_numbers(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    for sign in (-1e6, 1e6):
        gradient = loss.gradient(y, sign * np.sign(eta))
        assert np.isfinite(1e6 * np.sum(gradient**2))
    for size in (1e100, 1e150, 1e200, 1e307):
        for method in _methods(loss):
            assert not np.any(np.isnan(method(y, size * np.sign(eta))))


def test_gradients_keep_rising_far_out(scalar_loss, sample):
    grid = np.concatenate([-np.array(EXTREMES[::-1]), np.linspace(-20, 20, 41), EXTREMES])
    for y in np.unique(sample(scalar_loss, np.random.default_rng(0))[0])[:5]:
        assert np.all(np.diff(scalar_loss.gradient(np.full(len(grid), y), grid)) >= 0)


def test_means_are_finite_and_in_range(linked_loss, sample):
    for _, eta in _everywhere(linked_loss, sample):
        mean = linked_loss.mean(eta)
        assert np.all(np.isfinite(mean))
        if linked_loss.kind == "classification":
            assert np.all((mean >= 0) & (mean <= 1))
        if linked_loss.kind == "counts" or linked_loss.name == "gamma":
            assert np.all(mean > 0)


def test_means_rise_with_the_predictor(linked_loss):
    grid = np.linspace(-5, 5, 21)
    if linked_loss.multiclass:
        mean = linked_loss.mean(np.column_stack([np.zeros_like(grid), grid]))[:, 1]
    else:
        mean = linked_loss.mean(grid)
    assert np.all(np.diff(mean) > 0)


def test_tails_do_not_cancel():
    np.testing.assert_allclose(Logistic().value([1.0, 0.0], [40.0, -40.0]), np.exp(-40), rtol=1e-12)
    np.testing.assert_allclose(Logistic().gradient([1.0, 0.0], [40.0, -40.0]), [-np.exp(-40), np.exp(-40)])
    eta = np.array([[40.0, 0.0, 0.0]])
    np.testing.assert_allclose(Multinomial().value([0], eta), 2 * np.exp(-40), rtol=1e-12)
    np.testing.assert_allclose(Multinomial().gradient([0], eta)[0, 0], -2 * np.exp(-40), rtol=1e-12)


def test_the_exponential_goes_on_smoothly_beyond_its_limit():
    below, above = np.nextafter(300.0, 0), np.nextafter(300.0, 1e3)
    for method in (Poisson().value, Poisson().gradient, Poisson().curvature, Poisson().deviance):
        np.testing.assert_allclose(method([3.0], [below]), method([3.0], [above]), rtol=1e-12)
    assert Poisson().gradient([3.0], [310.0]) > Poisson().gradient([3.0], [300.0])
