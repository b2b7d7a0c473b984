"""Tables laid out for speed: what axes and tables say, in NumPy and compiled, for any blocks and threads."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.features import lookup as module
from pellucid.features.axis import Axis
from pellucid.features.bucket_index import MARK
from pellucid.features.lookup import n_threads
from pellucid.features.lookup_layout import lay_out

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
TERMS = ((0,), (1,), (2,), (4,), (5,), (0, 1), (0, 2), (1, 2), (0, 3), (2, 4), (3, 5), (1, 4))


def columns(n, rng):
    """Numbers, heavy tails, levels, few values, levels without missing values, a constant."""
    a, b = rng.normal(size=n), rng.standard_cauchy(n)
    c, d = rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n).astype(float)
    e, f = rng.integers(0, 40, n).astype(float), np.full(n, 7.0)
    a[: n // 9], c[n // 2 : n // 2 + n // 7] = np.nan, np.nan
    return np.column_stack([a, b, c, d, e, f])


def model(seed=0, terms=TERMS):
    rng = np.random.default_rng(seed)
    X, w = columns(2000, rng), np.ones(2000)
    levels = {2: 5, 4: 40}

    def axes(k):
        return [
            Axis.of_levels(x, w, levels[j]) if j in levels else Axis.numeric(x, w, k)
            for j, x in enumerate(X.T)
        ]

    fine, coarse = axes(100), axes(30)
    tables = []
    for term in terms:
        on = [fine[term[0]]] if len(term) == 1 else [coarse[j] for j in term]
        table = rng.normal(size=[len(axis) + 1 for axis in on])
        for k in range(len(term)):
            np.moveaxis(table, k, 0)[-1] = 0.0
        tables.append(table)
    return fine, coarse, terms, tables


def new_rows(n, seed=1):
    rng = np.random.default_rng(seed)
    X = columns(n, rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] *= 1e6
    X[:, [2, 4]] = np.where(X[:, [2, 4]] > 100, -1.0, X[:, [2, 4]])
    X[rng.random(n) < 0.2, 2] = -1.0
    X[rng.random(n) < 0.1, 1] = 1.7e308
    return X


def at(axis, x):
    """Weights of the points of an axis for one value."""
    i, w = axis.locate(np.array([x]))
    weights = np.zeros(len(axis) + 2)
    weights[i[0]] += 1 - w[0]
    weights[i[0] + 1] += w[0]
    return weights[:-1]


def expected(fine, coarse, terms, tables, X):
    out = np.empty((len(X), len(terms)))
    for r, row in enumerate(X):
        for t, (term, table) in enumerate(zip(terms, tables, strict=True)):
            if len(term) == 1:
                out[r, t] = at(fine[term[0]], row[term[0]]) @ table
            else:
                out[r, t] = at(coarse[term[0]], row[term[0]]) @ table @ at(coarse[term[1]], row[term[1]])
    return out


ways = pytest.mark.parametrize(
    ("switch", "many"),
    [("0", 10**6), ("0", 1), pytest.param("1", 1, marks=needs_numba)],
    ids=["all terms at once", "term by term", "compiled"],
)


@pytest.fixture
def way(monkeypatch, switch, many):
    monkeypatch.setenv("PELLUCID_NUMBA", switch)
    monkeypatch.setattr(module, "_WORTH_LOADING", 0)
    monkeypatch.setattr(module, "_MANY", many)


@ways
@pytest.mark.usefixtures("way")
def test_values_are_those_of_axes_and_tables():
    parts, X = model(), new_rows(300)
    laid = lay_out(*parts)
    right = expected(*parts, X)
    np.testing.assert_allclose(laid.values(X), right, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(laid.total(X), right.sum(axis=1), rtol=1e-12, atol=1e-12)


def everything(laid, X):
    return [laid.values(X), laid.total(X), *laid.both(X), laid.values(np.asfortranarray(X))]


@needs_numba
@settings(deadline=None, max_examples=30)  # the first one loads what is compiled
@given(st.integers(0, 10), st.integers(1, 400))
def test_compiled_and_numpy_agree_bit_for_bit(seed, n):
    order = np.random.default_rng(seed).permutation(len(TERMS))  # terms of two columns among those of one
    laid, X = lay_out(*model(seed, tuple(TERMS[t] for t in order))), new_rows(n, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORTH_LOADING", 0)
        compiled = everything(laid, X)
        patch.setenv("PELLUCID_NUMBA", "0")
        for many in (1, 10**6):
            patch.setattr(module, "_MANY", many)
            for got, right in zip(compiled, everything(laid, X), strict=True):
                np.testing.assert_array_equal(got, right)


@ways
@pytest.mark.usefixtures("way")
def test_values_and_total_in_one_pass():
    laid, X = lay_out(*model()), new_rows(300)
    values, total = laid.both(X)
    np.testing.assert_array_equal(values, laid.values(X))
    np.testing.assert_array_equal(total, laid.total(X))
    np.testing.assert_allclose(total, values.sum(axis=1), rtol=0, atol=1e-10)


@ways
@pytest.mark.usefixtures("way")
def test_blocks_and_threads_change_nothing(monkeypatch):
    laid, X = lay_out(*model()), new_rows(700)
    whole = laid.values(X), laid.total(X)
    one_by_one = [laid.total(row[None])[0] for row in X[:50]]
    np.testing.assert_array_equal(one_by_one, whole[1][:50])
    monkeypatch.setattr(module, "_BLOCK", 37)
    monkeypatch.setattr(module, "n_threads", lambda n: 3)
    for got, again, right in zip((laid.values(X), laid.total(X)), laid.both(X), whole, strict=True):
        np.testing.assert_array_equal(got, right)
        np.testing.assert_array_equal(again, right)


def test_nothing_is_compiled_if_switched_off(monkeypatch):
    monkeypatch.setenv("PELLUCID_NUMBA", "0")
    monkeypatch.setattr(module, "_WORTH_LOADING", 0)
    monkeypatch.setattr(module.Lookup, "_by_loops", lambda *a: pytest.fail("compiled loops were used"))
    assert lay_out(*model()).total(new_rows(10)).shape == (10,)


def test_infinite_values_are_at_the_outermost_knots():
    parts = model(terms=((0,), (1,), (0, 1)))
    laid = lay_out(*parts)
    ends = [[-np.inf, np.inf, 0, 0, 0, 0], [np.inf, -np.inf, 0, 0, 0, 0]]
    far = [[-1e300, 1e300, 0, 0, 0, 0], [1e300, -1e300, 0, 0, 0, 0]]
    np.testing.assert_array_equal(laid.values(np.array(ends)), laid.values(np.array(far)))


@pytest.mark.parametrize("knots", [[-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1.0]])
def test_extraordinary_knots_are_left_to_others(knots):
    axis = Axis.numeric(np.array(knots), np.ones(3), 10)
    assert lay_out([axis], [axis], ((0,),), [np.array([1.0, 2.0, 3.0, 0.0])]) is None


@pytest.mark.parametrize("k", [MARK - 2, MARK + 10])
def test_columns_of_very_many_pieces_are_left_to_others(k):
    axis = Axis.numeric(np.arange(float(k)), np.ones(k), k)
    table = np.append(np.arange(float(k)), 0.0)
    laid = lay_out([axis], [axis], ((0,),), [table])
    if k > MARK:
        assert laid is None
    else:
        x = np.array([0.5, k - 1.5, k / 2])
        np.testing.assert_allclose(laid.total(x[:, None]), x)


def test_no_rows():
    laid = lay_out(*model())
    assert laid.values(np.empty((0, 6))).shape == (0, len(TERMS))
    assert laid.total(np.empty((0, 6))).shape == (0,)
    assert [part.shape for part in laid.both(np.empty((0, 6)))] == [(0, len(TERMS)), (0,)]


def test_threads_have_limits(monkeypatch):
    monkeypatch.setattr(module.joblib, "cpu_count", lambda: 8)
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert [n_threads(n) for n in (1, 49_999, 50_000, 10**6)] == [1, 1, 2, 8]
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert n_threads(10**6) == 4
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert n_threads(10**6) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert n_threads(10**6) == 2
