"""Files whose checksums are right but whose fields are not: refused on loading, class and field named."""

import copy
import inspect
import json
import random
import warnings
from typing import Any

import numpy as np
import pytest
from model_files import changed, members, packed, saved
from saved_models import data, exported, fitted, new_rows, variants
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from pellucid import (
    AdditiveKernelRegressor,
    InterpretableKernelRegressor,
    ISKRegressor,
    KernelRidge,
    SparseAdditiveRegressor,
    load,
)
from pellucid.exceptions import ModelFileError
from pellucid.export.model_file import fields
from pellucid.export.model_file.decode import Decoder
from pellucid.export.model_file.encode import state_of
from pellucid.export.model_file.fields import declared, fits
from pellucid.export.model_file.registry import find
from pellucid.features import PairwiseFourierFeatures, RandomFourierFeatures
from pellucid.kernels import RBF

OTHERS = [
    None,
    True,
    0.5,
    7,
    "text",
    [],
    {"tuple": []},
    {"dict": []},
    {"bytes": ""},
    {"object": {"class": "losses.squared.Squared", "state": {}}},
    {"object": {"class": "kernels.stationary.RBF", "state": {"length_scale": 1.0}}},
    {"objects": {"shape": [1], "items": ["x"]}},
]
"""Values of many types; the field that is replaced has another one."""
GONE = object()
SAYINGS = ("predict", "decision_function", "predict_proba", "transform")


def kind(node):
    """Type of some JSON; whole numbers are numbers, and so are those of NumPy."""
    if not isinstance(node, dict):
        return "number" if type(node) in (int, float) else type(node)
    ((key, content),) = node.items()
    same = {"scalar": "number", "float": "number", "objects": "array"}
    if key == "object":
        layer, _, rest = content["class"].partition(".")
        return layer if layer in ("kernels", "losses") else rest
    return same.get(key, key)


def expanded(node, met):
    """Some JSON in which whatever is referred to stands itself, so that parts can be exchanged."""
    if isinstance(node, list):
        return [expanded(item, met) for item in node]
    if not isinstance(node, dict):
        return node
    if "ref" in node:
        return copy.deepcopy(met[node["ref"]])
    if "object" in node:
        number = len(met)
        met.append(None)
        content = node["object"]
        state = {name: expanded(value, met) for name, value in content["state"].items()}
        met[number] = {"object": content | {"state": state}}
        return met[number]
    return {key: expanded(value, met) for key, value in node.items()}


