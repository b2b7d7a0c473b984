"""Columns of additive models: laws of shapes and picks, tables against designs."""

import numpy as np
import pytest

from pellucid.data.table import Column
from pellucid.features.axis import Axis
from pellucid.features.term_basis import TermBasis, first_picks, main_shapes, pair_shapes, picks_by_variance
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(1)
X = np.column_stack(
    [
        RNG.normal(size=300),
        RNG.integers(0, 5, 300),  # levels
        np.where(RNG.random(300) < 0.2, np.nan, RNG.uniform(size=300)),
        RNG.integers(0, 6, 300),
    ]
)
COLUMNS = [Column("a"), Column("b", tuple("vwxyz")), Column("c"), Column("d")]
AXES = build_axes(X, np.ones(300), COLUMNS)
MAINS = first_picks(AXES, [(0,), (1,), (2,), (3,)], 12)
PAIRS = first_picks(AXES, [(0, 1), (0, 2), (1, 2)], 20)
BASIS = TermBasis.of(AXES, MAINS, PAIRS)
NEW = np.array([[0.3, 1.0, 0.5, 2.5], [99.0, -1.0, np.nan, 1.0], [np.nan, 4.0, -7.0, 0.0]])
VARIANCES = {term: RNG.uniform(0.1, 1, len(AXES.shapes(term)[0])) for term in BASIS.terms}


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
    axes = build_axes(X, np.ones(300), COLUMNS)
    assert made == []
    first = axes.main[0]
    assert axes.main[0] is first
    assert axes.pair[1] is axes.main[1]  # levels have one axis
    assert [next(k for k, axis in enumerate(axes.fine) if axis is one) for one in made] == [0, 1]
    assert axes.pair[0] is not first
    np.testing.assert_array_equal(axes.main[2].table, AXES.main[2].table)
    assert len(axes.main) == len(axes.pair) == 4
    with pytest.raises(IndexError):
        axes.main[4]


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


def test_some_of_the_terms():
    some = BASIS.of_terms([4, 1])
    assert some.terms == ((0, 1), (1,))
    columns = BASIS.columns_of(some.terms)
    np.testing.assert_array_equal(
        columns, [*range(*BASIS.slices[1].indices(999)), *range(*BASIS.slices[4].indices(999))]
    )
    assert some.size == len(columns)
    np.testing.assert_array_equal(np.bincount(BASIS.owner), [len(pick[0]) for pick in BASIS.picks])
    assert len(BASIS.columns_of([])) == TermBasis(AXES, (), ()).size == 0


# ------------------------------------------------------------------- shapes


@pytest.mark.parametrize("term", BASIS.terms, ids=str)
def test_shapes_have_variance_one_at_points(term):
    """On average over all combinations of points; at a single point, there."""
    names, shapes = AXES.shapes(term)
    bases = [AXES.main[term[0]]] if len(term) == 1 else [AXES.pair[j] for j in term]
    squares = [basis.table[:-1] ** 2 for basis in bases]
    for name, shape in zip(names, shapes, strict=True):
        if len(term) == 1:
            at = squares[0] @ shape
        else:
            at = squares[0] @ shape.reshape(len(bases[0]), -1) @ squares[1].T
        np.testing.assert_allclose(at.max() if name == "points" else at.mean(), 1)
    assert shapes.min() >= 0
    assert len(names) == len(set(names)) == len(shapes)


def test_what_there_are_shapes_for():
    """Functions that differ from value to value only where values repeat; a missing value is a point."""
    named = [set(AXES.shapes((j,))[0]) for j in range(4)]
    assert named == [
        {"line", "smooth", "rough"},
        {"levels"},
        {"line", "smooth", "rough", "points"},
        {"line", "smooth", "rough", "white"},
    ]
    two = Axis.numeric(np.repeat([0.0, 1.0], 9), np.ones(18), 10).basis(5)
    assert set(main_shapes(two)) == set(pair_shapes(two)) == {"line"}


