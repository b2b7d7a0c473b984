"""What a report says, read from the data inside the page."""

import subprocess
import sys
import warnings
from typing import ClassVar

import numpy as np
import pytest
from report_data import HOSTILE, KINDS, frame, payload
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import d2_tweedie_score, log_loss, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import (
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKRegressor,
    KernelRidge,
    LooSearch,
    SparseAdditiveRegressor,
    build_report,
)
from pellucid.effects import Effect, Grid, Importances, LeaveOneOut
from pellucid.kernels import RBF
from pellucid.report.captions import effect_caption
from pellucid.report.facts import facts_of
from pellucid.report.page_model import LINKS, evaluate

pandas = pytest.importorskip("pandas")


def facts(rows):
    return dict(map(tuple, rows))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model(models, kind):
    model, X, y = models(kind)
    page = payload(build_report(model, X, y))
    assert page["terms"]
    assert page["charts"]
    assert [c["name"] for c in page["columns"]] == list(X.columns)
    rows = page["rows"]
    assert len(rows["index"]) == 120
    kind_of = {"number": "predict", "probability": "predict_proba", "score": "decision_function"}
    wanted = np.asarray(getattr(model, kind_of[page["task"]["kind"]])(X), dtype=float).reshape(len(X), -1)
    wanted = wanted[:, 1:] if page["task"]["kind"] == "probability" and wanted.shape[1] == 2 else wanted
    assert np.allclose(rows["answers"], wanted, rtol=1e-12)
    _, eta = evaluate(page["page_model"], rows["cells"])  # after its way through JSON
    assert np.abs(LINKS[page["page_model"]["link"]](eta) - wanted).max() < 1e-9
    assert page["check"] < 1e-10


def test_facts_about_the_fit(models):
    model, X, y = models("coefficients")
    page = payload(build_report(model, X, y))
    assert page["title"] == "InterpretableKernelRegressor for strength"
    assert facts(page["fit"]["data"])["rows"] == "120"
    assert len(facts(page["fit"]["data"])["SHA-256 of the data"]) == 64
    assert facts(page["fit"]["parameters"])["alpha"] == "1"
    assert facts(page["fit"]["versions"])["NumPy"] == np.__version__
    assert page["fit"]["edits"] == []
    certificate = facts(page["trust"]["certificate"])
    assert certificate["KAF"] == f"{model.kaf_:.4f}"
    assert page["trust"]["own"]
    other = payload(build_report(model, X, y + 1.0))
    assert page["fit"]["data"] != other["fit"]["data"]
    assert payload(build_report(model, X, y, title="Mine"))["title"] == "Mine"


class Edited(InterpretableKernelRegressor):
    """A model with an edit log and a receipt."""

    def fit(self, X, y):
        super().fit(X, y)
        self.edits_ = ["dose: made increasing"]
        self.receipt_ = {"screened pairs": 3, "exact": True}
        return self


def test_edits_and_receipts_are_shown():
    X, y = frame()
    page = payload(build_report(Edited(alpha=1.0).fit(X[["age", "dose"]], y), X[["age", "dose"]], y))
    assert page["fit"]["edits"] == [["1", "dose: made increasing"]]
    assert facts(page["trust"]["receipt"]) == {"screened pairs": "3", "exact": "yes"}


def test_an_additive_model_that_was_edited(models):
    model, X, y = models("tables")
    edited = model.edit(X, y, cap={"age": (-0.5, 0.5)})
    page = payload(build_report(edited, X, y))
    assert page["fit"]["edits"][0][1].startswith("cap age between -0.5 and 0.5")
    assert page["check"] < 1e-10
    age = next(term for term in page["terms"] if term["name"] == "age")
    assert max(np.abs(age["values"][0])) <= 0.5


def test_objects_become_facts():
    assert facts_of("one line") == [["", "one line"]]
    assert facts_of("label    value\nother    more") == [["label", "value"], ["other", "more"]]
    assert facts_of(Grid("u", np.arange(2.0)))[0] == ["feature", "u"]
    assert facts_of(None) == []
    assert facts_of({"u": np.arange(12.0), "v": 0.1 + 0.2})[0][1].endswith("... (12 values)")


# ---------------------------------------------------------------- scores


