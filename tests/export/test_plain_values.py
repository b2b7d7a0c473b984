"""Nested plain data of every kind that a file holds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_files import difference, saved

from pellucid import KernelRidge, load
from pellucid.exceptions import ModelFileError

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    hnp.complex_number_dtypes(sizes=(64, 128), endianness="?"),
    hnp.datetime64_dtypes(endianness="?"),
    hnp.timedelta64_dtypes(endianness="?"),
    hnp.unicode_string_dtypes(min_len=1, max_len=4),
    hnp.byte_string_dtypes(min_len=1, max_len=4),
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
TEXTS = st.text(
    st.characters(codec=None, categories=None, exclude_categories=()), max_size=8
)  # surrogates, too
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(),
    st.complex_numbers(),
    TEXTS,
    st.binary(max_size=8),
)
SCALARS = hnp.arrays(st.sampled_from(["f4", "f8", "i2", "?", "c8", "U3", "S2", "M8[D]"]), (1,)).map(
    lambda a: a[0]
)
OBJECTS = hnp.arrays(object, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3), elements=ATOMS)
KEYS = st.one_of(TEXTS, st.integers(), st.booleans(), st.tuples(st.integers(), TEXTS))
VALUES = st.recursive(
    st.one_of(ATOMS, ARRAYS, SCALARS, OBJECTS, st.slices(9), DTYPES, st.sampled_from([float, np.float64])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.frozensets(st.one_of(TEXTS, st.integers()), max_size=3),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_nested_values(value):
    model = KernelRidge()
    model.value_ = value
    data = saved(model)
    back = load(data)
    assert difference(value, back.value_, "value") is None
    assert saved(back) == data


@pytest.mark.parametrize("value", [-0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 2**70, range(2, 9, 3)])
def test_numbers_to_the_last_bit(value):
    model = KernelRidge()
    model.value_ = value
    assert difference(value, load(saved(model)).value_) is None


def test_keys_that_are_not_equal_to_themselves():
    model = KernelRidge()
    model.value_ = {float("nan"): 1, float("nan"): 2, float("inf"): 3}
    assert list(load(saved(model)).value_.values()) == [1, 2, 3]


def test_sets_do_not_depend_on_their_order():
    one, two = KernelRidge(), KernelRidge()
    one.value_, two.value_ = {8, 0, 16}, {16, 8, 0}
    assert saved(one) == saved(two)


class Mine:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda x: x, r"^model\.value_ is a function or class, and a model file holds no code"),
        ([1, {"a": (np.sum,)}], r"^model\.value_\[1\]\['a'\]\[0\] is a function"),
        (Mine, r"^model\.value_ is a function or class"),
        (
            Mine(),
            r"^model\.value_ is an object of .*Mine, and a model file holds only objects that pellucid knows",
        ),
        (np.random.default_rng(0), r"^model\.value_ is a random generator.*give a whole number"),
        (np.random.RandomState(0), r"^model\.value_ is a random generator"),
        (np.array([{}, 1]), r"^model\.value_ is an array of objects of type dict"),
        (np.zeros(2, dtype=[("a", "f8")]), r"^model\.value_ has the type .*which a model file does not hold"),
        (np.zeros(2, dtype=np.longdouble), r"^model\.value_ has the type float128"),
        (np.ma.masked_array([1.0], [True]), r"^model\.value_ is an object of numpy\.ma"),
        (1 << 10_000, r"^model\.value_ is a whole number with more digits"),
    ],
)
def test_what_cannot_be_saved_says_where_it_is(value, message):
    model = KernelRidge()
    model.value_ = value
    with pytest.raises(ModelFileError, match=message):
        saved(model)


def test_values_that_contain_themselves():
    model = KernelRidge()
    model.value_ = [1]
    model.value_.append(model.value_)
    with pytest.raises(ModelFileError, match=r"model\.value_\[1\] contains itself"):
        saved(model)
    model.value_ = {"me": model}
    with pytest.raises(ModelFileError, match=r"model\.value_\['me'\] contains itself"):
        saved(model)


def test_nesting_has_a_limit():
    model = KernelRidge()
    model.value_ = inner = []
    for _ in range(90):
        inner.append([])
        inner = inner[0]
    assert difference(model, load(saved(model))) is None
    for _ in range(20):
        inner.append([])
        inner = inner[0]
    with pytest.raises(ModelFileError, match="nested more than 100 levels deep"):
        saved(model)


@pytest.mark.parametrize("name", ["predict", "__class__", "fit", "_precomputed", "no name"])
def test_attributes_that_hide_what_the_class_has(name):
    model = KernelRidge()
    vars(model)[name] = 1
    with pytest.raises(ModelFileError, match=r"whose name .* so it cannot be saved"):
        saved(model)


@pytest.mark.parametrize("value", [1, [1, 2], {"a": 1}, None, np.zeros(3), "text"])
def test_only_models_and_results(value):
    with pytest.raises(ModelFileError, match="save needs a model or a result of pellucid, got"):
        saved(value)
