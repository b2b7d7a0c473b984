"""Formulas: what they name, what they cannot say, and models that keep them."""

import numpy as np
import pytest

import pellucid
from pellucid.data.formula import read_formula

pandas = pytest.importorskip("pandas")
pytest.importorskip("formulaic", reason="formulaic is not installed")

COLUMNS = ["y", "a", "b", "c", "body mass"]


@pytest.mark.parametrize(
    ("text", "features", "pairs"),
    [
        ("y ~ a", "a", ""),
        ("y ~ c + a", "a c", ""),
        ("y ~ a * b", "a b", "ab"),
        ("y ~ b:a", "a b", "ab"),
        ("y ~ c + b:a + a:b", "a b c", "ab"),
        ("y ~ (a + b + c) ** 2 - a:b", "a b c", "ac bc"),
        ("y ~ a / b", "a b", "ab"),
        ("y ~ . - `body mass`", "a b c", ""),
        ("y ~ 1 + a", "a", ""),
    ],
)
def test_what_is_named(text, features, pairs):
    read = read_formula(text, COLUMNS)
    assert (read.target, read.text) == ("y", text)
    assert list(read.features) == features.split()
    assert sorted("".join(pair) for pair in read.pairs) == pairs.split()


def test_names_with_blanks():
    read = read_formula("`body mass` ~ a:c", COLUMNS)
    assert (read.target, read.features, read.pairs) == ("body mass", ("a", "c"), (("a", "c"),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a + b", "does not say what is predicted"),
        ("~ a", "does not say what is predicted"),
        ("y + c ~ a", "one column before"),
        ("y | c ~ a", "does not say what is predicted"),
        ("y:c ~ a", "one column before"),
        ("y ~ 0 + a", "takes out the constant"),
        ("y ~ a:b:c", "at most two"),
        ("y ~ log(a)", "computes 'log\\(a\\)'"),
        ("log(y) ~ a", "computes"),
        ("y ~ {a + 1}", "computes"),
        ("y ~ 2:a", "computes"),
        ("y ~ d", "no such column"),
        ("z ~ a", "no such column"),
        ("y ~ y + a", "on both sides"),
        ("y ~ 1", "names no feature"),
        ("y ~ a +", "cannot be read"),
        ("y ~ a ~ b", "cannot be read"),
        ("", "does not say|cannot be read"),
    ],
)
def test_what_cannot_be_said(text, says):
    with pytest.raises(ValueError, match=says):
        read_formula(text, COLUMNS)


def test_nothing_in_a_formula_is_run():
    for text in ("y ~ __import__('os').system('true')", "y ~ {print(a)}", "y ~ f(a"):
        with pytest.raises(ValueError, match=r"computes|cannot be read"):
            read_formula(text, COLUMNS)
    with pytest.raises(TypeError):
        read_formula(3, COLUMNS)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.uniform(-1, 1, size=(150, 3)), columns=["a", "b", "c"])
    table["town"] = rng.choice(["Ulm", "Bonn"], 150)
    table["y"] = table["a"] * table["b"] + np.sin(3 * table["c"]) + 0.05 * rng.normal(size=150)
    table["weight"] = 1.0 + (np.arange(150) % 2)
    table["class"] = np.where(table["y"] > 0, "high", "low")
    table["count"] = rng.poisson(np.exp(table["a"]))
    return table


def test_an_additive_machine(data, tmp_path):
    model = pellucid.fit_formula(
        pellucid.AdditiveKernelRegressor(), "y ~ a*b + c + town", data, sample_weight="weight"
    )
    plain = pellucid.AdditiveKernelRegressor([("a", "b")])
    plain.fit(data[["a", "b", "c", "town"]], data["y"], sample_weight=data["weight"])
    wanted = plain.predict(data[["a", "b", "c", "town"]])
    np.testing.assert_array_equal(model.predict(data), wanted)
    np.testing.assert_array_equal(model.predict(data.iloc[:, ::-1]), wanted)
    assert model.contributions(data).shape == (150, len(model.terms_))
    path = tmp_path / "model.pellucid"
    pellucid.save(model, path)
    again = pellucid.load(path)
    assert again.formula_ == "y ~ a*b + c + town"
    np.testing.assert_array_equal(again.predict(data), wanted)
    with pytest.raises(ValueError, match="no column 'c'"):
        again.predict(data.drop(columns="c"))
    smoother = model.edit(data, data["y"], smooth={"c": 10.0})
    assert smoother.predict(data).shape == (150,)
    model.set_params(interactions=0).fit(data[["a"]], data["y"])
    assert not hasattr(model, "formula_")


def test_main_effects_only_unless_told(data):
    fit = pellucid.fit_formula
    assert fit(pellucid.AdditiveKernelRegressor(), "y ~ a + b + c", data).interactions == 0
    wide = fit(pellucid.AdditiveKernelRegressor(interactions=1), "y ~ a + b + c", data)
    assert "a × b" in wide.term_names_
    with pytest.raises(ValueError, match="leave out interactions"):
        fit(pellucid.AdditiveKernelRegressor(interactions=1), "y ~ a*b", data)
    classes = fit(pellucid.AdditiveKernelClassifier(), "class ~ a*b + c", data)
    assert classes.score(data, data["class"]) > 0.8
    counts = fit(pellucid.AdditiveKernelRegressor(loss="poisson"), "count ~ a", data, exposure="weight")
    assert np.all(counts.predict(data, exposure=data["weight"]) > 0)


@pytest.mark.parametrize(
    ("cls", "formula", "options"),
    [
        (pellucid.KernelRidge, "y ~ a + b + c", {}),
        (pellucid.KernelRidgeClassifier, "class ~ a + b", {}),
        (pellucid.KernelGLMRegressor, "count ~ a", {"loss": "poisson", "alpha": 1.0}),
        (pellucid.KernelClassifier, "class ~ a + c", {"alpha": 1.0}),
        (pellucid.InterpretableKernelRegressor, "y ~ a + b + c", {"alpha": 1.0}),
        (pellucid.SparseAdditiveRegressor, "y ~ a + c", {"alpha": 0.01, "n_basis": 4}),
    ],
)
def test_other_machines(data, cls, formula, options):
    model = cls.from_formula(formula, data, **options)
    names, target = [str(n) for n in model.feature_names_in_], formula.split()[0]
    plain = cls(**options).fit(data[names], data[target])
    np.testing.assert_array_equal(model.predict(data), plain.predict(data[names]))
    with pytest.raises(ValueError, match="names pairs"):
        cls.from_formula(f"{target} ~ a*b", data, **options)


def test_what_is_wrong_is_said(data):
    fit, model = pellucid.fit_formula, pellucid.KernelRidge()
    with pytest.raises(TypeError, match="data frame"):
        fit(model, "y ~ a", data.to_numpy())
    with pytest.raises(TypeError, match="takes no exposure"):
        fit(model, "y ~ a", data, exposure="weight")
    with pytest.raises(ValueError, match="sample_weight names 'w'"):
        fit(model, "y ~ a", data, sample_weight="w")
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(data[["a", "b", "y"]])
    made = fit(pellucid.KernelRidge(), "y ~ a + b", table)
    np.testing.assert_allclose(made.predict(table), fit(model, "y ~ a + b", data).predict(data))


def test_without_the_package(data, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "formulaic.parser", None)
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[formula\]'"):
        pellucid.fit_formula(pellucid.KernelRidge(), "y ~ a", data)
