"""Interpretable kernel learning (ISK) beside Lasso or ℓ1-SVM, SVM-RFE and SpAM on ten tables, as published.

    PELLUCID_DATA=../shared/data python benchmarks/isk_table.py

Claim: on at least nine of the ten sets ISK is at or below the published mean plus one standard deviation, and
the linear baselines land near the published ones.

10 random 80/20 splits; all parameters by 5-fold cross-validation on the training part. nRMSE (% of the
standard deviation of the test targets) for regression, error rate (%) for classes. Every cell (set, split,
method) is kept as it is done, so that a run can be interrupted and resumed; early splits of all sets come
first.
``--report`` prints what there is.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _linear import sparse_linear, svm_rfe
from _measure import data_folder, print_table, split_options
from _sets import Split, is_regression, split
from sklearn.exceptions import ConvergenceWarning

PUBLISHED = {  # mean and standard deviation
    "parkinsons": {"lasso": (88.90, 1.41), "rfe": (88.87, 1.56), "spam": (82.88, 1.34), "isk": (56.49, 2.33)},
    "pumadyn8nh": {"lasso": (79.06, 1.16), "rfe": (79.02, 1.14), "spam": (74.90, 0.86), "isk": (61.74, 3.70)},
    "california": {"lasso": (60.95, 1.02), "rfe": (60.98, 1.11), "spam": (59.08, 1.06), "isk": (57.03, 1.50)},
    "kin40k": {"lasso": (100.09, 0.75), "rfe": (100.10, 0.74), "spam": (97.38, 0.67), "isk": (82.98, 2.33)},
    "protein": {"lasso": (84.77, 0.48), "rfe": (84.85, 0.54), "spam": (82.41, 0.37), "isk": (80.05, 0.99)},
    "spambase": {"lasso": (7.82, 1.01), "rfe": (7.75, 0.82), "spam": (6.91, 1.48), "isk": (6.38, 0.89)},
    "eeg": {"lasso": (39.20, 1.49), "rfe": (39.99, 1.36), "spam": (34.78, 2.06), "isk": (19.92, 3.40)},
    "credit": {"lasso": (19.13, 1.00), "rfe": (19.87, 1.44), "spam": (19.89, 0.20), "isk": (17.90, 0.39)},
    "bank": {"lasso": (9.75, 0.23), "rfe": (9.55, 0.35), "spam": (9.44, 0.15), "isk": (9.15, 0.33)},
    "cod_rna": {"lasso": (6.16, 0.12), "rfe": (6.18, 0.13), "spam": (5.76, 0.44), "isk": (4.96, 0.21)},
}
METHODS = {"lasso": "Lasso / ℓ1-SVM", "rfe": "SVM-RFE", "spam": "SpAM", "isk": "ISK", "gauss": "Exact-Gau"}
EXACT = ("parkinsons", "pumadyn8nh", "spambase")  # small enough for a kernel matrix of all rows


# --------------------------------------------------------------------- methods


def fit_lasso(s: Split, regression: bool):
    return sparse_linear(regression).fit(s.X, s.y)


def fit_rfe(s: Split, regression: bool):
    return svm_rfe(regression).fit(s.X, s.y)


def fit_spam(s: Split, regression: bool):
    import pellucid

    kind = pellucid.SparseAdditiveRegressor if regression else pellucid.SparseAdditiveClassifier
    return kind().fit(s.X, s.y)


def fit_isk(s: Split, regression: bool):
    import pellucid

    return (pellucid.ISKRegressor if regression else pellucid.ISKClassifier)().fit(s.X, s.y)


def fit_gauss(s: Split, regression: bool):
    import pellucid

    return (pellucid.KernelRidge if regression else pellucid.KernelRidgeClassifier)().fit(s.X, s.y)


FIT = {"lasso": fit_lasso, "rfe": fit_rfe, "spam": fit_spam, "isk": fit_isk, "gauss": fit_gauss}


def details(model) -> dict:
    """What an interpretable model of ours has chosen."""
    names = ("sigma_", "alpha_", "sparse_alpha_", "l1_ratio_", "n_basis_")
    kept = {name: float(getattr(model, name)) for name in names if hasattr(model, name)}
    return kept | ({"terms": len(model.terms_)} if hasattr(model, "terms_") else {})


def run_cell(name: str, seed: int, method: str, path: Path) -> tuple[str, int, str, dict]:
    """Fit and test one method on one split; the result is in the file when the file is there."""
    from threadpoolctl import threadpool_limits

    s, regression = split(name, seed), is_regression(name)
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        start, cpu = time.perf_counter(), time.process_time()
        model = FIT[method](s, regression)
        result = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    predicted = model.predict(s.X_test)
    if regression:
        result["error"] = float(100 * np.sqrt(np.mean((predicted - s.y_test) ** 2)) / s.y_test.std())
    else:
        result["error"] = float(100 * np.mean(predicted != s.y_test))
    result["unconverged"] = sum(issubclass(w.category, ConvergenceWarning) for w in caught)
    result |= details(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{time.monotonic_ns()}.part")
    unfinished.write_text(json.dumps(result))
    unfinished.rename(path)  # a file of this name is whole
    return name, seed, method, result


# ----------------------------------------------------------------------- the run


def place(options: argparse.Namespace, name: str, seed: int, method: str) -> Path:
    return options.cache / "isk_table" / method / f"{name}-{seed:02d}.json"


def run(options: argparse.Namespace) -> None:
    from joblib import Parallel, delayed

    cells = [
        (name, seed, method)
        for seed in range(options.splits)
        for name in options.sets
        for method in options.methods
        if method != "gauss" or name in EXACT
    ]
    for cell in cells:
        if cell[2] in options.again:
            place(options, *cell).unlink(missing_ok=True)
    left = [cell for cell in cells if not place(options, *cell).exists()]
    spent: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        if cell not in left:
            known = json.loads(place(options, *cell).read_text())
            spent.setdefault((cell[0], cell[2]), []).append(known["seconds"])
    runs = Parallel(options.jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=options.jobs)(
        delayed(run_cell)(*cell, place(options, *cell)) for cell in list(left)
    )
    for done, (name, seed, method, result) in enumerate(runs, 1):
        spent.setdefault((name, method), []).append(result["seconds"])
        left.remove((name, seed, method))
        every = np.mean([s for seconds in spent.values() for s in seconds])
        rest = sum(np.mean(spent.get((c[0], c[2]), [every])) for c in left) / options.jobs
        shown = {key: round(value, 4) for key, value in result.items()}
        print(
            f"{done} done, {len(left)} left, about {rest / 60:.0f} min: {name} split {seed} {method} {shown}",
            file=sys.stderr,
            flush=True,
        )


# --------------------------------------------------------------------- the report


def collect(options: argparse.Namespace, name: str, method: str, key: str = "error") -> np.ndarray:
    paths = [place(options, name, seed, method) for seed in range(options.splits)]
    return np.array([json.loads(path.read_text()).get(key, np.nan) for path in paths if path.exists()])


def report(options: argparse.Namespace) -> None:
    methods = [m for m in options.methods if any(len(collect(options, n, m)) for n in options.sets)]
    rows, over = [], []
    for name in options.sets:
        row = [name]
        for method in methods:
            errors = collect(options, name, method)
            known = PUBLISHED[name].get(method)
            if not len(errors):
                row += ["-"] + ["-"] * (method != "gauss")
                continue
            flag = ""
            if known is not None and errors.mean() > known[0] + known[1]:
                flag, over = "*", [*over, (name, method)]
            count = "" if len(errors) == options.splits else f" [{len(errors)}]"
            row.append(
                f"{errors.mean():.2f} ({errors.std(ddof=1) if len(errors) > 1 else 0:.2f}){flag}{count}"
            )
            if known is not None:
                row.append(f"{known[0]:.2f} ({known[1]:.2f})")
        rows.append(row)
    head = ["set"]
    for method in methods:
        head += [METHODS[method]] + ["published"] * (method != "gauss")
    print("Mean (standard deviation) over splits of nRMSE or error rate in %. * above published mean + 1 sd.")
    print("[k]: k splits so far.\n")
    print_table(head, rows)
    if "isk" in methods:
        ran = [n for n in options.sets if len(collect(options, n, "isk"))]
        within = [n for n in ran if (n, "isk") not in over]
        print(
            f"\nISK at or below published mean + 1 sd on {len(within)} of {len(ran)} sets; above on: ", end=""
        )
        print(", ".join(n for n in ran if n not in within) or "none")
    print("\nSeconds of processor per split, and fits that stopped early (liblinear, Lasso)")
    rows = []
    for name in options.sets:
        seconds = [collect(options, name, m, "cpu_seconds") for m in methods]
        stopped = sum(int(np.nansum(collect(options, name, m, "unconverged"))) for m in methods)
        rows.append([name, *(f"{s.mean():.1f}" if len(s) else "-" for s in seconds), str(stopped)])
    print_table(["set", *(METHODS[m] for m in methods), "unconverged"], rows)
    hours = {
        key: sum(collect(options, n, m, key).sum() for n in options.sets for m in methods) / 3600
        for key in ("seconds", "cpu_seconds")
    }
    clock, processor = hours["seconds"], hours["cpu_seconds"]
    print(f"\nAll cells, one thread each: {clock:.2f} hours by the clock, {processor:.2f} of processor;")
    print(f"on two cores that nobody else uses {processor / 2:.2f} hours.")


def main() -> None:
    parser = split_options(__doc__, splits=10)
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument(
        "--methods", nargs="+", default=["lasso", "rfe", "spam", "isk"], choices=list(METHODS)
    )
    parser.add_argument("--report", action="store_true", help="print the cells that are there, run none")
    options = parser.parse_args()
    options.again = options.methods if options.fresh else []
    data_folder()
    if not options.report:
        run(options)
    report(options)


if __name__ == "__main__":
    main()
