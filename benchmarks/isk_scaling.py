"""Claim: the time of ISK is linear in the number of rows, its memory flat, and its features are cheap.

1. ``ISKRegressor`` with everything chosen by five folds on 10 features, from 10⁴ to 10⁶ rows: seconds of
   processor, the exponent of their growth, and peak memory beyond the data.
2. The feature map alone against scikit-learn's ``RBFSampler`` of the same width, in float32, with the
   compiled loops (numba, extra ``fast``) and without.

    python benchmarks/isk_scaling.py [--most 1000000]
"""

import argparse
import importlib.util
import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _measure import in_own_process, measure, print_table

COLUMNS, D = 10, 20


def make_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.empty((n, COLUMNS))
    rng.random(out=X)
    y = np.sin(6.0 * X[:, 0])
    y += 4.0 * X[:, 1] * X[:, 2]
    y += (X[:, 3] - 0.5) ** 2
    y += 0.5 * rng.standard_normal(n)
    return X, y


def child_fit(n: int) -> dict[str, float]:
    from pellucid import ISKRegressor

    warm, target = make_rows(2000)
    ISKRegressor(n_components=D).fit(warm, target)  # libraries are loaded, loops are compiled
    X, y = make_rows(n)
    model = ISKRegressor(n_components=D)
    processor = time.process_time()
    cost = measure(lambda: model.fit(X, y))
    cost["processor"] = time.process_time() - processor
    cost["sigmas"] = len({sigma for sigma, _, _ in model.trials_})
    cost["r2"] = model.score(X[:20_000], y[:20_000])
    start = time.process_time()
    model.predict(X[:100_000])
    cost["predict"] = (time.process_time() - start) / min(n, 100_000)
    return cost


def child_map(n: int, numba: str) -> dict[str, float]:
    """Best of seven passes, taken in turn so that a busy moment hits both."""
    os.environ["PELLUCID_NUMBA"] = numba
    from sklearn.kernel_approximation import RBFSampler

    from pellucid.features import PairwiseFourierFeatures

    X = make_rows(n)[0].astype(np.float32)
    ours = PairwiseFourierFeatures(D).fit(X)
    theirs = RBFSampler(n_components=ours.n_features_out_, random_state=0).fit(X)
    best = {"ours": np.inf, "theirs": np.inf}
    for _ in range(8):
        for name, model in (("ours", ours), ("theirs", theirs)):
            start = time.process_time()
            out = model.transform(X)
            best[name] = min(best[name], time.process_time() - start)
            del out
    return best | {"numbers": float(n) * ours.n_features_out_}


def scaling(most: int) -> None:
    sizes = [n for n in (10_000, 31_623, 100_000, 316_228, 1_000_000) if n <= most]
    print(f"ISKRegressor, {COLUMNS} features, d = {D}: {COLUMNS * (COLUMNS - 1) // 2 * D} Fourier features")
    rows, times, peaks = [], [], []
    for n in sizes:
        cost = in_own_process(__file__, "fit", n)
        times.append(cost["processor"])
        peaks.append(cost["peak_bytes"] / 2**20)
        rows.append(
            [
                f"{n:,}",
                f"{cost['processor']:.1f}",
                f"{cost['seconds']:.1f}",
                f"{1e6 * cost['processor'] / n:.1f}",
                f"{cost['sigmas']:.0f}",
                f"{peaks[-1]:.0f}",
                f"{n * COLUMNS * 8 / 2**20:.0f}",
                f"{cost['r2']:.4f}",
                f"{1e6 * cost['predict']:.1f}",
            ]
        )
        print(f"  {n:,} rows: {cost['processor']:.1f} s of processor", file=sys.stderr, flush=True)
    print_table(
        ["rows", "cpu s", "s", "µs/row", "sigmas", "peak MiB", "data MiB", "R²", "predict µs/row"], rows
    )
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        last = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
        print(
            f"growth exponent of processor time: {slope:.2f} over all, {last:.2f} over the last step "
            f"(claimed: at most 1.1)"
        )
        tail = (peaks[-1] - peaks[0]) * 2**20 / (sizes[-1] - sizes[0])
        print(f"memory beyond the data: {tail:.1f} bytes per row (a row of data has {COLUMNS * 8})")


def throughput(n: int = 100_000) -> None:
    print(f"\nfeature map, {n:,} rows, float32, millions of numbers per second of processor")
    rows = []
    for numba in "01" if importlib.util.find_spec("numba") else "0":
        best = in_own_process(__file__, "map", n, numba)
        rates = [best["numbers"] / best[name] / 1e6 for name in ("ours", "theirs")]
        label = "with numba" if numba == "1" else "without"
        rows.append([label, f"{rates[0]:.0f}", f"{rates[1]:.0f}", f"{rates[0] / rates[1]:.2f}"])
    print_table(["", "pairwise", "RBFSampler", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=1_000_000, help="largest number of rows")
    options = parser.parse_args()
    scaling(options.most)
    throughput()


if __name__ == "__main__":
    if "--child" not in sys.argv:
        main()
    elif sys.argv[2] == "fit":
        print(json.dumps(child_fit(int(sys.argv[3]))))
    else:
        print(json.dumps(child_map(int(sys.argv[3]), sys.argv[4])))
