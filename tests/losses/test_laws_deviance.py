import numpy as np


def test_deviance_is_never_negative(loss, sample):
    for seed, scale in enumerate([1e-3, 1.0, 30.0, 1e3]):
        y, eta = sample(loss, np.random.default_rng(seed), scale=scale)
        deviance = loss.deviance(y, eta)
        assert deviance.shape == y.shape
        assert np.all(deviance >= 0)


def test_deviance_is_zero_at_a_perfect_fit(loss, sample):
    # one row is fitted perfectly by its own best constant, up to exp(-30) where that is infinite
    y, eta = sample(loss, np.random.default_rng(0))
    options = {"n_classes": eta.shape[1]} if loss.multiclass else {}
    perfect = np.array([loss.best_constant(y[i : i + 1], **options) for i in range(len(y))])
    np.testing.assert_allclose(loss.deviance(y, perfect), 0.0, atol=1e-11)


def test_deviance_is_twice_the_value_above_that_of_a_perfect_fit(loss, sample):
    y, eta = sample(loss, np.random.default_rng(1))
    options = {"n_classes": eta.shape[1]} if loss.multiclass else {}
    perfect = np.array([loss.best_constant(y[i : i + 1], **options) for i in range(len(y))])
    lost = loss.value(y, eta) - loss.value(y, perfect)
    np.testing.assert_allclose(loss.deviance(y, eta), 2 * lost, rtol=1e-9, atol=1e-10)


def test_deviance_grows_away_from_the_perfect_fit(scalar_loss, sample):
    y, _ = sample(scalar_loss, np.random.default_rng(2))
    perfect = np.array([scalar_loss.best_constant(y[i : i + 1]) for i in range(len(y))])
    steps = np.linspace(0, 3, 7)
    for sign in (-1, 1):
        deviance = np.array([scalar_loss.deviance(y, perfect + sign * step) for step in steps])
        assert np.all(np.diff(deviance, axis=0) >= -1e-12)
