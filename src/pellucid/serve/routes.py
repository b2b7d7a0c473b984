"""The addresses of the server and what each answers.

Nothing in a request is ever taken for the name of a file: addresses are fixed, and terms, classes and
downloads are looked up among those that there are.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response as Answer
from starlette.routing import Route

from pellucid.effects.hand_edits import Segment
from pellucid.serve.answers import predict
from pellucid.serve.assets import page_css, page_html, page_js
from pellucid.serve.comparison import compare_own, compare_rows
from pellucid.serve.description import openapi
from pellucid.serve.downloads import make_download
from pellucid.serve.errors import RequestError
from pellucid.serve.features import Rows, rows_of_csv, rows_of_json
from pellucid.serve.guard import Limits
from pellucid.serve.payload import page_payload, term_detail
from pellucid.serve.versions import Versions
from pellucid.serve.wire import as_bytes

_log = logging.getLogger(__name__)

_SEGMENT = {"low", "high", "levels", "missing", "only_missing"}


def build_app(versions: Versions, limits: Limits, *, token: bool) -> Starlette:
    """The application without its guard."""
    endpoints = Endpoints(versions, limits, token=token)
    routes = [
        Route("/", _fixed(page_html(), "text/html; charset=utf-8")),
        Route("/page.js", _fixed(page_js(), "text/javascript; charset=utf-8")),
        Route("/page.css", _fixed(page_css(), "text/css; charset=utf-8")),
        Route("/openapi.json", endpoints.answer(endpoints.describe), methods=["GET"]),
        Route("/api/page", endpoints.answer(endpoints.page), methods=["GET"]),
        Route("/predict", endpoints.answer(endpoints.predict), methods=["POST"]),
        Route("/api/term", endpoints.answer(endpoints.term), methods=["POST"]),
        Route("/api/edit", endpoints.answer(endpoints.edit), methods=["POST"]),
        Route("/api/undo", endpoints.answer(endpoints.undo), methods=["POST"]),
        Route("/api/compare", endpoints.answer(endpoints.compare), methods=["POST"]),
        Route("/api/download", endpoints.answer(endpoints.download), methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _missing})
    app.router.redirect_slashes = False
    return app


def _fixed(content: bytes, media: str) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Answer:
        return Answer(content, media_type=media)

    return answer


async def _missing(request: Request, error: Exception) -> Answer:
    status = getattr(error, "status_code", 500)
    what = "Only other methods are answered here." if status == 405 else "There is nothing at this address."
    return _json({"error": what}, status)


def _json(content: Any, status: int = 200) -> Answer:
    return Answer(as_bytes(content), status, media_type="application/json")


class Endpoints:
    """What is computed for each address, in a thread of its own."""

    def __init__(self, versions: Versions, limits: Limits, *, token: bool) -> None:
        self.versions, self.limits = versions, limits
        self.description = openapi(versions.served, limits, token=token)

    def answer(self, work: Callable[[str, bytes], Any]) -> Callable[[Request], Any]:
        """An endpoint that hands type and body of a request to ``work`` and sends what it returns."""

        async def endpoint(request: Request) -> Answer:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            try:
                made = await run_in_threadpool(work, kind, await request.body())
            except RequestError as error:
                return _json({"error": str(error)}, error.status)
            except MemoryError:
                return _json({"error": "There is not enough memory for this request."}, 413)
            except Exception:
                _log.exception("%s %s", request.method, request.url.path)
                return _json({"error": "Something went wrong in the server; its log has the details."}, 500)
            return made if isinstance(made, Answer) else _json(made)

        return endpoint

    # ------------------------------------------------------------------- reading
    def describe(self, kind: str, body: bytes) -> Any:
        """The OpenAPI description."""
        return self.description

    def page(self, kind: str, body: bytes) -> Any:
        """What the page shows."""
        return page_payload(self.versions)

    def predict(self, kind: str, body: bytes) -> Any:
        """Predictions of rows given as JSON or as a CSV table."""
        served, version = self.versions.served, self.versions.now
        extra = list(served.known.values())
        if kind == "text/csv":
            rows, wish = rows_of_csv(body, served.features, extra, self.limits.rows), {}
        else:
            wish = _object(kind, body, {"rows", "contributions", "moves"}, or_csv=True)
            rows = rows_of_json(wish.get("rows"), served.features, extra, self.limits.rows)
        made = predict(
            version.model,
            served,
            rows,
            contributions=_truth(wish, "contributions", True),
            moves=_truth(wish, "moves", False),
        )
        return {"version": version.number, "rows": len(rows)} | made

    def term(self, kind: str, body: bytes) -> Any:
        """One term with all its points."""
        return term_detail(self.versions, _text(_object(kind, body, {"term"}), "term"))

    def compare(self, kind: str, body: bytes) -> Any:
        """Before the session and now, on the data of the session or on those of the request."""
        if kind == "text/csv":
            return compare_rows(self.versions, self._table(body))
        _object(kind, body, set(), or_csv=True)
        return compare_own(self.versions)

    def _table(self, body: bytes) -> Rows:
        served = self.versions.served
        return rows_of_csv(body, served.features, [*served.known.values(), served.target], self.limits.rows)

    # ------------------------------------------------------------------- changing
    def edit(self, kind: str, body: bytes) -> Any:
        """A change of one term."""
        names = {"version", "term", "where", "to", "by", "smooth", "remove", "output", "refit"}
        wish = _object(kind, body, names)
        version = _version(wish)
        wish.pop("version")
        clean: dict[str, Any] = {"term": _text(wish, "term"), "refit": _truth(wish, "refit", False)}
        if _truth(wish, "remove", False):
            clean["remove"] = True
        for name in ("to", "by", "smooth"):
            if wish.get(name) is not None:
                clean[name] = _number(wish[name], name)
        if wish.get("output") is not None:
            clean["output"] = _text(wish, "output")
        if wish.get("where") is not None:
            clean["where"] = _where(wish["where"])
        self.versions.edit(clean, version)
        return page_payload(self.versions)

    def undo(self, kind: str, body: bytes) -> Any:
        """The last change taken back."""
        self.versions.undo(_version(_object(kind, body, {"version"})))
        return page_payload(self.versions)

    def download(self, kind: str, body: bytes) -> Any:
        """Something to take away."""
        wish = _object(kind, body, {"name"})
        content, what = make_download(_text(wish, "name"), self.versions.now.model, self.versions.served)
        headers = {"content-disposition": f'attachment; filename="model.{what.ending}"'}
        return Answer(content, media_type="application/octet-stream", headers=headers)


# ------------------------------------------------------------------------ bodies
def _object(kind: str, body: bytes, names: set[str], *, or_csv: bool = False) -> dict[str, Any]:
    """A JSON object with no names but these."""
    if kind != "application/json":
        other = " or text/csv" if or_csv else ""
        raise RequestError(415, f"The content must be of the type application/json{other}.")
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except RecursionError:
        raise RequestError(400, "The JSON is nested too deeply.") from None
    except ValueError as error:  # UnicodeDecodeError too
        raise RequestError(400, f"The content is no JSON: {str(error)[:200]}.") from None
    if not isinstance(content, dict):
        raise RequestError(422, "The content must be a JSON object.")
    strange = [name for name in content if name not in names]
    if strange:
        raise RequestError(
            422, f"{strange[0][:60]!r} is not known here; known are {', '.join(sorted(names))}."
        )
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _truth(content: Mapping[str, Any], name: str, default: bool) -> bool:
    value = content.get(name, default)
    if not isinstance(value, bool):
        raise RequestError(422, f"{name} must be true or false.")
    return value


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str):
        raise RequestError(422, f"{name} must be a text.")
    return value


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(422, f"{name} must be a number.")
    try:
        return float(value)
    except OverflowError:
        raise RequestError(422, f"{name} is too large.") from None


def _version(content: Mapping[str, Any]) -> int:
    value = content.get("version")
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(422, "version must be the number of the version that is edited.")
    return value


def _where(content: Any) -> dict[str, Any]:
    """Segments by feature."""
    if not isinstance(content, dict):
        raise RequestError(422, "where must be an object of features and segments.")
    made = {}
    for name, part in content.items():
        if not isinstance(part, dict) or set(part) - _SEGMENT:
            raise RequestError(422, f"A segment is an object of {', '.join(sorted(_SEGMENT))}.")
        levels = part.get("levels")
        if levels is not None and (
            not isinstance(levels, list) or not all(isinstance(v, str) for v in levels)
        ):
            raise RequestError(422, "levels must be a list of texts.")
        ends = {k: None if part.get(k) is None else _number(part[k], k) for k in ("low", "high")}
        flags = {k: _truth(part, k, False) for k in ("missing", "only_missing")}
        names = None if levels is None else tuple(levels)
        made[name] = Segment(ends["low"], ends["high"], names, **flags)
    return made
