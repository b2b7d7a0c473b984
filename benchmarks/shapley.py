"""Claim: exact Shapley values of a Gaussian kernel model with 100 features take about a second a row, and
for 12 features they are those of all sets to 1e-8; random orders of the features leave errors of some
per cent for the same processor time.

The rival draws random orders of the features and takes them from the background to the row one after the
other, on the same kernel model and the same background rows, for at least as much processor time. Errors are
the largest difference from the exact values, relative to the largest of them.

    python benchmarks/shapley.py [--rows 1000] [--background 50]
"""

import argparse
import time
from itertools import product
from math import factorial

import numpy as np
from _measure import print_table

from pellucid import KernelRidge, shapley_values


def model_of(n: int, p: int) -> tuple[KernelRidge, np.ndarray]:
    rng = np.random.default_rng(p)
    X = rng.normal(size=(n, p))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:].sum(axis=1) / np.sqrt(p) + 0.1 * rng.normal(size=n)
    return KernelRidge(alpha=0.1).fit(X, y), X


def by_definition(model: KernelRidge, row: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Every set of features."""
    p = len(row)
    inside = np.array(list(product([False, True], repeat=p)))
    worth = np.array([model.predict(np.where(s, row, Z)).mean() for s in inside])
    size, place = inside.sum(axis=1), 2 ** np.arange(p)[::-1]
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)])
    values = np.empty(p)
    for j in range(p):
        without = np.flatnonzero(~inside[:, j])
        values[j] = weight[size[without]] @ (worth[without + place[j]] - worth[without])
    return values


def sampled(model: KernelRidge, row: np.ndarray, Z: np.ndarray, seconds: float) -> tuple[np.ndarray, int]:
    """Means over random orders of the features."""
    rng, p = np.random.default_rng(0), len(row)
    total, n, start = np.zeros(p), 0, time.process_time()
    while n == 0 or time.process_time() - start < seconds:
        order = rng.permutation(p)
        entered = np.arange(p + 1)[:, None] > np.argsort(order)  # step k has the first k features
        worth = (
            model.predict(np.where(entered[:, None, :], row, Z).reshape(-1, p))
            .reshape(p + 1, -1)
            .mean(axis=1)
        )
        total[order] += np.diff(worth)
        n += 1
    return total / n, n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--background", type=int, default=50)
    options = parser.parse_args()
    lines = []
    for p in (12, 30, 100, 300):
        model, X = model_of(options.rows, p)
        row, Z = X[:1], X[1 : 1 + options.background]
        start = time.process_time()
        exact = shapley_values(model, row, Z).values[0]
        seconds = time.process_time() - start
        start = time.process_time()
        many = shapley_values(model, X[:100], Z, independent=True)
        each = (time.process_time() - start) / 100
        adds_up = np.abs(many.predictor - model.predict(X[:100])).max()
        guess, orders = sampled(model, row[0], Z, seconds)
        size = np.abs(exact).max()
        definition = f"{np.abs(by_definition(model, row[0], Z) - exact).max():.1e}" if p == 12 else "-"
        lines.append(
            [str(p), f"{seconds:.3f}", f"{each:.4f}", definition, f"{adds_up:.1e}", str(orders),
             f"{100 * np.abs(guess - exact).max() / size:.1f} %"]
        )  # fmt: skip
    print(f"{options.rows} rows of training, {options.background} background rows; processor seconds a row")
    head = ["features", "exact", "independent", "all sets", "sum", "orders", "sampled error"]
    print_table(head, lines)


if __name__ == "__main__":
    main()