def test_shapes_fall_with_the_frequency():
    basis = AXES.main[3]
    frequency = basis.frequency[1:]
    for name, power in {"smooth": -4.0, "rough": -2.0, "white": 0.0}.items():
        shape = main_shapes(basis)[name]
        np.testing.assert_allclose(
            shape / shape[1:].sum(), np.append(0, frequency**power / np.sum(frequency**power))
        )
    levels = main_shapes(AXES.main[1])["levels"]  # with the columns, the exchangeable kernel in its unit
    table, mass = AXES.main[1].table[:-1], AXES.fine[1].mass
    kernel = (table * levels) @ table.T
    np.testing.assert_allclose(
        kernel / kernel.trace(), (np.eye(5) - np.outer(mass, mass) / (mass @ mass)) / 4, atol=1e-10
    )


def test_shapes_of_pairs_are_outer_products():
    names, shapes = AXES.shapes((0, 3))
    first, second = pair_shapes(AXES.pair[0]), pair_shapes(AXES.pair[3])
    assert len(names) == len(first) * len(second)
    for name, shape in zip(names, shapes, strict=True):
        a, b = name.split(" × ")
        np.testing.assert_allclose(shape.reshape(len(AXES.pair[0]), -1), np.outer(first[a], second[b]))


def test_prior_variances_of_columns():
    prior = BASIS.prior(VARIANCES)
    for term, pick, s in zip(BASIS.terms, BASIS.picks, BASIS.slices, strict=True):
        every = VARIANCES[term] @ AXES.shapes(term)[1]
        if len(term) == 2:
            every = every.reshape(len(AXES.pair[term[0]]), -1)
        np.testing.assert_allclose(prior[s], every[pick])
    assert np.all(BASIS.prior({})[BASIS.slices[0]] == 0)


# -------------------------------------------------------------------- picks


@pytest.mark.parametrize(("budget", "floor"), [(30, 0.0), (30, 1e-3), (10**6, 1e-3), (10**6, 0.0)])
def test_picks_by_variance_against_brute_force(budget, floor):
    candidates = []
    for term, theta in VARIANCES.items():
        d = theta @ AXES.shapes(term)[1]
        width = len(AXES.pair[term[1]]) if len(term) == 2 else len(d)
        candidates += [(v, term, divmod(k, width) if len(term) == 2 else (k,)) for k, v in enumerate(d)]
    candidates = sorted((c for c in candidates if c[0] > floor), key=lambda c: -c[0])
    expected = {(term, place) for _, term, place in candidates[: budget - 2]}  # the last ones may be ties
    picks = picks_by_variance(AXES, VARIANCES, budget, floor)
    found = {
        (term, place)
        for term, pick in picks.items()
        for place in zip(*(p.tolist() for p in pick), strict=True)
    }
    assert expected <= found
    assert len(found) <= min(budget, len(candidates))


def test_terms_without_variance_have_no_picks():
    nothing = {term: np.zeros_like(theta) for term, theta in VARIANCES.items()}
    assert picks_by_variance(AXES, nothing, 50, 0.0) == {}
    assert picks_by_variance(AXES, {}, 50, 0.0) == {}
    assert TermBasis.of(AXES, picks_by_variance(AXES, nothing, 50, 0.0)).size == 0


def test_first_picks_are_the_largest():
    (pick,) = first_picks(AXES, [(0, 2)], 25).values()
    total = AXES.shapes((0, 2))[1].sum(axis=0).reshape(len(AXES.pair[0]), -1)
    smallest = total[pick].min()
    assert len(pick[0]) == 25
    total[pick] = 0
    assert total.max() <= smallest
    assert len(first_picks(AXES, [(1,)], 2)[(1,)][0]) == 4  # of levels, all
    constant = build_axes(np.ones((9, 1)), np.ones(9), [Column("a")])
    assert first_picks(constant, [(0,)], 5) == {}
