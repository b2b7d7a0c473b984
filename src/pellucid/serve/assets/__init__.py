"""The page: the report's scripts and style, and those of this folder."""

from __future__ import annotations

from importlib import resources

_REPORT = ("base.js", "charts.js", "maps.js", "why.js", "page.js")
_OWN = ("talk.js", "effects.js", "editor.js", "editor_charts.js", "rows.js", "compare.js", "start.js")


def page_html() -> bytes:
    """The page without anything of the model."""
    return _asset("serve", "page.html").encode("utf-8")


def page_js() -> bytes:
    """One script that leaves no names behind."""
    parts = [_asset("report", name) for name in _REPORT] + [_asset("serve", name) for name in _OWN]
    return "\n".join(["'use strict';", "(() => {", *parts, "})();"]).encode("utf-8")


def page_css() -> bytes:
    """The report's style, and what is added to it."""
    return (_asset("report", "report.css") + _asset("serve", "serve.css")).encode("utf-8")


def _asset(layer: str, name: str) -> str:
    return resources.files(f"pellucid.{layer}").joinpath("assets", name).read_text(encoding="utf-8")
