"""LooSearch: over grids, by descent, and what it says about it."""

import pickle

import numpy as np
import pytest
from oracles import blobs, curve
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.exceptions import SearchWarning
from pellucid.kernels import RBF, Linear, Matern, PairFunction

X, Y = curve(40, 3, q=2)
y = Y[:, 0]
GRID = {"kernel__length_scale": [0.3, 1.0, 3.0]}


def relevant(n=60, p=4, seed=1):
    """Targets that depend on the first of several columns alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)


def test_a_grid_finds_what_cross_validation_finds():
    search = LooSearch(KernelRidge(RBF(), alpha=0.1), GRID).fit(X, y)
    slow = GridSearchCV(
        KernelRidge(RBF(), alpha=0.1), GRID, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    ).fit(X, y)
    assert search.best_params_ == slow.best_params_
    assert np.allclose(search.results_["loo_mse"], -slow.cv_results_["mean_test_score"])
    assert search.best_score_ == pytest.approx(-slow.best_score_)
    assert np.allclose(search.predict(X), slow.predict(X))
    assert search.score(X, y) == pytest.approx(slow.best_estimator_.score(X, y))


def test_results_of_a_grid():
    search = LooSearch(KernelRidge(RBF()), [GRID, {"kernel": [Matern(), Linear()]}]).fit(X, Y)
    assert set(search.results_) == {"params", "value", "loo_mse", "alpha"}
    assert all(len(column) == 5 for column in search.results_.values())
    assert search.results_["loo_mse"][0].shape == (2,)
    assert search.best_params_ == search.results_["params"][np.argmin(search.results_["value"])]
    relative = search.results_["loo_mse"][2] / Y.var(axis=0)
    assert search.results_["value"][2] == pytest.approx(relative.mean())
    assert "grid of 5" in str(search.summary())
    labels = (y > y.mean()).astype(int)
    classes = LooSearch(KernelRidgeClassifier(RBF()), GRID).fit(X, labels)
    assert len(classes.results_["loo_error_rate"]) == 3
    assert classes.loo_.error_rate in classes.results_["loo_error_rate"]


@pytest.mark.parametrize("criterion", ["loo", "gcv", "ml"])
def test_the_criterion_of_the_estimator_decides(criterion):
    scales = [0.1, 0.3, 1.0, 3.0, 10.0]
    search = LooSearch(KernelRidge(RBF(), alpha=criterion), {"kernel__length_scale": scales}).fit(X, y)
    paths = [KernelRidge(RBF(s), alpha=criterion).fit(X, y).loo_.path for s in scales]
    best = {
        "loo": [p.mse.min() for p in paths],
        "gcv": [p.gcv.min() for p in paths],
        "ml": [-p.log_marginal_likelihood.max() for p in paths],
    }[criterion]
    assert search.best_params_ == {"kernel__length_scale": scales[int(np.argmin(best))]}


def test_units_of_outputs_do_not_decide():
    one = LooSearch(KernelRidge(RBF()), GRID).fit(X, Y)
    other = LooSearch(KernelRidge(RBF()), GRID).fit(X, Y * [1.0, 1e6])
    assert np.allclose(one.results_["value"], other.results_["value"])


def test_kernels_in_a_grid_stay_as_they_are():
    kernel = RBF(1.0)
    grid = {"kernel": [kernel], "kernel__length_scale": [0.5, 2.0]}
    search = LooSearch(KernelRidge("rbf"), grid).fit(X, y)
    assert kernel.length_scale == 1.0
    assert search.best_estimator_.kernel_.length_scale == search.best_params_["kernel__length_scale"]


def test_several_jobs_give_one_answer():
    one = LooSearch(KernelRidge(RBF()), GRID).fit(X, y)
    two = LooSearch(KernelRidge(RBF()), GRID, n_jobs=2).fit(X, y)
    assert one.best_params_ == two.best_params_
    assert np.allclose(one.results_["loo_mse"], two.results_["loo_mse"], rtol=1e-10)
    assert np.allclose(one.predict(X), two.predict(X), rtol=1e-10)


# --------------------------------------------------------------------- descent
@pytest.mark.parametrize("criterion", ["loo", "gcv", "ml"])
def test_a_descent_is_as_good_as_a_fine_grid(criterion):
    X, y = curve(50, 1, seed=2)
    search = LooSearch(KernelRidge(RBF(), alpha=criterion)).fit(X, y)
    grid = LooSearch(KernelRidge(RBF(), alpha=criterion), {"kernel__length_scale": np.geomspace(0.1, 10, 25)})
    found, best = search.results_["value"][0], min(grid.fit(X, y).results_["value"])
    assert found <= best + 0.1 * abs(best)  # it may end in the better neighbourhood of its start
    assert search.results_["criterion"] == [criterion]
    assert search.results_["n_evaluations"][0] > 1
    assert search.results_["converged"] == [True]
    assert "descent" in str(search.summary())


def test_one_length_scale_per_feature_finds_the_relevant_one():
    X, y = relevant()
    search = LooSearch(KernelRidge("rbf"), ard=True).fit(X, y)
    scales = search.best_estimator_.kernel_.length_scale
    assert np.all(scales[1:] > 2 * scales[0])
    assert search.best_score_ < 0.8 * KernelRidge("rbf").fit(X, y).loo_.mse
    widened = LooSearch(KernelRidge(RBF()), ard=True).fit(X, y)
    scales = widened.best_estimator_.kernel_.length_scale
    assert np.all(scales[1:] > 2 * scales[0])


def test_without_ard_a_named_kernel_keeps_the_ratios_of_its_length_scales():
    X, y = relevant()
    start = KernelRidge("rbf").fit(X, y).kernel_.length_scale
    search = LooSearch(KernelRidge("rbf")).fit(X, y)
    ratios = search.best_estimator_.kernel_.length_scale / start
    assert np.allclose(ratios, ratios[0])
    vector = LooSearch(KernelRidge(RBF(start))).fit(X, y)  # its own length-scales are learned one by one
    ratios = vector.best_estimator_.kernel_.length_scale / start
    assert not np.allclose(ratios, ratios[0], rtol=0.1)


def test_a_given_alpha_stays():
    search = LooSearch(KernelRidge(RBF(), alpha=0.37)).fit(X, y)
    assert search.best_estimator_.alpha_ == 0.37
    assert search.best_score_ <= KernelRidge(RBF(), alpha=0.37).fit(X, y).loo_.mse
    several = LooSearch(KernelRidge(RBF(), alpha=[0.1, 2.0])).fit(X, Y)
    assert np.array_equal(several.best_estimator_.alpha_, [0.1, 2.0])


def test_given_candidates_stay():
    alphas = [0.1, 0.2]
    search = LooSearch(KernelRidge(RBF(), alphas=alphas)).fit(X, y)
    assert search.best_estimator_.alpha_ in alphas


@pytest.mark.parametrize("kernel", [RBF() + Linear(), 2.0 * Matern(nu=2.5) * RBF().on([0]), RBF() ** 2])
def test_composed_kernels_are_learned(kernel):
    search = LooSearch(KernelRidge(kernel)).fit(X, y)
    assert search.best_score_ <= KernelRidge(kernel).fit(X, y).loo_.mse
    assert type(search.best_estimator_.kernel_) is type(kernel)
    assert search.best_params_ == {"kernel": search.best_estimator_.kernel_}


def test_the_start_is_kept_where_it_is_better():
    """Never worse than the estimator on its own, whatever the descent does."""
    for seed in range(3):
        X, y = curve(25, 2, seed=seed, noise=0.5)
        search = LooSearch(KernelRidge("matern"), ard=True).fit(X, y)
        assert search.best_score_ <= KernelRidge("matern").fit(X, y).loo_.mse * (1 + 1e-9)


def test_a_descent_that_is_cut_short_warns(monkeypatch):
    from pellucid.models.search import loo_search as module

    original = module.learn_parameters
    monkeypatch.setattr(module, "learn_parameters", lambda *a, **k: original(*a, **k, max_iter=1))
    with pytest.warns(SearchWarning, match="stopped before it converged"):
        search = LooSearch(KernelRidge(RBF()), ard=True).fit(X, y)
    assert search.results_["converged"] == [False]


def test_singular_systems_are_walls():
    """Where the factorisation needs jitter the descent turns back, and the search for a length-scale too."""
    from pellucid._progress import Progress
    from pellucid.models.search.gradient_search import PULL, Data, _Objective

    objective = _Objective(
        RBF(), 1e-18, np.array([0]), Data(X, Y, np.ones(40), True), "loo", PULL, Progress("learning")
    )
    value, gradient = objective(np.array([6.0, 0.0]))
    assert value == 1e300
    assert np.all(gradient == 0)
    value, gradient = objective(np.array([0.0, 30.0]))
    assert value < 10.0
    model = KernelRidge("rbf", alpha=1e-13).fit(X, y)  # without a warning: such length-scales are not taken
    assert np.all(np.isfinite(model.loo_.residuals))


def test_classifiers_and_discriminants():
    X, labels = blobs(3, n=45)
    for estimator in (KernelRidgeClassifier(RBF()), KernelFisherDiscriminant(RBF())):
        search = LooSearch(estimator).fit(X, labels)
        assert is_classifier(search)
        assert search.predict_proba(X).shape == (45, 3)
        assert search.decision_function(X).shape == (45, 3)
        assert list(search.classes_) == [0, 1, 2]
        assert search.score(X, labels) > 0.5
        assert not hasattr(search, "predict_interval")
    assert search.transform(X).shape == (45, 2)
    assert np.allclose(search.fit_transform(X, labels), search.transform(X))
    regression = LooSearch(KernelRidge())
    assert is_regressor(regression)
    assert not hasattr(regression, "predict_proba")
    assert not hasattr(regression, "transform")


def test_it_hands_on_what_the_best_can_do():
    search = LooSearch(KernelRidge(RBF()), GRID).fit(X, y)
    best = search.best_estimator_
    assert np.array_equal(search.predict_interval(X, 0.8), best.predict_interval(X, 0.8))
    assert np.array_equal(search.predict(X, return_std=True)[1], best.predict(X, return_std=True)[1])
    assert search.loo_ is best.loo_
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict(X), search.predict(X))


def test_what_cannot_be_searched():
    with pytest.raises(TypeError, match=r"needs a kernel model: .* got Ridge"):
        LooSearch(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="leave param_grid out"):
        LooSearch(KernelRidge(RBF()), GRID, ard=True).fit(X, y)
    with pytest.raises(ValueError, match="'rbf' was named by a string and has no parameters"):
        LooSearch(KernelRidge("rbf"), GRID).fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter"):
        LooSearch(KernelRidge(RBF()), {"kernel__gamma": [1.0]}).fit(X, y)
    overlap = PairFunction(lambda a, b: float(len(set(a) & set(b))))
    with pytest.raises(ValueError, match="rows have no columns"):
        LooSearch(KernelRidge(overlap + 1.0), ard=True).fit(["spam", "ham", "eggs"], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="no parameters to learn"):
        LooSearch(KernelRidge(overlap)).fit(["spam", "ham", "eggs"], [1.0, 2.0, 3.0])
