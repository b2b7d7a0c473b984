"""Models of sites that share no rows: joined they are the model of all rows."""

import copy

import numpy as np
import pytest

import pellucid
from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor, KernelClassifier, merge


def rows(n, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


X, Y = rows(500)
SITES = [slice(200), slice(200, 420), slice(420, 500)]


@pytest.fixture(scope="module")
def sites():
    first = AdditiveKernelRegressor(updatable=True).fit(X[SITES[0]], Y[SITES[0]])
    return [first, *(first.refit(X[rows], Y[rows]) for rows in SITES[1:])]


def test_sites_are_joined_through_files(sites, tmp_path):
    """The whole story: a structure is sent out, models of sums come back, and nothing else."""
    first = sites[0]
    pellucid.save(first.without_sums(), tmp_path / "structure.pellucid")
    files = [tmp_path / f"{k}.pellucid" for k in range(3)]
    pellucid.save(first, files[0])
    for file, there in zip(files[1:], SITES[1:], strict=True):
        pellucid.save(pellucid.load(tmp_path / "structure.pellucid").refit(X[there], Y[there]), file)
    joined = merge([pellucid.load(file) for file in files])
    joint = first.refit(X, Y)
    np.testing.assert_allclose(joined.predict(X), joint.predict(X), atol=1e-10)
    assert joined.scale_ == pytest.approx(joint.scale_, rel=1e-10)
    assert joined.n_rows_ == 500


def test_order_and_grouping_do_not_matter(sites):
    a, b, c = sites
    every = merge([a, b, c]).predict(X)
    for other in (merge([c, a, b]), merge([merge([a, b]), c]), merge([a, merge([c, b])])):
        np.testing.assert_allclose(other.predict(X), every, atol=1e-10)
    added = copy.deepcopy(a).update(X[200:], Y[200:])
    np.testing.assert_allclose(added.predict(X), every, atol=1e-10)


def test_those_given_stay_and_one_is_itself(sites):
    before = sites[0].predict(X)
    n = merge(sites).n_rows_
    assert (n, sites[0].n_rows_) == (500, 200)
    np.testing.assert_array_equal(sites[0].predict(X), before)
    np.testing.assert_allclose(merge(sites[:1]).predict(X), before, atol=1e-8)


def test_what_cannot_be_joined_says_why(sites):
    first = sites[0]
    apart = AdditiveKernelRegressor(updatable=True).fit(X[200:], Y[200:])
    with pytest.raises(ValueError, match=r"feature 'x0' has other points on its axis\. Fit one model"):
        merge([first, apart])
    with pytest.raises(ValueError, match="Model 2 has the same sums as one before it"):
        merge([first, sites[1], copy.deepcopy(first)])
    with pytest.raises(ValueError, match="keeps no sums"):
        merge([first, first.without_sums()])
    smooth = first.edit(X, Y, smooth={first.term_names_[0]: 2.0})
    with pytest.raises(ValueError, match="other columns or ridges"):
        merge([first, smooth])
    dropped = first.edit(X, Y, drop=first.term_names_[:1])
    with pytest.raises(ValueError, match="other terms"):
        merge([first, dropped])
    with pytest.raises(ValueError, match="models is empty"):
        merge([])
    classes = AdditiveKernelClassifier(0).fit(X[:100], Y[:100] > 0)
    with pytest.raises(ValueError, match="one kind"):
        merge([first, classes])
    with pytest.raises(ValueError, match="AdditiveKernelClassifier cannot be merged"):
        merge([classes, classes])
    with pytest.raises(ValueError, match="KernelClassifier cannot be merged"):
        merge([KernelClassifier(alpha=1.0).fit(X[:50], Y[:50] > 0)])
