import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import helmert
from scipy.spatial.distance import pdist
from scipy.stats import gmean

from pellucid.preprocessing import AdditiveLogRatio, CenteredLogRatio, Closure, IsometricLogRatio

ALL = [AdditiveLogRatio(), AdditiveLogRatio(1), CenteredLogRatio(), IsometricLogRatio()]
ratios = pytest.mark.parametrize("transformer", ALL, ids=repr)

shapes = st.tuples(st.integers(1, 5), st.integers(2, 8))
positive_rows = shapes.flatmap(lambda shape: arrays(float, shape, elements=st.floats(1e-100, 1e100)))


# ---------------------------------------------------------------- formulas
@pytest.mark.parametrize("reference", [0, 2, 5, -1, -6, np.int64(3)])
def test_additive_formula(positive, reference):
    found = AdditiveLogRatio(reference).fit_transform(positive)
    others = [c for c in range(6) if c != reference % 6]
    assert_allclose(
        found, [[np.log(row[c] / row[reference]) for c in others] for row in positive], rtol=1e-10
    )


def test_centered_formula(positive):
    expected = [[np.log(x / gmean(row)) for x in row] for row in positive]
    assert_allclose(CenteredLogRatio().fit_transform(positive), expected, rtol=1e-10, atol=1e-14)


