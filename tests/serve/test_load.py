"""Ten clients at once, against a real server: every answer is right while the model is edited beside them."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from pellucid.serve import create_app, serve

REQUESTS = 20


def test_ten_clients(models, running):
    model, X, y = models("tables")
    address = running(create_app(model, X, y))
    rows = X.dropna()
    wanted = model.predict(rows)
    shift = 0.5

    def work(seed):
        rng, wrong = np.random.default_rng(seed), 0
        with httpx.Client(base_url=address, timeout=30) as client:
            for _ in range(REQUESTS):
                i = int(rng.integers(len(rows)))
                made = client.post("/predict", json={"rows": [rows.iloc[i].to_dict()]})
                made.raise_for_status()
                answer, version = made.json()["predictions"][0]["prediction"], made.json()["version"]
                wrong += abs(answer - wanted[i] - version * shift) > 1e-9
        return wrong

    with ThreadPoolExecutor(11) as pool:
        jobs = [pool.submit(work, seed) for seed in range(10)]
        for version in range(3):
            body = {"version": version, "term": "dose", "by": shift}
            assert httpx.post(f"{address}/api/edit", json=body, timeout=30).status_code == 200
        assert sum(job.result() for job in jobs) == 0


def test_serving_until_interrupted(models, monkeypatch):
    import uvicorn

    told, seen = [], []

    def run(self, sockets):
        seen.append(self.config)
        sockets[0].close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    serve(models("tables")[0], port=0, tell=told.append)
    assert told[0].startswith("http://127.0.0.1:")
    assert "#" not in told[0]
    serve(models("tables")[0], host="0.0.0.0", port=0, tell=told.append)
    token = told[1].partition("#token=")[2]
    assert len(token) >= 32
    assert seen[1].app._token == token.encode()
    assert seen[1].app.hosts is None
    assert seen[0].app.hosts is not None


def test_without_the_package(models, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[serve\]'"):
        create_app(models("tables")[0])
