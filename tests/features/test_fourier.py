"""The transformers: what users see of Fourier features."""

import numpy as np
import pytest

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.features import PairwiseFourierFeatures, RandomFourierFeatures, fourier
from pellucid.kernels import RBF, Laplacian, Linear, Matern

X = np.random.default_rng(0).normal(size=(40, 4))
BOTH = pytest.mark.parametrize("kind", [PairwiseFourierFeatures, RandomFourierFeatures])


@BOTH
def test_deterministic_by_seed(kind):
    first, second, other = (kind(random_state=s).fit_transform(X) for s in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)


@BOTH
def test_block_size_changes_nothing_beyond_rounding(kind, monkeypatch):
    whole = kind().fit_transform(X)
    monkeypatch.setattr(fourier, "_BLOCK", 100)
    np.testing.assert_allclose(kind().fit_transform(X), whole, atol=3e-7)


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision(kind, dtype):
    assert kind(dtype=dtype).fit_transform(X).dtype == dtype
    exact = kind(dtype="float64").fit_transform(X)
    np.testing.assert_allclose(kind(dtype=dtype).fit_transform(X), exact, atol=1e-6)


@BOTH
def test_sigma_divides_the_columns(kind):
    options = {"dtype": "float64"}
    wide = kind(sigma=2.0, **options).fit_transform(X)
    np.testing.assert_allclose(wide, kind(**options).fit_transform(X / 2.0), atol=1e-14)
    np.testing.assert_allclose(wide, kind(kernel=RBF(2.0), **options).fit_transform(X), atol=1e-14)


@pytest.mark.parametrize(
    "kernel", ["rbf", "matern", "laplacian", "rational_quadratic", Matern(nu=0.5)], ids=str
)
def test_pairs_estimate_the_mean_kernel_of_pairs(kernel):
    k = fourier.resolve_kernel(kernel)
    Z = PairwiseFourierFeatures(20_000, kernel=kernel, dtype="float64").fit_transform(X[:8])
    pairs = [(p, q) for p in range(4) for q in range(p + 1, 4)]
    exact = np.mean([k(X[:8][:, pair]) for pair in pairs], axis=0)
    np.testing.assert_allclose(Z @ Z.T, exact, atol=0.03)


def test_all_columns_estimate_the_kernel():
    Z = RandomFourierFeatures(20_000, kernel=Laplacian(2.0), dtype="float64").fit_transform(X[:8])
    np.testing.assert_allclose(Z @ Z.T, Laplacian(2.0)(X[:8]), atol=0.04)


@BOTH
@pytest.mark.parametrize("n", [1, 3, 7])
def test_odd_numbers_are_raised_by_one(kind, n):
    odd, even = kind(n).fit_transform(X), kind(n + 1).fit_transform(X)
    np.testing.assert_array_equal(odd, even)


def test_names_and_pairs():
    model = PairwiseFourierFeatures(2).fit(X)
    assert model.pairs_ == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert len(model.get_feature_names_out()) == model.n_features_out_ == 12


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "at least 1"),
        ({"n_components": 2.5}, "whole number"),
        ({"sigma": 0.0}, "sigma must be a positive number"),
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64'"),
        ({"kernel": "cosine"}, "kernel must be one of rbf"),
    ],
)
def test_bad_parameters(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(X)


def test_kernels_without_a_spectrum():
    with pytest.raises(TypeError, match="no spectral sampler"):
        PairwiseFourierFeatures(kernel=Linear()).fit(X)


def test_one_column_has_no_pairs():
    with pytest.raises(ValueError, match="1 feature"):
        PairwiseFourierFeatures().fit(X[:, :1])


@BOTH
def test_memory_is_estimated_before_it_is_taken(kind, monkeypatch):
    model = kind(20_000).fit(X)
    monkeypatch.setattr(fourier, "_BLOCK", 1000)
    monkeypatch.setenv("PELLUCID_MEMORY", "1e6")
    with pytest.raises(NotEnoughMemoryError, match=r"rows would fit.*n_components \(now 20000\)"):
        model.transform(X)
