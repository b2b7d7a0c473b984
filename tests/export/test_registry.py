"""Which classes a file may hold."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas
import pytest
from model_files import changed, difference, saved

from pellucid import (
    AdditiveKernelRegressor,
    ISKRegressor,
    KernelRidge,
    SparseAdditiveRegressor,
    effects,
    kernels,
    load,
    losses,
)
from pellucid.effects import LeaveOneOut
from pellucid.exceptions import ModelFileError
from pellucid.export.model_file import fields, registry
from pellucid.export.model_file.registry import classes, find, name_of, objection
from pellucid.kernels import RBF, Kernel


def test_names_are_module_and_class():
    found = classes()
    assert found["kernels.stationary.RBF"] is RBF
    assert name_of(LeaveOneOut) == "effects.loo.LeaveOneOut"
    assert all(find(name) is cls and name_of(cls) == name for name, cls in found.items())
    assert name_of(Kernel) is None  # abstract
    assert name_of(dict) is None
    for layer in (kernels, losses, effects):
        for name in layer.__all__:
            value = getattr(layer, name)
            if inspect.isclass(value) and not inspect.isabstract(value):
                assert value in found.values()


def test_nothing_that_runs_on_arrival_or_departure():
    for name, cls in classes().items():
        assert not inspect.isabstract(cls)
        assert not hasattr(cls, "__del__")
        if not name.startswith("sklearn."):
            assert cls.__module__.startswith("pellucid.")
            assert cls.__new__ in (object.__new__, tuple.__new__) or issubclass(cls, tuple)


def test_classes_that_moved_within_their_layer(monkeypatch):
    assert find("kernels.where_it_was.RBF") is RBF
    assert find("models.kernels.RBF") is None
    assert find("sklearn.where_it_was.StandardScaler") is None
    monkeypatch.setattr(registry, "_moved", lambda: {("kernels", "RBF"): [RBF, RBF]})
    assert find("kernels.where_it_was.RBF") is None  # there are two now
    data = saved(KernelRidge(RBF(2.0)))
    monkeypatch.undo()

    def older(tree):
        tree["object"]["state"]["kernel"]["object"]["class"] = "kernels.old.RBF"

    assert load(changed(data, "model.json", older)).kernel == RBF(2.0)


class _Out(RBF):
    _in_model_files = False


class Plain:
    pass


class Chosen:
    _in_model_files = True


def test_a_class_may_decide_for_itself():
    assert not registry._admissible(_Out)
    assert not registry._admissible(Plain)
    assert registry._admissible(Chosen)
    model = KernelRidge(_Out())
    with pytest.raises(ModelFileError, match=r"^model\.kernel is .*, and a model file holds"):
        saved(model)


@dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: Any = float


class Pair(NamedTuple):
    left: np.ndarray
    right: str | None


@dataclass(frozen=True)
class Result:
    values: np.ndarray
    label: str
    names: Sequence[str] = ()
    table: Mapping[str, float] | None = None
    kind: Literal["a", "b"] = "a"
    kernel: Kernel | None = None
    inner: Slotted | None = None
    anything: Any = float

    @cached_property
    def total(self) -> float:
        return float(self.values.sum())


@pytest.fixture
def ours(monkeypatch):
    """The classes above, as if they were pellucid's."""
    known = classes() | {f"effects.{cls.__name__}": cls for cls in (Slotted, Pair, Result)}
    monkeypatch.setattr(registry, "classes", lambda: known)
    registry._names.cache_clear()
    fields.declared.cache_clear()
    yield
    monkeypatch.undo()
    registry._names.cache_clear()
    fields.declared.cache_clear()


