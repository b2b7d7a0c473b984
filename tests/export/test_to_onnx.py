"""Graphs, run by onnxruntime or by onnx's own evaluator, against ``predict``."""

import json
import subprocess
import sys

import numpy as np
import pytest
from export_models import HOSTILE, KINDS, fitted, said

import pellucid
from pellucid import kernels as ks

# rows of these tests have levels that training did not have
pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.UnseenLevelWarning")

onnx = pytest.importorskip("onnx")

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=60)
NEW = np.vstack([rng.normal(size=(20, 3)), X[:5], 50 * rng.normal(size=(3, 3))])


def feed(model, graph, rows):
    """Inputs of a graph from a table."""
    if [i.name for i in graph.graph.input] == ["X"]:
        return {"X": np.asarray(rows, dtype=float)}
    feeds = {}
    for name in rows.columns:
        values = rows[name].to_numpy()
        if values.dtype == object:
            values = np.array(["" if v is None or v != v else v for v in values], dtype=object)
        feeds[name] = values[:, None]
    return feeds


def run(graph, feeds):
    """Outputs by name."""
    names = [o.name for o in graph.graph.output]
    if onnxruntime is None:
        from onnx.reference import ReferenceEvaluator

        return dict(zip(names, ReferenceEvaluator(graph).run(None, feeds), strict=True))
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(None, feeds), strict=True))


def check(model, rows, tolerance=1e-9):
    graph = pellucid.to_onnx(model)
    got = run(graph, feed(model, graph, rows))
    want = said(model, "predict", rows)
    if hasattr(model, "classes_"):
        assert got["label"].tolist() == want.tolist()
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(
                got["probabilities"], said(model, "predict_proba", rows), atol=tolerance
            )
        else:
            scores = said(model, "decision_function", rows).reshape(len(rows), -1)
            np.testing.assert_allclose(got["scores"], scores, rtol=tolerance, atol=tolerance)
    else:
        assert got["prediction"].shape == want.shape
        np.testing.assert_allclose(got["prediction"], want, rtol=tolerance, atol=tolerance)
    if hasattr(model, "contributions"):
        np.testing.assert_allclose(got["contributions"], model.contributions(rows), atol=tolerance)
        notes = {p.key: p.value for p in graph.metadata_props}
        assert json.loads(notes["terms"]) == list(model.term_names_)
    return graph


@pytest.mark.parametrize("kind", KINDS)
def test_graph_predicts_what_the_model_predicts(kind):
    check(*fitted(kind))


@pytest.mark.parametrize(
    "kernel",
    [
        ks.RBF(np.array([1.0, 2.0, 0.5])),
        ks.Matern(1.5, nu=0.5),
        ks.Matern(1.5, nu=1.5),
        ks.Matern(1.5, nu=2.5),
        ks.RationalQuadratic(1.2, 0.7),
        ks.Laplacian(2.0),
        ks.Periodic(3.0, np.array([1.0, 2.0, 3.0])),
        ks.Polynomial(3, length_scale=2.0, bias=0.5, origin=0.1),
        ks.AdditivePairs("matern", 0.9),
        ks.AdditivePairs("rbf"),
        0.5 + 2.0 * ks.RBF(1.0).on([0, -1]) * ks.Linear().on([1]) + ks.Matern(2.0) ** 2,
        (0.1 * ks.Linear()).exp(),
    ],
    ids=str,
)
def test_kernels(kernel):
    rows = NEW[:-3] if isinstance(kernel, ks.Exponential) else NEW
    check(pellucid.KernelRidge(kernel, alpha=0.1).fit(X, y), rows, 1e-7)


