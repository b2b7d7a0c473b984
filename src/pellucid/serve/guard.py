"""What stands before every request: who may ask, from where, and how much.

The server is for one person on one machine unless it is told otherwise. A page of another site that the same
browser shows must not reach it: the name in ``Host`` has to be that of this machine (or a foreign name that
resolves here would do), requests that change or compute carry a type of content that no form can send, and
``Origin`` and ``Sec-Fetch-Site`` must not name another site. There are no cookies. Where there is a token,
everything but the empty page, its script and its style needs it.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from pellucid.serve.errors import RequestError
from pellucid.serve.wire import as_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

OPEN = ("/", "/page.js", "/page.css")
"""Addresses without anything of the model."""

METHODS = ("GET", "HEAD", "POST")


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for.

    Attributes
    ----------
    body : int
        Bytes of a request.
    rows : int
        Rows of a request.
    seconds : float
        Time in which the whole request must have arrived.
    """

    body: int = 8_000_000
    rows: int = 20_000
    seconds: float = 30.0


class Guard:
    """ASGI application around another that lets only proper requests through."""

    def __init__(self, app: App, *, limits: Limits, token: str | None, hosts: tuple[str, ...] | None) -> None:
        self.app, self.limits, self.hosts = app, limits, hosts
        self._token = None if token is None else token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        safe = _with_headers(send)
        try:
            self._check(scope)
            body = await self._body(scope, receive)
        except RequestError as error:
            await _refuse(error, safe)
            return
        await self.app(scope, _replay(body, receive), safe)

    # ------------------------------------------------------------------ who may ask
    def _check(self, scope: Scope) -> None:
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in headers and key in (
                "host",
                "authorization",
                "content-type",
                "origin",
                "content-length",
            ):
                raise RequestError(400, f"The header {key} is there twice.")
            headers[key] = value.decode("latin-1")
        if scope["method"] not in METHODS:
            raise RequestError(405, "Only GET and POST are answered.")
        host = headers.get("host", "")
        if self.hosts is not None and _host_name(host) not in self.hosts:
            raise RequestError(421, "This server answers to the names of this machine only.")
        origin = headers.get("origin")
        if origin is not None and origin.split("://", 1)[-1].lower() != host.lower():
            raise RequestError(403, "Requests of pages from elsewhere are not answered.")
        navigation = scope["path"] == "/" and scope["method"] == "GET"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not navigation:
            raise RequestError(403, "Requests of pages from elsewhere are not answered.")
        if self._token is not None and scope["path"] not in OPEN:
            self._check_token(headers.get("authorization", ""))

    def _check_token(self, given: str) -> None:
        kind, _, token = given.partition(" ")
        same = hmac.compare_digest(token.strip().encode("utf-8", "replace"), self._token or b"")
        if kind.lower() != "bearer" or not same:
            raise RequestError(401, "This server needs its token: Authorization: Bearer <token>.")

    # ---------------------------------------------------------------------- how much
    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, in time and within the limit."""
        for name, value in scope["headers"]:
            if name.lower() == b"content-length" and (not value.isdigit() or int(value) > self.limits.body):
                raise self._too_large()
        try:
            return await asyncio.wait_for(self._collect(receive), self.limits.seconds)
        except TimeoutError:
            raise RequestError(
                408, f"The request took longer than {self.limits.seconds:g} seconds."
            ) from None

    async def _collect(self, receive: Receive) -> bytes:
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError(400, "The request was not complete.")
            size += len(message.get("body", b""))
            if size > self.limits.body:
                raise self._too_large()
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(parts)

    def _too_large(self) -> RequestError:
        return RequestError(413, f"A request may have at most {self.limits.body:,} bytes.")


def _host_name(host: str) -> str:
    """The name in a ``Host`` header, without the port.

    Examples
    --------
    >>> _host_name("localhost:8000"), _host_name("[::1]:8000"), _host_name("evil.example")
    ('localhost', '[::1]', 'evil.example')
    """
    host = host.strip().lower()
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def _with_headers(send: Send) -> Send:
    async def safe(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message.get("headers", [])}
            extra = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return safe


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _refuse(error: RequestError, send: Send) -> None:
    """A refusal; the connection is closed, as there may be more of the request."""
    body = as_bytes({"error": str(error)})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
