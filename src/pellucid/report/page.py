"""The page: data as JSON, one script, one style sheet, and a policy that lets nothing else in.

Names and categories are hostile input. They reach the page only inside JSON, in which ``<``, ``>`` and ``&``
are written as escapes, so that no text can end the element it stands in; the script puts them into the
document as text, never as markup. The content security policy names the digests of the script and the style
sheet: whatever else might look like a script is not run, and no address is ever asked for.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from pellucid.report.packing import plain

_SCRIPTS = (
    "base.js",
    "model.js",
    "words.js",
    "charts.js",
    "maps.js",
    "structure.js",
    "why.js",
    "page.js",
    "start.js",
)


@dataclass(frozen=True)
class Report:
    """A report as text; :meth:`save` writes it to a file."""

    title: str
    html: str
    """The whole page."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, all of it or nothing, and return the path."""
        target = Path(path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.html.encode("utf-8"))
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return target

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html.encode()) / 1e6:.2f} MB)"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" width="100%" '
            f'height="800" sandbox="allow-scripts"></iframe>'
        )


def write_page(payload: dict[str, Any]) -> Report:
    """Put the data into the page."""
    script = "\n".join(["'use strict';", "(() => {", *(_asset(name) for name in _SCRIPTS), "})();"])
    style = _asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"base-uri 'none'; form-action 'none'"
    )
    title = payload["title"].encode("utf-8", "replace").decode("utf-8")  # a half of an emoji is no text
    text = Template(_asset("page.html")).substitute(
        policy=policy, title=html.escape(title), style=style, data=as_json(payload), script=script
    )
    return Report(title, text)


def as_json(payload: Any) -> str:
    r"""JSON that can stand inside a script element.

    Numbers keep all their digits, and those that are not finite become null; text is ASCII with escapes, and
    nothing in it can close the element.

    Examples
    --------
    >>> as_json({"</script>": 0.1})
    '{"\\u003c/script\\u003e":0.1}'
    """
    text = json.dumps(plain(payload), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _asset(name: str) -> str:
    return resources.files("pellucid.report").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
