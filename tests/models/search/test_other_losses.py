"""LooSearch of models with other than squared losses: features that matter, grids, exposure."""

import numpy as np
import pytest
from sklearn.base import clone

from pellucid import KernelClassifier, KernelGLMRegressor, KernelRidge, LooSearch, load, save
from pellucid.kernels import RBF, Categorical, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 4))
SCORE = np.sin(2.0 * X[:, 0])


def first_matters(search):
    scales = search.best_estimator_.kernel_.length_scale
    return scales[0] < 0.5 * np.min(scales[1:])


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (KernelGLMRegressor(loss="quantile", quantile=[0.2, 0.8], alpha="loo"), SCORE + 0.1 * X[:, 1]),
        (KernelGLMRegressor(loss="poisson", alpha="loo"), rng.poisson(np.exp(1.0 + 1.5 * SCORE))),
        (KernelClassifier(alpha="loo"), np.where(SCORE > 0, "up", "down")),
    ],
)
def test_features_that_matter_get_short_length_scales(model, y):
    search = LooSearch(model, ard=True).fit(X, y)
    assert first_matters(search)
    plain = clone(model).fit(X, y)
    assert search.best_score_ < plain.alpha_path_.deviance.min()
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))
    assert search.results_["value"] == [search.best_score_]


def test_exposure_is_part_of_the_search():
    exposure = rng.uniform(0.2, 5.0, size=160)
    y = rng.poisson(exposure * np.exp(1.0 + 1.5 * SCORE))
    search = LooSearch(KernelGLMRegressor(alpha="loo"), ard=True).fit(X, y, exposure=exposure)
    assert first_matters(search)
    direct = KernelGLMRegressor(search.best_estimator_.kernel_, alpha="loo").fit(X, y, exposure=exposure)
    np.testing.assert_allclose(search.predict(X), direct.predict(X))
    with pytest.raises(ValueError, match="exposure is for kernel models"):
        LooSearch(KernelRidge(), ard=True).fit(X, SCORE, exposure=exposure)


def test_a_grid_is_compared_by_held_out_deviance(tmp_path):
    y = rng.poisson(np.exp(SCORE))
    scales = [0.3, 1.0, 3.0, 10.0]
    search = LooSearch(KernelGLMRegressor(RBF(), alpha="loo"), {"kernel__length_scale": scales}).fit(X, y)
    alone = [KernelGLMRegressor(RBF(s), alpha="loo").fit(X, y).alpha_path_.deviance.min() for s in scales]
    assert search.results_["value"] == pytest.approx(alone)
    assert search.best_score_ == pytest.approx(min(alone))
    save(search, tmp_path / "m.pellucid")
    np.testing.assert_array_equal(load(tmp_path / "m.pellucid").predict(X), search.predict(X))
    assert "grid of 4" in str(search.summary())


def test_an_alpha_that_is_given_leaves_nothing_to_compare():
    with pytest.raises(ValueError, match="held-out deviance"):
        LooSearch(KernelGLMRegressor(alpha=1.0), ard=True).fit(X, np.ones(160))


def test_descent_with_columns_of_every_kind():
    """The ridge problem of the first step has the rows of the estimator, whatever is in them."""
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(1)
    dose, town = draw.normal(size=60), draw.choice(["Ulm", "Bonn"], 60)
    text = ["".join(letters) for letters in draw.choice(list("ACGT"), (60, 8))]
    table = pandas.DataFrame({"note": "unused", "sequence": text, "dose": dose, "town": town})
    y = np.sin(dose) + (town == "Ulm") + [0.5 * s.count("CG") for s in text] > 0.5
    kernel = RBF(0.1).on(["dose"]) + Categorical().on(["town"])
    for rows, given in ((table, kernel + Spectrum(2).on("sequence")), (table[["dose", "town"]], kernel)):
        search = LooSearch(KernelClassifier(given, alpha="loo")).fit(rows, y)
        assert search.best_params_["kernel"].theta[0] != given.theta[0]
        assert "'town'" in str(search.best_params_["kernel"])
        assert search.score(rows, y) > 0.7
