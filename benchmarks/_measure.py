"""Time and peak memory of work in a process of its own; many random splits in several processes."""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def data_folder() -> Path:
    """Folder of the real data sets, named by the environment variable PELLUCID_DATA."""
    folder = os.environ.get("PELLUCID_DATA")
    if not folder or not Path(folder).is_dir():
        sys.exit("Set PELLUCID_DATA to the folder with the data sets (parquet files) to run this benchmark.")
    return Path(folder)


def in_own_process(script: str, *arguments: Any) -> dict[str, float]:
    """Run ``python script --child arguments``; the child prints one line of JSON last."""
    command = [sys.executable, script, "--child", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(work: Callable[[], Any]) -> dict[str, float]:
    """In a child: run ``work`` once; seconds, and the peak of memory above what was in use before."""
    before = _resident()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak_bytes": max(peak - before, 0)}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ------------------------------------------------------------------ many splits


def split_options(description: str | None, *, splits: int = 100) -> argparse.ArgumentParser:
    """Options that benchmarks over random splits share."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--splits", type=int, default=splits, help=f"number of random splits (default {splits})"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each (default 2)")
    cache = Path.home() / ".cache" / "pellucid-bench"
    parser.add_argument(
        "--cache", type=Path, default=cache, help=f"folder that keeps finished splits (default {cache})"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget the splits kept: the library has changed"
    )
    return parser


def over_splits(
    label: str, work: Callable[[int], dict[str, Any]], options: argparse.Namespace
) -> dict[str, np.ndarray]:
    """Run ``work(split)`` for each split, each once and for all; results stacked along the first axis.

    Finished splits are kept one by one in the folder ``options.cache / label``; an interrupted run goes on
    from there.
    """
    from joblib import Parallel, delayed

    folder = options.cache / label
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{split:04d}.npz" for split in range(options.splits)]
    left = [split for split in range(options.splits) if not paths[split].exists()]
    start = time.monotonic()
    runs = Parallel(options.jobs, return_as="generator_unordered")(
        delayed(_one_split)(work, split, paths[split]) for split in left
    )
    for done, _ in enumerate(runs, 1):
        seconds = (time.monotonic() - start) / done * (len(left) - done)
        if done % 10 == 0 or done == len(left):
            print(f"{label}: {done} of {len(left)} splits, {seconds:.0f} s left", file=sys.stderr, flush=True)
    results = [np.load(path) for path in paths]
    return {key: np.stack([result[key] for result in results]) for key in results[0].files}


def _one_split(work: Callable[[int], dict[str, Any]], split: int, path: Path) -> None:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        result = work(split)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **result)
    unfinished.rename(path)  # a file of this name is whole


def mean_ranks(errors: np.ndarray, digits: int = 12) -> np.ndarray:
    """Mean over splits of the rank of each method (columns), 1 for the smallest error; ties share ranks.

    Errors are compared to ``digits`` significant digits, so that rounding does not break ties.
    """
    from scipy.stats import rankdata

    size = np.abs(errors).max() or 1.0
    return rankdata(np.round(errors / size, digits), axis=1).mean(axis=0)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    for line in lines:
        cells = [
            text.ljust(w) if c == 0 else text.rjust(w)
            for c, (text, w) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