def test_kinds_of_classes(ours):
    result = Result(np.arange(3.0), "x", ["a"], {"b": 1.0}, "b", RBF(2.0), Slotted(1, Pair(np.ones(2), None)))
    assert result.total == 3.0
    back = load(saved(result))
    assert difference(result, back) is None
    assert "total" not in vars(back)
    assert back.total == 3.0
    assert type(back.inner.b) is Pair


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"values": "text"}, "values"),
        ({"values": 1.5}, "values"),
        ({"values": KernelRidge()}, "values"),
        ({"label": 3}, "label"),
        ({"label": None}, "label"),
        ({"names": 3}, "names"),
        ({"table": [1]}, "table"),
        ({"kind": 1}, "kind"),
        ({"inner": Pair(np.ones(1), "a")}, "inner"),
    ],
)
def test_fields_of_the_wrong_type(ours, change, name):
    with pytest.raises(ModelFileError, match=rf"^model\.{name} is of the wrong type, .* for a Result"):
        saved(Result(**({"values": np.ones(2), "label": "x"} | change)))


def test_values_that_annotations_tolerate(ours):
    tolerated = [
        Result(np.array(2.0), np.str_("x")),
        Result(np.ones(1), "x", np.array(["a"])),
    ]
    for result in tolerated:
        assert difference(result, load(saved(result))) is None


def test_which_attributes(ours):
    assert objection(Result, "values") is None
    assert objection(Result, "other") is None
    assert objection(Result, "anything") is None  # though its default can be called
    assert objection(Result, "total") is not None
    assert objection(Result, "__post_init__") is not None
    assert objection(Slotted, "a") is None
    assert objection(Slotted, "other") == "is not an attribute of this class"
    assert objection(KernelRidge, "predict") is not None
    assert objection(KernelRidge, "noise_variance_") is not None
    assert objection(KernelRidge, "alpha") is None
    assert objection(RBF, "mercer") is None  # a plain value of the class
    assert objection(RBF, "x" * 101) is not None
    assert list(fields.declared(Slotted)) == ["a", "b"]
    assert list(fields.declared(Pair)) == ["left", "right"]
    assert fields.declared(KernelRidge)["kernel"].when == "always"
    assert list(fields.declared(RBF)) == ["length_scale"]


def test_named_tuples_have_their_fields_alone(ours):
    data = saved(Slotted(1, Pair(np.ones(1), "a")))

    def alter(tree):
        tree["object"]["state"]["b"]["object"]["state"]["count"] = 1

    with pytest.raises(ModelFileError, match="'count', whose name is not an attribute of this class"):
        load(changed(data, "model.json", alter))


def test_columns_of_files_written_before_they_had_an_order():
    """Their class was in another layer and lacked a field; ISK's scaling had another name, and no columns."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"town": rng.choice(["Ulm", "Bonn", "Kiel"], 80), "x": rng.normal(size=80)})
    y = (X["town"] == "Ulm") + X["x"].to_numpy()
    fixed = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9, "n_components": 4}
    names = {"data.table.Column": "features.table.Column", "features.scaling.Warp": "features.scaling.Column"}

    def older(node):
        if isinstance(node, dict) and "class" in node:
            if node["class"] in names:
                node["class"] = names[node["class"]]
                node["state"].pop("ordered", None)
            if node["class"].startswith(("models.isk", "models.sparse_additive")):
                node["state"].pop("columns_", None)
        for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            older(part)

    for model in (AdditiveKernelRegressor(), ISKRegressor(**fixed), SparseAdditiveRegressor(0.01, n_basis=4)):
        model.fit(X, y)
        again = load(changed(saved(model), "model.json", older))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_what_was_renamed_or_added_since_a_file_was_written():
    X = np.random.default_rng(0).normal(size=(30, 1))
    model = AdditiveKernelRegressor().fit(X, X[:, 0])

    def as_before(content):
        state = content["object"]["state"]
        state["_refit_spec"]["object"]["class"] = "models.additive_recipe.Recipe"
        names = {"_refit_spec": "_recipe"}
        before = {names.get(name, name): value for name, value in state.items() if name != "weights"}
        content["object"]["state"] = before

    back = load(changed(saved(model), "model.json", as_before))
    assert difference(back._refit_spec, model._refit_spec) is None
    assert not hasattr(back, "_recipe")
    assert back.weights == "auto"
    assert back.edit(X, X[:, 0], freeze=["x0"]).term_names_ == ["x0"]