def test_isometric_formula(positive):
    n_parts = positive.shape[1]
    expected = [
        [
            np.sqrt((n_parts - j) / (n_parts - j + 1)) * np.log(row[j - 1] / gmean(row[j:]))
            for j in range(1, n_parts)
        ]
        for row in positive
    ]
    assert_allclose(IsometricLogRatio().fit_transform(positive), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n_parts", [2, 3, 50])
def test_isometric_is_an_orthonormal_basis(n_parts):
    parts = np.random.default_rng(3).lognormal(size=(5, n_parts))
    # SciPy's matrix contrasts a coordinate with those before it: ours, read backwards
    basis = -helmert(n_parts)[::-1, ::-1]
    assert_allclose(basis @ basis.T, np.eye(n_parts - 1), atol=1e-12)
    assert_allclose(IsometricLogRatio().fit_transform(parts), np.log(parts) @ basis.T, atol=1e-12)


# ---------------------------------------------------------------- laws
@ratios
@settings(deadline=None)
@given(positive_rows)
def test_round_trip(transformer, parts):
    values = transformer.fit(parts).transform(parts)
    shares = transformer.inverse_transform(values)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(shares, Closure().fit_transform(parts), rtol=1e-9, atol=1e-250)


@ratios
@settings(deadline=None)
@given(arrays(float, (4, 3), elements=st.floats(-50, 50)))
def test_round_trip_of_coordinates(transformer, values):
    n_parts = 3 if isinstance(transformer, CenteredLogRatio) else 4
    if n_parts == 3:
        values = values - values.mean(axis=1, keepdims=True)
    transformer.fit(np.ones((1, n_parts)))
    assert_allclose(transformer.transform(transformer.inverse_transform(values)), values, atol=1e-9)


@settings(deadline=None)
@given(positive_rows)
def test_centered_rows_sum_to_zero(parts):
    assert_allclose(CenteredLogRatio().fit_transform(parts).sum(axis=1), 0.0, atol=1e-10)


@settings(deadline=None)
@given(positive_rows)
def test_isometry(parts):
    centered, isometric = CenteredLogRatio().fit_transform(parts), IsometricLogRatio().fit_transform(parts)
    assert_allclose(pdist(isometric), pdist(centered), rtol=1e-9, atol=1e-9)


def test_aitchison_distance_is_about_all_pairs(positive):
    logs, n_parts = np.log(positive), positive.shape[1]
    difference = logs[0] - logs[1]
    pairs = sum((difference[j] - difference[k]) ** 2 for j in range(n_parts) for k in range(j))
    found = CenteredLogRatio().fit_transform(positive)
    assert_allclose(np.sum((found[0] - found[1]) ** 2), pairs / n_parts)


@ratios
def test_even_shares_are_the_origin(transformer):
    assert_allclose(transformer.fit_transform(np.full((2, 5), 7.0)), 0.0, atol=1e-15)


def test_subcompositions_are_coherent(positive):
    whole = AdditiveLogRatio(0).fit_transform(positive)
    shares = Closure().fit_transform(positive[:, :3])
    assert_allclose(AdditiveLogRatio(0).fit_transform(shares), whole[:, :2], rtol=1e-10)


def test_ratios_beyond_the_largest_number():
    parts = np.array([[1e-300, 1e300], [1e300, 1e-300]])
    assert_allclose(AdditiveLogRatio().fit_transform(parts)[:, 0], [-600 * np.log(10), 600 * np.log(10)])


def test_way_back_does_not_overflow():
    transformer = CenteredLogRatio().fit(np.ones((1, 2)))
    assert_allclose(transformer.inverse_transform([[1000.0, -1000.0]]), [[1.0, 0.0]])


# ---------------------------------------------------------------- the reference
def test_reference_by_name(soils):
    transformer = AdditiveLogRatio("silt").fit(soils)
    assert transformer.reference_ == 1
    assert_array_equal(transformer.transform(soils), AdditiveLogRatio(1).fit_transform(soils))
    assert list(transformer.get_feature_names_out()) == ["log(sand/silt)", "log(clay/silt)"]


def test_automatic_reference_is_the_steadiest_share(positive):
    # rows of any total in which column 4 always has a tenth
    shares = 0.9 * Closure().fit_transform(np.delete(positive, 4, axis=1))
    steady = np.insert(shares, 4, 0.1, axis=1) * np.arange(1, len(positive) + 1)[:, None]
    assert AdditiveLogRatio("auto").fit(steady).reference_ == 4

    variances = np.log(positive / positive.sum(axis=1, keepdims=True)).var(axis=0)
    assert AdditiveLogRatio("auto").fit(positive).reference_ == np.argmin(variances)


def test_reference_is_chosen_in_training_rows_only(positive):
    transformer = AdditiveLogRatio("auto").fit(positive[:15])
    chosen = transformer.reference_
    transformer.transform(positive[15:])
    assert transformer.reference_ == chosen == AdditiveLogRatio("auto").fit(positive[:15]).reference_


@pytest.mark.parametrize("reference", [6, -7, "sand", 1.0, True, None])
def test_impossible_references(positive, reference):
    with pytest.raises(ValueError, match="reference"):
        AdditiveLogRatio(reference).fit(positive)


def test_unknown_name(soils):
    with pytest.raises(
        ValueError, match=r"'loam' is not a column of X, which has \['sand', 'silt', 'clay'\]"
    ):
        AdditiveLogRatio("loam").fit(soils)


# ---------------------------------------------------------------- names and refusals
def test_names(soils, positive):
    assert list(AdditiveLogRatio().fit(soils).get_feature_names_out()) == ["log(sand/clay)", "log(silt/clay)"]
    assert list(CenteredLogRatio().fit(soils).get_feature_names_out()) == [
        "clr(sand)",
        "clr(silt)",
        "clr(clay)",
    ]
    assert list(IsometricLogRatio().fit(soils).get_feature_names_out()) == [
        "ilr(sand|rest)",
        "ilr(silt|clay)",
    ]
    three = positive[:, :3]
    assert list(AdditiveLogRatio(0).fit(three).get_feature_names_out()) == ["log(x1/x0)", "log(x2/x0)"]
    assert list(IsometricLogRatio().fit(three).get_feature_names_out()) == ["ilr(x0|rest)", "ilr(x1|x2)"]
    assert list(IsometricLogRatio().fit(three[:, :2]).get_feature_names_out()) == ["ilr(x0|x1)"]


@ratios
def test_zeros_are_counted(transformer, positive, soils):
    fitted = transformer.fit(positive)
    positive[:2, 1] = positive[4, 3] = 0
    for call in (fitted.transform, transformer.fit):
        with pytest.raises(
            ValueError, match=r"3 zero\(s\), in column\(s\) 1 \(2\), 3 \(1\)\. .*ReplaceZeros"
        ):
            call(positive)
    soils.loc[1, "clay"] = 0
    with pytest.raises(ValueError, match=r"1 zero\(s\), in column\(s\) 'clay' \(1\)\. .*PowerTransform"):
        transformer.fit(soils)


@ratios
def test_way_back_checks_columns(transformer, positive):
    fitted = transformer.fit(positive)
    with pytest.raises(ValueError, match="X has 3 columns"):
        fitted.inverse_transform(positive[:, :3])


@ratios
def test_way_back_in_single_precision(transformer, positive):
    single = positive.astype(np.float32)
    shares = transformer.fit(single).inverse_transform(transformer.transform(single))
    assert shares.dtype == np.float32
    assert_allclose(shares, Closure().fit_transform(positive), rtol=1e-4)


@ratios
def test_way_back_from_a_frame(transformer, soils):
    frame = transformer.fit(soils).set_output(transform="pandas").transform(soils)
    assert_allclose(transformer.inverse_transform(frame), Closure().fit_transform(soils))
    transformer.set_output(transform="default")
