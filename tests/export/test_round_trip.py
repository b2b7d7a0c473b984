"""What comes back is what was saved, bit for bit, for every estimator that pellucid exports."""

import inspect
import warnings

import numpy as np
import pytest
from model_files import difference, saved
from saved_models import data, exported, fitted, new_rows, variants
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pellucid
from pellucid import InterpretableKernelRegressor, KernelRidge, load
from pellucid.kernels import RBF, Categorical
from pellucid.kernels.base import REGISTRY

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


def assert_round_trip(model, rows=None):
    rows = new_rows(model) if rows is None else rows
    content = saved(model)
    back = load(content)
    assert difference(model, back) is None
    assert saved(back) == content
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


@pytest.mark.parametrize("label", variants())
def test_variants(label):
    model, options = variants()[label]
    assert_round_trip(fitted(model, **options))


OURS = sorted(name for name, cls in REGISTRY.items() if cls.__module__.startswith("pellucid."))


@pytest.mark.parametrize("name", OURS)
def test_every_kernel(name):
    rows = np.c_[data().X[:9], np.arange(9) % 2]
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
    K, cross = RBF(0.5)(data().X), RBF(0.5)(data().new, data().X)
    model = KernelRidge("precomputed").fit(K, data().counts, sample_weight=data().weight)
    back = load(saved(model))
    assert difference(model, back) is None
    assert back.predict(cross).tobytes() == model.predict(cross).tobytes()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_feature_names_and_text_columns(kind):
    module = pytest.importorskip(kind)
    names = ["größe", "<b>a</b>", "col\nour"]
    colours = np.array(["red", "green", "blue"])[np.arange(36) % 3]
    frame = module.DataFrame({names[0]: data().X[:, 0], names[1]: data().X[:, 1], names[2]: colours})
    kernel = RBF(0.5).on(names[:2]) + Categorical().on([names[2]])
    model = KernelRidge(kernel).fit(frame, data().counts)
    back = load(saved(model))
    assert difference(model, back) is None
    assert list(back.feature_names_in_) == names
    assert back.predict(frame).tobytes() == model.predict(frame).tobytes()
    assert list(pellucid.export.describe(saved(model)).feature_names) == names


def test_pipeline_with_encoder():
    colours = np.array(["red", "green", "blue"])[np.arange(36) % 3][:, None]
    model = make_pipeline(OneHotEncoder(sparse_output=False), KernelRidge("linear")).fit(
        colours, data().counts
    )
    back = load(saved(model))
    assert back.predict(colours).tobytes() == model.predict(colours).tobytes()


def test_float32_and_memory_maps(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, data().X.astype(np.float32))
    rows = np.load(path, mmap_mode="r")
    model = InterpretableKernelRegressor("linear", alpha=1.0, certify=0).fit(rows, data().counts)
    back = assert_round_trip(model, data().new.astype(np.float32))
    path.unlink()
    kept = [value for value in vars(back).values() if isinstance(value, np.memmap)]
    assert not kept
    assert np.isfinite(back.predict(data().X)).all()


def test_stability_keeps_what_is_shared():
    result = pellucid.stability(
        KernelRidge("linear", alpha=1.0), data().X, data().counts, n_splits=3, random_state=0
    )
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
    content = saved(model)
    model.predict(data().X, return_std=True)
    assert "_posterior" in vars(model)
    assert saved(model) == content


def test_order_in_memory_is_kept():
    model = fitted(KernelRidge(alpha=1.0))
    model.f_, model.strided_ = np.asfortranarray(data().X), data().X[::2, ::2]
    model.turned_ = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
    back = load(saved(model))
    assert back.f_.flags.f_contiguous
    assert not back.f_.flags.c_contiguous
    assert back.strided_.flags.c_contiguous
    assert difference(model, back) is None
