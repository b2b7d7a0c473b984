"""Claim: very wide data are a matter of one n × n matrix, not of hours.

1. 500 × 10 000 (the shape on which users report boosted glass boxes to fail):
``InterpretableKernelRegressor`` with its coefficients, KAF and alpha by
   leave-one-out, against scikit-learn's ``RidgeCV`` and, where they are installed, a lasso by skglm and
   main effects only by interpret's EBM, which is stopped after a time limit.
2. 900 × 860 000 in float32, memory-mapped from disk: the full fit in the same way. Peak memory is what the
process needs beyond the data.

    python benchmarks/wide.py [--limit 120] [--skip-large]
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _measure import in_own_process, measure

N_SIGNAL = 40


def make_rows(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns driven by a few factors, as spectra and expression profiles are."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, N_SIGNAL))
    loadings = np.random.default_rng(1).normal(size=(N_SIGNAL, p)) / np.sqrt(N_SIGNAL)
    X = (factors @ loadings + rng.normal(size=(n, p))).astype(np.float32)
    y = np.sin(factors[:, 0]) + factors[:, 1] * 0.5 + 0.2 * rng.normal(size=n)
    return X, y


def write_large(path: Path, n: int, p: int) -> np.ndarray:
    """Write the memory-mapped file in blocks of columns and return the target."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n, N_SIGNAL)).astype(np.float32)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, p))
    for start in range(0, p, 20000):
        stop = min(start + 20000, p)
        loadings = rng.normal(size=(N_SIGNAL, stop - start)).astype(np.float32) / np.sqrt(N_SIGNAL)
        X[:, start:stop] = factors @ loadings + rng.standard_normal((n, stop - start), dtype=np.float32)
    X.flush()
    return np.sin(factors[:, 0]) + factors[:, 1] * 0.5 + 0.2 * rng.normal(size=n)


def build(which: str) -> Any:
    if which == "pellucid":
        from pellucid import InterpretableKernelRegressor

        return InterpretableKernelRegressor("rbf", alpha="loo")
    if which == "sklearn-ridge":
        from sklearn.linear_model import RidgeCV

        return RidgeCV(alphas=np.logspace(0, 6, 25))
    if which == "skglm-lasso":
        from skglm import Lasso

        return Lasso(alpha=0.05)
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(interactions=0, n_jobs=2)


def child_small(which: str) -> None:
    X, y = make_rows(500, 10_000, 0)
    X_new, y_new = make_rows(500, 10_000, 2)
    model = build(which)
    if which == "skglm-lasso":  # it compiles for float64
        X, X_new = X.astype(np.float64), X_new.astype(np.float64)
    cost = measure(lambda: model.fit(X, y))
    options = {"how": "kernel"} if which == "pellucid" else {}
    error = float(np.sqrt(np.mean((model.predict(X_new, **options) - y_new) ** 2)) / np.std(y_new))
    print(json.dumps(cost | {"nrmse": error}))


def child_large(path: str) -> None:
    X = np.load(path, mmap_mode="r")
    y = np.load(path + ".y.npy")
    model = build("pellucid")
    start = time.perf_counter()
    cost = anonymous_peak(lambda: model.fit(X, y))
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak_bytes": cost, "kaf": model.kaf_, "n_coef": len(model.coef_)}))


def anonymous_peak(work: Any) -> float:
    """Peak of memory that is not backed by the file: pages of a memory map come and go as the system
    likes."""
    import threading

    def anonymous() -> int:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0

    before, peak, done = anonymous(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, anonymous())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()
    return max(peak - before, 0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a rival is stopped")
    parser.add_argument("--skip-large", action="store_true")
    options = parser.parse_args()
    print("500 x 10 000, float32")
    for which, package in (
        ("pellucid", "pellucid"),
        ("sklearn-ridge", "sklearn"),
        ("skglm-lasso", "skglm"),
        ("interpret-ebm", "interpret"),
    ):
        if importlib.util.find_spec(package) is None:
            print(f"  {which:<14} not installed")
            continue
        command = [sys.executable, __file__, "--child", "small", which]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, check=True)
        except subprocess.TimeoutExpired:
            print(f"  {which:<14} stopped after {options.limit:.0f} s")
            continue
        except subprocess.CalledProcessError as error:
            print(f"  {which:<14} failed: {error.stderr.strip().splitlines()[-1]}")
            continue
        result = json.loads(done.stdout.strip().splitlines()[-1])
        print(
            f"  {which:<14} {result['seconds']:7.1f} s   held-out nRMSE {100 * result['nrmse']:.1f} %   "
            f"peak {result['peak_bytes'] / 2**20:6.0f} MiB"
        )
    if options.skip_large:
        return
    print("900 x 860 000, float32, memory-mapped")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.npy"
        np.save(str(path) + ".y.npy", write_large(path, 900, 860_000))
        result = in_own_process(__file__, "large", path)
    print(
        f"  pellucid       {result['seconds']:7.1f} s   {result['n_coef']:.0f} coefficients, "
        f"KAF {result['kaf']:.3f}   peak beyond the data {result['peak_bytes'] / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    if "--child" not in sys.argv:
        main()
    elif sys.argv[2] == "small":
        child_small(sys.argv[3])
    else:
        child_large(sys.argv[3])
