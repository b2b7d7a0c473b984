"""Time and peak memory of one piece of work, measured in a process of its own."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
