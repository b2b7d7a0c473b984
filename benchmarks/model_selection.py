"""Claims: choosing parameters by leave-one-out is 30 times faster than a cross-validated grid, and descent
beats a Gaussian process.

1. 20 length-scales times 50 alphas on airfoil self-noise: ``LooSearch`` against ``GridSearchCV(KernelRidge,
cv=5)`` of scikit-learn on the same
   grid, same standardised training rows, same number of jobs.
2. One length-scale per feature by ``LooSearch(ard=True)`` against ``GaussianProcessRegressor`` with an
anisotropic kernel and noise.

Errors are those on the held-out quarter. Peak memory is that of the main process, above what it held before
the fit.

    PELLUCID_DATA=... python benchmarks/model_selection.py [--jobs 2]
"""

import argparse
import json
import sys
import warnings
from typing import Any

import numpy as np
from _measure import data_folder, in_own_process, measure

LENGTH_SCALES = np.logspace(-1.0, 1.0, 20)
ALPHAS = np.logspace(-8.0, 1.0, 50)


def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    import pandas as pd
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    table = pd.read_parquet(data_folder() / "airfoil.parquet").to_numpy(float)
    X_train, X_test, y_train, y_test = train_test_split(
        table[:, :-1], table[:, -1], test_size=0.25, random_state=69
    )
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def build(which: str, jobs: int) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process import kernels as gp
    from sklearn.kernel_ridge import KernelRidge as TheirRidge
    from sklearn.model_selection import GridSearchCV, KFold

    from pellucid import KernelRidge, LooSearch
    from pellucid.kernels import RBF

    if which == "grid-pellucid":
        return LooSearch(
            KernelRidge(RBF(), alphas=ALPHAS), {"kernel__length_scale": LENGTH_SCALES}, n_jobs=jobs
        )
    if which == "grid-sklearn":
        grid = {"gamma": 0.5 / LENGTH_SCALES**2, "alpha": ALPHAS}
        folds = KFold(5, shuffle=True, random_state=0)
        return GridSearchCV(
            TheirRidge(kernel="rbf"), grid, cv=folds, scoring="neg_mean_squared_error", n_jobs=jobs
        )
    if which == "ard-pellucid":
        return LooSearch(KernelRidge("matern"), ard=True)
    kernel = gp.ConstantKernel(1.0) * gp.Matern(np.ones(5), nu=1.5) + gp.WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True)


def child(which: str, jobs: int) -> None:
    warnings.simplefilter("ignore")  # scikit-learn's ill-conditioned corners and bounds
    X_train, X_test, y_train, y_test = split()
    center = y_train.mean() if which == "grid-sklearn" else 0.0  # their kernel ridge has no intercept
    model = build(which, jobs)

    cost = measure(lambda: model.fit(X_train, y_train - center))
    error = float(np.sqrt(np.mean((model.predict(X_test) + center - y_test) ** 2)))
    print(json.dumps(cost | {"rmse": error}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    data_folder()
    for ours, theirs in (("grid-pellucid", "grid-sklearn"), ("ard-pellucid", "ard-sklearn")):
        results = {which: in_own_process(__file__, which, options.jobs) for which in (ours, theirs)}
        for which, result in results.items():
            print(
                f"{which:<14} {result['seconds']:8.1f} s   held-out RMSE {result['rmse']:.4f}   "
                f"peak {result['peak_bytes'] / 2**20:6.0f} MiB"
            )
        a, b = results[ours], results[theirs]
        change = 100 * (a["rmse"] / b["rmse"] - 1)
        print(f"   {b['seconds'] / a['seconds']:.1f} times faster, error {change:+.1f} %")


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main()
