"""What comes back is what was saved, bit for bit, for every estimator that pellucid exports."""

import inspect
import warnings

import numpy as np
import pytest
from model_files import difference, saved
from sklearn.base import BaseEstimator, is_classifier
from sklearn.gaussian_process import kernels as gp
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    load,
    models,
    preprocessing,
)
from pellucid.kernels import NTK, RBF, AdditivePairs, Categorical, Linear, Matern, Periodic, Polynomial
from pellucid.kernels.base import REGISTRY

RNG = np.random.default_rng(3)
X = RNG.uniform(0.1, 1.0, (36, 3))  # positive: compositions, too, are fitted to it
NEW = RNG.uniform(0.1, 1.0, (7, 3))
COUNTS = RNG.poisson(np.exp(2.0 * X[:, 0])).astype(float)
LABELS = np.array(["no", "maybe", "yes"])[(3 * X[:, 1]).astype(int).clip(0, 2)]
TWO = np.where(X[:, 1] > 0.5, "yes", "no")
WEIGHT = RNG.integers(0, 3, 36).astype(float)
READINGS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "predict_interval",
    "contributions",
    "explain",
    "linear_view",
    "influence",
    "summary",
)


def exported():
    """Every estimator class in the public names, whoever added it."""
    found = {}
    for module in (pellucid, models, preprocessing):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                found[name] = value
    return [found[name] for name in sorted(found)]


def fitted(model, target=None, **options):
    y = target if target is not None else TWO if is_classifier(model) else COUNTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **options)


