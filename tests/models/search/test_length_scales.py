"""One length-scale per feature: what the criteria find, and that nothing but the function decides."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from pellucid import KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.kernels import RBF, Linear
from pellucid.models.search import gradient_search
from pellucid.models.search.gradient_search import Data, finish, learn_parameters

CRITERIA = ("loo", "gcv", "ml", "mixed")


def relevant(n=60, p=4, seed=1):
    """Targets that depend on the first of several columns alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)


def learned(X, y, criterion="loo", weight=None, kernel="rbf", **options):
    search = LooSearch(KernelRidge(kernel, **options), ard=True, criterion=criterion)
    return search.fit(X, y, sample_weight=weight)


def scales(search):
    return search.best_estimator_.kernel_.length_scale


# ------------------------------------------------------------------- criteria
@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_length_scales_of_irrelevant_features_grow(criterion):
    X, y = relevant()
    start = KernelRidge("rbf").fit(X, y)
    search = learned(X, y, criterion)
    assert np.all(scales(search)[1:] > 2 * scales(search)[0])
    assert np.all(scales(search)[1:] > start.kernel_.length_scale[1:])
    assert search.best_score_ < 0.8 * start.loo_.mse
    assert search.results_["criterion"] == [criterion]


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_many_irrelevant_features_do_not_hide_the_relevant_one(criterion):
    """With one length-scale for all, the best is to predict the mean; the descent must not stay there."""
    X, y = relevant(150, 30)
    start = KernelRidge("rbf").fit(X, y)
    assert start.loo_.mse > 0.7 * y.var()
    search = learned(X, y, criterion)
    assert search.best_score_ < 0.2 * y.var()
    assert np.argmin(scales(search)) == 0


@pytest.mark.parametrize(("criterion", "alpha"), [("loo", 1e3), ("ml", 1e3), ("mixed", 1e3), ("ml", 1e-8)])
def test_a_start_at_which_alpha_has_no_gradient(criterion, alpha):
    """Where all is noise the descent gets away, and from where none is if a likelihood says so."""
    X, y = relevant(80, 6)
    data = Data(X, (y - y.mean())[:, None] / y.std(), np.ones(80), True)
    kernel = RBF(np.full(6, 2.5))
    options = {"criterion": criterion, "learn_alpha": True, "ard": True}
    found = learn_parameters(kernel, alpha, data, **options)
    good = learn_parameters(kernel, 0.1, data, **options)
    assert found.kernel.length_scale == pytest.approx(good.kernel.length_scale, rel=0.3)


def test_the_criterion_chooses_length_scales_and_the_estimator_alpha():
    X, y = relevant(40)
    search = learned(X, y, "ml")
    path = search.loo_.path
    assert search.best_estimator_.alpha_ == path.alphas[np.argmin(path.mse)]
    alone = learned(X, y, "auto", alpha="ml")
    assert alone.results_["criterion"] == ["ml"]
    assert LooSearch(KernelRidge("rbf"), ard=True).fit(X, y).results_["criterion"] == ["mixed"]
    assert learned(X, y, "auto", alpha=0.1).results_["criterion"] == ["mixed"]
    assert learned(X, y, "ml", alpha=0.1).best_estimator_.alpha_ == 0.1


def test_leave_one_out_alone_needs_a_hundred_rows_per_length_scale():
    X, y = relevant(201, 2)
    assert learned(X[:200], y[:200], "auto").results_["criterion"] == ["mixed"]
    assert learned(X, y, "auto").results_["criterion"] == ["loo"]
    weight = np.r_[np.ones(200), 0.0]
    assert learned(X, y, "auto", weight=weight).results_["criterion"] == ["mixed"]
    shared = LooSearch(KernelRidge("rbf")).fit(X[:30], y[:30])
    assert shared.results_["criterion"] == ["loo"]


@pytest.mark.parametrize("criterion", ["loo", "mixed"])
def test_few_rows_do_not_scatter_length_scales(criterion, monkeypatch):
    """On noise alone length-scales stay together, by the prior."""

    def scatter():
        values = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            search = learned(rng.normal(size=(40, 6)), rng.normal(size=40), criterion)
            values.append(np.std(np.log(scales(search))))
        return np.mean(values)

    held = scatter()
    monkeypatch.setattr(gradient_search, "_SPREAD", 10.0)
    assert held < 0.6 * scatter()
    assert held < 0.8