def test_scores_of_a_regression(models):
    model, X, y = models("coefficients")
    weight = np.arange(120.0)
    given = facts(payload(build_report(model, X, y, sample_weight=weight))["score"]["given"])
    assert float(given["R²"]) == pytest.approx(r2_score(y, model.predict(X), sample_weight=weight), abs=1e-4)
    doubled = pandas.concat([X, X.iloc[:1]]), pandas.concat([y, y.iloc[:1]])
    twice = facts(payload(build_report(model, *doubled))["score"]["given"])
    two = np.where(np.arange(120) == 0, 2.0, 1.0)
    assert facts(payload(build_report(model, X, y, sample_weight=two))["score"]["given"]) == twice


def test_scores_of_classes(models):
    model, X, y = models("logistic")
    given = facts(payload(build_report(model, X, y))["score"]["given"])
    p = model.predict_proba(X)
    assert float(given["log loss"]) == pytest.approx(log_loss(y, p), rel=1e-3)
    assert float(given["area under the ROC curve"]) == pytest.approx(roc_auc_score(y, p[:, 1]), abs=1e-4)
    assert given["accuracy"] == f"{100 * model.score(X, y):.1f} %"
    model, X, y = models("multinomial")
    page = payload(build_report(model, X, y))
    assert facts(page["score"]["given"])["log loss"] == f"{log_loss(y, model.predict_proba(X)):.4f}"
    counts = np.array(page["charts"][0]["counts"])
    assert counts.sum() == 120
    assert np.trace(counts) == round(120 * model.score(X, y))


def test_leave_one_out_is_shown_for_its_own_rows_only(models):
    model, X, y = models("kernel")
    page = payload(build_report(model, X, y))
    told = facts(page["score"]["loo"])
    assert float(told["leave-one-out RMSE"]) == pytest.approx(model.loo_.rmse, rel=1e-4)
    assert float(told["leave-one-out R²"]) == pytest.approx(1 - model.loo_.mse / y.var(ddof=0), abs=1e-4)
    assert page["headline"][0][1] == "leave-one-out R²"
    assert page["charts"][0]["x"] == pytest.approx(model.loo_.predictions, rel=1e-5)
    assert "path" in [chart["type"] for chart in page["charts"]]
    elsewhere = payload(build_report(model, X, y + 1.0))
    assert elsewhere["score"]["loo"] == []
    assert elsewhere["rows"]["loo"] is None
    assert elsewhere["headline"][0][2] == "on the rows given, not on new ones"


def test_leave_one_out_of_some_rows():
    """A model of very many rows leaves out some of them, and says which."""
    X, y = frame()
    X = X[["age", "dose"]]
    model = Ridge().fit(X, y)
    model.loo_rows_ = some = np.array([3, 50, 119])
    guess = np.array([1.0, 2.0, 3.0])
    left = y.iloc[some] - guess
    model.loo_ = LeaveOneOut(guess, left, np.full(3, 0.1), float(np.mean(left**2)))
    page = payload(build_report(model, X, y))
    assert facts(page["score"]["loo"])["rows left out"] == "3 of 120, one at a time"
    assert page["charts"][0]["rows"] == some.tolist()
    assert page["charts"][0]["y"] == pytest.approx(y.iloc[some], rel=1e-5)
    assert page["rows"]["loo"][49:52] == [None, 2.0, None]
    model.loo_rows_ = some - 1  # of other rows
    assert payload(build_report(model, X, y))["score"]["loo"] == []


def test_leave_one_out_of_classes(models):
    model, X, y = models("tables classes")
    page = payload(build_report(model, X, y))
    told = facts(page["score"]["loo"])
    assert told["leave-one-out accuracy"] == f"{100 * (1 - model.loo_.error_rate):.1f} %"
    assert told["leave-one-out log loss"] == f"{log_loss(y, model.loo_.predictions):.4f}"
    counts = np.array(page["charts"][0]["counts"])
    assert np.trace(counts) == round(120 * (1 - model.loo_.error_rate))
    assert "fitted without it" in page["charts"][0]["caption"]