def readings(model, rows):
    """What a model says of new rows, by every method that it has."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in READINGS:
            method = getattr(model, name, None)
            if method is not None:
                found[name] = method() if name == "summary" else method(rows)
    return found


def assert_round_trip(model, rows=NEW):
    data = saved(model)
    back = load(data)
    assert difference(model, back) is None
    assert saved(back) == data
    before, after = readings(model, rows), readings(back, rows)
    assert before
    assert difference(before, after, "readings") is None
    if "summary" in before:
        assert str(before["summary"]) == str(after["summary"])
    assert difference(model, back) is None  # reading changed neither
    return back


@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
def test_every_estimator(cls):
    wraps = "estimator" in inspect.signature(cls).parameters
    model = cls(KernelRidge()) if wraps else cls()
    assert difference(model, load(saved(model))) is None  # before it is fitted
    assert_round_trip(fitted(model))


VARIANTS = {
    "weights, some of them zero": (KernelRidge(Matern(0.4)), {"sample_weight": WEIGHT}),
    "several outputs": (KernelRidge(alpha_per_output=True), {"target": np.c_[COUNTS, -COUNTS, X[:, 2]]}),
    "explicit features": (KernelRidge(Polynomial(2), solver="auto"), {}),
    "given alpha": (KernelRidge(RBF(0.3), alpha=0.1), {}),
    "two classes": (KernelRidgeClassifier(targets="fisher"), {"target": LABELS == "no"}),
    "classes as integers": (KernelFisherDiscriminant(), {"target": np.arange(36) % 4}),
    "three classes": (KernelRidgeClassifier(), {"target": LABELS}),
    "multinomial": (KernelClassifier(RBF(0.5), alpha=0.1), {"target": LABELS, "sample_weight": WEIGHT + 1.0}),
    "coefficients of three classes": (InterpretableKernelClassifier(RBF(), alpha=1.0), {"target": LABELS}),
    "hinge": (KernelClassifier(RBF(0.5), loss="hinge", alpha=0.1), {"target": LABELS == "no"}),
    "gamma, splitter": (KernelGLMRegressor(loss="gamma", cv=KFold(3)), {"target": COUNTS + 0.5}),
    "poisson, offset": (KernelGLMRegressor(RBF(0.5), alpha=1.0), {"offset": X[:, 0]}),
    "landmarks": (KernelGLMRegressor(RBF(0.5), alpha=1.0, n_components=12), {}),
    "coefficients": (InterpretableKernelRegressor(RBF(0.5), loss="poisson", alpha=1.0, certify=0), {}),
    "coefficients of classes": (
        InterpretableKernelClassifier(NTK(2), alpha=1.0, cv=StratifiedKFold(3)),
        {"target": LABELS == "no"},
    ),
    "search, grid": (LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.1, 1.0]}), {}),
    "search, grid of kernels": (LooSearch(KernelRidge(), {"kernel": [RBF(), "laplacian"]}), {}),
    "search, ard": (LooSearch(KernelRidgeClassifier(RBF()), ard=True), {"target": LABELS == "no"}),
    "pipeline": (make_pipeline(StandardScaler(), KernelRidge()), {}),
    "pipeline of compositions": (
        make_pipeline(preprocessing.IsometricLogRatio(), InterpretableKernelRegressor(alpha=1.0, certify=0)),
        {},
    ),
    "composed": (
        KernelRidge(2.0 * RBF(0.3).on([0]) + (Linear() + 1.0) ** 2 * Periodic(0.7).on([1]) + Linear().exp()),
        {},
    ),
    "pairs": (KernelRidge(AdditivePairs("rbf", 0.4)), {}),
    "kernel of scikit-learn": (KernelRidge(gp.ConstantKernel(2.0) * gp.RBF(0.5) + gp.DotProduct()), {}),
}


@pytest.mark.parametrize("label", VARIANTS)
def test_variants(label):
    model, options = VARIANTS[label]
    assert_round_trip(fitted(model, **options))


OURS = sorted(name for name, cls in REGISTRY.items() if cls.__module__.startswith("pellucid."))


@pytest.mark.parametrize("name", OURS)
def test_every_kernel(name):
    rows = np.c_[X[:9], np.arange(9) % 2]
    for kernel in REGISTRY[name].examples():
        if hasattr(kernel, "function"):
            with pytest.raises(pellucid.exceptions.ModelFileError, match=r"model\.function is a function"):
                saved(kernel)
            continue
        back = load(saved(kernel))
        assert difference(kernel, back) is None
        assert back == kernel
        assert repr(back) == repr(kernel)
        if kernel.vectors:
            assert back(rows).tobytes() == kernel(rows).tobytes()


def test_precomputed():
    K, cross = RBF(0.5)(X), RBF(0.5)(NEW, X)
    model = KernelRidge("precomputed").fit(K, COUNTS, sample_weight=WEIGHT)
    back = load(saved(model))
    assert difference(model, back) is None
    assert back.predict(cross).tobytes() == model.predict(cross).tobytes()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_feature_names_and_text_columns(kind):
    module = pytest.importorskip(kind)
    names = ["größe", "<b>a</b>", "col\nour"]
    colours = np.array(["red", "green", "blue"])[np.arange(36) % 3]
    frame = module.DataFrame({names[0]: X[:, 0], names[1]: X[:, 1], names[2]: colours})
    kernel = RBF(0.5).on(names[:2]) + Categorical().on([names[2]])
    model = KernelRidge(kernel).fit(frame, COUNTS)
    back = load(saved(model))
    assert difference(model, back) is None
    assert list(back.feature_names_in_) == names
    assert back.predict(frame).tobytes() == model.predict(frame).tobytes()
    assert list(pellucid.export.describe(saved(model)).feature_names) == names


def test_pipeline_with_encoder():
    colours = np.array(["red", "green", "blue"])[np.arange(36) % 3][:, None]
    model = make_pipeline(OneHotEncoder(sparse_output=False), KernelRidge("linear")).fit(colours, COUNTS)
    back = load(saved(model))
    assert back.predict(colours).tobytes() == model.predict(colours).tobytes()


def test_float32_and_memory_maps(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    rows = np.load(path, mmap_mode="r")
    model = InterpretableKernelRegressor("linear", alpha=1.0, certify=0).fit(rows, COUNTS)
    back = assert_round_trip(model, NEW.astype(np.float32))
    path.unlink()
    kept = [value for value in vars(back).values() if isinstance(value, np.memmap)]
    assert not kept
    assert np.isfinite(back.predict(X)).all()


def test_stability_keeps_what_is_shared():
    result = pellucid.stability(KernelRidge("linear", alpha=1.0), X, COUNTS, n_splits=3, random_state=0)
    back = load(saved(result))
    assert difference(result, back) is None
    assert str(back) == str(result)


def test_one_array_under_two_names_is_stored_once():
    model = fitted(KernelRidge(RBF(0.5), alpha=1.0))
    size = len(saved(model))
    model.again_ = model.X_fit_
    model.view_ = model.X_fit_[:]  # the same memory
    assert len(saved(model)) < size + 200
    back = load(saved(model))
    assert back.again_ is back.X_fit_
    assert back.kernel is back.kernel_ or model.kernel is not model.kernel_


def test_what_is_computed_on_demand_is_not_saved():
    model = fitted(KernelRidge(RBF(0.5), alpha=1.0))
    data = saved(model)
    model.predict(X, return_std=True)
    assert "_posterior" in vars(model)
    assert saved(model) == data


def test_order_in_memory_is_kept():
    model = fitted(KernelRidge(alpha=1.0))
    model.f_, model.strided_ = np.asfortranarray(X), X[::2, ::2]
    model.turned_ = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
    back = load(saved(model))
    assert back.f_.flags.f_contiguous
    assert not back.f_.flags.c_contiguous
    assert back.strided_.flags.c_contiguous
    assert difference(model, back) is None
