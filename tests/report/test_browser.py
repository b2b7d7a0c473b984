"""The page in a browser: what it shows, what it computes, what it asks for.

Needs the package ``playwright`` and a Chromium, found by the name chromium (``apt-get install chromium``) or
in the environment variable ``PELLUCID_CHROMIUM``.
"""

import json
import os
import shutil

import numpy as np
import pytest
from report_data import HOSTILE, KINDS, WORD_KERNELS, frame, payload, texts
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from pellucid import (
    AdditiveKernelRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    SparseAdditiveRegressor,
    build_report,
)
from pellucid.kernels import Spectrum, Tanimoto, WeisfeilerLehman

pandas = pytest.importorskip("pandas")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = os.environ.get("PELLUCID_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECTIONS = ["score", "importance", "terms", "why", "diagnostics", "data", "card", "provenance"]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium found: install it, or name it in PELLUCID_CHROMIUM")
    with playwright.sync_playwright() as run:
        launched = run.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


class Visit:
    """One page, with everything that it said and asked for."""

    def __init__(self, browser, report, folder, **options):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        path = report.save(folder / "report.html")
        self.page.goto(path.as_uri())

    def draw_all(self):
        self.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    def answers(self):
        return json.loads(self.page.get_attribute("#prediction", "data-values"))

    def type_in(self, values):
        for j, value in enumerate(values):
            field = self.page.locator(f"#value-{j}")
            levels = field.evaluate("node => node.tagName") == "SELECT"
            text = "" if pandas.isna(value) else value if levels else repr(float(value))
            field.select_option(text) if levels else field.fill(text)

    def check(self):
        """No error, no warning, and no request but the one for the file."""
        assert self.said == []
        assert len(self.asked) == 1


@pytest.fixture
def visit(browser, tmp_path):
    visits = []

    def go(report, **options):
        visits.append(Visit(browser, report, tmp_path, **options))
        return visits[-1]

    yield go
    for made in visits:
        made.context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_all_sections_and_a_row_typed_in(models, visit, kind):
    model, X, y = models(kind)
    report = build_report(model, X, y, max_rows=30)
    seen = visit(report)
    seen.draw_all()
    assert [s.get_attribute("id") for s in seen.page.query_selector_all("section")] == SECTIONS
    assert seen.page.locator("nav a").count() == len(SECTIONS)
    terms = [term for term in payload(report)["terms"] if not term["minor"]]
    assert seen.page.locator("#terms figure svg.chart").count() == len(terms)
    assert all(seen.page.locator(f"#{name}").inner_text().strip() for name in SECTIONS)
    rng = np.random.default_rng(1)
    for _ in range(4):
        row = X.iloc[[rng.integers(len(X))]].copy()
        for name in ("age", "dose"):
            if not row[name].isna().any():
                row[name] = rng.uniform(X[name].min() - 1, X[name].max() + 1)
        seen.type_in(row.iloc[0])
        told = np.asarray(expected(model, row), dtype=float)
        assert np.abs(np.array(seen.answers()) - told).max() < 1e-9
    seen.check()


def test_a_model_that_the_page_cannot_compute(visit):
    X, y = frame(60)
    X = X[["age", "dose"]]
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    seen = visit(build_report(forest, X, y, max_rows=5))
    seen.draw_all()
    assert seen.page.locator("#why form").count() == 0
    assert "no values typed in" in seen.page.inner_text("#why")
    seen.page.select_option("#row", "2")
    row = payload(build_report(forest, X, y, max_rows=5))["rows"]["index"][2]
    assert seen.answers() == pytest.approx(forest.predict(X.iloc[[row]]))
    seen.check()


def expected(model, row):
    if not hasattr(model, "classes_"):
        return model.predict(row)
    if not hasattr(model, "predict_proba"):
        return np.ravel(model.decision_function(row))
    p = model.predict_proba(row)[0]
    return p[1:] if len(p) == 2 else p


def test_a_picked_row(models, visit):
    model, X, y = models("additive")
    report = build_report(model, X, y, max_rows=10)
    seen = visit(report)
    rows = payload(report)["rows"]
    seen.page.select_option("#row", "3")
    assert seen.answers() == pytest.approx(rows["answers"][3], abs=1e-9)
    assert seen.page.input_value("#value-0") == repr(float(rows["cells"][3][0]))
    assert f"observed: {rows['observed'][3]:.5g}"[:14] in seen.page.inner_text("#result")
    bars = seen.page.locator("#result .waterfall tr").count()
    assert bars == len(payload(report)["terms"]) + 2  # from the start to the sum
    seen.page.fill("#value-0", "33")
    assert f"Changed from row {rows['index'][3]}" in seen.page.inner_text("#result")
    assert "observed" not in seen.page.inner_text("#result")
    seen.page.click("#reset")
    assert seen.answers() == pytest.approx(rows["answers"][3], abs=1e-9)
    seen.page.click("text=Next")
    assert seen.answers() == pytest.approx(rows["answers"][4], abs=1e-9)
    seen.check()


