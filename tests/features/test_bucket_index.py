"""A guide counts as searchsorted does, whatever the entries and values."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.features import axis as axis_module
from pellucid.features.axis import Axis
from pellucid.features.bucket_index import CELLS, Guide

finite = st.floats(allow_nan=False, allow_infinity=False)
clustered = st.builds(
    lambda centre, width, steps: [centre + width * s for s in steps],
    st.sampled_from([0.0, 1.0, -1e6, 1e15]),
    st.sampled_from([1e-12, 1e-3, 1.0, 1e9]),
    st.lists(st.integers(-40, 40), min_size=1, max_size=40),
)
entries = st.one_of(
    st.lists(finite, max_size=40),
    st.lists(st.integers(-5, 5).map(float), max_size=40),  # ties
    st.lists(st.floats(-1e-300, 1e-300), max_size=10),
    st.tuples(clustered, clustered).map(lambda parts: parts[0] + parts[1]),
)


@given(entries, st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_counts_are_those_of_a_search(values, more):
    values = np.sort(np.array(values, dtype=float))
    with np.errstate(over="ignore", under="ignore"):
        near = np.concatenate([np.nextafter(values, -np.inf), values, np.nextafter(values, np.inf)])
    x = np.concatenate([near, np.array(more, dtype=float)])
    np.testing.assert_array_equal(Guide.to(values).count(x), np.searchsorted(values, x, "right"))


def test_heavy_tails_leave_few_entries_crowded():
    x = np.sort(np.random.default_rng(0).standard_cauchy(300))
    guide = Guide.to(x)
    cells = np.clip((x - guide.low) * guide.scale, 0, CELLS - 1).astype(int)
    assert guide.crowded[cells].mean() < 0.5  # equal cells from end to end hold nearly all of them crowded


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200, 1.7e308])
def test_axes_locate_the_same_with_and_without(monkeypatch, scale):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-1, 1, 3000), rng.choice([-0.5, 0.25], 500), rng.normal(0, 1e-3, 1000)])
    x = np.append(x * scale, np.nan)
    axis = Axis.numeric(x, np.ones(len(x)), 200)
    new = np.concatenate([x, axis.knots, [1.75e308, -1.75e308]])
    with_guide = axis.locate(new)
    monkeypatch.setattr(axis_module, "_MANY", len(new) + 1)
    for got, plain in zip(with_guide, axis.locate(new), strict=True):
        np.testing.assert_array_equal(got, plain)


def test_the_guide_is_not_stored():
    axis = Axis.numeric(np.arange(5000.0), np.ones(5000), 100)
    assert len(pickle.dumps(axis)) < 10_000
    again = pickle.loads(pickle.dumps(axis))
    np.testing.assert_array_equal(again.knots, axis.knots)
    assert again.missing is axis.missing