@pytest.mark.parametrize(
    "model",
    [
        pellucid.KernelRidge(),
        pellucid.KernelRidge("matern"),
        pellucid.KernelRidgeClassifier(),
        pellucid.KernelFisherDiscriminant(),
        pellucid.KernelClassifier(alpha=0.1),
        pellucid.KernelClassifier(alpha=0.1, loss="hinge"),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_kernel_models(model, classes):
    from sklearn.base import clone, is_classifier

    target = y if not is_classifier(model) else np.digitize(y, np.quantile(y, [0.4, 0.7][: classes - 1])) * 10
    check(clone(model).fit(X, target), NEW, 1e-7)


def test_counts_several_targets_many_columns_and_searches():
    counts = np.round(np.exp(y / 2))
    check(pellucid.KernelGLMRegressor(alpha=1.0).fit(X, counts), NEW, 1e-7)
    check(pellucid.KernelRidge(alpha=0.1).fit(X, np.column_stack([y, -y])), NEW, 1e-7)
    wide = rng.normal(size=(50, 40)) + 100.0
    check(pellucid.KernelRidge(ks.RBF(8.0), alpha=0.1).fit(wide, wide[:, 0]), wide + 0.1, 1e-7)
    search = pellucid.LooSearch(pellucid.KernelRidge(ks.RBF()), {"alpha": [0.1, 1.0]}).fit(X, y)
    got = run(pellucid.to_onnx(search), {"X": NEW})["prediction"]
    np.testing.assert_allclose(got, search.predict(NEW), atol=1e-7)


def test_names_of_inputs_and_outputs(tmp_path):
    model, rows = fitted("additive gaps")
    path = tmp_path / "model.onnx"
    graph = pellucid.to_onnx(model, path)
    assert onnx.load(path) == graph
    assert [i.name for i in graph.graph.input] == list(HOSTILE)
    renamed = rows.rename(columns=dict(zip(HOSTILE, ["prediction", "p1", "contributions"], strict=True)))
    train = pytest.importorskip("export_models").frame(gaps=True)
    other = pellucid.SparseAdditiveRegressor(0.02, n_basis=4)
    complete = train[0].dropna().set_axis(renamed.columns, axis=1)
    other.fit(complete, train[1][complete.index])
    graph = pellucid.to_onnx(other)
    assert [o.name for o in graph.graph.output] == ["prediction_", "contributions_"]
    got = run(graph, feed(other, graph, complete))
    np.testing.assert_allclose(got["prediction_"], other.predict(complete), atol=1e-9)


@pytest.mark.parametrize("kind", ["sparse", "isk", "coefficients"])
def test_nothing_comes_of_a_value_that_is_needed_and_missing(kind):
    model, rows = fitted(kind)
    holes = rows.copy()
    for j in range(rows.shape[1]):
        holes.iloc[j, j] = np.nan
    graph = pellucid.to_onnx(model)
    got = run(graph, feed(model, graph, holes))["prediction"]
    n = rows.shape[1]
    assert np.isnan(got[:n]).all()
    np.testing.assert_allclose(got[n:], said(model, "predict", rows)[n:], atol=1e-9)


def test_a_model_without_terms():
    model = pellucid.SparseAdditiveRegressor(100.0, n_basis=3).fit(X, y)
    graph = pellucid.to_onnx(model)
    np.testing.assert_allclose(run(graph, {"X": NEW})["prediction"], model.predict(NEW), atol=1e-12)


def test_what_has_no_graph():
    with pytest.raises(ValueError, match=r"no formula for the kernel NTK.*it has for RBF"):
        pellucid.to_onnx(pellucid.KernelRidge(ks.NTK(), alpha=1.0).fit(X, y))
    with pytest.raises(ValueError, match=r"no formula|something else"):
        pellucid.to_onnx(pellucid.KernelRidge("precomputed", alpha=1.0).fit(X @ X.T, y))
    with pytest.raises(ValueError, match=r"no formula|something else"):
        pellucid.to_onnx(pellucid.KernelRidge(lambda a, b: float(a @ b), alpha=1.0).fit(X, y))


def test_too_many_rows(monkeypatch):
    monkeypatch.setattr("pellucid.export.onnx.model._MOST_NUMBERS", 100)
    with pytest.raises(ValueError, match="60 training rows of 3 features, too many for a graph"):
        pellucid.to_onnx(pellucid.KernelRidge(alpha=1.0).fit(X, y))


def test_without_the_package():
    code = (
        "import sys; sys.modules['onnx'] = None; import numpy as np, pellucid\n"
        "model = pellucid.KernelRidge(alpha=1.0).fit(np.eye(3), [1.0, 2.0, 3.0])\n"
        "try: pellucid.to_onnx(model)\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "to_onnx needs the package onnx: pip install 'pellucid[onnx]'\n"


@pytest.mark.parametrize("kind", ["additive three", "isk", "coefficients three"])
def test_reference_evaluator_agrees(kind, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "onnxruntime", None)
    check(*fitted(kind))
