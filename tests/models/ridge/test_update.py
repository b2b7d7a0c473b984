"""Rows added to a ridge on explicit features, and sites joined: the fit to all rows."""

import numpy as np
import pytest
from scipy import sparse

from pellucid import KernelRidge, KernelRidgeClassifier, load, merge, save
from pellucid.exceptions import WeightWarning
from pellucid.kernels import RBF, Linear, Polynomial

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(2.0, 1.0, (N, 4)) * [1.0, 10.0, 0.1, 1.0]
Y = np.column_stack([X @ [1.0, 0.1, 3.0, 0.0] + 100.0, X[:, 0] * X[:, 3]]) + 0.3 * RNG.normal(size=(N, 2))
W = RNG.integers(0, 3, N).astype(float)
PARTS = [slice(0, 50), slice(50, 90), slice(90, N)]
READ = ("predict", "coef_", "intercept_", "effective_dof_", "scale_", "noise_variance_")


def agree(model, joint, rows=X, names=READ):
    for name in names:
        ours, theirs = (getattr(m, name) for m in (model, joint))
        ours, theirs = (v(rows) if callable(v) else v for v in (ours, theirs))
        theirs = np.asarray(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max(), err_msg=name)


@pytest.mark.parametrize(
    ("kernel", "fit_intercept", "weight", "alpha"),
    [
        ("linear", True, None, "loo"),
        ("linear", False, W, 0.3),
        ("polynomial", True, W, 0.3),
        (Linear(2.0), True, W, [0.1, 2.0]),
        (Linear(2.0), False, None, "loo"),
        (Polynomial(2, 3.0) + Linear(), True, None, 0.3),
    ],
)
def test_updates_in_any_pieces_are_the_fit_to_all_rows(kernel, fit_intercept, weight, alpha):
    some = [None if weight is None else weight[part] for part in PARTS]
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=fit_intercept, updatable=True)
    model.fit(X[PARTS[0]], Y[PARTS[0]], some[0])
    joint = model.refit(X, Y, weight)
    if alpha == "loo":  # a given alpha is the noise of a process of scale one
        joint._chosen = True
        joint.scale_ = np.full(2, np.nan)
    sites = [model, *(model.refit(X[p], Y[p], w) for p, w in zip(PARTS[1:], some[1:], strict=True))]
    joined = merge(sites[::-1] if alpha != "loo" else sites)
    for part, w in zip(PARTS[1:], some[1:], strict=True):
        assert model.update(X[part], Y[part], w) is model
    if alpha == "loo":
        joint.scale_ = model.scale_
    agree(model, joint)
    agree(joined, joint)
    assert "rows" in str(model.summary())


def test_the_scale_of_a_chosen_alpha_is_that_of_all_rows():
    first = KernelRidge(Linear(), alpha="loo", updatable=True).fit(X[:50], Y[:50, 0])
    joint = KernelRidge(Linear(), alpha="loo", alphas=[first.alpha_]).fit(X, Y[:, 0])
    agree(first.update(X[50:], Y[50:, 0]), joint)


def test_sparse_rows_are_added_to_sparse_and_to_dense_ones():
    S = sparse.csr_array(np.where(RNG.random(X.shape) < 0.4, X, 0.0))
    joint = KernelRidge(Linear(), alpha=0.5).fit(S, Y)
    for first, second in ((S, S), (S.toarray(), S), (S, S.toarray())):
        model = KernelRidge(Linear(), alpha=0.5, updatable=True).fit(first[:70], Y[:70])
        agree(model.update(second[70:], Y[70:]), joint, S)


@pytest.mark.parametrize("reading", ["counts", "precision"])
def test_weights_are_read_off_all_rows_together(reading):
    w = np.append(np.full(60, 20.0), np.full(60, 0.01))
    make = KernelRidge(Linear(), alpha=2.0, weights=reading, updatable=True)
    joint = KernelRidge(Linear(), alpha=2.0, weights=reading).fit(X, Y, w)
    model = make.fit(X[:60], Y[:60], w[:60]).update(X[60:], Y[60:], w[60:])
    agree(model, joint, names=READ if reading == "counts" else READ[:4])  # the rest counts rows then


def test_weights_that_cannot_be_counts_are_read_so_only_once_all_are_there():
    w = np.full(N, 50.0)
    with pytest.warns(WeightWarning):
        model = KernelRidge(Linear(), alpha=2.0, updatable=True).fit(X[:60], Y[:60], w[:60])
    agree(model.update(X[60:], Y[60:], w[60:]), KernelRidge(Linear(), alpha=2.0).fit(X, Y))


def test_what_only_rows_can_tell_is_gone_and_says_so():
    model = KernelRidge(Linear(), alpha=0.5, updatable=True).fit(X[:50], Y[:50, 0])
    model.update(X[50:], Y[50:, 0])
    for ask in (
        lambda: model.predict(X, return_std=True),
        lambda: model.predict_interval(X),
        lambda: model.influence(X),
        lambda: model.linear_view(),
        lambda: model.marginal_effects(),
    ):
        with pytest.raises(ValueError, match="refit"):
            ask()
    with pytest.raises(AttributeError, match="refit"):
        model.loo_  # noqa: B018
    assert model.linear_view(X).coef.shape == (4,)
    assert len(model.fit(X, Y[:, 0]).loo_.residuals) == N


def test_updated_models_are_saved_and_go_on(tmp_path):
    model = KernelRidge("polynomial", updatable=True).fit(X[:50], Y[:50, 0]).update(X[50:90], Y[50:90, 0])
    save(model, tmp_path / "m.pellucid")
    again = load(tmp_path / "m.pellucid").update(X[90:], Y[90:, 0])
    agree(again, model.update(X[90:], Y[90:, 0]))


def test_what_cannot_be_added_is_refused():
    with pytest.raises(ValueError, match="explicit features"):
        KernelRidge(RBF(), alpha=1.0, updatable=True).fit(X, Y)
    plain = KernelRidge(Linear(), alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="updatable=True"):
        plain.update(X, Y)
    model = KernelRidge(Linear(), alpha=1.0, updatable=True).fit(X, Y)
    with pytest.raises(ValueError, match="2 outputs"):
        model.update(X, Y[:, 0])
    with pytest.raises(ValueError, match="features"):
        model.update(X[:, :2], Y)
    with pytest.raises(ValueError, match="NaN"):
        model.update(np.full_like(X, np.nan), Y)
    assert model.sums_.n_rows == N
    others = [
        (KernelRidge(Linear(2.0), alpha=1.0, updatable=True), "kernel"),
        (KernelRidge(Linear(), alpha=2.0, updatable=True), "alpha"),
        (KernelRidge(Linear(), alpha=1.0, fit_intercept=False, updatable=True), "fit_intercept"),
    ]
    for other, what in others:
        with pytest.raises(ValueError, match=what):
            merge([model, other.fit(X, Y)])
    with pytest.raises(ValueError, match="twice"):
        merge([model, model])
    with pytest.raises(ValueError, match="cannot be merged"):
        merge([KernelRidgeClassifier().fit(X, X[:, 0] > 2.0)])
