"""Half a screen about a model."""

import numpy as np
import pytest
from oracles import blobs, curve

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier
from pellucid.effects import Summary
from pellucid.kernels import RBF

X, Y = curve(30, 2, q=2)


def test_a_regression_tells_what_was_fitted():
    model = KernelRidge("matern").fit(X, Y[:, 0])
    summary = model.summary()
    facts = dict(summary.facts)
    text = str(summary)
    assert text.splitlines()[0] == "KernelRidge"
    assert facts["rows"] == 30
    assert "Matern(length_scale=" in facts["kernel"]
    assert "chosen by loo" in facts["alpha"]
    assert facts["solver"].startswith("spectral: one decomposition")
    assert float(facts["leave-one-out RMSE"]) == model.loo_.rmse
    assert float(facts["leave-one-out R²"][0]) == pytest.approx(1 - model.loo_.mse / Y[:, 0].var())
    assert f"{model.loo_.rmse:.5g}" in text
    assert repr(summary) == text
    assert len(text.splitlines()) < 15


def test_an_alpha_at_the_end_of_the_path_is_pointed_out():
    low = KernelRidge(RBF(), alphas=[10.0, 100.0]).fit(X, Y[:, 0])
    high = KernelRidge(RBF(), alphas=[1e-12, 1e-11]).fit(X, np.random.default_rng(0).normal(size=30))
    assert "the smallest tried" in dict(low.summary().facts)["alpha"]
    assert "the largest tried" in dict(high.summary().facts)["alpha"]
    assert "given" in dict(KernelRidge(RBF(), alpha=1.0).fit(X, Y).summary().facts)["alpha"]


def test_several_outputs_and_classes():
    text = str(KernelRidge(RBF(), alpha_per_output=True).fit(X, Y).summary())
    assert "leave-one-out RMSE" in text
    rows, labels = blobs(3)
    model = KernelRidgeClassifier(RBF()).fit(rows, labels)
    assert dict(model.summary().facts)["leave-one-out error rate"] == model.loo_.error_rate
    assert "0, 1, 2" in str(model.summary())
    discriminant = KernelFisherDiscriminant(RBF()).fit(rows, labels)
    assert np.array_equal(
        dict(discriminant.summary().facts)["variance between classes"], discriminant.explained_
    )


def test_a_constant_has_no_share_of_variance():
    facts = dict(KernelRidge(RBF()).fit(X, np.full(30, 2.0)).summary().facts)
    assert facts["leave-one-out RMSE"] == 0
    assert "leave-one-out R²" not in facts


def test_one_row_left_out_leaves_none():
    facts = dict(KernelRidge(RBF(), alpha=1.0).fit(X[:1], [2.0]).summary().facts)
    assert facts["rows"] == 1
    assert not any("leave-one-out" in label for label in facts)


def test_leave_one_out_is_shown_shortly():
    X, Y = curve(60, 2, q=2)
    assert repr(KernelRidge(RBF(), alpha=0.1).fit(X, Y[:, 0]).loo_).startswith("LeaveOneOut(60 rows, rmse=")
    assert repr(KernelRidge(RBF()).fit(X, Y).loo_).count(", ") == 2
    model = KernelRidgeClassifier(RBF()).fit(X, Y[:, 0] > np.median(Y[:, 0]))
    assert "error_rate=" in repr(model.loo_)
    assert repr(model.loo_.path).startswith("AlphaPath(37 alphas from ")


def test_values_are_rendered_shortly():
    text = str(Summary("T", [("a", np.arange(9.0)), ("bb", "word"), ("c", 1 / 3)]))
    assert "0, 1, 2, 3, 4, 5, ... (9 values)" in text
    assert "bb  word" in text
    assert "c   0.33333" in text
    assert str(Summary("T", [])) == "T\n-"
