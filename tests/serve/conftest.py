"""Models and clients for the tests of the server; no port is opened but for the browser and the load."""

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")


@pytest.fixture(scope="session")
def models():
    from report_data import fitted

    cache = {}

    def get(kind):
        if kind not in cache:
            cache[kind] = fitted(kind)
        return cache[kind]

    return get


class Client:
    """Requests to an application, without a network."""

    def __init__(self, app, host="127.0.0.1:8000", **headers):
        import anyio

        self.run, self.app, self.host, self.headers = anyio.run, app, host, headers

    def __call__(self, method, path, **options):
        async def go():
            transport = httpx.ASGITransport(app=self.app)
            headers = {"host": self.host, **self.headers, **options.pop("headers", {})}
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                return await client.request(method, path, headers=headers, **options)

        return self.run(go)

    def get(self, path, **options):
        return self("GET", path, **options)

    def post(self, path, body=None, **options):
        return self("POST", path, **({"json": body} if body is not None else {}), **options)

    def table(self, path, text, **options):
        content = text if isinstance(text, bytes) else text.encode()
        return self("POST", path, content=content, headers={"content-type": "text/csv"}, **options)


@pytest.fixture
def client(models):
    from pellucid.serve import create_app

    def make(kind="tables", data=True, host="127.0.0.1:8000", headers=None, **options):
        model, X, y = models(kind)
        rows = (X, y) if data else ()
        return Client(create_app(model, *rows, **options), host, **(headers or {}))

    return make


@pytest.fixture
def running():
    """A function that lets a real server answer for an application, and returns its address."""
    import threading
    import time

    import uvicorn

    started = []

    def run(app, **options):
        options = {"lifespan": "off", "ws": "none", "proxy_headers": False, **options}
        config = uvicorn.Config(app, port=0, log_level="warning", access_log=False, **options)
        server, sock = uvicorn.Server(config), config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        started.append((server, thread, sock))
        while not server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{sock.getsockname()[1]}"

    yield run
    for server, thread, sock in started:
        server.should_exit = True
        thread.join(10)
        sock.close()


@pytest.fixture
def connect():
    """From an application to a client of it."""
    return Client
