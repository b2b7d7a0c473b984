"""Columns of additive models: laws of groups and picks, tables against designs, screening of pairs."""

from dataclasses import dataclass

import numpy as np
import pytest

from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features, rank_pairs
from pellucid.features.term_basis import TermBasis, main_picks, pair_picks
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(1)
X = np.column_stack(
    [
        RNG.normal(size=300),
        RNG.integers(0, 5, 300),  # levels
        np.where(RNG.random(300) < 0.2, np.nan, RNG.uniform(size=300)),
    ]
)
AXES = build_axes(X, np.ones(300), [None, 5, None])
MAINS = main_picks(AXES, [0, 1, 2], 12)
PAIRS = pair_picks(AXES, [(0, 1), (0, 2), (1, 2)], 60)
BASIS = TermBasis(AXES, (*MAINS, *PAIRS), (*MAINS.values(), *PAIRS.values()))
NEW = np.array([[0.3, 1.0, 0.5], [99.0, -1.0, np.nan], [np.nan, 4.0, -7.0]])


def test_columns_have_mean_zero_alone():
    for term, s in zip(BASIS.terms, BASIS.slices, strict=True):
        if len(term) == 1:
            table = BASIS.axes.main[term[0]].table[:-1]
            np.testing.assert_allclose(BASIS.axes.fine[term[0]].mass @ table, 0, atol=1e-12)
            np.testing.assert_allclose(BASIS.design(X)[s].mean(axis=1), 0, atol=1e-12)


def test_design_is_the_product_of_axis_columns():
    Z = BASIS.design(NEW).T
    for t, (term, pick, s) in enumerate(zip(BASIS.terms, BASIS.picks, BASIS.slices, strict=True)):
        bases = [AXES.main[term[0]]] if len(term) == 1 else [AXES.pair[j] for j in term]
        axes = [AXES.fine[term[0]]] if len(term) == 1 else [AXES.coarse[j] for j in term]
        expected = np.ones((len(NEW), len(pick[0])))
        for basis, axis, j, columns in zip(bases, axes, term, pick, strict=True):
            expected *= basis.at(axis.locate(NEW[:, j]))[:, columns]
        np.testing.assert_allclose(Z[:, s], expected, atol=1e-14, err_msg=str(t))


def test_features_alone_and_in_pairs_need_not_have_the_same_columns():
    """Levels share one axis: 2 of them alone, more in a pair; a pair comes before a main effect."""
    picks = ((np.array([3, 1]), np.array([0, 2])), (np.array([1]),), (np.array([40, 2]),))
    basis = TermBasis(AXES, ((1, 2), (1,), (0,)), picks)
    Z = basis.design(NEW)
    at = [AXES.main[j].at(AXES.fine[j].locate(NEW[:, j])).T for j in range(3)]
    second = AXES.pair[2].at(AXES.coarse[2].locate(NEW[:, 2])).T
    np.testing.assert_allclose(Z[:2], at[1][[3, 1]] * second[[0, 2]], atol=1e-14)
    np.testing.assert_array_equal(Z[2:], np.vstack([at[1][[1]], at[0][[40, 2]]]))
    assert TermBasis(AXES, (), ()).design(NEW).shape == (0, 3)


def test_bases_are_made_when_asked_for(monkeypatch):
    made = []
    basis = Axis.basis
    monkeypatch.setattr(
        Axis, "basis", lambda self, *args, **kw: made.append(self) or basis(self, *args, **kw)
    )
    axes = build_axes(X, np.ones(300), [None, 5, None])
    assert made == []
    first = axes.main[0]
    assert axes.main[0] is first
    assert axes.pair[1] is axes.main[1]  # levels have one axis
    assert [next(k for k, axis in enumerate(axes.fine) if axis is one) for one in made] == [0, 1]
    assert axes.pair[0] is not first
    np.testing.assert_array_equal(axes.main[2].table, AXES.main[2].table)
    assert len(axes.main) == len(axes.pair) == 3
    with pytest.raises(IndexError):
        axes.main[3]


def test_values_that_are_nowhere_have_no_columns():
    Z = BASIS.design(NEW).T
    for term, s in zip(BASIS.terms, BASIS.slices, strict=True):
        if 1 in term:  # an unknown level
            np.testing.assert_array_equal(Z[1, s], 0)
        if 0 in term:  # a missing value where there was none
            np.testing.assert_array_equal(Z[2, s], 0)


