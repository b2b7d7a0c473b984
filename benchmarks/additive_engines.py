"""The additive engine beside the one before it: error, terms and processor seconds on twelve tables.

    PELLUCID_DATA=folder python benchmarks/additive_engines.py --tables airfoil spambase --splits 3

Six tables are for development; the other six are for confirmation and are not to be looked at before the end.
The engine before is taken from the history of this repository and runs in processes of its own. A result is
kept under the tree of sources that it is from, so a run can be resumed, and a change of the library starts
anew. The error is nRMSE in per cent of the standard deviation of the test targets, or log loss; ratios below
one are in favour of the engine of today. Figures of EBM stand beside it where glassbox.py has kept some.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from _measure import print_table
from _sets import TABLES, is_regression

BEFORE = "f9aa515"  # the last commit that has the engine before
DEVELOPMENT = ("airfoil", "pumadyn8nm", "california", "spambase", "eeg", "credit")
ROOT = Path(__file__).resolve().parent.parent


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


def sources(revision: str | None, cache: Path) -> tuple[Path, Path]:
    """Folder of the sources of a revision (None: those at hand), and where its results are kept."""
    if revision is None:
        changed = git("status", "--porcelain", "src").strip()
        tree = "changed" if changed else git("rev-parse", "--short=12", "HEAD:src").decode().strip()
        return ROOT / "src", cache / tree
    tree = git("rev-parse", "--short=12", f"{revision}:src").decode().strip()
    folder = cache / tree / "sources"
    if not folder.exists():
        folder.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", str(folder)], input=git("archive", revision, "src"), check=True)
    return folder / "src", cache / tree


def cell(name: str, seed: int, revision: str | None, options: argparse.Namespace) -> dict[str, float]:
    """Result of one table and split, kept in a file."""
    folder, kept = sources(revision, options.cache)
    path = kept / f"{name}-{seed}.json"
    if not path.exists() or (revision is None and kept.name == "changed"):
        run = [
            sys.executable,
            str(ROOT / "benchmarks" / "glassbox.py"),
            "--child",
            name,
            str(seed),
            "pellucid",
        ]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        done = subprocess.run(run, env=environment, check=True, capture_output=True, text=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout.strip().splitlines()[-1])
        print(f"{name} split {seed} {kept.name}: {path.read_text()}", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def error(name: str, result: dict[str, float]) -> float:
    return result["error" if is_regression(name) else "log_loss"]


def compare(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Means over the splits, and the ratio of the mean errors."""
    sides = [
        [cell(name, seed, r, options) for seed in range(options.splits)]
        for r in (options.before, options.now)
    ]
    (before, now), kept = sides, options.glassbox / "ebm"
    ebm = [kept / f"{name}-{seed}.json" for seed in range(options.splits)]
    out = {
        "ebm": float(np.mean([error(name, json.loads(p.read_text())) for p in ebm]))
        if all(p.exists() for p in ebm)
        else np.nan
    }
    for side, runs in (("before", before), ("now", now)):
        out[side] = float(np.mean([error(name, r) for r in runs]))
        out[f"{side} terms"] = float(np.mean([r["terms"] for r in runs]))
        out[f"{side} s"] = float(np.mean([r["cpu_seconds"] for r in runs]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path.home() / ".cache" / "pellucid-bench"
    parser.add_argument("--tables", nargs="+", default=list(DEVELOPMENT), choices=TABLES)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--before", default=BEFORE, help="revision of the engine before")
    parser.add_argument("--now", help="revision of the engine of today (default: the sources at hand)")
    parser.add_argument("--cache", type=Path, default=cache / "engines")
    parser.add_argument("--glassbox", type=Path, default=cache / "glassbox", help="what glassbox.py has kept")
    options = parser.parse_args()
    found = {name: compare(name, options) for name in options.tables}
    header = ["table", "before", "now", "ratio", "EBM", "terms", "now", "cpu s", "now"]
    for title, part in (
        ("development", [n for n in options.tables if n in DEVELOPMENT]),
        ("confirmation", [n for n in options.tables if n not in DEVELOPMENT]),
    ):
        if not part:
            continue
        rows = []
        for name in part:
            f = found[name]
            values = [f["before"], f["now"], f["now"] / f["before"], f["ebm"], f["before terms"]]
            values += [f["now terms"], f["before s"], f["now s"]]
            rows.append([name, *(f"{v:.4g}" for v in values)])
        print(f"\n{title}")
        print_table(header, rows)
        ratio = np.exp(np.mean([np.log(found[n]["now"] / found[n]["before"]) for n in part]))
        seconds = sum(found[n]["now s"] for n in part) / sum(found[n]["before s"] for n in part)
        print(f"geometric mean of the ratios {ratio:.3f}; processor seconds {seconds:.2f} times")
    every = np.exp(np.mean([np.log(f["now"] / f["before"]) for f in found.values()]))
    fewer = sum(f["now terms"] <= f["before terms"] for f in found.values())
    print(f"\nall: {every:.3f}; fewer or equally many terms on {fewer} of {len(found)}")


if __name__ == "__main__":
    main()
