"""Input that means no good, and requests that have no business here: a short refusal, and nothing breaks."""

import asyncio
import json
import socket
import time

import numpy as np
import pytest

from pellucid.serve import create_app
from pellucid.serve.guard import Guard, Limits
from pellucid.serve.patience import patient_protocol
from pellucid.serve.run import is_loopback, serve

TOKEN = "0123456789abcdefghij"
ROW = {"age": 40, "dose": 1, "town": "Ulm"}


def raw(content, kind="application/json"):
    return {"content": content, "headers": {"content-type": kind}}


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"", 400, "no JSON"),
        (b"{", 400, "no JSON"),
        (b"\xff\xfe", 400, "no JSON"),
        (b"[" * 200_000, 400, "deep"),
        (b'{"rows":' + b"[" * 5000 + b"]" * 5000 + b"}", 4, ""),
        (b"[]", 422, "object"),
        (b'{"rows": []}', 422, "list of objects"),
        (b'{"rows": 7}', 422, "list of objects"),
        (b'{"rows": [7]}', 422, "not an object"),
        (b'{"rows": [{}], "path": "/etc/passwd"}', 422, "'path' is not known"),
        (b'{"rows": [{"age": NaN, "dose": 1, "town": "Ulm"}]}', 400, "NaN is not"),
        (b'{"rows": [{"age": Infinity, "dose": 1, "town": "Ulm"}]}', 400, "Infinity"),
        (b'{"rows": [{"age": 1e999, "dose": 1, "town": "Ulm"}]}', 422, "finite"),
        (b'{"rows": [{"age": ' + b"9" * 400 + b', "dose": 1, "town": "Ulm"}]}', 422, "finite"),
        (b'{"rows": [{"age": ' + b"9" * 5000 + b', "dose": 1, "town": "Ulm"}]}', 400, "no JSON"),
        (b'{"rows": [{"age": "old", "dose": 1, "town": "Ulm"}]}', 422, "'age' holds 'old'"),
        (b'{"rows": [{"age": [1], "dose": 1, "town": "Ulm"}]}', 422, "not a number"),
        (b'{"rows": [{"age": 1, "dose": 1, "town": {"a": 1}}]}', 422, "not a text"),
        (b'{"rows": [{"age": 1, "dose": 1}]}', 422, "lacks 'town'"),
        (b'{"rows": [{"age": 1, "dose": 1, "town": "U", "__proto__": 1}]}', 422, "does not know"),
        (b'{"rows": [{"age": 1, "dose": 1, "town": "' + b"x" * 2000 + b'"}]}', 422, "longer than"),
        (b'{"rows": [{"age": 1, "dose": 1, "town": "U"}], "moves": "yes"}', 422, "true or false"),
    ],
)
def test_bodies_that_are_no_rows(client, body, status, says):
    answer = client().post("/predict", **raw(body))
    assert answer.status_code == status or (status == 4 and answer.status_code in (400, 422))
    assert says in answer.json()["error"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one row"),
        ("age,dose,town\n", "at least one row"),
        ("age,dose\n1,2\n", "no column 'town'"),
        ("age,age,dose,town\n1,1,2,Ulm\n", "two columns called 'age'"),
        ("age,dose,town\n1,2\n", "Row 1 has 2 cells"),
        ("age,dose,town\nold,2,Ulm\n", "'age' holds 'old'"),
        ("age,dose,town\ninf,2,Ulm\n", "finite"),
        (b"age,dose,town\n1,2,\xff\n", "UTF-8"),
        (b"age,dose,town\n1,2,\x00\n", "not a text"),
        ('age,dose,town\n1,2,"' + "x" * 200_000 + "\n", ""),
    ],
)
def test_tables_that_are_none(client, text, says):
    answer = client().table("/predict", text)
    assert answer.status_code == 422
    assert says in answer.json()["error"]


def test_too_much(client):
    use = client(max_body=5000, max_rows=10)
    assert use.post("/predict", {"rows": [ROW] * 11}).status_code == 413
    assert use.table("/predict", "age,dose,town\n" + "1,2,Ulm\n" * 11).status_code == 413
    assert use.post("/predict", **raw(b"x" * 5001)).status_code == 413
    assert use.post("/predict", {"rows": [ROW] * 10}).status_code == 200

    async def stream():  # without saying how long it is
        for _ in range(100):
            yield b"x" * 100

    assert use.post("/predict", **raw(stream())).status_code == 413


def test_a_slow_body_is_not_waited_for(models):
    model, _, _ = models("tables")
    app = create_app(model, max_seconds=0.05)
    sent = []

    async def receive():
        if not sent:
            sent.append(1)
            return {"type": "http.request", "body": b"{", "more_body": True}
        await asyncio.sleep(60)

    answers = []

    async def send(message):
        answers.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/predict", "headers": headers, "query_string": b""}
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 5))
    assert answers[0]["status"] == 408


