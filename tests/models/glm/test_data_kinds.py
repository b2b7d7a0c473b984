"""Data frames, strings, kernel matrices, copies: what goes in and what comes back."""

import pickle

import numpy as np
import pytest
from glm_oracles import rbf, sample
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelGLMRegressor,
)
from pellucid.kernels import RBF, Precomputed

MODELS = {
    "poisson": KernelGLMRegressor(RBF(), alpha=1.0),
    "multinomial": KernelClassifier(RBF(), alpha=1.0),
    "hinge": KernelClassifier("rbf", loss="hinge", alpha=1.0),
    "squared": InterpretableKernelRegressor(RBF(3.0), alpha=1.0, certify=0),
    "logistic": InterpretableKernelClassifier(RBF(3.0), alpha=1.0, certify=0, n_components=20),
}


@pytest.mark.parametrize("name", MODELS)
def test_pickled_models_predict_the_same(name):
    X, y = sample(name)
    model = clone(MODELS[name]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert str(model.summary()) == str(again.summary())


@pytest.mark.parametrize("name", MODELS)
def test_fitting_twice_is_fitting_once(name):
    X, y = sample(name)
    model = clone(MODELS[name]).fit(X[:30], y[:30])
    np.testing.assert_array_equal(model.fit(X, y).predict(X), clone(MODELS[name]).fit(X, y).predict(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_data_frames(library):
    frames = pytest.importorskip(library)
    X, y = sample("squared")
    table = frames.DataFrame(dict(zip("abc", X.T, strict=True)))
    model = clone(MODELS["squared"]).fit(table, y)
    assert list(model.coefficient_frame().index) == ["a", "b", "c"]
    assert model.linear_view().names == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict(table), clone(MODELS["squared"]).fit(X, y).predict(X), atol=1e-12
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"a": "z"}) if library == "pandas" else table.rename({"a": "z"}))


def test_without_names_features_are_numbered():
    X, y = sample("squared")
    assert list(clone(MODELS["squared"]).fit(X, y).coefficient_frame().index) == ["x0", "x1", "x2"]


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


def test_strings_as_rows():
    words = ["abc", "abe", "ace", "bce", "xyz", "xyw", "xzw", "yzw"]
    y = np.repeat(["left", "right"], 4)
    model = KernelClassifier(shared_letters, alpha=0.1).fit(words, y)
    assert list(model.predict(["ab", "zw"])) == ["left", "right"]
    assert model.score(words, y) == 1
    landmarks = KernelClassifier(shared_letters, alpha=0.1, n_components=6).fit(words, y)
    assert landmarks.score(words, y) == 1


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed(), 1.0 * Precomputed()])
def test_kernel_matrices(kernel):
    X, y = sample("poisson")
    K, K_new = rbf(X), rbf(X[:7] + 0.1, X)
    model = KernelGLMRegressor(kernel, alpha=1.0).fit(K, y)
    other = KernelGLMRegressor(RBF.from_gamma(0.3), alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(K_new), other.predict(X[:7] + 0.1), rtol=1e-9)
    scores = cross_val_score(KernelGLMRegressor(kernel, alpha=1.0), K, y, cv=3)
    np.testing.assert_allclose(
        scores, cross_val_score(KernelGLMRegressor(RBF.from_gamma(0.3), alpha=1.0), X, y, cv=3), rtol=1e-8
    )


def test_single_precision():
    X, y = sample("logistic")
    one = KernelClassifier(RBF(), alpha=1.0).fit(X.astype(np.float32), y)
    other = KernelClassifier(RBF(), alpha=1.0).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)


def test_labels_of_any_kind():
    X, y = sample("multinomial")
    words = np.array(["no", "maybe", "yes"])[y]
    model = KernelClassifier(RBF(), alpha=0.1).fit(X, words)
    assert list(model.classes_) == ["maybe", "no", "yes"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert set(model.predict(X)) <= set(words)


def test_in_pipelines_and_searches():
    X, y = sample("logistic")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelClassifier(RBF(), alpha=1.0)),
        {
            "kernelclassifier__kernel__length_scale": [0.5, 2.0],
            "kernelclassifier__loss": ["logistic", "hinge"],
        },
    )
    assert search.fit(X, y).best_score_ > 0.5


def test_the_caller_may_go_on_to_change_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.poisson(2.0, 30)
    new = rng.normal(size=(5, 2))
    model = KernelGLMRegressor(alpha=1.0).fit(X, y)
    before = model.predict(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.predict(new), before)
