"""The inference of the additive kernel machine: coverage of posterior bands, size and power of term tests.

    python benchmarks/additive_inference.py

Measured over repeated data of known terms (two main effects, one pair, noise features): how much of a curve
its pointwise 95 % band covers, averaged over the rows; how often the score test, at 5 %, rejects a main
effect that is not there, which should be 5 % give or take 1.5 %; and how often it finds those that are there.

Pairs are chosen by the model, or three are named of which one is there, or there are none. Where the model
chooses, a pair that it leaves out counts as not rejected.

Rows are uniform on [-1, 1]; the predictor is sin(3 x1) + x2² + x1 x3 with noise of standard deviation 0.5, or
it is the logarithm of the mean of counts, or the log odds of a class. Of the six features three do nothing,
and of the fifteen pairs all but one.
"""

import argparse
from itertools import combinations

import numpy as np

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

NOISE = (3, 4, 5)
NAMED = [(0, 2), (3, 4), (0, 5)]


def draw(rng: np.random.Generator, loss: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (n, 6))
    eta = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 0] * X[:, 2]
    if loss == "squared":
        return X, eta + 0.5 * rng.normal(size=n)
    if loss == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    return X, rng.random(n) < 1 / (1 + np.exp(-2 * eta))


def truth(feature: int, x: np.ndarray, X: np.ndarray, factor: float) -> np.ndarray:
    curve = (lambda u: np.sin(3 * u)) if feature == 0 else np.square
    return factor * (curve(x) - curve(X[:, feature]).mean())


def once(seed: int, loss: str, n: int, interactions: str | int | list) -> dict[str, float]:
    X, y = draw(np.random.default_rng(seed), loss, n)
    if loss == "logistic":
        model = AdditiveKernelClassifier(interactions).fit(X, y)
    else:
        model = AdditiveKernelRegressor(interactions, loss=loss).fit(X, y)
    factor = 2.0 if loss == "logistic" else 1.0
    found: dict[str, float] = {}
    for feature in (0, 1):
        effect = model.effects_.get(f"x{feature}")
        if effect is None:
            found[f"cover x{feature}"] = 0.0
            continue
        low, high = effect.band(1.96)
        there = truth(feature, effect.grids[0].points, X, factor)
        found[f"cover x{feature}"] = float(effect.density @ ((low <= there) & (there <= high)))
    p = {name: value for name, _, value in model.tests_[0]}
    found["size, main effects"] = float(np.mean([p.get(f"x{j}", 1.0) < 0.05 for j in NOISE]))
    pairs = list(combinations(range(6), 2)) if interactions == "auto" else interactions or []
    noise = [f"x{i} × x{j}" for i, j in pairs if (i, j) != (0, 2)]
    if noise:
        found["size, pairs"] = float(np.mean([p.get(name, 1.0) < 0.05 for name in noise]))
    for name in ("x0", "x1", "x0 × x2") if noise else ("x0", "x1"):
        found[f"power {name}"] = float(p.get(name, 1.0) < 0.05)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--without-choice", action="store_true", help="named pairs and none, which is quick")
    options = parser.parse_args()
    print(f"{options.repetitions} repetitions, {options.rows} rows; per cent (standard error)\n")
    for interactions in (NAMED, 0) if options.without_choice else ("auto", NAMED, 0):
        for loss in ("squared", "poisson", "logistic"):
            runs = [once(seed, loss, options.rows, interactions) for seed in range(options.repetitions)]
            print(f"{loss}, interactions={interactions!r}")
            for key in runs[0]:
                values = 100 * np.array([run[key] for run in runs])
                print(f"  {key:<20}{values.mean():6.1f} ({values.std() / np.sqrt(len(values)):.1f})")


if __name__ == "__main__":
    main()