def test_a_grid_by_another_criterion_than_that_of_alpha():
    X, y = relevant(30)
    grid = {"kernel__length_scale": [0.1, 0.3, 1.0, 3.0, 10.0]}
    models = [KernelRidge(RBF(s)).fit(X, y) for s in grid["kernel__length_scale"]]
    found = LooSearch(KernelRidge(RBF()), grid, criterion="ml").fit(X, y)
    likelihood = [model.log_marginal_likelihood_ for model in models]
    assert found.best_params_["kernel__length_scale"] == grid["kernel__length_scale"][np.argmax(likelihood)]
    assert found.results_["alpha"] == [model.alpha_ for model in models]


def test_an_unknown_criterion():
    with pytest.raises(
        ValueError, match="criterion must be 'auto', 'loo', 'gcv', 'ml' or 'mixed', got 'aic'"
    ):
        learned(*relevant(10), criterion="aic")


def test_the_likelihood_is_that_of_a_gaussian_process():
    """As high as scikit-learn finds it, but for the prior; its length-scales are near."""
    X, y = relevant(50, 3)
    kernel = kernels.ConstantKernel() * kernels.RBF(np.ones(3), (1e-2, 1e3)) + kernels.WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=0).fit(X, y)
    search = learned(X, y, "ml", alpha="ml", fit_intercept=False)
    highest = process.log_marginal_likelihood_value_
    found = search.best_estimator_.log_marginal_likelihood_
    assert highest - 6.0 < found < highest + 1e-3  # a prior of one e-fold per standard deviation costs some
    assert scales(search)[0] == pytest.approx(process.kernel_.k1.k2.length_scale[0], rel=0.3)


