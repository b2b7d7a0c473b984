"""How many rows a second are predicted and explained, beside EBM; the goal is five times as many as EBM.

California housing: both models are fitted to the same training rows, and the test rows are repeated to
batches of 100 000 rows, 1 000 rows and 1 row, as a data frame (as both were fitted) and as an array without
names. Seconds of processor of one thread, the best of several passes taken in turn, so that a busy moment
hits both. "Both" is what a service that explains itself needs of a row: the prediction and what each term
adds to it, ``predict`` and ``contributions`` here, ``predict`` and ``eval_terms`` there. EBM's documented way
to explain rows, ``explain_local``, makes objects to plot; ``predict`` and ``explain_local`` are timed too, on
1 000 rows. Peak memory is that of one more pass over the largest batch, each model in a process of its own;
it includes what numba takes when it is loaded.

Measured once with five passes on two busy cores of an AMD EPYC, numba 0.68, "both" for data frames of 100 000
rows, 1 000 rows and 1 row: with numba 2.5, 10 and 17 times EBM's rows per second, so that the goal is missed
on large batches; with ``PELLUCID_NUMBA=0`` 0.5, 3 and 4 times, so that it is missed everywhere. Arrays: 2.5,
7 and 12 times, and 0.5, 2 and 2 times. With ``explain_local``, 1 000 rows: 46 times, and 14 times. In rows of
the large data frame: 4.6 million a second with numba, 0.9 million without, 1.8 million with EBM. Small
batches find the compiled loops loaded by the large one before them. Rates of 1 000 rows varied up to twofold
from run to run.

``AdditiveKernelRegressor`` has its defaults. EBM is fitted with two bags of few rounds to save time: bags
are averaged into one table per term when the fit ends, so its tables have the size that they have by default,
and the number of terms is checked to be the default's (36: all features and all pairs of them).

    PELLUCID_DATA=folder python benchmarks/additive_prediction.py [--batch 100000] [--passes 7]
"""

import argparse
import json
import math
import os
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from _measure import data_folder, in_own_process, measure, print_table
from _sets import split

GOAL = 5.0
TASKS = ("predict", "terms", "both")


def fit_pellucid(X: pd.DataFrame, y: np.ndarray) -> Any:
    from pellucid import AdditiveKernelRegressor

    return AdditiveKernelRegressor().fit(X, y)


def fit_ebm(X: pd.DataFrame, y: np.ndarray) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    model = ExplainableBoostingRegressor(n_jobs=1, outer_bags=2, max_rounds=200).fit(X, y)
    default = ExplainableBoostingRegressor().interactions  # such as "3.5x", pairs per feature
    possible = X.shape[1] * (X.shape[1] - 1) // 2
    terms = X.shape[1] + min(math.ceil(float(default.removesuffix("x")) * X.shape[1]), possible)
    if len(model.term_features_) != terms:
        sys.exit(f"EBM has {len(model.term_features_)} terms, by default it has {terms}.")
    return model


def tasks(name: str, model: Any) -> dict[str, Callable[[Any], Any]]:
    terms = model.contributions if name == "pellucid" else model.eval_terms
    return {"predict": model.predict, "terms": terms, "both": lambda X: (model.predict(X), terms(X))}


def batch_of(X: pd.DataFrame, n: int) -> pd.DataFrame:
    return X.iloc[np.arange(n) % len(X)].reset_index(drop=True)


