"""The laws of kernels on the objects that each kernel of objects gives for them."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from pellucid import (
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    kernels,
    load,
    save,
)
from pellucid.kernels import RBF, CountedParts, MeanEmbedding
from pellucid.kernels.base import object_rows

NAMES = {name: getattr(kernels, name) for name in kernels.__all__}


def rows_of(kernel):
    if type(kernel).__name__ in ("Tanimoto", "MinMax"):
        pytest.importorskip("rdkit")
    return kernel.example_rows()


def test_symmetric_positive_and_diagonal(object_kernel):
    rows = rows_of(object_kernel)
    K = object_kernel(rows)
    assert K.shape == (len(rows), len(rows))
    assert K.dtype == np.float64
    assert K.flags.c_contiguous
    assert K.flags.writeable
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    values = np.linalg.eigvalsh(object_kernel([*rows, *rows[:3]]))
    assert values[0] >= -1e-12 * values[-1]
    assert_allclose(object_kernel.diag(rows), np.diag(K), rtol=1e-12, atol=1e-14)
    if getattr(object_kernel, "normalise", False):
        assert_allclose(np.diag(K)[np.diag(K) > 0], 1.0, rtol=1e-12)


def test_values_do_not_depend_on_the_other_objects(object_kernel):
    rows = rows_of(object_kernel)
    K = object_kernel(rows)
    assert_allclose(object_kernel(rows, rows[:3]), K[:, :3], rtol=1e-12, atol=1e-14)
    assert_allclose(object_kernel(rows[1:], rows), K[1:], rtol=1e-12, atol=1e-14)
    for i, j in [(0, 0), (3, 1), (5, 2)]:
        assert_allclose(object_kernel([rows[i]], [rows[j]])[0, 0], K[i, j], rtol=1e-12, atol=1e-14)
    assert object_kernel([], rows).shape == (0, len(rows))
    assert object_kernel.diag([]).shape == (0,)


def test_columns_of_a_table(object_kernel):
    rows = rows_of(object_kernel)
    table = np.empty((len(rows), 2), dtype=object)
    table[:, 0] = np.arange(len(rows)) / 3.0
    table[:, 1] = object_rows(rows)
    together = 2.0 * object_kernel.on([1]) * RBF().on([0]) + 0.5
    expected = 2.0 * object_kernel(rows) * RBF()(table[:, :1].astype(float)) + 0.5
    assert_allclose(together(table), expected, rtol=1e-12)
    assert_allclose(together.diag(table), np.diag(expected), rtol=1e-12)
    squared = (object_kernel**2 + object_kernel.exp()).on([1])
    assert_allclose(squared(table), object_kernel(rows) ** 2 + np.exp(object_kernel(rows)), rtol=1e-12)


def test_features(object_kernel):
    count = object_kernel.feature_count(1)
    rows = object_kernel._rows(rows_of(object_kernel))
    if count is None:
        with pytest.raises(TypeError, match="no finite set of explicit features"):
            object_kernel.features(rows)
        return
    Phi = object_kernel.features(rows)
    assert Phi.shape == (len(rows), count)
    assert_allclose(Phi @ Phi.T, object_kernel(rows), rtol=1e-10, atol=1e-12)


def test_identity(object_kernel):
    rows = rows_of(object_kernel)
    again = eval(repr(object_kernel), NAMES)
    assert again == object_kernel
    assert repr(again) == repr(object_kernel)
    for copied in (clone, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))):
        assert copied(object_kernel) == object_kernel
        assert_array_equal(copied(object_kernel)(rows), object_kernel(rows))
    assert clone(object_kernel).set_params(**object_kernel.get_params()) == object_kernel
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        object_kernel.set_params(nonsense=1)
    assert_allclose(object_kernel.with_theta(object_kernel.theta).theta, object_kernel.theta, atol=1e-14)


def test_model_files(object_kernel, tmp_path):
    rows = rows_of(object_kernel)
    y = np.arange(len(rows)) % 3.0
    model = KernelRidge(object_kernel, alpha=0.1).fit(rows, y)
    save(model, tmp_path / "model")
    back = load(tmp_path / "model")
    assert back.kernel == object_kernel
    assert_array_equal(back.predict(rows), model.predict(rows))
    if isinstance(object_kernel, CountedParts):
        for one, other in zip(back.part_contributions(rows), model.part_contributions(rows), strict=True):
            assert one.parts == other.parts
            assert_array_equal(one.contributions, other.contributions)
            assert_array_equal(one.maps[0].on_labels, other.maps[0].on_labels)
        assert str(back.motifs()) == str(model.motifs())


def test_model_files_with_columns(object_kernel, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"object": object_rows(rows_of(object_kernel))})
    table["dose"] = np.arange(len(table)) / 3.0
    kernel = object_kernel.on("object") + RBF().on(["dose"])
    y = np.arange(len(table)) % 2
    for model in (
        KernelRidgeClassifier(kernel, alpha=0.1),
        KernelClassifier(kernel, alpha=0.1),
        KernelFisherDiscriminant(kernel, alpha=0.1),
        KernelGLMRegressor(kernel, alpha=0.1),
    ):
        model.fit(table, y)
        save(model, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").predict(table), model.predict(table))


def test_parameter_gradient_of_bags():
    kernel = MeanEmbedding(2.0 * RBF(0.7))
    rows = kernel._rows(kernel.example_rows())
    W = np.random.default_rng(3).normal(size=(len(rows), len(rows)))
    step = 1e-5
    expected = [
        np.sum(W * (kernel.with_theta(kernel.theta + d)(rows) - kernel.with_theta(kernel.theta - d)(rows)))
        / (2 * step)
        for d in step * np.eye(2)
    ]
    assert_allclose(kernel.parameter_gradient(rows, W), expected, rtol=1e-6)