def test_what_cannot_be_computed_is_said(models, visit):
    model, X, y = models("additive")
    seen = visit(build_report(model, X, y))
    for text, message in (
        ("abc", "age is not a number"),
        ("", "age needs a number"),
        ("1,5", "not a number"),
    ):
        seen.page.fill("#value-0", text)
        assert message in seen.page.inner_text("#problem")
        assert seen.page.get_attribute("#value-0", "aria-invalid") == "true"
        assert seen.page.locator("#prediction").count() == 0
    seen.page.fill("#value-0", "1e3")
    assert "Outside the range of the data: age" in seen.page.inner_text("#problem")
    assert seen.page.get_attribute("#value-0", "aria-invalid") == "false"
    seen.check()


def test_the_class_that_is_explained(models, visit):
    model, X, y = models("multinomial")
    seen = visit(build_report(model, X, y))
    row = X.iloc[[0]]
    for k, name in enumerate(model.classes_):
        seen.page.select_option("#output", str(name))
        total = seen.page.locator("#result .waterfall tr").last.inner_text()
        assert f"{abs(model.decision_function(row)[0][k]):.5g}"[:5] in total
    seen.check()


def test_hostile_names_are_text(visit):
    X, y = frame(60)
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    X["levels"] = np.array(HOSTILE)[rng.integers(0, len(HOSTILE), 60)]
    y = pandas.Series(X[HOSTILE].sum(axis=1) + 0.1 * rng.normal(size=60), name=HOSTILE[0])
    seen = visit(build_report(SparseAdditiveRegressor(0.01, n_basis=3).fit(X, y), X, y))
    seen.draw_all()
    assert seen.page.locator("h1").inner_text() == f"SparseAdditiveRegressor for {HOSTILE[0]}"
    headings = seen.page.locator("#terms h3").all_inner_texts()
    assert {"<script>alert(1)</script>", "__proto__"} <= set(headings)
    assert seen.page.locator("img, #page script, iframe, object").count() == 0
    width = seen.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0  # nothing sticks out at the side
    seen.check()


def test_reading_a_curve_and_a_map_with_keys_and_pointer(models, visit):
    model, X, y = models("isk")
    seen = visit(build_report(model, X, y))
    seen.draw_all()
    for kind in ("Curve", "Levels", "Map"):
        chart = seen.page.locator(f'#terms svg[aria-label^="{kind}"]').first
        readout = chart.locator("xpath=ancestor::figure").locator("output")
        assert readout.inner_text() == ""
        chart.focus()
        seen.page.keyboard.press("ArrowRight")
        first = readout.inner_text()
        assert "of the rows" in first or "no data" in first
        seen.page.keyboard.press("ArrowRight")
        assert readout.inner_text() != first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        seen.page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.35 * box["height"])
        seen.page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.45 * box["height"])
        assert readout.inner_text()
    cells = seen.page.locator('#terms svg[aria-label^="Map"]').first.locator(".cells rect")
    fills = cells.evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).fill)")
    assert len(set(fills)) > 3  # shades, and not the black of cells without one
    assert "rgb(0, 0, 0)" not in fills
    numbers = seen.page.locator("#terms details").first
    numbers.locator("summary").click()
    numbers.locator("tbody tr").nth(3).wait_for()
    seen.check()


def test_colours_print_and_alternatives(models, visit):
    model, X, y = models("isk")
    report = build_report(model, X, y)
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (visit(report, color_scheme=scheme) for scheme in ("light", "dark"))
    assert light.page.evaluate(ground) == "rgb(255, 255, 255)"
    assert dark.page.evaluate(ground) != "rgb(255, 255, 255)"
    light.page.click("#theme")
    light.page.click("#theme")  # auto, light, dark
    assert light.page.evaluate(ground) == dark.page.evaluate(ground)
    dark.page.emulate_media(media="print")
    dark.draw_all()
    assert dark.page.evaluate(ground) == "rgb(255, 255, 255)"
    assert not dark.page.locator("nav").is_visible()
    unnamed = (
        "[...document.querySelectorAll('svg[role=img]')].filter(s => !s.getAttribute('aria-label')).length"
    )
    assert dark.page.evaluate(unnamed) == 0
    labelled = "[...document.querySelectorAll('input,select')].every(i => i.labels.length || i.ariaLabel)"
    assert dark.page.evaluate(labelled)
    light.check()
    dark.check()