def test_exposure_enters_the_scores_and_not_the_calculator():
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(80, 2)), rng.uniform(0.5, 5.0, 80)
    y = rng.poisson(time * np.exp(0.5 * X[:, 0]))
    model = InterpretableKernelRegressor(loss="poisson", alpha=1.0, certify=0).fit(X, y, exposure=time)
    page = payload(build_report(model, X, y, exposure=time))
    error = y - model.predict(X, exposure=time)
    assert float(facts(page["score"]["given"])["RMSE"]) == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)
    assert np.allclose(np.ravel(page["rows"]["answers"]), model.predict(X))
    assert page["page_model"]["link"] == "log"


def test_scores_and_calibration_per_exposure():
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(80, 2)), rng.uniform(0.5, 5.0, 80)
    y = rng.poisson(time * np.exp(0.5 * X[:, 0]))
    weight = rng.uniform(0.5, 2.0, 80)
    model = AdditiveKernelRegressor(loss="poisson", interactions=0).fit(X, y, weight, exposure=time)
    page = payload(build_report(model, X, y, sample_weight=weight, exposure=time))
    mu = model.predict(X, exposure=time)
    given, left = facts(page["score"]["given"]), facts(page["score"]["loo"])
    explained = d2_tweedie_score(y / time, mu / time, sample_weight=weight * time, power=1)
    assert given["share of the deviance explained"] == f"{100 * explained:.1f} %"
    assert float(given["observed per exposure"]) == pytest.approx((weight @ y) / (weight @ time), rel=1e-4)
    assert float(given["predicted per exposure"]) == pytest.approx((weight @ mu) / (weight @ time), rel=1e-4)
    told = model.loo_deviance_explained_
    assert float(left["leave-one-out share of the deviance explained"][:-2]) == pytest.approx(
        100 * told, abs=0.06
    )
    chart = next(c for c in page["charts"] if c["title"] == "Are predictions right on average?")
    assert chart["xlabel"] == "mean predicted value per exposure"
    rate = model.loo_.predictions / time
    first = np.argsort(rate, kind="stable")[:8]
    seen = (weight[first] @ y[first]) / (weight[first] @ time[first])
    assert chart["y"][0] == pytest.approx(seen, rel=1e-5)
    assert page["rows"]["exposure"] == pytest.approx(time, rel=1e-5)
    assert page["rows"]["loo"] == pytest.approx(rate, rel=1e-5)
    offset = payload(build_report(model, X, y, sample_weight=weight, offset=np.log(time)))
    assert offset["score"] == page["score"]


def test_rows_without_a_target_are_left_out(models):
    model, X, y = models("tables")
    gaps = y.copy()
    gaps.iloc[[2, 60]] = np.nan
    page = payload(build_report(model, X, gaps, sample_weight=np.ones(120)))
    rest = gaps.notna().to_numpy()
    assert page["cautions"][0] == "2 rows without a target were left out."
    assert page["rows"]["index"] == np.flatnonzero(rest).tolist()
    given = float(facts(page["score"]["given"])["R²"])
    assert given == pytest.approx(r2_score(y[rest], model.predict(X[rest])), abs=1e-4)
    labels = np.array(["u", "v"], dtype=object)[np.arange(120) % 2]
    labels[0] = None
    numbers = X[["dose"]]
    classes = LogisticRegression().fit(numbers[1:], labels[1:].astype(str))
    page = payload(build_report(classes, numbers, labels))
    assert page["cautions"][0] == "1 row without a target was left out."
    with pytest.raises(ValueError, match="no value in any row"):
        build_report(model, X, np.full(120, np.nan))


def test_a_column_without_values():
    X, y = frame()
    X = X.assign(town=np.nan)
    model = AdditiveKernelRegressor(interactions=0).fit(X, y)
    page = payload(build_report(model, X, y))
    assert page["means"][2] is None
    assert page["features"][2]["low"] is None
    assert page["page_model"] is not None

    class Opaque:
        def predict(self, X):
            return np.asarray(X["age"] + X["dose"] ** 2)

    opaque = payload(build_report(Opaque(), X, y))
    assert {term["name"] for term in opaque["terms"]} == {"age", "dose"}


def test_leave_one_out_says_what_it_does_not_repeat(models):
    model, X, y = models("tables")
    html = build_report(model, X, y).html
    assert "is not chosen again: with few rows and many candidates, leave-one-out is optimistic" in html
    assert "so it says what to expect of new rows" not in html