def states(tree):
    """Class and fields of every object in some JSON."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    found = [state for part in parts for state in states(part)]
    here = isinstance(tree, dict) and set(tree) == {"class", "state"}
    return [*found, (tree["class"], tree["state"])] if here else found


def may_be(class_name, name, node):
    """Whether a field is declared to hold values of this type, too."""
    hint = declared(find(class_name))[name].hint if name in declared(find(class_name)) else Any
    return hint is not Any and fits(Decoder([]).decode(node, "value"), hint)


def said(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [getattr(model, name)(rows.copy()) for name in SAYINGS if hasattr(model, name)]
    return [part.tolist() for one in found for part in (one if isinstance(one, tuple) else (one,))]


def outcome(parts, tree, n, name, other, rows):
    """What comes of a file in which a field is replaced or removed: an error, or what the model says."""
    altered = copy.deepcopy(tree)
    class_name, state = states(altered)[n]
    fitted_names = [field for field in state if field.endswith("_") or field.startswith("_")]
    if other is GONE:
        del state[name]
    else:
        state[name] = copy.deepcopy(other)
    try:
        model = load(packed(parts | {"model.json": json.dumps(altered).encode()}))
    except ModelFileError as error:
        named = (name in str(error)) and class_name.rpartition(".")[2] in str(error)
        return "refused" if named else str(error)
    try:
        return said(model, rows)
    except NotFittedError:  # nothing that fit sets is left
        return "refused" if other is GONE and len(fitted_names) == 1 else "not fitted"


def altered_fields(model, seed, most, rows=None):
    """Alter some fields of a saved model; how many were refused."""
    rng = random.Random(seed)
    parts = members(saved(model))
    tree = expanded(json.loads(parts["model.json"]), [])
    rows = new_rows(model) if rows is None else rows
    before = said(model, rows)
    places = [(n, name) for n, (_, state) in enumerate(states(tree)) for name in state]
    cases = [(place, other) for place in places for other in (GONE, *rng.sample(OTHERS, 3))]
    refused = 0
    for (n, name), other in rng.sample(cases, min(most, len(cases))):
        class_name, state = states(tree)[n]
        if other is not GONE and kind(other) == kind(state[name]):
            continue
        result = outcome(parts, tree, n, name, other, rows)
        permitted = other is not GONE and may_be(
            class_name, name, other
        )  # so the value is another, not the type
        assert permitted or result in ("refused", before), (class_name, name, other)
        refused += result == "refused"
    return refused


@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
def test_every_estimator(cls):
    wraps = "estimator" in inspect.signature(cls).parameters
    model = fitted(cls(KernelRidge()) if wraps else cls())
    assert set(state_of(model)) <= set(declared(cls))  # all that fit sets is in the list
    assert altered_fields(model, cls.__name__, 60) > 0


@pytest.mark.parametrize("label", variants())
def test_variants(label):
    model, options = variants()[label]
    assert altered_fields(fitted(model, **options), label, 40) > 0


@pytest.mark.parametrize(
    "step",
    [
        *(PairwiseFourierFeatures(8, random_state=0), RandomFourierFeatures(8, random_state=0)),
        *(
            MaxAbsScaler(),
            MinMaxScaler(),
            OrdinalEncoder(),
            OneHotEncoder(sparse_output=False),
            RobustScaler(),
            SimpleImputer(),
        ),
    ],
    ids=lambda step: type(step).__name__,
)
def test_transformers(step):
    model = fitted(make_pipeline(step, KernelRidge(alpha=1.0)))
    rows = data().X[:7]
    assert altered_fields(model, type(step).__name__, 60, rows=rows) > 0


def test_scalers_that_are_told_not_to_scale():
    model = fitted(make_pipeline(StandardScaler(with_std=False), KernelRidge(alpha=1.0)))
    assert model[0].scale_ is None
    assert load(saved(model))[0].scale_ is None


def alter(change):
    """A saved model whose state went through a function, with right checksums."""
    model = fitted(KernelRidge(RBF(0.5), alpha=1.0))
    return changed(saved(model), "model.json", lambda tree: change(tree["object"]["state"]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("_dual") and None, r"model, a KernelRidge, has no _dual\.$"),
        (
            lambda state: state.update(_dual=0.5),
            r"model\._dual is of the wrong type, float, for a KernelRidge\.$",
        ),
        (lambda state: state.update(kernel_=None), r"model\.kernel_ is of the wrong type, NoneType"),
        (
            lambda state: state["loo_"]["object"]["state"].pop("mse") and None,
            "model.loo_, a LeaveOneOut, has no mse",
        ),
    ],
)
def test_messages_name_class_and_field(change, message):
    with pytest.raises(ModelFileError, match=message):
        load(alter(change))


def test_parameters_of_later_versions_get_their_defaults(monkeypatch):
    data_without = alter(lambda state: state.pop("indefinite") and None)
    with pytest.raises(ModelFileError, match="has no indefinite"):
        load(data_without)
    monkeypatch.setattr(fields, "LATER", {"BaseEstimator": ("indefinite", "not one of its parameters")})
    assert load(data_without).indefinite == "raise"


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (1, float, True),
        (True, float, False),
        (True, int, False),
        (np.float32(1), float, True),
        (np.True_, bool, True),
        (1, bool, False),
        (np.str_("a"), str, True),
        (np.ones(2), float | np.ndarray, True),
        (np.array(["a"]), float | np.ndarray, False),
        (np.array(["a"]), np.ndarray, True),
        (np.arange(2), np.ndarray[Any, np.dtype[np.floating]], False),
        ((1, 2), tuple[int, ...], True),
        ((1, "a"), tuple[int, ...], False),
        ((1, "a"), tuple[int, str], True),
        ((1,), tuple[int, str], False),
        ([1], tuple[int, ...], False),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        (RBF(), "RBF|Linear", True),
        (RBF(), "Linear", False),
        (3, "int", False),  # names are of classes of ours
        (None, None, True),
        (3, Any, True),
    ],
)
def test_kinds(value, hint, right):
    assert fits(value, hint) is right


@pytest.mark.parametrize(
    ("model", "path", "other"),
    [
        (KernelRidge(), ["_dual"], ["X_fit_"]),
        (KernelRidge(), ["_dual"], ["weight_fit_"]),
        (KernelRidge(), ["_intercept"], ["weight_fit_"]),
        (KernelRidge(), ["loo_", "residuals"], ["loo_", "path", "alphas"]),
        (InterpretableKernelRegressor(), ["_linear_coef"], ["_dual"]),
        (ISKRegressor(1.0, alpha=0.1), ["_beta"], ["_W"]),
        (SparseAdditiveRegressor(0.01), ["_intercept"], ["_coef"]),
        (SparseAdditiveRegressor(0.01), ["_smooths_fit", 0, "table"], ["_coef"]),
        (SparseAdditiveRegressor(0.01), ["importances_", "values"], ["path_", "alphas"]),
        (AdditiveKernelRegressor(0), ["tables_", "tables", 0], ["tables_", "tables", 1]),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(model, path, other):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 9, 60)])
    good = saved(model.fit(X, X[:, 0] + np.sin(X[:, 1])))

    def inside(node, way):
        for step in [*way, None]:
            if isinstance(node, dict):
                node = node["object"]["state"] if "object" in node else node["tuple"]
            node = node if step is None else node[step]
        return node

    def swap(tree):
        inside(tree, path[:-1])[path[-1]] = inside(tree, other[:-1])[other[-1]]

    load(good)
    with pytest.raises(ModelFileError, match="does not go with"):
        load(changed(good, "model.json", swap))
