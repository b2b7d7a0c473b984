import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_moons
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pellucid.kernels import RBF, Linear, Matern

KERNELS = [RBF(0.5), 2.0 * RBF([0.5, 1.0]) + Linear() * 0.1, (Matern(0.7) + 0.5) ** 2]


@pytest.fixture(scope="module", name="moons")
def _moons():
    return make_moons(60, noise=0.2, random_state=0)


@pytest.mark.parametrize("kernel_", KERNELS)
def test_support_vectors(kernel_, moons):
    X, y = moons
    ours = SVC(kernel=kernel_).fit(X[:40], y[:40])
    ready = SVC(kernel="precomputed").fit(kernel_(X[:40]), y[:40])
    assert_allclose(ours.decision_function(X), ready.decision_function(kernel_(X, X[:40])))


@pytest.mark.parametrize("kernel_", KERNELS)
def test_principal_components(kernel_, moons):
    X, _ = moons
    ours = KernelPCA(3, kernel=kernel_).fit(X[:40])
    ready = KernelPCA(3, kernel="precomputed").fit(kernel_(X[:40]))
    assert_allclose(ours.eigenvalues_, ready.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(ours.transform(X)), np.abs(ready.transform(kernel_(X, X[:40]))), atol=1e-9)


def test_clusters(moons):
    X, _ = moons
    kernel = RBF(0.3)
    ours = SpectralClustering(2, affinity=kernel, random_state=0).fit_predict(X)
    ready = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(kernel(X))
    assert_array_equal(ours, ready)


def test_whole_matrices_at_once(moons, monkeypatch):
    """A callable is called for each pair of rows, unless scikit-learn takes it for one of its own kernels."""
    shapes = []
    original = RBF._gram
    monkeypatch.setattr(
        RBF, "_gram", lambda self, X, Y: shapes.append((len(X), len(Y))) or original(self, X, Y)
    )
    pairwise_kernels(moons[0], metric=RBF())
    assert shapes == [(60, 60)]


def test_grid_search_over_parts(moons):
    X, y = moons
    kernel = RBF(1.0) + 0.1 * Linear()
    scales = [0.1, 0.5, 5.0]
    search = GridSearchCV(SVC(kernel=kernel), {"kernel__rbf__length_scale": scales}, cv=3).fit(X, y)
    by_hand = [
        GridSearchCV(SVC(kernel=RBF(s) + 0.1 * Linear()), {"C": [1.0]}, cv=3).fit(X, y).best_score_
        for s in scales
    ]
    assert_allclose(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_estimator_.kernel == RBF(scales[int(np.argmax(by_hand))]) + 0.1 * Linear()
    assert kernel == RBF(1.0) + 0.1 * Linear()


def test_grid_search_over_kernels_in_a_pipeline(moons):
    X, y = moons
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(pipeline, {"svc__kernel": KERNELS}, cv=3).fit(X, y)
    assert search.best_params_["svc__kernel"] in KERNELS


def test_estimators_clone_with_their_kernel():
    model = SVC(kernel=RBF(2.0) + Linear())
    again = clone(model)
    assert again.kernel == model.kernel
    assert again.kernel is not model.kernel
    again.set_params(kernel__rbf__length_scale=7.0)
    assert model.kernel == RBF(2.0) + Linear()
