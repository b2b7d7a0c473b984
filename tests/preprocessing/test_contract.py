"""What holds for every transformer: checks of scikit-learn, names, precision, refusals, totals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid.preprocessing as preprocessing
from pellucid.preprocessing import (
    AdditiveLogRatio,
    CenteredLogRatio,
    Closure,
    IsometricLogRatio,
    PowerTransform,
    ReplaceZeros,
)

TRANSFORMERS = [
    Closure(),
    AdditiveLogRatio(),
    AdditiveLogRatio("auto"),
    CenteredLogRatio(),
    IsometricLogRatio(),
    PowerTransform(),
    PowerTransform(0.1, chi=True),
    PowerTransform(closure=False),
    ReplaceZeros(),
    ReplaceZeros(0.5, detection_limit=1e-3),
]
# ReplaceZeros keeps totals, and powers without closure depend on them: all others do not
SCALE_FREE = [t for t in TRANSFORMERS if not isinstance(t, ReplaceZeros) and getattr(t, "closure", True)]
ZEROS_ALLOWED = [t for t in TRANSFORMERS if isinstance(t, (Closure, PowerTransform, ReplaceZeros))]

every = pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
# one of each class, and one of each way in which rows come in
EACH_CLASS = list({type(t): t for t in TRANSFORMERS}.values())
each_class = pytest.mark.parametrize("transformer", EACH_CLASS, ids=repr)
each_base = pytest.mark.parametrize("transformer", [Closure(), CenteredLogRatio()], ids=repr)


@pytest.fixture(name="_strictly_positive")
def _strictly_positive_checks(monkeypatch):
    """Add 1 to the data of the checks.

    For estimators of non-negative data scikit-learn shifts its data so that the smallest value is zero, and
    truncates them to whole numbers so that rows are all zero. No tag says that logarithms are to be taken.
    """
    shifted = estimator_checks._enforce_estimator_tags_X

    def enforce(estimator, X, *args, **kwargs):
        return shifted(estimator, X, *args, **kwargs) + 1

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", enforce)


@pytest.mark.usefixtures("_strictly_positive")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(EACH_CLASS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_contract_covers_all_that_is_exported():
    assert sorted({type(t).__name__ for t in TRANSFORMERS}) == preprocessing.__all__


@pytest.mark.parametrize("transformer", SCALE_FREE, ids=repr)
def test_totals_do_not_matter(transformer, positive):
    totals = np.random.default_rng(2).lognormal(sigma=5.0, size=(len(positive), 1))
    expected = clone(transformer).fit_transform(positive)
    assert_allclose(clone(transformer).fit_transform(totals * positive), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(clone(transformer).fit(positive).transform(totals * positive), expected, atol=1e-9)


@every
def test_extreme_totals(transformer, positive):
    expected = clone(transformer).fit_transform(positive)
    for scale in (1e-150, 1e150, 1e307):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            found = clone(transformer).fit_transform(scale * (positive / positive.max()))
        assert np.isfinite(found).all()
        if transformer in SCALE_FREE:
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("transformer", ZEROS_ALLOWED, ids=repr)
def test_extreme_totals_with_zeros(transformer, counts):
    expected = clone(transformer).fit_transform(counts)
    for scale in (1e-150, 1e150):
        with np.errstate(over="raise", invalid="raise"):
            found = clone(transformer).fit_transform(scale * counts)
        if transformer in SCALE_FREE:
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        elif isinstance(transformer, ReplaceZeros):
            assert_allclose(found, scale * expected, rtol=1e-9)


@every
def test_rows_are_transformed_one_by_one(transformer, positive):
    fitted = clone(transformer).fit(positive[:20])
    assert_allclose(
        fitted.transform(positive), np.vstack([fitted.transform(row[None]) for row in positive]), rtol=1e-13
    )


@every
def test_single_precision_is_kept(transformer, positive):
    single = clone(transformer).fit_transform(positive.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, clone(transformer).fit_transform(positive), rtol=1e-4, atol=1e-5)


@each_class
def test_whole_numbers_and_lists(transformer):
    rows = [[1, 2, 3], [4, 5, 60]]
    found = clone(transformer).fit_transform(rows)
    assert found.dtype == np.float64
    assert_array_equal(found, clone(transformer).fit_transform(np.array(rows, dtype=float)))


@every
def test_input_is_left_alone(transformer, positive):
    before = positive.copy()
    clone(transformer).fit(positive).transform(positive)
    assert_array_equal(positive, before)


@each_class
def test_pickled_and_cloned(transformer, positive):
    fitted = clone(transformer).fit(positive)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.transform(positive), fitted.transform(positive))
    assert not hasattr(clone(fitted), "n_features_in_")


@every
def test_frames_in_and_out(transformer, soils):
    fitted = clone(transformer).set_output(transform="pandas").fit(soils)
    frame = fitted.transform(soils)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(fitted.get_feature_names_out())
    assert_array_equal(frame.index, soils.index)
    assert_array_equal(frame.to_numpy(), clone(transformer).fit_transform(soils))
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(soils[["clay", "sand", "silt"]])


@each_class
def test_polars_out(transformer, soils):
    polars = pytest.importorskip("polars")
    fitted = clone(transformer).set_output(transform="polars").fit(soils)
    frame = fitted.transform(soils)
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == list(fitted.get_feature_names_out())


@each_class
def test_given_names(transformer, positive):
    fitted = clone(transformer).fit(positive)
    names = fitted.get_feature_names_out(list("abcdef"))
    assert len(set(names)) == fitted.transform(positive).shape[1]
    assert all(any(part in name for part in "abcdef") for name in names)
    with pytest.raises(ValueError, match="input_features"):
        fitted.get_feature_names_out(["a"])


@each_base
def test_sparse_is_refused(transformer, positive):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        clone(transformer).fit(csr_matrix(positive))


@each_base
def test_one_part_is_no_composition(transformer, positive):
    with pytest.raises(ValueError, match="minimum of 2"):
        clone(transformer).fit(positive[:, :1])


@each_class
def test_negative_parts(transformer, positive):
    fitted = clone(transformer).fit(positive)
    positive[[3, 7], 1] *= -1
    for call in (clone(transformer).fit, fitted.transform):
        with pytest.raises(ValueError, match=r"Negative values in data passed to \w+, in row\(s\) 3, 7\."):
            call(positive)


@each_base
def test_many_rows_are_counted_not_listed(transformer, positive):
    with pytest.raises(ValueError, match=r"row\(s\) 0, 1, 2, 3, 4 and 25 more\."):
        clone(transformer).fit(-positive)


@pytest.mark.parametrize("transformer", [t for t in ZEROS_ALLOWED if getattr(t, "closure", True)], ids=repr)
def test_rows_that_sum_to_zero(transformer, counts):
    fitted = clone(transformer).fit(counts)
    counts[[2, 5]] = 0
    for call in (clone(transformer).fit, fitted.transform):
        with pytest.raises(ValueError, match=r"row\(s\) 2, 5 sum to zero.*Drop these rows"):
            call(counts)