def rates(models: dict[str, Any], X: Any, passes: int) -> dict[str, dict[str, float]]:
    """Rows per second of processor for each model and task; small batches are run many times a pass."""
    best = {name: dict.fromkeys(TASKS, np.inf) for name in models}
    times = max(1, 3000 // max(len(X), 30))
    for _ in range(passes + 1):  # the first is a warm-up, as it cannot be the best
        for name, model in models.items():
            for task, work in tasks(name, model).items():
                start = time.process_time()
                for _ in range(times):
                    work(X)
                best[name][task] = min(best[name][task], (time.process_time() - start) / times)
    return {name: {task: len(X) / s for task, s in found.items()} for name, found in best.items()}


def child_speed(folder: str, batch: int, passes: int) -> dict[str, Any]:
    s = split("california", 0)
    models = {"pellucid": fit_pellucid(s.X, s.y), "ebm": fit_ebm(s.X, s.y)}
    check(models, s.X_test)
    for name, model in models.items():
        Path(folder, name).write_bytes(pickle.dumps(model))
    found = []
    for n in dict.fromkeys((batch, 1000, 1)):
        frame = batch_of(s.X_test, n)
        found.append(("data frame", n, rates(models, frame, passes)))
        with warnings.catch_warnings(action="ignore"):  # an array has no names: meant
            found.append(("array", n, rates(models, frame.to_numpy(), passes)))
    frame = batch_of(s.X_test, 1000)
    local = np.inf
    for _ in range(passes):
        start = time.process_time()
        models["ebm"].predict(frame)
        models["ebm"].explain_local(frame)
        local = min(local, time.process_time() - start)
    terms = {"pellucid": len(models["pellucid"].terms_), "ebm": len(models["ebm"].term_features_)}
    return {"terms": terms, "rates": found, "local": len(frame) / local}


def check(models: dict[str, Any], X: pd.DataFrame) -> None:
    """What is timed is the whole model: terms and intercept sum to the prediction."""
    for name, model in models.items():
        total = tasks(name, model)["terms"](X).sum(axis=1) + np.ravel(model.intercept_)
        if not np.allclose(total, model.predict(X)):
            sys.exit(f"The terms of {name} do not sum to its prediction.")


def child_memory(folder: str, name: str, batch: int) -> dict[str, float]:
    model = pickle.loads(Path(folder, name).read_bytes())
    work = tasks(name, model)["both"]
    X = batch_of(split("california", 0).X_test, batch)
    work(X[:10])
    return measure(lambda: work(X))


def report(result: dict[str, Any]) -> None:
    print(f"terms: pellucid {result['terms']['pellucid']}, EBM {result['terms']['ebm']}")
    print("thousands of rows per second of processor")
    rows = []
    for kind, n, found in result["rates"]:
        for task in TASKS:
            ours, theirs = found["pellucid"][task], found["ebm"][task]
            cells = [f"{ours / 1e3:.4g}", f"{theirs / 1e3:.4g}", f"{ours / theirs:.2f}"]
            rows.append([f"{n:,}", kind, task, *cells])
    print_table(["batch", "", "", "pellucid", "EBM", "ratio"], rows)
    ours = next(f["pellucid"]["both"] for kind, n, f in result["rates"] if (kind, n) == ("data frame", 1000))
    print(
        f"both, with EBM's explain_local for its terms, 1,000 rows, data frame: pellucid {ours / 1e3:.4g}, "
        f"EBM {result['local'] / 1e3:.4g}, ratio {ours / result['local']:.2f}"
    )
    for kind, n, found in result["rates"]:
        ratio = found["pellucid"]["both"] / found["ebm"]["both"]
        verdict = "reached" if ratio >= GOAL else "missed"
        print(f"both, {n:,} rows, {kind}: {ratio:.2f} times EBM's rows per second (goal {GOAL:g}: {verdict})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, default=100_000, help="rows of the largest batch")
    parser.add_argument("--passes", type=int, default=7, help="passes of which the best counts")
    options = parser.parse_args()
    data_folder()
    with tempfile.TemporaryDirectory() as folder:
        report(in_own_process(__file__, "speed", folder, options.batch, options.passes))
        for name in ("pellucid", "ebm"):
            cost = in_own_process(__file__, "memory", folder, name, options.batch)
            size = Path(folder, name).stat().st_size
            print(
                f"{name}: peak memory of both, {options.batch:,} rows: {cost['peak_bytes'] / 2**20:.0f} MiB; "
                f"pickled model {size / 2**20:.1f} MiB"
            )


if __name__ == "__main__":
    if "--child" not in sys.argv:
        main()
    elif sys.argv[2] == "speed":
        print(json.dumps(child_speed(sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))))
    else:
        print(json.dumps(child_memory(sys.argv[3], sys.argv[4], int(sys.argv[5]))))
