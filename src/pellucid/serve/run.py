"""Starting the server."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
from collections.abc import Callable
from typing import Any

from pellucid.serve.guard import Guard, Limits
from pellucid.serve.patience import patient_protocol

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names that a browser on this machine may use for it."""

_SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    Examples
    --------
    >>> (
    ...     is_loopback("127.0.0.1"),
    ...     is_loopback("localhost"),
    ...     is_loopback("::1"),
    ...     is_loopback("0.0.0.0"),
    ... )
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def create_app(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    token: str | None = None,
    local: bool = True,
    max_body: int = Limits.body,
    max_rows: int = Limits.rows,
    max_seconds: float = Limits.seconds,
    **about: Any,
) -> Any:
    """An ASGI application that shows a fitted model, predicts with it and lets it be edited.

    Parameters
    ----------
    model : fitted estimator
        Additive kernel machines can be edited. Models with terms or coefficients have contributions; of
        others the page shows average predictions and says that there are none.
    X, y : data frame or array of shape (n, p), array of shape (n,), optional
        Rows to compare on, and to fit the other terms to after an edit. They can be seen by everybody who
        may use the page.
    token : str, optional
        What requests have to bring; needed if ``local`` is false.
    local : bool, default=True
        Whether only requests to this machine's own names are answered, which keeps out pages that reach it
        under a foreign name.
    max_body, max_rows, max_seconds : int, int, float
        Bytes and rows of a request, and seconds in which it must have arrived.
    **about
        ``title`` of the page; ``sample_weight``, ``offset`` and ``exposure`` of the rows; ``target``, the
        name of what is predicted.

    Returns
    -------
    ASGI application

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> from pellucid.serve import create_app
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.AdditiveKernelRegressor().fit(X, X[:, 0] ** 2)
    >>> app = create_app(model, X, X[:, 0] ** 2)
    """
    need_starlette()
    from pellucid.serve.routes import build_app
    from pellucid.serve.served import serve_model
    from pellucid.serve.versions import Versions

    if not local and not token:
        raise ValueError("A server that others can reach needs a token.")
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise ValueError(f"A token needs {_SHORTEST_TOKEN} letters or more, such as secrets.token_urlsafe().")
    limits = Limits(max_body, max_rows, max_seconds)
    versions = Versions(model, serve_model(model, X, y, **about))
    app = build_app(versions, limits, token=token is not None)
    return Guard(app, limits=limits, token=token, hosts=LOOPBACK if local else None)


def serve(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    tell: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve a fitted model until the program is interrupted.

    Parameters
    ----------
    model, X, y
        As in :func:`create_app`.
    host : str, default="127.0.0.1"
        Address to listen on. With any but that of this machine itself a token is needed, and made if none is
        given. The connection is not encrypted: put a proxy with TLS before it where others can listen.
    port : int, default=8000
        Port; 0 takes a free one.
    token : str, optional
        What requests have to bring; the page takes it from the address that is told.
    tell : callable, default=print
        Told the address.
    **options
        As in :func:`create_app`.
    """
    uvicorn = need_starlette()
    local = is_loopback(host)
    if not local and token is None:
        token = secrets.token_urlsafe(32)
    app = create_app(model, X, y, token=token, local=local, **options)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=patient_protocol(options.get("max_seconds", Limits.seconds)),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        limit_concurrency=200,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=32_768,
    )
    server = uvicorn.Server(config)
    sock = config.bind_socket()
    name = f"[{host}]" if ":" in host else host
    # behind the #, where it stays in the browser
    key = "" if token is None else f"#token={token}"
    tell(f"http://{name}:{sock.getsockname()[1]}/{key}")
    with contextlib.suppress(KeyboardInterrupt):  # how it is meant to end
        server.run(sockets=[sock])


def need_starlette() -> Any:
    """The package uvicorn, or a sentence on how to get it and starlette."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise ImportError(
            f"Serving a model needs the package {error.name}: pip install 'pellucid[serve]'"
        ) from None
    return uvicorn
