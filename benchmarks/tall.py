"""Claim: exact kernel ridge of 40 000 rows takes less than 4 GB; and many rows beside Nystroem.

Parts, each fit in a process of its own, with the threads that the environment allows:

- ``landmarks``: pellucid's landmark solver, with exact leave-one-out of every row, against scikit-learn's
  ``Nystroem`` and ``Ridge`` at the same kernel, the same ridge strength and the same number of landmarks; on
  protein, kin40k and California housing (80 % of the rows for training), and 100 000 synthetic rows.
- ``exact``: exact kernel ridge of 20 000 and 40 000 synthetic rows, kernel and alpha given; seconds, steps
  and peak memory.
- ``kin40k``: a length-scale per feature learned on training rows, then the exact fit; test error in
  standard deviations of the target, 10 000 training rows as in the original split, and 36 000.

Kernel and alpha of ``landmarks`` come from a fit to 2000 training rows; no test error chooses anything.

    python benchmarks/tall.py [landmarks] [exact] [kin40k]
"""

import json
import sys
import time

import numpy as np
from _measure import in_own_process, measure

M = 1000  # landmarks
PARTS = ("landmarks", "exact", "kin40k")


def synthetic(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 6))
    y = np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 + np.cos(2 * X[:, 3]) + 0.3 * rng.standard_normal(n)
    return X, y


def data(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test rows."""
    if name.isdigit():
        X, y = synthetic(int(name) * 5 // 4)
        cut = int(name)
        return X[:cut], y[:cut], X[cut:], y[cut:]
    from _sets import split

    s = split(name, 0)
    return s.X.to_numpy(float), np.asarray(s.y, float), s.X_test.to_numpy(float), np.asarray(s.y_test, float)


def child(part: str, *arguments: str) -> None:
    """One fit; prints its figures."""
    print(json.dumps({"landmarks": landmarks, "exact": exact, "kin40k": kin40k}[part](*arguments)))


def landmarks(which: str, name: str) -> dict[str, float]:
    from pellucid import KernelRidge

    X, y, X_test, y_test = data(name)
    small = KernelRidge().fit(X[::20][:2000], y[::20][:2000])
    scale, alpha = np.asarray(small.kernel_.length_scale), small.alpha_
    A, A_test = X / scale, X_test / scale
    if which == "pellucid":
        from pellucid.kernels import RBF

        model = KernelRidge(RBF(), alpha=alpha, solver="landmarks", n_components=M)
    else:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline

        features = Nystroem("rbf", gamma=0.5, n_components=M, random_state=0)
        model = make_pipeline(features, Ridge(alpha, solver="cholesky"))
    begin = time.process_time()
    figures = measure(lambda: model.fit(A, y))
    figures["cpu"] = time.process_time() - begin
    figures["error"] = float(np.sqrt(np.mean((model.predict(A_test) - y_test) ** 2)) / y_test.std())
    return figures


def exact(n: str) -> dict[str, float]:
    from pellucid import KernelRidge
    from pellucid.kernels import RBF

    X, y = synthetic(int(n))
    model = KernelRidge(RBF(1.0), alpha=0.1, solver="iterative")
    begin = time.process_time()
    figures = measure(lambda: model.fit(X, y))
    report = model.solver_report_
    return figures | {
        "cpu": time.process_time() - begin,
        "steps": report.n_iter,
        "gap": report.gap,
        "expected": report.expected_seconds,
    }


def kin40k(n: str) -> dict[str, float]:
    from _sets import load

    from pellucid import KernelRidge, LooSearch
    from pellucid.kernels import Matern

    X, y = (np.asarray(part, float) for part in load("kin40k"))
    order = np.arange(len(y)) if n == "10000" else np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(n)], order[int(n) :]
    search = LooSearch(KernelRidge(Matern(nu=2.5)), ard=True)
    begin = time.process_time()
    figures = measure(lambda: search.fit(X[train], y[train]))
    figures["cpu"] = time.process_time() - begin
    off = search.predict(X[test]) - y[test]
    return figures | {"error": float(np.sqrt(np.mean(off**2)) / y[test].std())}


def show(label: str, figures: dict[str, float]) -> None:
    peak = figures.pop("peak_bytes") / 1e9
    rest = ", ".join(f"{key} {value:.4g}" for key, value in figures.items())
    print(f"{label:34} {rest}, peak {peak:.2f} GB", flush=True)


def main(parts: list[str]) -> None:
    if "landmarks" in parts:
        for name in ("california", "kin40k", "protein", "100000"):
            ours, theirs = (in_own_process(__file__, "landmarks", w, name) for w in ("pellucid", "sklearn"))
            ratio = theirs["cpu"] / ours["cpu"]
            show(f"{name}, pellucid landmarks", ours)
            show(f"{name}, Nystroem + Ridge", theirs)
            print(f"{name}: {ratio:.2f} times less processor time than Nystroem + Ridge", flush=True)
    if "exact" in parts:
        for n in (20_000, 40_000):
            show(f"exact, {n} rows", in_own_process(__file__, "exact", n))
    if "kin40k" in parts:
        for n in (10_000, 36_000):
            show(f"kin40k, {n} training rows", in_own_process(__file__, "kin40k", n))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main(sys.argv[1:] or list(PARTS))