def test_a_date_is_typed_in(visit):
    rng = np.random.default_rng(0)
    days = rng.integers(0, 2000, 80)
    X = pandas.DataFrame({"when": pandas.Timestamp("2015-01-01") + pandas.to_timedelta(days, "D")})
    model = AdditiveKernelRegressor(interactions=0).fit(X, np.sin(days / 300))
    seen = visit(build_report(model, X, np.sin(days / 300)))
    assert "2015-" in seen.page.inner_text("#why .hint")
    seen.page.fill("#value-0", "2018-03-05")
    row = pandas.DataFrame({"when": pandas.to_datetime(["2018-03-05"])})
    assert seen.answers()[0] == pytest.approx(model.predict(row)[0], abs=1e-9)
    seen.check()


def test_many_features(visit):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(150, 60)), columns=[f"measurement number {j}" for j in range(60)])
    y = X.sum(axis=1) + rng.normal(size=150)
    report = build_report(SparseAdditiveRegressor(0.01, n_basis=2).fit(X, y), X, y)
    terms = len(payload(report)["terms"])
    assert terms > 24
    seen = visit(report)
    assert seen.page.locator("#cards figure").count() == 24
    seen.page.fill("#find-term", "number 7")
    assert seen.page.locator("#cards figure").count() == 1
    seen.page.click("#all-terms")
    assert seen.page.locator("#cards figure").count() == terms
    seen.page.fill("#find-value", "number 59")
    assert seen.page.locator(".field:visible").count() == 1
    seen.check()


SCROLLED = """() => [...document.querySelectorAll("body *")].filter((node) => {
  const style = getComputedStyle(node), cut = (value) => value === "auto" || value === "scroll";
  return cut(style.overflowY) && node.scrollHeight > node.clientHeight + 1
    || cut(style.overflowX) && node.scrollWidth > node.clientWidth + 1;
}).map((node) => node.className || node.tagName)"""


@pytest.mark.parametrize("width", [1400, 500])
def test_small_terms_stand_behind_one_line_and_nothing_scrolls_by_itself(visit, width):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.uniform(size=(200, 60)), columns=[f"feature {j}" for j in range(60)])
    model = Ridge(alpha=1e-6).fit(X, X @ np.r_[10.0, 5.0, np.full(58, 1e-4)])
    seen = visit(build_report(model, X, model.predict(X) + 0.1 * rng.normal(size=200)))
    seen.page.set_viewport_size({"width": width, "height": 900})
    assert seen.page.locator("#importance .bars tbody tr").count() == 2
    assert seen.page.locator("#terms figure").count() == 2
    assert seen.page.locator(".field:visible").count() == 16
    for section in ("importance", "terms"):
        line = seen.page.locator(f"#{section} .fold summary")
        assert "58 " in line.inner_text()
        assert "below 0.1 %" in line.inner_text()
        line.click()
    seen.page.locator("#terms .fold figure").nth(57).wait_for()
    assert seen.page.locator("#importance .bars tbody tr").count() == 60
    seen.page.click("#all-values")
    assert seen.page.locator(".field:visible").count() == 60
    seen.page.locator("#diagnostics details summary").first.click()
    assert seen.page.evaluate(SCROLLED) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    seen.check()


def test_shares_are_read_in_per_cent(models, visit):
    model, X, y = models("tables")
    seen = visit(build_report(model, X, y))
    sizes = seen.page.locator("#importance .bars tbody .value:not(.more)").all_inner_texts()
    largest = model.importances_.order[0]
    share, error = model.importances_.values[largest], model.importances_.se[largest]
    assert sizes[0] == f"{100 * share:.1f} ± {100 * error:.1f} %"
    assert not any("e−" in text for text in sizes)
    order = [seen.page.locator(f"#{name}").bounding_box()["y"] for name in SECTIONS]
    assert order == sorted(order)
    assert "SHA-256" in seen.page.inner_text("#provenance")
    seen.check()


@pytest.mark.parametrize("number", [2, 4, 6, 8, 9, 10])
def test_a_sequence_is_typed_in(visit, number):
    kernel = WORD_KERNELS[number]
    rows = texts(kernel)
    model = KernelRidge(kernel, alpha=0.1).fit(rows, np.random.default_rng(1).normal(size=len(rows)))
    seen = visit(build_report(model, rows, model.predict(rows), max_rows=5))
    for text in texts(kernel, 4, seed=2):
        seen.page.fill("#value-0", text)
        assert seen.answers() == pytest.approx(model.predict([text]), abs=1e-9)
        letters = seen.page.locator("#result .letter title").all_text_contents()
        told = model.part_contributions(text).positions
        assert len(letters) == len(text)
        for letter, value in zip(letters, told, strict=True):
            assert float(letter.rpartition(": ")[2].replace("−", "-")) == pytest.approx(value, rel=1e-2)
    seen.check()


