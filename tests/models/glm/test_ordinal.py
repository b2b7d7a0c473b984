"""Proportional odds against statsmodels; order of the classes; leave-one-out; files."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pellucid import InterpretableKernelClassifier, KernelClassifier, load, save, to_onnx, to_sql
from pellucid.kernels import RBF, Linear

rng = np.random.default_rng(0)
N = 250
X = rng.normal(size=(N, 2))
Y = np.digitize(X @ [1.0, -0.7] + rng.logistic(size=N), [-1.0, 0.3, 2.0])


@pytest.fixture(scope="module")
def model():
    return KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, Y)


def test_the_ordered_model_of_statsmodels():
    other = OrderedModel(Y, X, distr="logit").fit(disp=0, method="newton", maxiter=100)
    model = KernelClassifier(Linear(), loss="ordinal", alpha=1e-8).fit(X, Y)
    np.testing.assert_allclose(model.linear_view().coef, other.params[:2], atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), other.predict(X), atol=1e-6)


def test_two_classes_are_logistic():
    ordinal = KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, Y > 1)
    logistic = KernelClassifier(RBF(1.5), alpha=0.5).fit(X, Y > 1)
    np.testing.assert_array_equal(ordinal.predict_proba(X), logistic.predict_proba(X))


def test_weight_two_is_the_row_twice(model):
    times = rng.integers(0, 3, N)
    weighted = KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, Y, times)
    twin = KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(
        np.repeat(X, times, 0), np.repeat(Y, times)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), twin.predict_proba(X), atol=1e-8)


def test_scores_probabilities_and_labels_agree(model):
    P = model.predict_proba(X)
    assert P.shape == model.decision_function(X).shape == (N, 4)
    np.testing.assert_allclose(np.exp(model.decision_function(X)), P, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), P.argmax(axis=1))
    shifted = model.predict_proba(X, offset=np.full(N, 3.0))
    assert np.all(shifted.cumsum(axis=1)[:, :-1] < P.cumsum(axis=1)[:, :-1])


def test_the_order_is_that_of_the_categories():
    names = np.array(["none", "low", "middle", "high"])
    grades = pd.Series(pd.Categorical(names[Y], categories=names, ordered=True))
    model = KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, grades)
    assert list(model.classes_) == list(names)
    again = KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), names[again.predict(X)])
    with pytest.raises(ValueError, match="order of the classes"):
        KernelClassifier(RBF(1.5), loss="ordinal", alpha=0.5).fit(X, names[Y])


def test_leave_one_out_is_near_refits():
    rows = np.arange(60)
    from pellucid.losses import Ordinal
    from pellucid.solvers import GLMProblem, fit_joint

    p = GLMProblem(Y[:60].astype(float), np.ones(60), np.zeros(60), Ordinal.of_classes(4))
    fit = fit_joint(X[:60], p, 1.0)
    near = fit.loss.value(p.y, fit.loo_eta(X[:60], p, np.ones(60)))
    true = np.empty(60)
    for i in rows:
        part = fit_joint(np.delete(X[:60], i, 0), p.rows(np.delete(rows, i)), 1.0)
        true[i] = part.loss.value(p.y[[i]], X[[i]] @ part.delta + part.intercept)[0]
    inside = fit.loss.value(p.y, fit.eta)
    assert abs(near.mean() - true.mean()) < 0.5 * (true.mean() - inside.mean())
    assert np.corrcoef(near - inside, true - inside)[0, 1] > 0.8


@pytest.mark.parametrize("alpha", ["cv", "loo"])
def test_alpha_is_chosen_and_probabilities_are_calibrated(alpha):
    u = rng.uniform(-2, 2, size=(1200, 1))
    y = np.digitize(2 * np.sin(2 * u[:, 0]) + rng.logistic(size=1200), [-1.0, 1.0])
    P = KernelClassifier(loss="ordinal", alpha=alpha).fit(u[:400], y[:400]).predict_proba(u[400:])
    for c in range(3):
        for rows in np.array_split(np.argsort(P[:, c]), 4):
            assert np.mean(y[400:][rows] == c) == pytest.approx(P[rows, c].mean(), abs=0.1)


def test_files(model, tmp_path):
    save(model, tmp_path / "m.pellucid")
    copy = load(tmp_path / "m.pellucid")
    assert copy.loss_ == model.loss_
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    label, P = session.run(["label", "probabilities"], {"X": X})
    np.testing.assert_allclose(P, model.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(X))
    linear = KernelClassifier(Linear(), loss="ordinal", alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="cannot write ordinal classes"):
        to_sql(linear)


def test_coefficients_do_not_take_it():
    with pytest.raises(ValueError, match=r"Known names: hinge, logistic, multinomial, squared_hinge\.$"):
        InterpretableKernelClassifier(loss="ordinal").fit(X, Y)
