"""The page in a browser: every view, edits with the pointer and with the keyboard, nothing from elsewhere.

Needs the package ``playwright`` and a Chromium, found by the name chromium or in ``PELLUCID_CHROMIUM``.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from report_data import HOSTILE

from pellucid import AdditiveKernelRegressor
from pellucid.serve import create_app

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
READY = """() => !document.body.hasAttribute("aria-busy")
  && (!document.querySelector("#result") || document.querySelector("#prediction"))"""
VIEWS = ["effects", "edit", "rows", "compare", "export", "programs", "about"]


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

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page, self.address = self.context.new_page(), address
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("response", lambda answer: answer.ok or self.said.append(answer.text()))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, view):
        self.page.goto(f"{self.address}/#{view}")
        self.page.locator("nav a[aria-current]").wait_for()
        return self.page

    def check(self):
        assert self.said == []
        own = (self.address, "blob:", "data:,")
        assert [url for url in self.asked if not url.startswith(own)] == []


@pytest.fixture
def visit(browser, running):
    made = []

    def start(app, **options):
        made.append(Visit(browser, running(app), **options))
        return made[-1]

    yield start
    for seen in made:
        seen.context.close()


@pytest.mark.parametrize(("kind", "data"), [("tables classes", True), ("kernel", False), ("isk", False)])
def test_every_view(models, visit, kind, data):
    model, X, y = models(kind)
    seen = visit(create_app(model, *((X, y) if data else ())), color_scheme="dark")
    for view in VIEWS:
        page = seen.go(view)
        page.wait_for_function(READY)
        assert page.locator("main section").first.inner_text().strip()
        assert page.locator("#status").inner_text() == ""
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        labelled = "[...document.querySelectorAll('input,select')].every(i => i.labels.length || i.ariaLabel)"
        assert page.evaluate(labelled)
    seen.check()


def test_an_edit_with_pointer_and_keys(models, visit):
    model, X, y = models("tables")
    seen = visit(create_app(model, X, y))
    page = seen.go("edit/age")
    chart = page.locator("#editor-body svg.chart")
    chart.wait_for()
    box = chart.bounding_box()

    def at(x, y):
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    page.mouse.move(*at(0.3, 0.5))
    page.mouse.down()
    page.mouse.move(*at(0.45, 0.5), steps=4)
    page.mouse.up()
    low, high = float(page.input_value("#low-0")), float(page.input_value("#high-0"))
    assert 20 < low < high < 80
    page.mouse.move(*at(0.38, 0.5))
    page.mouse.down()
    page.mouse.move(*at(0.38, 0.3), steps=4)
    page.mouse.up()
    page.locator("#log li").wait_for()
    assert page.locator("#log li").inner_text().startswith("move age from ")
    by = float(page.locator("#log li").inner_text().split(" by ")[1].split(",")[0])
    assert by > 0
    page.locator("svg.chart path.before").wait_for()
    page.fill("#low-0", "50")
    page.fill("#high-0", "60")
    page.locator("#set-to").focus()
    page.keyboard.type("0.75")
    page.keyboard.press("Enter")
    page.locator("#log li").nth(1).wait_for()
    assert page.evaluate("document.activeElement.id") == "set-to"
    assert page.locator("#log li").nth(1).inner_text() == "set age from 50 to 60 to 0.75, by hand"
    chart = page.locator("#editor-body svg.chart")
    chart.focus()
    for key in ("ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.locator("#log li").nth(2).wait_for()
    page.click("#undo")
    page.locator("#log li").nth(2).wait_for(state="detached")
    page.click("nav >> text=Before and after")
    page.locator("#compare-cards").wait_for()
    assert "age" in page.inner_text("#compare-cards")
    page.click("nav >> text=Predictions")
    page.fill("#value-0", "55")
    page.fill("#value-1", "2")
    page.select_option("#value-2", "Ulm")
    page.locator("#result tr", has_text="age").locator("text=+0.75").wait_for()
    page.click("nav >> text=Take away")
    with page.expect_download() as download:
        page.click("[data-download=log]")
    assert download.value.suggested_filename == "model.txt"
    assert "set age from 50 to 60" in Path(download.value.path()).read_text(encoding="utf-8")
    page.click("nav >> text=Edit")
    page.select_option("#edit-term", "town")
    page.locator("label.tick >> text=Ulm").click()
    page.fill("#move-by", "1e400")
    page.keyboard.press("Enter")
    page.locator("#status", has_text="needs a number").wait_for()
    page.locator("body:not([aria-busy])").wait_for()
    page.click("#remove")
    page.locator("#log li", has_text="remove town").wait_for()
    seen.check()


def test_a_table_is_predicted_and_refusals_are_read(models, visit):
    model, X, _ = models("tables")
    seen = visit(create_app(model))
    page = seen.go("rows")
    table = X.iloc[:7].to_csv(index=False).encode()
    page.set_input_files("#table-file", {"name": "new.csv", "mimeType": "text/csv", "buffer": table})
    page.locator("#table tbody tr").nth(6).wait_for()
    with page.expect_download() as download:
        page.click("#save-table")
    saved = pandas.read_csv(download.value.path())
    np.testing.assert_allclose(saved["prediction"], model.predict(X.iloc[:7]))
    seen.check()
    bad = {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"age\n1\n"}
    page.set_input_files("#table-file", bad)
    page.locator("#status.problem", has_text="no column 'dose'").wait_for()


def test_names_are_text_and_sixty_features_fit_a_narrow_window(visit):
    rng = np.random.default_rng(0)
    names = [*HOSTILE, *(f"measurement number {j}" for j in range(54))]
    X = pandas.DataFrame(rng.normal(size=(300, 60)), columns=names)
    model = AdditiveKernelRegressor(0).fit(X, X.sum(axis=1) + 0.1 * rng.normal(size=300))
    seen = visit(create_app(model, X, X.sum(axis=1)), viewport={"width": 480, "height": 800})
    for view in VIEWS:
        page = seen.go(view)
        page.wait_for_function(READY)
        assert page.locator("img, #page script, iframe, object").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
    page = seen.go("rows")
    assert page.locator(".field:visible").count() == 16
    page.click("#all-values")
    assert page.locator(".field:visible").count() == 60
    seen.check()


def test_the_token_is_asked_for_and_kept_out_of_the_address(models, visit):
    token = "0123456789abcdefghij"
    seen = visit(create_app(models("tables")[0], token=token))
    seen.page.goto(seen.address)
    seen.page.fill("#token", "wrong")
    seen.page.click("text=Open")
    seen.page.locator("text=not the right one").wait_for()
    seen.page.goto("about:blank")
    seen.page.goto(f"{seen.address}/#token={token}")
    seen.page.locator("nav").wait_for()
    assert token not in seen.page.url
    seen.page.reload()
    seen.page.locator("nav").wait_for()


def test_a_range_up_to_the_edge_has_the_rows_beyond_it(visit):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"age": rng.uniform(20, 80, 150), "dose": rng.exponential(2.0, 150)})
    y = np.sin(X["age"] / 10) + X["dose"]
    X.loc[3, "age"] = 9000.0
    seen = visit(create_app(AdditiveKernelRegressor(interactions=0).fit(X, y), X, y))
    page = seen.go("edit/age")
    chart = page.locator("#editor-body svg.chart")
    chart.wait_for()
    assert "up to 9000" in chart.text_content()
    box = chart.bounding_box()

    def at(x, y):
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    for until, open_end in ((0.8, False), (1.0, True)):
        page.goto(f"{seen.address}/#edit/dose")
        seen.go("edit/age").locator("#low-0").wait_for()
        page.mouse.move(*at(0.5, 0.5))
        page.mouse.down()
        page.mouse.move(*at(until, 0.5), steps=4)
        page.mouse.up()
        low, high = page.input_value("#low-0"), page.input_value("#high-0")
        assert 20 < float(low) < 80
        assert (high == "") is open_end
    seen.check()
