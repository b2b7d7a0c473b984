"""Claim: one exact fit *with* leave-one-out takes at most 3 times as long as scikit-learn's fit without, in
little memory.

KernelRidge of pellucid (intercept, leave-one-out, effective degrees of freedom) against
``sklearn.kernel_ridge.KernelRidge``, Gaussian kernel, one alpha, 8 features, n = 2 000, 5 000, 10 000. Each
fit runs in a process of its own; the best of a few runs counts. Peak memory is given in units of the kernel
matrix, 8 n² bytes.

    python benchmarks/exact_fit.py [--sizes 2000 5000 10000] [--repeats 3]
"""

import argparse
import json
import sys

import numpy as np
from _measure import in_own_process, measure

N_FEATURES = 8


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, N_FEATURES))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def child(which: str, n: int) -> None:
    X, y = make_data(n)
    if which == "pellucid":
        from pellucid import KernelRidge
        from pellucid.kernels import RBF

        model = KernelRidge(RBF.from_gamma(1.0 / N_FEATURES), alpha=0.1, solver="cholesky")
    else:
        from sklearn.kernel_ridge import KernelRidge

        model = KernelRidge(kernel="rbf", gamma=1.0 / N_FEATURES, alpha=0.1)
    model.fit(X[:100], y[:100])  # imports and thread pools
    print(json.dumps(measure(lambda: model.fit(X, y))))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 5000, 10000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{'n':>6}  {'pellucid s':>10}  {'sklearn s':>9}  {'ratio':>5}  {'pellucid peak':>13}  "
        f"{'sklearn peak':>12}"
    )
    seconds: dict[str, list[float]] = {"pellucid": [], "sklearn": []}
    for n in options.sizes:
        best = {}
        for which in seconds:
            runs = [in_own_process(__file__, which, n) for _ in range(options.repeats)]
            best[which] = min(runs, key=lambda run: run["seconds"])
            seconds[which].append(best[which]["seconds"])
        ours, theirs = best["pellucid"], best["sklearn"]
        matrix = 8.0 * n**2
        print(
            f"{n:>6}  {ours['seconds']:>10.2f}  {theirs['seconds']:>9.2f}  "
            f"{ours['seconds'] / theirs['seconds']:>5.2f}  "
            f"{ours['peak_bytes'] / matrix:>11.2f} K  {theirs['peak_bytes'] / matrix:>10.2f} K"
        )
    if len(options.sizes) > 1:
        for which, times in seconds.items():
            exponent = np.polyfit(np.log(options.sizes), np.log(times), 1)[0]
            print(f"growth exponent of {which}: {exponent:.2f}")


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main()