def test_a_sequence_of_the_class_that_is_asked_for(visit):
    kernel = Spectrum(2, alphabet="ACGT")
    rows = texts(kernel)
    y = np.array(["a", "b", "c"])[[min(text.count("C"), 2) for text in rows]]
    model = KernelRidgeClassifier(kernel).fit(rows, y)
    seen = visit(build_report(model, rows, y))
    sections = [s.get_attribute("id") for s in seen.page.query_selector_all("section")]
    assert sections == [name for name in SECTIONS if name != "terms"]
    seen.page.fill("#value-0", "ACCGTT\nAC")
    assert seen.answers() == pytest.approx(model.predict_proba(["ACCGTTAC"])[0], abs=1e-9)
    seen.page.select_option("#output", "c")
    total = seen.page.locator("#result .waterfall tr").last.inner_text()
    assert f"{model.decision_function(['ACCGTTAC'])[0][2]:.4g}".replace("-", "−")[:6] in total
    seen.page.select_option("#motif-output", "b")
    assert model.motifs(1, output="b").parts[0] in seen.page.inner_text("#importance .bars tbody tr")
    seen.page.fill("#value-0", "ACXG")
    assert "not in the alphabet ACGT: X" in seen.page.inner_text("#problem")
    assert seen.page.locator("#prediction").count() == 0
    seen.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_molecules_and_graphs_are_drawn(visit, scheme):
    pytest.importorskip("rdkit")
    smiles = ["CCO", "CCCO", "C", "c1ccccc1", "CC#N", "CC(=O)[O-]", "C" * 60, "C1CC1"]
    model = KernelRidge(Tanimoto(1), alpha=0.1).fit(smiles, np.arange(8.0))
    seen = visit(build_report(model, smiles, np.arange(8.0)), color_scheme=scheme)
    for i, atoms in enumerate((3, 4, 1, 6, 3, 4, 60, 3)):
        seen.page.select_option("#row", str(i))
        assert seen.page.locator("#result .atom").count() == atoms
        assert seen.answers() == pytest.approx(model.predict([smiles[i]]), abs=1e-9)
    assert seen.page.locator("#why textarea").count() == 0
    assert "nothing can be typed in" in seen.page.inner_text("#why")
    for width in (400, 720, 1100, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.check()
    graphs = [(["<b>A", "B"], [(0, 1)]), (["A"], []), ([], [])]
    model = KernelRidge(WeisfeilerLehman(1), alpha=0.1).fit(graphs, [1.0, 2.0, 3.0])
    seen = visit(build_report(model, graphs, [1.0, 2.0, 3.0]), color_scheme=scheme)
    assert seen.page.locator("#result .structure-of-atoms .label").all_text_contents() == ["<b>A", "B"]
    seen.page.select_option("#row", "2")
    assert "no nodes" in seen.page.inner_text("#result")
    seen.check()


def test_a_long_sequence_stays_in_the_page(visit):
    rng = np.random.default_rng(0)
    rows = ["".join(rng.choice(list("ACGT"), n)) for n in (1, 80, 700, 1500)]
    model = KernelRidge(Spectrum(1), alpha=0.1).fit(rows, np.arange(4.0))
    seen = visit(build_report(model, rows, np.arange(4.0)))
    for width in (1280, 480):
        seen.page.set_viewport_size({"width": width, "height": 800})
        for i, letters in enumerate((1, 80, 700, 1200)):
            seen.page.select_option("#row", str(i))
            assert seen.page.locator("#result .letter").count() == letters
            assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert "300 more letters are not drawn" in seen.page.inner_text("#result")
    seen.check()


def test_one_row_far_out_does_not_squeeze_the_others(visit):
    X, y = frame()
    X.loc[3, "age"] = 9000.0
    report = build_report(AdditiveKernelRegressor(interactions=[("age", "dose")]).fit(X, y), X, y, max_rows=5)
    seen = visit(report)
    seen.draw_all()
    card = seen.page.locator("#terms figure", has=seen.page.get_by_role("heading", name="age", exact=True))
    assert card.locator("svg .outside").count() == 1
    assert "% up to 9000" in card.locator("svg").text_content()
    assert "up to 9000" in card.locator("figcaption").inner_text()
    shown = [float(tick) for tick in card.locator("svg .grid text").all_text_contents() if tick.isdigit()]
    assert max(shown) <= 80
    card.locator("summary").click()
    assert "above, up to 9000" in card.locator("table").inner_text()
    seen.check()