def test_every_class_by_itself(models):
    model, X, y = models("tables classes")
    page = payload(build_report(model, X, y))
    told = {name: rest for name, *rest in page["score"]["classes"]["rows"]}
    assert page["score"]["classes"]["loo"]
    predicted = model.classes_[np.argmax(model.loo_.predictions, axis=1)]
    for name in model.classes_:
        found = np.mean(predicted[y == name] == name)
        right = np.mean(y[predicted == name] == name)
        assert told[name] == [str(np.sum(y == name)), f"{100 * found:.0f} %", f"{100 * right:.0f} %"]
    assert set(page["importances"]["most_for"]) <= set(model.classes_)


def test_small_terms_are_marked(models):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))
    y = 10 * X[:, 0] + 5 * X[:, 1] + 0.1 * X[:, 2] + rng.normal(size=300)
    coefficients = np.array([10.0, 5.0, 0.001, 0.0])
    model = Ridge(alpha=1e-6).fit(X, X @ coefficients)
    page = payload(build_report(model, X, y))
    assert page["importances"]["minor"] == 2
    assert [term["minor"] for term in page["terms"]][:3] == [False, False, True]
    model, X, y = models("tables")
    page = payload(build_report(model, X, y))
    small = np.flatnonzero(model.importances_.values < 1e-3)
    assert page["importances"]["minor"] == len(small)
    assert page["importances"]["p"][0] == "<1e-4"
    assert "terms by importance" not in facts(page["fit"]["model"])


# ---------------------------------------------------------------- terms and rows


def test_terms_are_the_effects_of_the_model(models):
    model, X, y = models("additive")
    page = payload(build_report(model, X, y))
    assert [t["name"] for t in page["terms"]] == [
        n for n in model.importances_.top() if model.importances_[n] > 0
    ]
    for term in page["terms"]:
        effect = model.effects_[term["name"]]
        assert np.allclose(term["values"][0], effect.values, rtol=1e-5, atol=1e-12)
        assert term["kind"] == ("levels" if term["name"] == "town" else "curve")
        assert sum(term["density"]) == pytest.approx(1.0, abs=1e-4)
    town = next(t for t in page["terms"] if t["name"] == "town")
    assert town["grids"][0]["points"] == ["<b>Bonn</b>", "Köln & Deutz", "Ulm"]


def test_pairs_of_an_isk_model(models):
    model, X, y = models("isk")
    page = payload(build_report(model, X, y))
    pair = next(t for t in page["terms"] if t["kind"] == "pair")
    shape = tuple(len(g["points"]) for g in pair["grids"])
    assert np.shape(pair["values"][0]) == np.shape(pair["shown"]) == np.shape(pair["density"]) == shape
    assert "Hatched cells" in pair["caption"]


def test_coefficients_are_lines_through_the_mean(models):
    model, X, y = models("coefficients")
    term = next(t for t in payload(build_report(model, X, y))["terms"] if t["name"] == "age")
    x = np.array(term["grids"][0]["points"])
    j = list(X.columns).index("age")
    assert np.allclose(term["values"][0], model.coef_[j] * (x - X["age"].mean()), rtol=1e-4, atol=1e-4)
    se = model.coefficient_frame()["standard_error"]["age"]
    assert np.allclose(term["se"][0], se * np.abs(x - X["age"].mean()), rtol=1e-3, atol=1e-4)


def test_average_predictions_of_an_opaque_model():
    """For a function that is a sum, averages over rows are its parts."""

    class Sum:
        def predict(self, X):
            return np.asarray(X["u"]) ** 2 + np.where(X["v"] == "b", 3.0, 0.0)

    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"u": rng.integers(-3, 4, 90).astype(float), "v": rng.choice(list("ab"), 90)}, index=range(7, 97)
    )
    y = Sum().predict(X)
    page = payload(build_report(Sum(), X, y))
    assert page["reading"] == "averages"
    assert page["page_model"] is None
    u, v = (next(t for t in page["terms"] if t["name"] == n) for n in "uv")
    centred = np.array(u["grids"][0]["points"]) ** 2 - np.mean(X["u"] ** 2)
    assert np.allclose(u["values"][0], centred, rtol=1e-4, atol=1e-4)
    assert v["values"][0][1] - v["values"][0][0] == pytest.approx(3.0, rel=1e-4)
    polars = pytest.importorskip("polars")
    same = payload(build_report(Sum(), polars.from_pandas(X), y))
    assert same["terms"] == page["terms"]


