"""Claim: the additive kernel machine takes a million rows, and two thousand features, in bounded memory.

1. ``AdditiveKernelRegressor`` on 10 features, from 10⁴ to 10⁶ rows: the time grows in proportion to the rows,
   the memory beyond the data stays below 2 GB and hardly grows, and R² on rows not seen comes close to that
   of the function that made the targets.
2. On 5 000 rows, from 10 to 2 000 features of which four carry signal, two of them together: the time stays
   far below proportional to the number of pairs, and the five terms there are lead the list of importances.

Beside it explainable boosting (EBM, package interpret) on all cores. A fit of it that takes longer than a
limit is ended, larger ones are not tried, and what is finished is kept, so that it is not run again. Both
models have their defaults. Seconds of processor are those of all processes of a fit; pellucid has one, of one
thread. Memory is the peak of the fit above what the data and libraries take; that of EBM is the sum over its
processes, memory they share counted once, looked at several times a second. "False %" is the share of
importance that goes to terms which the targets do not have.

    python benchmarks/additive_scaling.py [--most 1000000] [--widest 2000] [--without-ebm] [--limit 600]
"""

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _measure import in_own_process, measure, print_table

ROWS, COLUMNS = (10_000, 31_623, 100_000, 316_228, 1_000_000), 10
FEATURES, WIDE_ROWS = (10, 30, 100, 300, 1000, 2000), 5_000
TEST_ROWS = 20_000


# ----------------------------------------------------------------------- data


