"""The arithmetic that goes into a page, against the models and against obviously right lines."""

import json

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from sklearn.linear_model import Ridge

from pellucid import KernelRidge
from pellucid.data.table import UNKNOWN
from pellucid.data.table import Column as FeatureColumn
from pellucid.effects import Effect, Grid
from pellucid.effects.tables import TermTables
from pellucid.features.axis import Axis
from pellucid.kernels import NTK, RBF, Matern
from pellucid.kernels.base import REGISTRY
from pellucid.report.columns import read_columns
from pellucid.report.decomposition import decompose
from pellucid.report.packing import pack, unpack
from pellucid.report.page_kernel import formula, kernel_model
from pellucid.report.page_model import LINKS, evaluate, find_link, linear_model
from pellucid.report.page_tables import compiled_model, table_model
from pellucid.report.response import Response
from pellucid.report.similarity import similarity


def cells_of(columns):
    rows = np.arange(len(columns[0].values))
    return [list(row) for row in zip(*(column.plain(rows) for column in columns), strict=True)]


@pytest.mark.parametrize("kind", ["additive", "additive classes", "isk", "tables", "tables classes"])
def test_contributions_of_terms(models, kind):
    model, X, _ = models(kind)
    columns = read_columns(X)
    shown = decompose(model, Response(model), columns, X)
    contributions, eta = evaluate(shown.page_model, cells_of(columns))
    wanted = model.contributions(X)
    wanted = wanted if wanted.ndim == 3 else wanted[:, :, None]
    order = [model.term_names_.index(effect.name) for effect in shown.effects]
    assert np.allclose(contributions, wanted[:, order], rtol=1e-10, atol=1e-12)
    assert np.allclose(eta, wanted.sum(axis=1) + model.intercept_, rtol=1e-10, atol=1e-12)


def test_a_linear_model():
    rng = np.random.default_rng(0)
    X, coef, intercept = rng.normal(size=(5, 3)), rng.normal(size=(3, 2)), np.array([1.0, -1.0])
    contributions, eta = evaluate(linear_model(coef, intercept, X.mean(axis=0)), X.tolist())
    assert np.allclose(eta, X @ coef + intercept)
    assert np.allclose(contributions.mean(axis=0), 0.0)


def test_tables_are_interpolated():
    u, v = np.array([0.0, 1.0, 4.0]), np.array([-1.0, 2.0])
    values = np.arange(6.0).reshape(3, 2) ** 2
    effect = Effect((1, 0), "v × u", (Grid("u", u), Grid("v", v)), values, values)
    page_model = table_model(0.0, [effect])
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(0, 4, 50), rng.uniform(-1, 2, 50)])
    _, eta = evaluate(page_model, points[:, ::-1].tolist())  # the term's first feature is column 1
    assert np.allclose(eta[:, 0], RegularGridInterpolator((u, v), values)(points))
    _, beyond = evaluate(page_model, [[99.0, -99.0]])
    assert beyond[0, 0] == values[0, 1]  # constant outside


def test_levels_missing_values_and_levels_never_seen():
    town = Grid("town", np.array(["a", "b", "(missing)"], dtype=object), levels=True, missing=True)
    age = Grid("age", np.array([0.0, 1.0, np.nan]), missing=True)
    effects = [
        Effect((0,), "town", (town,), np.array([1.0, 2.0, 3.0]), np.ones(3)),
        Effect((1,), "age", (age,), np.array([10.0, 20.0, 30.0]), np.ones(3)),
    ]
    page_model = table_model(100.0, effects)
    rows = [["a", 0.5], [None, 1.0], ["never seen", None]]
    assert evaluate(page_model, rows)[1][:, 0].tolist() == [116.0, 123.0, 130.0]
    whole = table_model(0.0, [Effect((0,), "u", (Grid("u", np.arange(2.0)),), np.ones(2), np.ones(2))])
    with pytest.raises(ValueError, match="missing"):
        evaluate(whole, [[None]])


def test_the_link_is_found_by_what_it_gives():
    eta = np.random.default_rng(0).normal(size=(6, 3))
    for name in ("softmax", "each"):
        found = find_link(eta, LINKS[name](eta), ("softmax", "each"))
        assert found is not None
        assert found[0] == name
    assert find_link(eta, eta + 1e-6, ("identity",)) is None
    assert find_link(eta, np.exp(eta), ("identity", "log"))[0] == "log"