def test_other_peoples_models():
    X, y = frame()
    numbers = X[["age", "dose"]]
    page = payload(build_report(Ridge().fit(numbers, y), numbers, y))
    assert page["reading"] == "coefficients"
    assert page["page_model"]["link"] == "identity"
    page = payload(build_report(LogisticRegression().fit(numbers, y > 1), numbers, y > 1))
    assert page["page_model"]["link"] == "logit"
    three = np.arange(120) % 3
    page = payload(build_report(LogisticRegression().fit(numbers, three), numbers, three))
    assert page["page_model"]["link"] == "softmax"
    pipe = make_pipeline(StandardScaler(), Ridge()).fit(numbers, y)
    forest = RandomForestRegressor(5, random_state=0).fit(numbers, y)
    for model in (pipe, forest):
        page = payload(build_report(model, numbers, y))
        assert page["reading"] == "averages"
        assert page["page_model"] is None


def test_a_search_is_shown_as_its_best_model(models):
    _, X, y = models("kernel")
    search = LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [1.0, 10.0]}).fit(X, y)
    page = payload(build_report(search, X, y))
    assert facts(page["fit"]["model"])["model"] == "KernelRidge"
    assert page["score"]["loo"]


def test_rows_without_features():
    K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    y = np.array([0.0, 1.0, 2.0])
    page = payload(build_report(KernelRidge("precomputed", alpha=1.0).fit(K, y), K, y))
    assert page["charts"]
    texts = ["aa", "ab", "bb", "ba"]

    def shared(a, b):
        return float(len(set(a) & set(b)))

    target = [1.0, 2.0, 3.0, 2.0]
    page = payload(build_report(KernelRidge(shared, alpha=1.0).fit(texts, target), texts, target))
    assert page["reading"] == "nothing"
    assert page["terms"] == page["columns"] == []
    assert len(page["rows"]["index"]) == 4


class Wavy:
    """A model of one term whose effect is known exactly at the points of its grid only."""

    terms_, term_names_, intercept_ = [(0,)], ["u"], 2.0
    importances_ = Importances(("u",), np.ones(1))
    points = np.linspace(0.0, 3.0, 7)
    effects_: ClassVar = {"u": Effect((0,), "u", (Grid("u", points),), np.sin(points), np.full(7, 1 / 7))}

    def contributions(self, X):
        return np.sin(np.asarray(X))

    def predict(self, X):
        return 2.0 + np.sin(np.asarray(X)[:, 0])


def test_a_page_model_that_is_not_the_model_is_left_out():
    X = np.linspace(0.0, 3.0, 20)[:, None]
    page = payload(build_report(Wavy(), X, np.zeros(20)))
    assert page["page_model"] is None
    assert page["check"] is None
    why = page["rows"]["why"]
    assert why["start"] == [2.0]
    assert np.allclose(np.ravel(why["values"]), np.sin(X[:, 0]), rtol=1e-5)
    on_grid = payload(build_report(Wavy(), Wavy.points[:, None], np.zeros(7)))
    assert on_grid["page_model"] is not None  # nothing contradicts it there


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (InterpretableKernelRegressor(alpha="loo", certify=0), "held-out deviance"),
        (SparseAdditiveRegressor(n_basis=4, alphas=[1.0, 0.1, 0.01]), "held-out loss"),
    ],
)
def test_the_choice_of_alpha_is_shown(model, label):
    X, y = frame()
    X = X[["age", "dose"]]
    page = payload(build_report(model.fit(X, y), X, y))
    chart = next(chart for chart in page["charts"] if chart["type"] == "path")
    assert chart["mark"] == pytest.approx(model.alpha_, rel=1e-5)
    assert chart["x"] == sorted(chart["x"])
    at = int(np.argmin(np.abs(np.array(chart["x"]) - model.alpha_)))
    told = facts(page["score"]["held_out"])[f"{label} at the chosen alpha"]
    assert float(told) == pytest.approx(chart["y"][at], rel=1e-4)


