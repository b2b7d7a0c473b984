"""Ten clients with a thousand requests each are answered without an error, in milliseconds.

A server on this machine predicts single rows with an additive model of ten features and sends contributions
along. Beside it stands the least that could be done: a bare starlette endpoint that hands the JSON to
``predict`` without looking at it. Both have one process, and the clients another. A third run sends the
requests while the model is edited.
"""

import http.client
import json
import multiprocessing
import resource
import sys
import threading
import time

import numpy as np
import pandas as pd

from pellucid import AdditiveKernelRegressor

CLIENTS, REQUESTS, ROWS = 10, 1000, 4000


def model_and_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(ROWS, 10)), columns=[f"x{j}" for j in range(10)])
    X["x9"] = rng.choice(["a", "b", "c"], ROWS)
    y = (
        np.sin(3 * X["x0"])
        + X["x1"] * X["x2"]
        + X["x3"] ** 2
        + (X["x9"] == "a")
        + 0.3 * rng.normal(size=ROWS)
    )
    return AdditiveKernelRegressor(interactions=3).fit(X, y), X


def bare_app(model, X):
    """The least that could be done."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def predict(request):
        content = await request.json()
        rows = pd.DataFrame(content["rows"], columns=list(X.columns))
        return JSONResponse({"predictions": (await run_in_threadpool(model.predict, rows)).tolist()})

    return Starlette(routes=[Route("/predict", predict, methods=["POST"])])


def run_server(kind, connection):
    import uvicorn

    from pellucid.serve import create_app

    model, X = model_and_rows()
    app = bare_app(model, X) if kind == "bare" else create_app(model)
    options = {"lifespan": "off", "ws": "none", "timeout_keep_alive": 60}  # clients that share a busy machine
    config = uvicorn.Config(app, port=0, log_level="error", access_log=False, **options)
    server, sock = uvicorn.Server(config), config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    wanted = model.predict(X.iloc[:200]).tolist()
    connection.send((sock.getsockname()[1], X.iloc[:200].to_dict(orient="records"), wanted))
    connection.recv()
    server.should_exit = True
    thread.join()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    connection.send((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))


def ask(port, rows, wanted, seed, out):
    rng, times, errors = np.random.default_rng(seed), [], 0
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(REQUESTS):
        i = int(rng.integers(len(rows)))
        body = json.dumps({"rows": [rows[i]]})
        start = time.perf_counter()
        client.request("POST", "/predict", body, {"content-type": "application/json"})
        answer = client.getresponse()
        made = json.loads(answer.read())
        times.append(time.perf_counter() - start)
        one = made["predictions"][0] if answer.status == 200 else None
        value = one["prediction"] if isinstance(one, dict) else one
        shift = 0.001 * made.get("version", 0)
        errors += value is None or abs(value - wanted[i] - shift) > 1e-9
    out.append((times, errors))


def edit(port, stop):
    client, version = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0
    while not stop.wait(0.5):
        body = json.dumps({"version": version, "term": "x0", "by": 0.001})
        client.request("POST", "/api/edit", body, {"content-type": "application/json"})
        version = json.loads(client.getresponse().read())["version"]
    return version


def load(title, kind, *, edits=False):
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=run_server, args=(kind, there))
    process.start()
    port, rows, wanted = here.recv()
    out, stop = [], threading.Event()
    threads = [threading.Thread(target=ask, args=(port, rows, wanted, s, out)) for s in range(CLIENTS)]
    editor = threading.Thread(target=edit, args=(port, stop))
    start = time.perf_counter()
    for thread in threads + [editor] * edits:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    stop.set()
    if edits:
        editor.join()
    here.send("stop")
    cpu, memory = here.recv()
    process.join()
    times = 1e3 * np.concatenate([t for t, _ in out])
    p50, p95, p99 = np.quantile(times, [0.5, 0.95, 0.99])
    errors = sum(e for _, e in out)
    print(
        f"{title:<34} {errors:6d} {len(times) / seconds:10.0f} {p50:9.1f} {p95:9.1f} {p99:9.1f} "
        f"{times.max():9.1f} {cpu:8.1f} {memory:8.0f}"
    )
    return len(times) / seconds, errors


def main():
    print(
        f"{CLIENTS} clients, {REQUESTS} requests each of one row with ten features; milliseconds of latency"
    )
    print(f"{'':<34} errors requests/s    median      95 %      99 %   slowest    cpu s       MB")
    bare, _ = load("a bare endpoint, predictions only", "bare")
    ours, wrong = load("pellucid, with contributions", "pellucid")
    _, wrong_edited = load("pellucid, edited beside it", "pellucid", edits=True)
    print(f"\nrequests per second beside the bare endpoint: {ours / bare:.2f}")
    if wrong or wrong_edited:
        sys.exit("The claim does not hold: there were errors.")


if __name__ == "__main__":
    main()