# ------------------------------------------------- what must not and what must decide
@pytest.mark.parametrize("criterion", CRITERIA)
def test_units_do_not_decide(criterion):
    X, y = relevant(30)
    one = learned(X, y, criterion)
    units = np.array([1e-3, 1.0, 1e4, 7.0])
    for other in (learned(X, 1e6 * y + 3e5, criterion), learned(X, 1e-6 * y, criterion)):
        assert np.allclose(scales(other), scales(one), rtol=1e-9)
    assert np.allclose(scales(learned(X * units, y, criterion)), scales(one) * units, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_weight_of_two_is_the_row_twice(criterion):
    X, y = relevant(25, 3)
    weight = np.random.default_rng(2).integers(0, 3, size=25)
    weighted = learned(X, y, criterion, weight=weight.astype(float))
    repeated = learned(np.repeat(X, weight, axis=0), np.repeat(y, weight), criterion)
    assert np.allclose(scales(weighted), scales(repeated), rtol=0.03)  # rounded to a hundredth
    assert np.allclose(weighted.predict(X), repeated.predict(X), atol=0.02)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_that_all_have_copies_leave_nothing_to_learn(criterion):
    """Each is predicted by its copy without error, and no criterion has a bound."""
    X, y = relevant(8, 5)
    search = learned(np.repeat(X, 3, axis=0), np.repeat(y, 3), criterion)
    weighted = learned(X, y, criterion, weight=np.full(8, 3.0))
    assert search.results_["n_evaluations"] == weighted.results_["n_evaluations"] == [0]
    assert np.allclose(search.predict(X), weighted.predict(X), atol=1e-7)
    assert np.allclose(search.predict(X), y, atol=1e-5)


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_a_constant_column_stays_at_the_start(criterion):
    X, y = relevant(30, 3)
    X[:, 1] = 4.0
    search = learned(X, y, criterion)
    assert scales(search)[1] == pytest.approx(KernelRidge("rbf").fit(X, y).kernel_.length_scale[1], rel=1e-9)
    assert search.score(X, y) > 0.9


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_more_columns_than_rows(criterion):
    X, y = relevant(20, 50)
    search = learned(X, y, criterion)
    assert np.all(np.isfinite(search.predict(X)))
    grid = {"fit_intercept": [True]}  # the start, with the value of its criterion
    start = LooSearch(KernelRidge("rbf"), grid, criterion=criterion).fit(X, y)
    assert search.results_["value"] <= start.results_["value"]


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
@pytest.mark.parametrize("targets", [[1.0, 2.0], [3.0, 3.0]])
def test_two_rows(criterion, targets):
    search = learned(np.array([[0.0, 1.0], [1.0, 1.0]]), targets, criterion)
    assert np.all(np.isfinite(search.predict([[0.5, 1.0], [9.0, 9.0]])))


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_classes(criterion):
    X, score = relevant(80)
    labels = np.array(["low", "high"])[(score > 0).astype(int)]
    search = LooSearch(KernelRidgeClassifier("rbf"), ard=True, criterion=criterion).fit(X, labels)
    assert np.all(scales(search)[1:] > scales(search)[0])
    assert search.score(X, labels) > 0.9


# ------------------------------------------------------------------ many rows
@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_many_rows_descend_on_a_sample_and_finish_on_all(criterion, monkeypatch):
    X, y = relevant(300)
    full = learned(X, y, criterion)
    seen = []
    original = gradient_search.criterion_gradient

    def spy(K, *arguments, **options):
        seen.append(len(K))
        return original(K, *arguments, **options)

    monkeypatch.setattr(gradient_search, "_SAMPLE", 150)
    monkeypatch.setattr(gradient_search, "criterion_gradient", spy)
    sampled = learned(X, y, criterion)
    assert set(seen) == {150, 300}
    assert seen.count(300) <= 8
    assert sampled.results_["n_evaluations"] == [len(seen)]
    assert sampled.best_score_ < 1.03 * full.best_score_


@pytest.mark.parametrize("criterion", ["loo", "ml", "mixed"])
def test_alpha_is_looked_for_beyond_the_first_few(criterion, monkeypatch):
    """With many rows a few alphas are tried; the best is not the end of what was tried."""
    monkeypatch.setattr(gradient_search, "_SAMPLE", 60)
    X, y = relevant(200)
    search = learned(X, y, criterion)
    path = search.loo_.path
    assert path.alphas[0] < search.best_estimator_.alpha_ < path.alphas[-1]


def test_a_sample_may_miss_what_is_rare(monkeypatch):
    """Rows of weight zero are not drawn; outputs that do not vary in the sample wait for all rows."""
    monkeypatch.setattr(gradient_search, "_SAMPLE", 20)
    X, y = relevant(80)
    weight = np.r_[np.ones(70), np.zeros(10)]
    dropped = learned(X[:70], y[:70], "ml")
    weighted = learned(X, np.where(weight > 0, y, 1e3), "ml", weight=weight)
    assert np.allclose(weighted.predict(X), dropped.predict(X))
    rare = np.zeros(80)
    rare[7] = 1.0
    assert 7 not in gradient_search.sample_rows(80)
    for criterion in CRITERIA:
        assert np.all(np.isfinite(learned(X, rare, criterion).predict(X)))
        assert np.all(np.isfinite(learned(X, np.c_[y, rare], criterion).predict(X)))
    labels = np.where(y > 0, "b", "a")
    labels[7] = "c"
    search = LooSearch(KernelRidgeClassifier("rbf"), ard=True, criterion="ml").fit(X, labels)
    assert list(search.classes_) == ["a", "b", "c"]


def test_composed_kernels_have_length_scales_for_each_part(monkeypatch):
    monkeypatch.setattr(gradient_search, "_SAMPLE", 40)
    X, y = relevant(80, 3)
    search = learned(X, y + X[:, 1], kernel=RBF() * RBF().on([0]) + Linear())
    rbf, restricted, linear = (part.length_scale for part in search.best_estimator_.kernel_.parts().values())
    assert (rbf.shape, restricted.shape, linear.shape) == ((3,), (1,), (3,))
    assert linear[1] < linear[0]
    assert search.score(X, y + X[:, 1]) > 0.9


# --------------------------------------------------------------------- finish
def bowl(x):
    """A quadratic of very unequal curvatures with its minimum at (1, 2, 3)."""
    curvature = np.array([1.0, 100.0, 0.01])
    away = x - [1.0, 2.0, 3.0]
    return 0.5 * curvature @ away**2, curvature * away


WIDE = np.tile([-10.0, 10.0], (3, 1))


def test_a_finish_with_the_right_curvature_takes_one_step():
    x, n_evaluations, converged = finish(bowl, np.zeros(3), np.diag([1.0, 0.01, 100.0]), WIDE)
    assert np.allclose(x, [1.0, 2.0, 3.0])
    assert n_evaluations == 2
    assert converged


def test_a_finish_learns_curvature_and_shortens_steps():
    x, n_evaluations, converged = finish(bowl, np.zeros(3), np.diag([1.0, 1.0, 100.0]), WIDE)
    assert bowl(x)[0] < 1e-3
    assert converged
    assert n_evaluations <= 20
    assert not finish(bowl, np.zeros(3), 1e-3 * np.eye(3), WIDE, max_steps=1)[2]


def test_a_finish_stays_within_bounds():
    bounds = np.array([[0.0, 0.0], [-10.0, 1.5], [-10.0, 10.0]])
    x, _, converged = finish(bowl, np.zeros(3), np.diag([1.0, 0.01, 100.0]), bounds)
    assert np.allclose(x, [0.0, 1.5, 3.0])
    assert converged


def test_a_finish_that_cannot_descend_stays():
    x, n_evaluations, converged = finish(
        lambda x: (float(np.abs(x).sum()), np.ones(3)), np.zeros(3), np.eye(3), WIDE
    )
    assert np.all(x == 0.0)
    assert converged
    assert n_evaluations == 7  # the start, and six lengths of a step
