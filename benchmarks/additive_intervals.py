"""Claim: nominal 90 % intervals of the additive kernel machine cover at least 85 % of new targets where rows
are few and candidate pairs many.

Terms and variances are chosen on the rows that the intervals come from. Leave-one-out residuals, which hold
them fixed, are too small then; the residuals of folds that choose them again are not. Each line is the mean
over replications, with new rows from the same distribution.

    python benchmarks/additive_intervals.py [--replications 40]
"""

import argparse

import numpy as np
from _measure import print_table

from pellucid import AdditiveKernelRegressor
from pellucid.effects import jackknife_plus

SIGNALS = {
    "x0 + x1 x2": lambda X: X[:, 0] + X[:, 1] * X[:, 2],
    "2 x1 x2": lambda X: 2 * X[:, 1] * X[:, 2],
    "sin 2x0 + x1/2": lambda X: np.sin(2 * X[:, 0]) + X[:, 1] / 2,
}


def replicate(name: str, n: int, p: int, seed: int) -> tuple[float, ...]:
    """Coverage, that of leave-one-out residuals, and root mean squared errors: promised, of folds, seen."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, p)), rng.normal(size=(1000, p))
    y, target = (SIGNALS[name](rows) + rng.normal(size=len(rows)) for rows in (X, new))
    model = AdditiveKernelRegressor().fit(X, y)
    low, high = model.predict_interval(new)
    error = target - model.predict(new)
    reach = jackknife_plus(np.zeros((1, n)), model.loo_.residuals, np.ones(n), 0.9)[1][0]
    folds = np.nan if model.fold_residuals_ is None else np.sqrt(np.mean(model.fold_residuals_**2))
    covered = np.mean((low <= target) & (target <= high)), np.mean(np.abs(error) <= reach)
    return *covered, model.loo_.rmse, folds, np.sqrt(np.mean(error**2))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replications", type=int, default=40)
    options = parser.parse_args()
    table = []
    for n, p in ((80, 15), (400, 15), (1000, 5)):
        for name in SIGNALS:
            found = np.array([replicate(name, n, p, seed) for seed in range(options.replications)])
            covered, fixed, *errors = found.mean(axis=0)
            verdict = "met" if covered >= 0.85 else "NOT met"
            shares = [f"{100 * covered:.1f}", f"{100 * fixed:.1f}"]
            table.append([name, str(n), str(p), *shares, *(f"{e:.2f}" for e in errors), verdict])
            print(*table[-1], flush=True)
    print(f"coverage in % of nominal 90 % intervals, {options.replications} replications")
    head = ["signal", "n", "p", "covered", "loo would", "loo RMSE", "folds RMSE", "new RMSE", "85 %"]
    print_table(head, table)


if __name__ == "__main__":
    main()
