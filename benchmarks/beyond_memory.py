"""Claim: the additive kernel machine is fitted to ten million rows in a folder within 2 GB, in linear time.

``AdditiveKernelRegressor().fit("folder/", "y")`` on Parquet folders of 10⁵, 10⁶ and 10⁷ rows of 10 features,
written in pieces into a temporary folder, within ``pellucid.settings(memory_limit="2GB")``. Each fit has a
process of its own. Shown are the seconds by the clock and of the processor, those per million rows, the peak
of memory of the whole process, libraries included, and R² on 20 000 rows that the fit has not seen, beside
that of the function that made the targets.

Seen with one thread, on a machine shared with other work:

    rows            s  CPU s  s per 10⁶  CPU s per 10⁶  peak GB      R²  at best  terms
    100,000      15.0    7.5      149.7           75.3     0.46  0.9045   0.9047      4
    1,000,000    78.4   26.2       78.4           26.2     0.63  0.9046   0.9047      4
    10,000,000  162.0   54.9       16.2            5.5     1.56  0.9045   0.9047      6

so it takes 3.2 s of processor for each further million rows. Terms are found on the same number of rows in
the last two.

    python benchmarks/beyond_memory.py [--most 10000000] [--folder DIR]
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _measure import in_own_process, print_table

ROWS, FEATURES, PIECE, TEST_ROWS = (100_000, 1_000_000, 10_000_000), 10, 250_000, 20_000
LIMIT = "2GB"


def rows_of(n: int, seed: int) -> dict[str, np.ndarray]:
    """Five terms, two of them together, and noise of a tenth of the variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES))
    signal = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + X[:, 2] + np.tanh(X[:, 3]) * X[:, 4]
    return {
        **{f"x{j}": X[:, j] for j in range(FEATURES)},
        "y": signal + 0.5 * rng.normal(size=n),
        "signal": signal,
    }


def write(folder: Path, n: int) -> None:
    """A folder of Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for k, start in enumerate(range(0, n, PIECE)):
        columns = rows_of(min(PIECE, n - start), k)
        del columns["signal"]
        pq.write_table(pa.table(columns), folder / f"part-{k:04d}.parquet")


def child(folder: str) -> None:
    """One fit; its figures as JSON."""
    import pellucid

    start, cpu = time.perf_counter(), time.process_time()
    with pellucid.settings(memory_limit=LIMIT, verbose=1):
        model = pellucid.AdditiveKernelRegressor().fit(folder, "y")
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    test = rows_of(TEST_ROWS, 10**6)
    X, y = np.column_stack([test[f"x{j}"] for j in range(FEATURES)]), test["y"]
    import pandas as pd

    predicted = model.predict(pd.DataFrame(X, columns=[f"x{j}" for j in range(FEATURES)]))
    r2, best = (1.0 - np.mean((y - f) ** 2) / y.var() for f in (predicted, test["signal"]))
    figures = {"seconds": seconds, "cpu": cpu, "peak": peak, "r2": r2, "best": best}
    print(json.dumps({**figures, "terms": len(model.terms_)}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=ROWS[-1])
    parser.add_argument("--folder", type=Path, default=None, help="where to write (default: a temporary one)")
    parser.add_argument("--child", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    root = options.folder or Path(tempfile.mkdtemp(prefix="pellucid-rows-"))
    table = []
    try:
        for n in [n for n in ROWS if n <= options.most]:
            folder = root / f"rows-{n}"
            if not folder.exists():
                write(folder, n)
            found = in_own_process(__file__, folder)
            table.append(
                [
                    f"{n:,}",
                    f"{found['seconds']:.1f}",
                    f"{found['cpu']:.1f}",
                    f"{1e6 * found['seconds'] / n:.1f}",
                    f"{1e6 * found['cpu'] / n:.1f}",
                    f"{found['peak'] / 1e9:.2f}",
                    f"{found['r2']:.4f}",
                    f"{found['best']:.4f}",
                    f"{found['terms']}",
                ]
            )
            head = ["rows", "s", "CPU s", "s per 10⁶", "CPU s per 10⁶", "peak GB", "R²", "at best", "terms"]
            print_table(head, table)
            print(flush=True)
    finally:
        if options.folder is None:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
