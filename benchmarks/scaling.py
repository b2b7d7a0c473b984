"""Claim: three formulas say what a pass over many rows costs, on sizes that they were not fitted to.

Processor seconds of one thread are measured at small sizes, coefficients of the cost model are fitted to
them (least squares of relative errors, no coefficient below zero), and larger sizes are predicted and
measured. The same formulas, with the cores and the network of a stated cluster, are then written out for 10⁸
and 10⁹ rows.

- ``columns``: one pass of ``AdditiveKernelRegressor.update``, ``n`` rows of ``p`` features and few columns
  ``F``, where reading the table and making the columns take most of the time: b n F + d n p.
- ``moments``: sums of squares and products of many columns that are given, in float32: a n F² + b n F.
- ``landmarks``: ``KernelRidge(solver="landmarks")`` at a given alpha, ``m`` landmarks, leave-one-out
  included: a n m² + b n m + c m³.
- ``product``: one product of an exact kernel matrix in float32 with ``k`` vectors: n² (a + b k).

    python benchmarks/scaling.py
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
from _measure import print_table
from scipy.optimize import nnls

NODES, CORES, GIGABITS, DISK = 16, 32, 25.0, 2e9  # cluster; bytes a second that a node reads
EFFICIENCY = 0.7  # of all cores at once against one alone
P = 10  # columns of the table


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def rows(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, p))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def moments(n: int, F: int) -> tuple[list[float], float]:
    """Terms of the model, and seconds."""
    from pellucid.linalg.moments import weighted_moments

    columns = np.random.default_rng(0).standard_normal((F, 16_384)).astype(np.float32)
    w = np.ones(n)

    def design(rows: slice) -> np.ndarray:
        return columns[:, : rows.stop - rows.start].copy()

    return [n * F**2, n * F], seconds(lambda: weighted_moments(design, w, w, F, np.float32))


def columns(n: int, p: int) -> tuple[list[float], float]:
    from pellucid import AdditiveKernelRegressor

    X, y = rows(n, p)
    some = AdditiveKernelRegressor(updatable=True, interactions=0).fit(X[:1500], y[:1500])
    F = len(some.sums_.c)
    return [n * F, n * p], seconds(lambda: some.update(X, y))


def landmarks(n: int, m: int) -> tuple[list[float], float]:
    from pellucid import KernelRidge
    from pellucid.kernels import RBF

    X, y = rows(n, 6)
    model = KernelRidge(RBF(0.5), alpha=1.0, solver="landmarks", n_components=m)
    return [n * m**2, n * m, m**3], seconds(lambda: model.fit(X, y))


def product(n: int, k: int) -> tuple[list[float], float]:
    from pellucid.kernels import RBF
    from pellucid.models.kernel_fit.tall_fit import kernel_products

    X, _ = rows(n, 6)
    coarse = kernel_products(RBF(0.5), X, single=True)[1]
    V = np.ones((n, k))
    assert coarse is not None
    return [n**2, n**2 * k], seconds(lambda: coarse(V))


TRIALS: dict[str, tuple[Callable[[int, int], tuple[list[float], float]], Sequence, Sequence]] = {
    "moments": (
        moments,
        [(20_000, 200), (40_000, 200), (20_000, 500), (40_000, 500), (20_000, 1000)],
        [(100_000, 800), (30_000, 1600)],
    ),
    "columns": (
        columns,
        [(100_000, 3), (200_000, 3), (100_000, 8), (200_000, 8), (100_000, 16), (100_000, 30)],
        [(500_000, 12), (400_000, 24)],
    ),
    "landmarks": (
        landmarks,
        [(20_000, 600), (40_000, 300), (40_000, 600), (20_000, 1200), (80_000, 300), (10_000, 1200)],
        [(150_000, 400), (60_000, 1000)],
    ),
    "product": (
        product,
        [(3000, 1), (3000, 17), (6000, 1), (6000, 17)],
        [(12_000, 9), (20_000, 9)],
    ),
}


def fitted(name: str) -> np.ndarray:
    """Coefficients of one cost model; prints how it does on sizes that it was not fitted to."""
    measured, small, large = TRIALS[name]
    measured(*small[0])  # compiles, loads
    terms, took = zip(*(measured(*sizes) for sizes in small), strict=True)
    A = np.array(terms) / np.array(took)[:, None]
    unit = A.max(axis=0)
    coef = nnls(A / unit, np.ones(len(A)))[0] / unit
    print(f"{name}: coefficients {', '.join(f'{c:.3g}' for c in coef)} seconds", flush=True)
    table = []
    for sizes in large:
        parts, spent = measured(*sizes)
        expected = float(np.array(parts) @ coef)
        table.append([str(sizes), f"{expected:.2f}", f"{spent:.2f}", f"{spent / expected:.2f}"])
    print_table(["sizes", "expected", "measured", "ratio"], table)
    print(flush=True)
    return coef


def cluster(core_seconds: float, read: float, shared: float) -> str:
    """Seconds on the cluster: work, with reading at the same time, and then the tree sum."""
    work = core_seconds / (NODES * CORES * EFFICIENCY)
    disk = read / (NODES * DISK)
    network = 2 * np.ceil(np.log2(NODES)) * shared * 8.0 / (GIGABITS * 1e9)
    return f"{max(work, disk) + network:.3g} ({work:.3g}, {disk:.3g}, {network:.3g})"


def main() -> None:
    coef = {name: fitted(name) for name in TRIALS}
    table = []
    for n in (10**8, 10**9):
        for name, size in (("moments", 500), ("moments", 3000), ("landmarks", 2500), ("landmarks", 10_000)):
            cost = float(np.array([n * size**2, n * size]) @ coef[name][:2])
            cost += n * float(coef["columns"] @ [size, P]) if name == "moments" else 0.0
            passes = 2 if name == "landmarks" else 1
            table.append([f"{name}, {size}", f"{n:.0e}", cluster(cost, passes * n * P * 4.0, 8.0 * size**2)])
        cost = float(n) ** 2 * float(np.array([1.0, 9.0]) @ coef["product"])
        table.append(["product, 9 vectors", f"{n:.0e}", cluster(cost, n * P * 4.0, 8.0 * 9 * n / NODES)])
    print(f"{NODES} nodes of {CORES} cores, {GIGABITS:g} Gbit/s, {P} columns of float32:")
    print_table(["pass", "rows", "seconds (work, reading, network)"], table)


if __name__ == "__main__":
    main()