KNOWN = ["RBF", "Matern", "RationalQuadratic", "Laplacian", "Periodic", "Linear", "Polynomial", "Constant"]


@pytest.mark.parametrize("name", [*KNOWN, "Sum", "Product", "Power", "Restricted"])
def test_every_kernel_that_the_page_knows(name):
    """The formula gives the kernel's own values, for each of its examples."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    for kernel in REGISTRY[name].examples():
        made = formula(kernel, np.arange(3))
        values = [similarity(made, x, Y) for x in X]
        assert np.allclose(values, kernel(X, Y), rtol=1e-12, atol=1e-14)


def test_kernels_and_models_that_a_page_cannot_hold():
    assert formula(NTK() + RBF(), np.arange(2)) is None
    assert formula(RBF() * NTK(), np.arange(2)) is None
    assert formula(NTK() ** 2, np.arange(2)) is None
    assert kernel_model(Ridge()) is None
    X = np.random.default_rng(0).normal(size=(300, 101))
    large = KernelRidge(RBF(10.0), alpha=1.0).fit(X, X[:, 0])
    assert kernel_model(large) is None
    assert kernel_model(KernelRidge(NTK(), alpha=1.0).fit(X[:, :2], X[:, 0])) is None


def test_named_columns_of_a_kernel():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    model = KernelRidge(RBF().on(["c", "a"]) + 0.5 * Matern().on("b"), alpha=0.1).fit(X, X["a"])
    _, eta = evaluate(kernel_model(model), X.to_numpy().tolist())
    assert np.allclose(eta[:, 0], model.predict(X), rtol=1e-12)


def test_thinned_effects_keep_their_mass():
    x = np.append(np.arange(100.0), np.nan)
    density = np.arange(101.0) / np.arange(101.0).sum()
    effect = Effect((0,), "x", (Grid("x", x, missing=True),), x**2, density, se=x)
    small = effect.thinned(10)
    assert len(small.grids[0]) == 11
    assert small.density.sum() == pytest.approx(1.0)
    assert small.density[-1] == density[-1]
    kept = small.grids[0].points[:-1]
    assert np.array_equal(small.values[:-1], kept**2)
    assert kept[[0, -1]].tolist() == [0.0, 99.0]
    assert small.thinned(10) is small


def test_packed_arrays_are_exact():
    values = np.random.default_rng(0).normal(size=(3, 2, 4)) * 10.0 ** np.arange(-150, 250, 100)
    assert np.array_equal(unpack(json.loads(json.dumps(pack(values)))), values)


def test_compiled_tables():
    """Tables that a model predicts with, at values known, missing, unknown and beyond."""
    rng = np.random.default_rng(0)
    n = 200
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n))
    town = rng.choice(["a", "b", "c"], n)
    codes = np.array([{"a": 0.0, "b": 1.0, "c": 2.0}[t] for t in town])
    axes = (Axis.numeric(age, np.ones(n), 20), Axis.of_levels(codes, np.ones(n), 3))
    columns = (FeatureColumn("age"), FeatureColumn("town", ("a", "b", "c")))
    terms = ((0,), (1,), (0, 1))
    tables = []
    for term in terms:
        table = rng.normal(size=tuple(len(axes[j]) + 1 for j in term))
        table[-1] = 0.0
        if len(term) == 2:
            table[:, -1] = 0.0
        tables.append(table)
    compiled = TermTables(columns, axes, axes, terms, tuple(tables), 1.5)
    effects = [
        Effect(term, "", tuple(compiled.grid(j, axes[j]) for j in term), table, table)
        for term, table in zip(reversed(terms), reversed(tables), strict=True)
    ]
    page_model = compiled_model(compiled, effects)
    x = np.append(age[:50], [np.nan, -1e9, 1e9, 50.0])
    names = [*town[:50], "a", "b", None, "never seen"]
    coded = [{"a": 0.0, "b": 1.0, "c": 2.0, None: np.nan, "never seen": UNKNOWN}[t] for t in names]
    cells = [[None if np.isnan(v) else v, t] for v, t in zip(x, names, strict=True)]
    contributions, eta = evaluate(page_model, cells)
    rows = np.column_stack([x, coded])
    assert np.allclose(contributions[:, ::-1, 0], compiled.contributions(rows), rtol=1e-12, atol=1e-14)
    assert np.allclose(eta[:, 0], compiled.predictor(rows), rtol=1e-12, atol=1e-14)
