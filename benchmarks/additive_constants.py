"""What each constant of the additive engine is worth: errors with half and twice its value.

    PELLUCID_DATA=folder python benchmarks/additive_constants.py

Three problems: airfoil noise, split 0 (nRMSE on the test rows); classes by Gu and Wahba's functions on 400
rows, and a simulated mixed table of 800 rows with an amount that is mostly zero, a feature of few values with
jumps, a category and a pair (RMSE of the linear predictor, means over repetitions). Errors are relative to
those with the constants as they are; below one is better. None of these tables served for confirmation.
"""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from _measure import print_table
from _sets import split
from mgcv import draw

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

AXIS, BASIS, SCREEN = "features.axis", "features.term_basis", "features.screening"
PRIOR, STATE, ORDER = (f"models.additive.engine.{name}" for name in ("hierarchy", "state", "structure"))
CONSTANTS: tuple[tuple[str, str, Any, tuple[Any, Any]], ...] = (
    (AXIS, "WARP_RANK", None, (0.25, 1.0)),
    (AXIS, "_REPEATS", None, (2.5, 10.0)),
    (AXIS, "_ATOM", None, (0.025, 0.1)),
    (BASIS, "SHAPES", "smooth", (3.0, 6.0)),  # twice as rough as the rough shape, or nearly a line
    (BASIS, "SHAPES", "rough", (1.5, 3.0)),
    (PRIOR, "USUAL", None, (0.125, 0.5)),
    (PRIOR, "POOL", None, (0.1, 0.4)),
    (PRIOR, "LEAST", None, (5e-4, 2e-3)),
    (PRIOR, "STAYS", 1, (0.025, 0.1)),
    (PRIOR, "STAYS", 2, (0.25, 0.75)),
    (ORDER, "SIGNAL", None, (0.025, 0.1)),
    (ORDER, "WORK", None, (1.5e11, 6e11)),
    (ORDER, "FEW", None, (500, 2000)),
    (ORDER, "PAIR_COLUMNS", None, (4, 16)),
    (SCREEN, "_PRODUCTS", None, (3, 12)),
    (STATE, "_FARTHEST", None, (10.0, 40.0)),
)


def airfoil(repetitions: int) -> float:
    s = split("airfoil", 0)
    return rmse(AdditiveKernelRegressor().fit(s.X, s.y).predict(s.X_test), s.y_test)


def classes(repetitions: int) -> float:
    errors = []
    for seed in range(repetitions):
        X, y, _, eta = draw(5000 + seed, "binomial", 400, 0.0)
        errors.append(rmse(AdditiveKernelClassifier().fit(X, y).decision_function(X), eta))
    return float(np.mean(errors))


def mixed(repetitions: int) -> float:
    errors = []
    for seed in range(repetitions):
        rng = np.random.default_rng(6000 + seed)
        n = 800
        amount = np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(size=n))
        steps = rng.integers(0, 12, n)
        level = rng.integers(0, 6, n)
        a, b, c = rng.uniform(-1, 1, (3, n))
        jump, shift = rng.normal(size=12), 0.5 * rng.normal(size=6)
        eta = 0.5 * np.log1p(amount) - 0.7 * (amount == 0) + 0.5 * jump[steps] + shift[level]
        eta += np.sin(4 * a) + 1.5 * a * b
        X = pd.DataFrame(
            {"amount": amount, "steps": steps, "level": level.astype(str), "a": a, "b": b, "c": c}
        )
        y = eta + 0.7 * rng.normal(size=n)
        errors.append(rmse(AdditiveKernelRegressor().fit(X, y).predict(X), eta))
    return float(np.mean(errors))


def rmse(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def with_value(module: str, name: str, key: Any, value: Any, work: Callable[[int], float], n: int) -> float:
    """The error while a constant has another value."""
    home = import_module(f"pellucid.{module}")
    known = getattr(home, name)
    setattr(home, name, value if key is None else {**known, key: value})
    try:
        return work(n)
    finally:
        setattr(home, name, known)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--names", nargs="+", help="constants to look at (default: all)")
    options = parser.parse_args()
    problems = (airfoil, classes, mixed)
    usual = [work(options.repetitions) for work in problems]
    rows = []
    for module, name, key, values in CONSTANTS:
        if options.names and name not in options.names:
            continue
        cells = []
        for work, error in zip(problems, usual, strict=True):
            for value in values:
                at = with_value(module, name, key, value, work, options.repetitions)
                cells.append(f"{at / error:.3f}")
        title = name if key is None else f"{name}[{key!r}]"
        rows.append([title, f"{values[0]:g}, {values[1]:g}", *cells])
        print(*rows[-1], flush=True)
    print()
    print_table(["constant", "values", *(f"{w.__name__} {side}" for w in problems for side in "-+")], rows)


if __name__ == "__main__":
    main()