@pytest.mark.parametrize("t", range(len(BASIS.terms)))
def test_tables_and_functions_agree(t):
    beta = RNG.normal(size=len(BASIS.picks[t][0]))
    table = BASIS.table(t, beta)
    points = [np.arange(n) for n in table.shape]
    np.testing.assert_allclose(BASIS.functions(t, points) @ beta, table.ravel(), atol=1e-12)
    for axis in range(table.ndim):
        np.testing.assert_array_equal(np.moveaxis(table, axis, 0)[-1], 0)


def test_groups():
    assert len(BASIS.group) == BASIS.size
    assert set(BASIS.group) == set(range(len(BASIS.keys)))
    for g, (term, _) in enumerate(BASIS.keys):
        s = BASIS.slices[BASIS.terms.index(term)]
        assert np.all(
            (np.flatnonzero(BASIS.group == g) >= s.start) & (np.flatnonzero(BASIS.group == g) < s.stop)
        )
    owners = [BASIS.terms[t] for t in BASIS.owner]
    assert owners == [term for term, _ in BASIS.keys]
    assert sum(term == (0,) for term in owners) == 3  # smooth, middling, rough
    assert sum(term == (1,) for term in owners) == 1  # levels
    whole = TermBasis(
        AXES.__class__(AXES.fine, AXES.coarse, AXES.main, AXES.pair, (0,)), ((0,),), (MAINS[0,],)
    )
    assert len(whole.keys) == 1


def test_pairs_get_the_largest_products():
    picks = pair_picks(AXES, [(0, 2)], 25)[0, 2]
    product = np.outer(AXES.pair[0].value, AXES.pair[2].value)
    smallest = product[picks].min()
    assert len(picks[0]) == 25
    product[picks] = 0
    assert product.max() <= smallest


def test_columns_go_where_the_variance_is():
    pairs = [(0, 1), (0, 2)]
    basis = TermBasis(AXES, tuple(pairs), tuple(pair_picks(AXES, pairs, 40).values()))
    variance = {key: 1.0 if key[0] == (0, 1) else 1e-6 for key in basis.keys}
    picks = pair_picks(AXES, pairs, 40, variance)
    assert len(picks[0, 1][0]) > len(picks.get((0, 2), [[]])[0])
    assert pair_picks(AXES, pairs, 40, dict.fromkeys(variance, 0.0)) == {}
    assert pair_picks(AXES, [], 40) == {}


@dataclass
class Rows:
    X: np.ndarray
    y: np.ndarray

    @property
    def offset(self):
        return np.zeros(len(self.y))

    @property
    def weight(self):
        return np.ones(len(self.y))

    def working(self, eta):
        return self.weight, self.y

    def __len__(self):
        return len(self.y)


def test_screening_finds_features_and_pairs():
    rng = np.random.default_rng(5)
    U = rng.uniform(-1, 1, (800, 12))
    y = np.sin(3 * U[:, 7]) + 2 * U[:, 2] * U[:, 9] + np.sign(U[:, 4]) * np.cos(6 * U[:, 5])
    y = y + 0.3 * rng.normal(size=800)
    axes = build_axes(U, np.ones(800), [None] * 12)
    problem = Rows(U, y)
    assert 7 in rank_features(problem, axes, list(range(12)), 3)
    assert rank_features(problem, axes, [3, 1], 5) == [3, 1]
    pairs = [(p, q) for p in range(12) for q in range(p + 1, 12)]
    best = rank_pairs(problem, axes, np.sin(3 * U[:, 7]), pairs, 4)
    assert set(best[:2]) == {(2, 9), (4, 5)}


def test_axes_without_jumps_are_the_same_axes():
    x = np.where(np.arange(300) % 2, 0.0, np.arange(300.0))
    axes = build_axes(np.column_stack([x, X[:, 1:]]), np.ones(300), [None, 5, None])
    smooth = axes.without_jumps
    assert smooth is axes.without_jumps
    assert smooth.without_jumps is smooth
    assert all(a is b for a, b in zip(smooth.fine + smooth.coarse, axes.fine + axes.coarse, strict=True))
    assert smooth.pair[1] is smooth.main[1]
    assert np.sum(smooth.main[0].value) < np.sum(axes.main[0].value)
    for j in (1, 2):
        assert smooth.main[j] is axes.main[j]  # nothing stands out
