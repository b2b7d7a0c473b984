"""The result of stability(): ranks, signs and tables from arrays whose answers are known."""

import sys

import numpy as np
import pytest

from pellucid.effects.stability import Stability, average_ranks, features_first

RIDGE = np.array(
    [[1.0, -2.0, 0.5, 0.0], [2.0, -1.0, -0.5, 0.0], [3.0, -3.0, 0.5, 0.0], [4.0, -4.0, 0.5, 0.0]]
)


def example(**changes):
    fields = {
        "methods": ["ridge", "forest"],
        "coef": {"ridge": RIDGE, "forest": None},
        "train_error": np.array([[1.0, 0.5], [2.0, 0.5], [3.0, 0.5], [4.0, 0.5]]),
        "test_error": np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0], [4.0, 2.0]]),
        "names": ["a", "b", "c", "d"],
        "measure": "RMSE",
    }
    return Stability(**{**fields, **changes})


def test_ranks_share_ties():
    errors = np.array([[0.1, 0.3, 0.2], [0.1, 0.1, 0.2], [0.5, 0.1, 0.5], [0.4, 0.4, 0.4]])
    expected = [[1, 3, 2], [1.5, 1.5, 3], [2.5, 1, 2.5], [2, 2, 2]]
    assert np.array_equal(average_ranks(errors), expected)


def test_ranks_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    errors = np.random.default_rng(0).integers(0, 4, size=(200, 5)).astype(float)
    assert np.array_equal(average_ranks(errors), stats.rankdata(errors, axis=1))


def test_a_missing_error_ranks_last():
    assert np.array_equal(average_ranks(np.array([[np.nan, 1.0, 2.0]])), [[3, 1, 2]])


def test_mean_ranks_of_train_and_test():
    result = example()
    assert np.array_equal(result.ranks_train, [[2, 1]] * 4)
    assert np.array_equal(result.ranks_test, [[1, 2], [1.5, 1.5], [2, 1], [2, 1]])
    assert np.array_equal(result.mean_ranks["train"], [2, 1])
    assert np.array_equal(result.mean_ranks["test"], [6.5 / 4, 5.5 / 4])


def test_signs():
    result = example()
    assert result.n_splits == 4
    assert list(result.constant_sign) == ["ridge"]  # the forest has no coefficients
    assert np.array_equal(result.constant_sign["ridge"], [True, True, False, False])  # zero has no sign
    assert np.array_equal(result.zero_outside["ridge"], result.constant_sign["ridge"])


def test_signs_by_class():
    coef = np.stack([RIDGE, -RIDGE, np.ones_like(RIDGE)], axis=2)
    result = example(coef={"ridge": coef, "forest": None})
    assert result.constant_sign["ridge"].shape == (4, 3)
    assert np.array_equal(result.zero_outside["ridge"][:, 1], [True, True, False, False])
    assert result.zero_outside["ridge"][:, 2].all()
    assert np.array_equal(result.replicates("ridge", output=1), -RIDGE)
    with pytest.raises(ValueError, match="between 0 and 2"):
        result.replicates("ridge", output=3)


def test_frame():
    pytest.importorskip("pandas")
    frame = example().frame("ridge")
    assert list(frame.index) == ["a", "b", "c", "d"]
    assert frame.index.name == "feature"
    a = frame.loc["a"]
    assert (a["median"], a["min"], a["max"]) == (2.5, 1.0, 4.0)
    assert (a["lower_quartile"], a["upper_quartile"]) == (1.75, 3.25)
    assert list(frame["share_positive"]) == [1.0, 0.0, 0.75, 0.0]
    assert list(frame["constant_sign"]) == list(frame["zero_outside"]) == [True, True, False, False]


def test_table():
    pytest.importorskip("pandas")
    table = example().table()
    assert list(table.index) == ["ridge", "forest"]
    assert list(table["train_error"]) == [2.5, 0.5]
    assert list(table["test_error"]) == [2.5, 2.0]
    assert list(table["test_rank"]) == [1.625, 1.375]


@pytest.mark.parametrize("method", ["table", "frame"])
def test_without_pandas(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = example()
    with pytest.raises(ImportError, match=f"{method} needs pandas"):
        getattr(result, method)()
    assert "forest" in str(result)  # printing needs nothing


def test_printed():
    lines = str(example()).splitlines()
    assert lines[0].startswith("4 random splits: median RMSE")
    assert lines[2].split() == ["ridge", "2.5", "2.5", "2.00", "1.62", "2", "of", "4"]
    assert lines[3].split() == ["forest", "0.5", "2", "1.00", "1.38", "-"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert repr(example()) == str(example())


def test_which_method():
    result = example()
    assert result.which() == "ridge"
    assert result.names_of() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="'forest' has no coefficients"):
        result.which("forest")
    with pytest.raises(ValueError, match="no method 'lasso'; there are ridge, forest"):
        result.which("lasso")
    with pytest.raises(ValueError, match="say which: ridge, forest"):
        example(coef={"ridge": RIDGE, "forest": RIDGE + 1}).which()
    assert example(coef={"ridge": RIDGE, "forest": RIDGE}).which() == "ridge"  # one fit, two predictions
    with pytest.raises(ValueError, match="None of the methods"):
        example(coef={"ridge": None, "forest": None}).frame()


def test_names_of_their_own():
    result = example(coef_names={"ridge": ["p", "q", "r", "s"]})
    assert result.names_of("ridge") == ["p", "q", "r", "s"]
    assert list(result.frame("ridge").index) == ["p", "q", "r", "s"]


def test_errors_must_have_a_column_per_method():
    with pytest.raises(ValueError, match="test_error must have one column per method"):
        example(test_error=np.ones((4, 3)))


def test_features_first():
    C = np.arange(6.0).reshape(2, 3)  # two classes, three features, as in scikit-learn
    assert np.array_equal(features_first(C, 3), C.T)
    assert np.array_equal(features_first(C.T, 3), C.T)
    assert np.array_equal(features_first(C[:1], 3), C[0])
    assert np.array_equal(features_first(C[:1].T, 3), C[0])
    assert np.array_equal(features_first(C[0], 3), C[0])
    square = np.arange(9.0).reshape(3, 3)
    assert np.array_equal(features_first(square, 3), square.T)
    assert np.array_equal(features_first(square, 3, rows=True), square)
