"""Claim: on insurance claim counts a kernel Poisson model has a lower held-out deviance than a linear one.

French motor third-party liability, a sample of 20 000 policies to learn from and 20 000 others to test on,
exposure in years. Kernel: a smooth curve each for the ages of car and driver and for the log density, plus
a linear part for all columns (categories as indicators); landmarks by pivoted Cholesky, alpha by
cross-validation. Rival: scikit-learn's ``PoissonRegressor`` on the same standardised columns, its penalty
by cross-validation.

    PELLUCID_DATA=... python benchmarks/claims.py
"""

import json
import sys

import numpy as np
from _measure import data_folder, in_own_process, measure

N = 20_000
NUMERIC = [0, 1, 2]  # ages of car and driver, log density


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import pandas as pd

    table = pd.read_parquet(data_folder() / "fremtpl_freq.parquet")
    table = table.sample(2 * N, random_state=0).reset_index(drop=True)
    table["Density"] = np.log(table["Density"])
    y, exposure = table.pop("ClaimNb").to_numpy(), table.pop("Exposure").to_numpy(float)
    X = pd.get_dummies(table).to_numpy(float)
    return (X - X[:N].mean(axis=0)) / X[:N].std(axis=0), y, np.clip(exposure, 1e-3, 1.0)


def child(which: str) -> None:
    from sklearn.linear_model import PoissonRegressor
    from sklearn.metrics import mean_poisson_deviance
    from sklearn.model_selection import GridSearchCV

    from pellucid import KernelGLMRegressor
    from pellucid.kernels import RBF, Linear

    X, y, exposure = load()
    train, test = slice(0, N), slice(N, 2 * N)
    if which == "pellucid":
        kernel = sum(RBF().on([column]) for column in NUMERIC) + 0.02 * Linear()
        model = KernelGLMRegressor(kernel, loss="poisson", alpha="cv", n_components=250)
        cost = measure(lambda: model.fit(X[train], y[train], exposure=exposure[train]))
        mean = model.predict(X[test], exposure=exposure[test])
    else:
        search = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": np.logspace(-5, 0, 11)}, cv=5)
        rate = y / exposure
        cost = measure(lambda: search.fit(X[train], rate[train], sample_weight=exposure[train]))
        mean = search.predict(X[test]) * exposure[test]
    print(json.dumps(cost | {"deviance": mean_poisson_deviance(y[test], mean)}))


def main() -> None:
    data_folder()
    results = {which: in_own_process(__file__, which) for which in ("pellucid", "sklearn")}
    for which, result in results.items():
        print(
            f"{which:<9} {result['seconds']:7.1f} s   held-out mean deviance {result['deviance']:.5f}   "
            f"peak {result['peak_bytes'] / 2**20:6.0f} MiB"
        )
    ratio = results["pellucid"]["deviance"] / results["sklearn"]["deviance"]
    print(f"deviance {100 * (ratio - 1):+.2f} % against the linear model")


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2])
    else:
        main()