@pytest.mark.parametrize("first", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET / H"])
def test_a_header_that_does_not_come_is_not_waited_for(models, running, first):
    address = running(create_app(models("tables")[0]), http=patient_protocol(0.3))
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(first)
        answer = b""
        while part := slow.recv(65536):  # ends when the server closes
            answer += part
    assert answer.startswith(b"HTTP/1.1 200" if first.count(b"GET") == 2 else b"")


def test_a_connection_that_is_used_stays_open(models, running):
    import http.client

    address = running(create_app(models("tables")[0]), http=patient_protocol(0.3))
    client = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    for _ in range(3):
        client.request("GET", "/")
        answer = client.getresponse()
        assert answer.status == 200
        answer.read()
        time.sleep(0.2)
    client.close()


def test_other_hosts_and_other_sites(client):
    body = {"rows": [ROW]}
    for host in ("localhost", "127.0.0.1:8000", "[::1]:99"):
        assert client(host=host).post("/predict", body).status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "0.0.0.0"):
        assert client(host=host).get("/api/page").status_code == 421
    use = client()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999"):
        assert use.post("/predict", body, headers={"origin": origin}).status_code == 403
    assert use.post("/predict", body, headers={"origin": "http://127.0.0.1:8000"}).status_code == 200
    assert use.post("/predict", body, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert use.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


FORMS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]


@pytest.mark.parametrize("kind", FORMS)
def test_what_a_form_can_send_is_not_taken(client, kind):
    body = json.dumps({"rows": [ROW]}).encode()
    assert client().post("/predict", **raw(body, kind)).status_code == 415
    for path in ("edit", "undo", "term", "compare", "download"):
        assert client().post(f"/api/{path}", **raw(b"{}", kind)).status_code == 415


PATHS = ["/../etc/passwd", "/page.js/../../x", "/api/../predict", "/api/model", "//etc/passwd", "/.", "", "*"]


@pytest.mark.parametrize("path", PATHS)
def test_there_are_no_files(client, path):
    assert _status(client().app, [("host", "localhost")], path) in (404, 405)


def test_downloads_are_those_that_are_offered(client):
    names = ("../../etc/passwd", "/etc/passwd", "model.pellucid", 7, None, "con")
    statuses = [client().post("/api/download", {"name": name}).status_code for name in names]
    assert set(statuses) <= {404, 422}


def test_the_token(client):
    use = client(token=TOKEN)
    assert use.get("/").status_code == 200
    assert b"Ulm" not in use.get("/").content + use.get("/page.js").content
    for path in ("/api/page", "/openapi.json", "/nothing"):
        answer = use.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    body = {"rows": [ROW]}
    wrong = ("", "Bearer", "Bearer " + TOKEN[:-1], f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ä")
    for value in wrong:
        headers = {"authorization": value.encode("latin-1")}
        assert use.post("/predict", body, headers=headers).status_code == 401
    assert use.post("/predict", body, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    with pytest.raises(ValueError, match="letters or more"):
        client(token="short")
    with pytest.raises(ValueError, match="needs a token"):
        client(local=False)
    assert client(local=False, token=TOKEN, host="any.example").get("/").status_code == 200


def test_methods_and_headers(client):
    use = client()
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert use(method, "/predict").status_code == 405
    assert use.get("/predict").status_code == 405
    for answer in (use.get("/"), use.get("/nothing"), use.get("/api/page"), use("PUT", "/")):
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
    doubled = [("host", "127.0.0.1"), ("host", "evil.example")]
    assert _status(use.app, doubled) == 400


def _status(app, headers, path="/"):
    seen = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        seen.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(k.encode(), v.encode()) for k, v in headers],
        "query_string": b"",
    }
    asyncio.run(app(scope, receive, send))
    return seen[0]["status"]


def test_sockets_are_closed():
    seen = []

    async def send(message):
        seen.append(message["type"])

    async def nothing(*_):
        raise AssertionError

    guard = Guard(nothing, limits=Limits(), token=None, hosts=None)
    asyncio.run(guard({"type": "websocket"}, None, send))
    assert seen == ["websocket.close"]


def test_an_error_inside_says_nothing_of_the_inside(models, client, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("secret path /home/somebody")

    monkeypatch.setattr("pellucid.serve.routes.predict", broken)
    answer = client().post("/predict", {"rows": [ROW]})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret" in caplog.text


def test_where_it_listens(models):
    assert [is_loopback(host) for host in ("127.8.9.1", "::1", "localhost")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.1", "example.org")] == [False] * 4
    with pytest.raises(ValueError, match="letters or more"):
        serve(models("tables")[0], host="0.0.0.0", token="weak")
    with pytest.raises(ValueError, match="needs predict"):
        create_app(np.ones(3))