def carriers(p: int) -> list[int]:
    """The four features with signal, far apart."""
    return [0, p // 3, 2 * p // 3, p - 1]


def true_terms(p: int) -> set[tuple[int, ...]]:
    a, b, c, d = carriers(p)
    return {(a,), (b,), (c,), (d,), (b, c)}


def signal_of(X: np.ndarray) -> np.ndarray:
    a, b, c, d = carriers(X.shape[1])
    f = np.sin(6.0 * X[:, a])
    f += 4.0 * X[:, b] * X[:, c]
    f += (X[:, d] - 0.5) ** 2
    return f


def make_rows(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.empty((n, p))
    rng.random(out=X)
    y = signal_of(X)
    y += 0.5 * rng.standard_normal(n)
    return X, y


# ------------------------------------------------------------------- children


def child_pellucid(n: int, p: int) -> dict[str, float]:
    from pellucid import AdditiveKernelRegressor

    AdditiveKernelRegressor().fit(*make_rows(300, 4))  # libraries are loaded
    X, y = make_rows(n, p)
    model = AdditiveKernelRegressor()
    cpu = time.process_time()
    cost = measure(lambda: model.fit(X, y))
    cost["cpu"] = time.process_time() - cpu
    strength = np.asarray(model.importances_.values, dtype=float)
    return cost | quality(model, p, [tuple(t) for t in model.terms_], strength)


def child_ebm(n: int, p: int) -> dict[str, float]:
    from interpret.glassbox import ExplainableBoostingRegressor

    ExplainableBoostingRegressor(n_jobs=1, outer_bags=1, max_rounds=2).fit(*make_rows(300, 4))
    X, y = make_rows(n, p)
    cost = {"before_bytes": float(proportional(os.getpid()))}
    start, cpu = time.perf_counter(), processor()
    model = ExplainableBoostingRegressor(n_jobs=-1).fit(X, y)  # the default leaves one core idle
    cost["seconds"] = time.perf_counter() - start
    cost["cpu"] = processor() - cpu
    terms = [tuple(sorted(t)) for t in model.term_features_]
    return cost | quality(model, p, terms, np.asarray(model.term_importances(), dtype=float))


def quality(model, p: int, terms: list[tuple[int, ...]], strength: np.ndarray) -> dict[str, float]:
    """R² on new rows, the best possible one, and how many of the true terms are as many strongest."""
    X, y = make_rows(TEST_ROWS, p, seed=1)
    truth = true_terms(p)
    top = [terms[t] for t in np.argsort(-strength, kind="stable")[: len(truth)]]
    total = np.sum((y - y.mean()) ** 2)
    return {
        "r2": float(1 - np.sum((y - model.predict(X)) ** 2) / total),
        "best": float(1 - np.sum((y - signal_of(X)) ** 2) / total),
        "terms": float(len(terms)),
        "found": float(len(truth & set(top))),
        "false": float(100 * strength[[t not in truth for t in terms]].sum() / strength.sum()),
    }


def processor() -> float:
    """Seconds of processor of this process and its workers, those that are still there too."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    for pid, fields in session(os.getsid(0)):
        if pid != os.getpid():
            total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


# ----------------------------------------------------- processes under a limit


def session(leader: int) -> list[tuple[int, list[str]]]:
    """Processes of a session with the fields of /proc/pid/stat from the state on."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader:
                found.append((int(stat.parent.name), fields))
    return found


def proportional(pid: int) -> int:
    """Bytes of memory of a process, pages it shares counted in part."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def within(limit: float, *arguments: object) -> dict[str, float]:
    """Run a child in a session of its own; one that takes longer is ended with all its workers."""
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        end, peak = time.monotonic() + limit, 0
        try:
            while child.poll() is None and time.monotonic() < end:
                peak = max(peak, sum(proportional(pid) for pid, _ in session(child.pid)))
                time.sleep(0.25)
            code = child.poll()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        if code is None:
            return {"over": limit}
        out.seek(0)
        err.seek(0)
        if code:
            sys.exit(f"{' '.join(command)} failed:\n{err.read()}")
        result = json.loads(out.read().strip().splitlines()[-1])
    result["peak_bytes"] = max(peak - result.pop("before_bytes"), 0.0)
    return result


def ebm(n: int, p: int, options: argparse.Namespace) -> dict[str, float]:
    """Result of EBM, kept from an earlier run unless that had less time."""
    path = options.cache / "additive_scaling" / f"ebm-{n}-{p}.json"
    if path.exists() and not options.fresh:
        result = json.loads(path.read_text())
        if result.get("over", np.inf) >= options.limit:
            return result
    result = within(options.limit, "ebm", n, p)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    return result


# --------------------------------------------------------------------- report


def compare(sizes: list[tuple[int, int]], vary: str, options: argparse.Namespace) -> None:
    """One table: both models at all sizes, growth, memory."""
    at = [n if vary == "rows" else p for n, p in sizes]
    ours, theirs = [], []
    tried = not options.without_ebm
    for n, p in sizes:
        ours.append(in_own_process(__file__, "pellucid", n, p))
        note(f"pellucid, {n:,} x {p:,}", ours[-1])
        if tried:
            theirs.append(ebm(n, p, options))
            note(f"EBM, {n:,} x {p:,}", theirs[-1])
            tried = "over" not in theirs[-1]
    rows = []
    for k, size in enumerate(at):
        rows.append([f"{size:,}", "pellucid", *cells(ours[k])])
        if k < len(theirs):
            rows.append(["", "EBM", *cells(theirs[k])])
    header = ["cpu s", "s", "peak MiB", "R²", "best R²", "terms", "true in top 5", "false %"]
    print_table([vary, "", *header], rows)
    for name, results in (("pellucid", ours), ("EBM", [r for r in theirs if "over" not in r])):
        growth(name, at, results, vary)
    ratios = [
        f"{size:,}: {b['cpu'] / a['cpu']:.1f} ({b['seconds'] / a['seconds']:.1f})"
        for size, a, b in zip(at, ours, theirs, strict=False)
        if "over" not in b
    ]
    if ratios:
        print(f"EBM / pellucid, processor (clock): {', '.join(ratios)}")


def cells(result: dict[str, float]) -> list[str]:
    if "over" in result:
        return ["", f"> {result['over']:.0f}", *[""] * 6]
    return [
        f"{result['cpu']:.1f}",
        f"{result['seconds']:.1f}",
        f"{result['peak_bytes'] / 2**20:.0f}",
        f"{result['r2']:.4f}",
        f"{result['best']:.4f}",
        f"{result['terms']:.0f}",
        f"{result['found']:.0f} of 5",
        f"{result['false']:.2f}",
    ]


def growth(name: str, at: list[int], results: list[dict[str, float]], vary: str) -> None:
    if len(results) < 2:
        return
    size, cpu = np.array(at[: len(results)], dtype=float), np.array([r["cpu"] for r in results])
    slope = np.polyfit(np.log(size), np.log(cpu), 1)[0]
    last = np.log(cpu[-1] / cpu[-2]) / np.log(size[-1] / size[-2])
    print(f"{name}: growth exponent of processor time in {vary} {slope:.2f}, over the last step {last:.2f}")
    peak = np.array([r["peak_bytes"] for r in results])
    line = f"{name}: memory beyond the data at most {peak.max() / 1e9:.2f} GB"
    if vary == "rows":
        more = (peak[-1] - peak[-2]) / (size[-1] - size[-2])
        line += f"; {more:.0f} bytes more per row over the last step (a row of data has {8 * COLUMNS})"
    print(line)


def note(what: str, result: dict[str, float]) -> None:
    if "over" in result:
        text = f"more than {result['over']:.0f} s"
    else:
        text = f"{result['cpu']:.1f} s of processor, {result['peak_bytes'] / 2**20:.0f} MiB"
    print(f"  {what}: {text}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=ROWS[-1], help="largest number of rows; 0 for no rows")
    parser.add_argument("--widest", type=int, default=FEATURES[-1], help="largest number of features; or 0")
    parser.add_argument("--without-ebm", action="store_true", help="pellucid alone")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a fit of EBM may take")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pellucid-bench")
    parser.add_argument("--fresh", action="store_true", help="run EBM again")
    options = parser.parse_args()
    if rows := [(n, COLUMNS) for n in ROWS if n <= options.most]:
        print(f"{COLUMNS} features; {TEST_ROWS:,} new rows")
        compare(rows, "rows", options)
    if wide := [(WIDE_ROWS, p) for p in FEATURES if p <= options.widest]:
        print(f"\n{WIDE_ROWS:,} rows; {TEST_ROWS:,} new rows")
        compare(wide, "features", options)


if __name__ == "__main__":
    if "--child" not in sys.argv:
        main()
    else:
        work = {"pellucid": child_pellucid, "ebm": child_ebm}[sys.argv[2]]
        print(json.dumps(work(int(sys.argv[3]), int(sys.argv[4]))))