def test_which_rows_carry_a_kernel_prediction(models):
    model, X, y = models("kernel")
    rows = payload(build_report(model, X, y, max_rows=3))["rows"]
    influence = model.influence(X.iloc[rows["index"]])
    first = influence.top(0, 1)[0]
    assert rows["why"]["names"][0][0] == f"training row {first}"
    assert rows["why"]["values"][0][0] == pytest.approx(-influence.deletion[0, first], rel=1e-5)


def test_no_more_rows_than_asked_for(models):
    model, X, y = models("coefficients")
    some = payload(build_report(model, X, y, max_rows=5))["rows"]
    assert len(some["index"]) == len(some["cells"]) == 5
    again = payload(build_report(model, X, y, max_rows=5, random_state=1))["rows"]
    assert some["index"] != again["index"]
    none = payload(build_report(model, X, y, max_rows=0))
    assert none["rows"]["cells"] == []
    assert none["page_model"] is not None  # coefficients give no rows away
    model, X, y = models("kernel")
    assert payload(build_report(model, X, y))["page_model"] is not None
    assert payload(build_report(model, X, y, max_rows=0))["page_model"] is None


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2])
    page = payload(build_report(KernelRidge(alpha=1.0).fit(X, Y), X, Y))
    assert {"R², output 0", "R², output 1"} <= set(facts(page["score"]["given"]))


# ---------------------------------------------------------------- notes


def test_what_is_odd_about_the_data():
    rng = np.random.default_rng(0)
    u = rng.normal(size=60)
    X = pandas.DataFrame({"u": u, "twin": 2 * u + 1e-3 * rng.normal(size=60), "same": 1.0})
    labels = np.where(np.arange(60) < 2, "rare", "often")
    page = payload(build_report(LogisticRegression().fit(X, labels), X, labels))
    notes = " ".join(page["notes"])
    assert "same value in every row: same" in notes
    assert "u and twin (r = 1.000)" in notes
    assert "rare (3.3 %)" in notes


def test_warnings_of_the_model_are_repeated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    y = np.sin(3 * X[:, 0])
    model = InterpretableKernelRegressor(RBF(0.3), alpha=1e-3).fit(X, y)
    assert model.certificate_.fidelity < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = payload(build_report(model, X, y))
    assert any("follows the kernel model poorly" in note for note in page["cautions"])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_the_json(name):
    X, y = frame(40, ("age", "dose", name))
    X = X.rename(columns={"age": name + "2"})
    model = SparseAdditiveRegressor(0.05, n_basis=3).fit(X, y.rename(name))
    report = build_report(model, X, y.rename(name))
    assert name in payload(report)["title"]
    assert report.html.count("<script") == 2
    assert report.html.count("</script>") == 2
    assert "<img" not in report.html


