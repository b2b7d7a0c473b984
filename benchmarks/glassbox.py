"""Default glass boxes side by side: error, seconds, memory and number of terms on twelve real tables.

    PELLUCID_DATA=folder python benchmarks/glassbox.py --models pellucid ebm lightgbm --splits 3

Every model has its defaults. Each cell (table, split, model) runs in a process of its own and is kept, so
that a run can be resumed. nRMSE is in per cent of the standard deviation of the test targets. Seconds of
processor are those of all processes and do not depend on what else the machine does; seconds by the clock do.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
from _measure import in_own_process, print_table
from _sets import TABLES, Split, is_regression, split
from isk_table import PUBLISHED

MODELS = ("pellucid", "ebm", "lightgbm", "pygam")


# --------------------------------------------------------------------- models


def fit_pellucid(s: Split, regression: bool):
    import pellucid

    kind = pellucid.AdditiveKernelRegressor if regression else pellucid.AdditiveKernelClassifier
    return kind().fit(s.X, s.y)


def fit_ebm(s: Split, regression: bool):
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
    return kind(n_jobs=-1).fit(s.X, s.y)  # the default leaves one of two cores idle


def fit_lightgbm(s: Split, regression: bool):
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMRegressor if regression else LGBMClassifier)(verbose=-1).fit(_coded(s.X), s.y)


def fit_pygam(s: Split, regression: bool):
    from pygam import LinearGAM, LogisticGAM

    return (LinearGAM if regression else LogisticGAM)().fit(_numbers(s.X), s.y)


def _coded(X):
    X = X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)  # LightGBM refuses some names
    return X.assign(**{c: X[c].astype("category") for c in X.columns if X[c].dtype.kind not in "biuf"})


def _numbers(X):
    return _coded(X).apply(lambda c: c.cat.codes if c.dtype == "category" else c).to_numpy(float)


PREPARE = {"lightgbm": _coded, "pygam": _numbers}


def n_terms(model) -> float:
    for name in ("terms_", "term_features_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    return np.nan


# ---------------------------------------------------------------------- cells


def child(name: str, seed: int, which: str) -> dict[str, float | str]:
    s, regression = split(name, seed), is_regression(name)
    start, cpu = time.perf_counter(), _processor()
    try:
        model = globals()[f"fit_{which}"](s, regression)
    except Exception as error:
        if which != "pygam":
            raise
        return {"failed": str(error)}  # pyGAM diverges on some tables: that is its result
    result = {"seconds": time.perf_counter() - start, "cpu_seconds": _processor() - cpu}
    result["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    result["terms"] = float(n_terms(model))
    X_test = PREPARE.get(which, lambda X: X)(s.X_test)
    start = time.perf_counter()
    if regression:
        residual = s.y_test - model.predict(X_test)
        result["error"] = float(100 * np.sqrt(np.mean(residual**2)) / s.y_test.std())
        result["predict_seconds"] = time.perf_counter() - start
        if which == "pellucid":
            low, high = model.predict_interval(X_test, coverage=0.9)
            result["coverage"] = float(100 * np.mean((low <= s.y_test) & (s.y_test <= high)))
    else:
        P = np.asarray(model.predict_proba(X_test))
        p = P if P.ndim == 1 else P[:, 1]
        result["error"] = float(100 * np.mean((p > 0.5) != s.y_test))
        q = np.clip(p, 1e-12, 1 - 1e-12)
        result["log_loss"] = float(-np.mean(np.where(s.y_test == 1, np.log(q), np.log1p(-q))))
        result["calibration"] = float(100 * calibration_error(p, s.y_test))
        result["predict_seconds"] = time.perf_counter() - start
    return result


def calibration_error(p: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """Mean distance of observed from predicted frequency over bins of equal counts."""
    order = np.array_split(np.argsort(p, kind="stable"), bins)
    return float(sum(len(b) * abs(p[b].mean() - y[b].mean()) for b in order) / len(y))


def _processor() -> float:
    """Seconds of processor used so far, with those of worker processes that are still there."""
    own, ended = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    total = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def cell(name: str, seed: int, which: str, cache: Path, fresh: bool) -> dict[str, float]:
    path = cache / "glassbox" / which / f"{name}-{seed}.json"
    if fresh or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        result = in_own_process(__file__, name, seed, which)
        path.write_text(json.dumps(result))
        print(f"{which} {name} split {seed}: {json.dumps(result)}", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=list(MODELS[:3]), choices=MODELS)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pellucid-bench")
    parser.add_argument("--fresh", nargs="*", default=[], help="models whose cells are to be run again")
    options = parser.parse_args()
    cells = {
        (name, seed, which): cell(name, seed, which, options.cache, which in options.fresh)
        for seed in range(options.splits)
        for name in options.tables
        for which in options.models
    }
    report(cells, options)


def report(cells: dict, options: argparse.Namespace) -> None:
    def mean(name, which, key):
        values = [cells[name, s, which].get(key, np.nan) for s in range(options.splits)]
        return float(np.mean(values))

    keys = {
        "error": "error %",
        "log_loss": "log loss",
        "calibration": "calib. %",
        "coverage": "cover. %",
        "cpu_seconds": "cpu s",
    }
    keys |= {"seconds": "s", "peak_bytes": "peak MiB", "terms": "terms"}
    for key, title in keys.items():
        print(f"\n{title}")
        scale = 2.0**20 if key == "peak_bytes" else 1.0
        rows = [
            [name, *(f"{mean(name, w, key) / scale:.4g}" for w in options.models)] for name in options.tables
        ]
        header = ["table", *options.models]
        if key == "error":
            header.append("ISK, published")
            for row in rows:
                row.append(str(PUBLISHED.get(row[0], {}).get("isk", ("",))[0]))
        print_table(header, rows)
    if {"pellucid", "ebm"} <= set(options.models):
        for key in ("seconds", "cpu_seconds"):
            total = {w: sum(mean(n, w, key) for n in options.tables) for w in ("pellucid", "ebm")}
            print(f"\n{key}: EBM / pellucid = {total['ebm'] / total['pellucid']:.1f}")
        ratio = {n: mean(n, "pellucid", "error") / mean(n, "ebm", "error") for n in options.tables}
        print("error relative to EBM:", ", ".join(f"{n} {r:.3f}" for n, r in ratio.items()))


if __name__ == "__main__":
    if "--child" in sys.argv:
        name, seed, which = sys.argv[2:5]
        print(json.dumps(child(name, int(seed), which)))
    else:
        os.environ.setdefault("PYTHONHASHSEED", "0")
        main()
