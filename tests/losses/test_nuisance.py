"""Numbers that a loss leaves open: found again in simulated data, and equal to those of statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from pellucid.exceptions import RateWarning
from pellucid.losses import Binomial, Expectile, Huber, NegativeBinomial, Quantile, Squared, Tweedie
from pellucid.losses.tweedie import log_density

rng = np.random.default_rng(0)


def compound(mean, phi, p, rng):
    """Sums of a Poisson number of gamma amounts with variance φ μ^p."""
    rate = mean ** (2 - p) / (phi * (2 - p))
    number = rng.poisson(rate)
    shape, scale = (2 - p) / (p - 1), phi * (p - 1) * mean ** (p - 1)
    return np.where(number > 0, rng.gamma(np.maximum(number, 1) * shape, scale), 0.0)


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9])
@pytest.mark.parametrize("phi", [0.05, 1.0, 20.0])
def test_tweedie_density_of_statsmodels(p, phi):
    mean = rng.uniform(0.5, 5.0, 30)
    y = compound(mean, phi, p, rng)
    family = sm.families.Tweedie(var_power=p, eql=False)
    expected = family.loglike_obs(y, mean, scale=phi)
    keep = np.isfinite(expected)
    assert keep.mean() > 0.5
    np.testing.assert_allclose(
        log_density(y, np.log(mean), phi, p)[keep], expected[keep], rtol=1e-7, atol=1e-8
    )


@pytest.mark.parametrize("p", [1.2, 1.5, 1.8])
def test_the_power_is_found_again_in_any_unit(p):
    mean = np.exp(rng.normal(size=2000))
    y = compound(mean, 1.5, p, rng)
    found = Tweedie().estimated(y, np.log(mean))
    assert found.power == pytest.approx(p, abs=0.06)
    if p == 1.2:
        other = Tweedie().estimated(1e9 * y, np.log(1e9 * mean))
        assert other.power == pytest.approx(found.power, abs=4e-3)


def test_the_dispersion_of_statsmodels():
    X = sm.add_constant(rng.normal(size=(400, 2)))
    mean = np.exp(X @ [0.5, 0.4, -0.3])
    y = rng.poisson(mean * rng.gamma(1 / 0.7, 0.7, size=400))
    other = sm.NegativeBinomial(y, X).fit(disp=0, maxiter=500)
    found = NegativeBinomial().estimated(y, X @ other.params[:3])
    assert found.dispersion == pytest.approx(other.params[3], rel=1e-3)


def test_counts_without_extra_variation_have_none():
    assert NegativeBinomial().estimated(rng.poisson(3.0, 2000), np.full(2000, np.log(3.0))).dispersion < 0.03
    assert NegativeBinomial().estimated(np.full(50, 3.0), np.full(50, np.log(3.0))).dispersion < 1e-5


def test_thresholds_and_bandwidths():
    r = rng.normal(size=20_000)
    assert Huber().estimated(r, 0.0 * r).threshold == pytest.approx(1.345, rel=0.03)
    found = Quantile(0.5).estimated(r, 0.0 * r)
    assert found.bandwidth == pytest.approx(0.5 * 20_000 ** (-1 / 3), rel=0.03)
    assert found.level == 0.5
    assert 2 * Huber().estimated(r, 0.0 * r).threshold == pytest.approx(
        Huber().estimated(2 * r, 0 * r).threshold
    )


@pytest.mark.parametrize("own", [Huber(), Quantile(0.3), Tweedie(), NegativeBinomial()])
def test_weights_count_rows_in_any_scale(own):
    y, eta = rng.poisson(3.0, 200).astype(float), rng.normal(1.0, 0.1, 200)
    times = rng.integers(0, 3, 200)
    a, b = own.estimated(y, eta, times), own.estimated(np.repeat(y, times), np.repeat(eta, times))
    c = own.estimated(y, eta, 1e-3 * times)
    kin = (b,) if own.name == "quantile" else (b, c)  # how many rows there are sets the bandwidth
    for other in kin:
        np.testing.assert_allclose([*vars(a).values()], [*vars(other).values()], rtol=0.05)


@pytest.mark.parametrize("own", [Squared(), Expectile(0.8), Huber(2.0), Quantile(0.3, 1.0), Tweedie(1.3)])
def test_what_is_given_is_kept(own):
    assert not own.is_open
    assert own.estimated([1.0, 2.0], [0.0, 0.0]) is own


@pytest.mark.parametrize("own", [Huber(), Quantile(0.3), Tweedie(), NegativeBinomial()])
@pytest.mark.parametrize("y", [[0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1e6]])
def test_hardly_any_data_give_finite_numbers(own, y):
    found = own.estimated(y, np.zeros(len(y)))
    assert not found.is_open
    assert np.all(np.isfinite([*vars(found).values()]))


def test_limits():
    y, eta = np.array([0.0, 1.0, 4.0]), np.array([0.3, -0.5, 1.0])
    from pellucid.losses import Gamma, Poisson

    nearly = {"rtol": 1e-4}
    np.testing.assert_allclose(NegativeBinomial(1e-6).deviance(y, eta), Poisson().deviance(y, eta), **nearly)
    np.testing.assert_allclose(Tweedie(1 + 1e-6).deviance(y, eta), Poisson().deviance(y, eta), **nearly)
    np.testing.assert_allclose(
        Tweedie(2 - 1e-6).deviance(y[1:], eta[1:]), Gamma().deviance(y[1:], eta[1:]), **nearly
    )


def test_refusals():
    with pytest.raises(ValueError, match="between 1 and 2"):
        Tweedie(2.0)
    with pytest.raises(ValueError, match="positive"):
        NegativeBinomial(0.0)
    with pytest.raises(ValueError, match=r"not negative, got -1\."):
        Tweedie().check_targets([-1.0, 2.0])
    with pytest.raises(ValueError, match="successes and failures"):
        Binomial().check_targets([0.5, 3.0])
    with pytest.warns(RateWarning, match="negative_binomial loss is for whole counts"):
        NegativeBinomial().check_targets([0.5, 3.0])
