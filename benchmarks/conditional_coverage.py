"""Claim: where the noise varies, 90 % intervals of scaled width cover about 84 % of new targets or more in
every tenth of the rows, where those of constant width cover 51 to 80 % in the worst; on average they
are as wide or narrower.

New rows are cut into tenths by what makes the noise vary in the simulations, and in real tables by the size
of the errors that a random forest foresees, fitted on rows of its own. Each line has the coverage of all new
rows, of the worst and of the best tenth, and the mean width; the last ones are means over replications.

    python benchmarks/conditional_coverage.py [--replications 10] [--rows 1000]
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from _measure import data_folder, print_table
from sklearn.ensemble import RandomForestRegressor

from pellucid import AdditiveKernelRegressor, KernelGLMRegressor, KernelRidge, conformal

LEVEL = 0.9
Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # features, targets, what makes the noise vary
Draw = Callable[[int, np.random.Generator], Rows]


def uneven(n: int, rng: np.random.Generator) -> Rows:
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + np.exp(1.5 * X[:, 2]) * rng.normal(size=n) / 2, X[:, 2]


def counts(n: int, rng: np.random.Generator) -> Rows:
    X = rng.uniform(-1, 1, size=(n, 4))
    mean = np.exp(2 + X[:, 0])
    shape = np.exp(2 - 2 * X[:, 2])  # from nearly Poisson to far beyond
    return X, rng.poisson(rng.gamma(shape, mean / shape)).astype(float), X[:, 2]


def amounts(n: int, rng: np.random.Generator) -> Rows:
    X = rng.uniform(-1, 1, size=(n, 4))
    shape = np.exp(1 - 1.5 * X[:, 2])
    return X, rng.gamma(shape, np.exp(X[:, 0]) / shape), X[:, 2]


def table(name: str, target: str) -> Draw:
    frame = pd.read_parquet(data_folder() / f"{name}.parquet").select_dtypes("number").dropna()
    X, y = frame.drop(columns=target).to_numpy(dtype=float), frame[target].to_numpy(dtype=float)

    def draw(n: int, rng: np.random.Generator) -> Rows:
        some = rng.permutation(len(y))[:n]
        return X[some], y[some], None

    return draw


def replicate(model: Any, draw: Draw, n: int, seed: int, jackknife: bool) -> dict[str, list[float]]:
    """Coverage in all, of the worst and best tenth, and mean width, by kind of interval."""
    rng = np.random.default_rng(seed)
    X, y, hard = draw(6 * n, rng)
    fit, calibrate, new = slice(n), slice(n, 2 * n), slice(3 * n, None)
    model.fit(X[fit], y[fit])
    if hard is None:  # a judge of its own rows says where errors are large
        judged = slice(2 * n, 3 * n)
        size = np.abs(y[judged] - model.predict(X[judged]))
        forest = RandomForestRegressor(200, min_samples_leaf=20, random_state=0).fit(X[judged], size)
        hard = forest.predict(X)
    tenth = np.argsort(np.argsort(hard[new])) * 10 // len(y[new])
    found = {}
    for width in ("constant", "scaled"):
        if jackknife:
            low, high = model.predict_interval(X[new], LEVEL, width=width).T
        else:
            low, high = conformal(model, X[calibrate], y[calibrate], width=width).interval(X[new], LEVEL)
        inside = (low <= y[new]) & (y[new] <= high)
        each = [inside[tenth == k].mean() for k in range(10)]
        found[width] = [inside.mean(), min(each), max(each), float(np.mean(high - low))]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1000, help="rows to fit, and as many to calibrate")
    options = parser.parse_args()
    additive, ridge = AdditiveKernelRegressor(0), KernelRidge()
    settings: list[tuple[str, Any, Draw, bool]] = [
        ("uneven noise: additive", additive, uneven, False),
        ("uneven noise: kernel ridge", ridge, uneven, False),
        ("uneven noise: kernel ridge, jackknife+", ridge, uneven, True),
        ("counts: additive", AdditiveKernelRegressor(0, loss="poisson"), counts, False),
        ("counts: kernel GLM", KernelGLMRegressor(loss="poisson"), counts, False),
        ("amounts: additive", AdditiveKernelRegressor(0, loss="gamma"), amounts, False),
        ("California: additive", additive, table("california_housing", "MedHouseVal"), False),
        ("protein: additive", additive, table("protein_casp", "RMSD"), False),
    ]
    lines = []
    for name, model, draw, jackknife in settings:
        runs = [replicate(model, draw, options.rows, seed, jackknife) for seed in range(options.replications)]
        for width in ("constant", "scaled"):
            all_rows, worst, best, size = np.mean([run[width] for run in runs], axis=0)
            lines.append([name, width, *(f"{100 * v:.1f}" for v in (all_rows, worst, best)), f"{size:.3g}"])
        print(lines[-2], lines[-1], flush=True)
    print(f"coverage of {100 * LEVEL:.0f} % intervals in per cent, {options.replications} replications")
    print_table(["data and model", "width", "all rows", "worst tenth", "best tenth", "mean width"], lines)


if __name__ == "__main__":
    main()