@pytest.mark.parametrize(
    "model",
    [
        ISKRegressor(sigma=1.0, alpha=1e-3, sparse_alpha=1e-6, l1_ratio=0.5, random_state=0),
        AdditiveKernelRegressor(interactions=45),
    ],
)
def test_size_for_ten_features(model):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(1000, 10)), columns=[f"feature {j}" for j in range(10)])
    y = sum(np.sin(X.iloc[:, i] * X.iloc[:, j]) for i in range(10) for j in range(i))
    model.fit(X, y)
    assert len(model.terms_) > 45  # nearly all pairs
    assert len(build_report(model, X, y).html.encode()) < 3e6


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (StandardScaler(), [[1.0]], [1.0], "with predict"),
        (Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), [[1.0], [2.0]], [1.0], "inconsistent"),
        (LogisticRegression().fit([[0.0], [1.0]], ["a", "b"]), [[1.0]], ["c"], "does not know: c"),
    ],
)
def test_bad_input(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        build_report(model, X, y)


def test_the_core_is_enough():
    """Neither matplotlib nor pandas is needed."""
    code = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('matplotlib', 'pandas', 'polars', 'pyarrow'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "import numpy as np\n"
        "from pellucid import InterpretableKernelRegressor, build_report\n"
        "X = np.random.default_rng(0).normal(size=(30, 2)); y = X[:, 0]\n"
        "print(build_report(InterpretableKernelRegressor(alpha=1.0).fit(X, y), X, y))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Report('InterpretableKernelRegressor for the target'" in out.stdout


# ---------------------------------------------------------------- captions


def curve(values, missing=False, points=None):
    points = np.arange(float(len(values))) if points is None else points
    density = np.full(len(values), 1 / len(values))
    return Effect(
        (0,), "age", (Grid("age", points, missing=missing),), np.array(values, dtype=float), density
    )


def test_captions_say_which_way_a_curve_goes():
    assert "rises with age: from −1 at 0 to +2 at 2" in effect_caption(curve([-1, 0, 2]), "prediction")
    assert "falls as age grows" in effect_caption(curve([3, 0, -2]), "prediction")
    assert "lowest at age = 1 (−5) and highest at 2 (+2)" in effect_caption(curve([0, -5, 2]), "score")
    assert "does not change" in effect_caption(curve([0, 0]), "score")
    large = effect_caption(curve([-1.2e5, -0.0], points=np.array([0.25, 97371.0])), "price")
    assert "from −120000 at 0.25 to +0 at 97370" in large
    gone = curve([0.0, 1.0, -0.5], missing=True, points=np.array([1.0, 2.0, np.nan]))
    assert "missing value counts −0.5 (33.3 % of the rows)" in effect_caption(gone, "score")
    empty = curve([1.0], missing=True, points=np.array([np.nan]))
    assert effect_caption(empty, "score") == "Every value is missing."


def test_captions_of_levels_and_classes():
    grid = Grid("town", np.array(["a", "b", "c"], dtype=object), levels=True)
    effect = Effect((0,), "town", (grid,), np.array([1.0, -2.0, 0.0]), np.array([0.1, 0.2, 0.7]))
    text = effect_caption(effect, "prediction")
    assert "Highest for a (+1 on the prediction), lowest for b (−2). Most rows are c (70 %)." in text
    several = Effect(
        (0,), "town", (grid,), np.array([[0, 1], [0, 5], [0, 1.0]]), np.ones(3), outputs=("u", "v")
    )
    assert "most for v: from end to end the log-odds of this class changes by 4" in effect_caption(
        several, "log-odds of the class"
    )


def test_a_classifier_without_probabilities():
    X, y = frame()
    numbers = X[["age", "dose"]]
    model = InterpretableKernelClassifier(loss="hinge", alpha=1.0).fit(numbers, y > 1)
    page = payload(build_report(model, numbers, y > 1))
    assert page["task"]["kind"] == "score"
    assert "log loss" not in facts(page["score"]["given"])


def test_sections_that_are_asked_for():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"a": rng.normal(size=80), "<b>": rng.choice(["u", "v"], 80)})
    y = X["a"].to_numpy() + 0.1 * rng.normal(size=80)
    y[3] = np.nan
    seen = ~np.isnan(y)
    old, new = (AdditiveKernelRegressor(0).fit(X[seen], factor * y[seen]) for factor in (1.0, 2.0))
    assert payload(build_report(old, X, y))["extra"] == []
    page = build_report(new, X, y, earlier=old, groups="<b>")
    changes, groups = payload(page)["extra"]
    assert "<b>" not in page.html.split("</head>")[1].replace("\\u003cb\\u003e", "")
    assert [table["title"] for table in changes["tables"]][1] == "What changed in the linear predictor"
    assert groups["tables"][0]["head"][:3] == ["group", "rows", "mean target"]
    assert [row[0] for row in groups["tables"][0]["rows"]] == ["u", "v"]
    labels = np.where(rng.random(80) < 0.5, "x", "y")
    by_label = payload(build_report(new, X, y, groups=labels))["extra"][0]["tables"][0]["rows"]
    assert int(by_label[0][1]) == np.sum(labels[seen] == "x")


def test_a_value_of_extreme_size_overflows_nothing():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"a": rng.normal(size=100), "b": rng.lognormal(size=100)})
    y = X["a"] + rng.normal(size=100)
    X.loc[1, "b"] = 1e300
    columns = payload(build_report(AdditiveKernelRegressor(0).fit(X, y), X, y))["columns"]
    assert columns[1]["numbers"][3] == 1e300
    assert np.all(np.isfinite(columns[1]["numbers"]))
