"""Beside mgcv: error of the linear predictor, bands and tests of main effects; false and real pairs.

    python benchmarks/mgcv.py --repetitions 100 40

Gu and Wahba's functions f0 = 2 sin πx, f1 = e^{2x} and f2 (a bump) of three features, beside three that do
nothing: Gaussian (standard deviation 2), binomial (log odds (f - mean)/3), Poisson (log mean (f - mean)/6);
400 and 2000 rows, and 400 in which each feature that does nothing is correlated 0.8 with one that does.
mgcv fits s(x, k = 20) for each feature by REML; its bands and p-values are those of unconditional=TRUE and
of summary(). Here it is the additive machine with ``interactions=0``.

In a second round f0 is weak (a tenth; of counts and classes a fifth): how often the tests find it. In a third
round pairs may enter (``interactions="auto"``): how many do that are not there, and how often one that is
there, of moderate strength, is found.

R and mgcv come from Debian's packages r-base-core and r-cran-mgcv; without them the script says so and ends.
"""

import argparse
import csv
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import norm

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

FAMILIES = ("gaussian", "binomial", "poisson")
DESIGNS = ((400, 0.0), (2000, 0.0), (400, 0.8))
SCRIPT = """
suppressMessages(library(mgcv))
args <- commandArgs(trailingOnly = TRUE)
files <- readLines(file.path(args[1], "files.txt"))
for (f in files) {
  d <- read.csv(f)
  family <- list(gaussian = gaussian(), binomial = binomial(), poisson = poisson())[[args[2]]]
  terms <- paste0("s(x", 0:5, ", k = 20)", collapse = " + ")
  m <- gam(as.formula(paste("y ~", terms)), data = d, family = family, method = "REML")
  part <- predict(m, type = "terms", se.fit = TRUE, unconditional = TRUE)
  out <- data.frame(eta = predict(m), part$fit, part$se.fit)
  names(out) <- c("eta", paste0("f", 0:5), paste0("se", 0:5))
  write.csv(out, paste0(f, ".out"), row.names = FALSE)
  writeLines(format(summary(m)$s.table[, 4], digits = 10), paste0(f, ".p"))
}
"""


def functions(X: np.ndarray) -> np.ndarray:
    x0, x1, x2 = X[:, 0], X[:, 1], X[:, 2]
    f2 = 0.2 * x2**11 * (10 * (1 - x2)) ** 6 + 10 * (10 * x2) ** 3 * (1 - x2) ** 10
    return np.column_stack([2 * np.sin(np.pi * x0), np.exp(2 * x1), f2, *np.zeros((3, len(X)))])


def draw(seed: int, family: str, n: int, correlation: float, weak: float = 1.0, pair: float = 0.0):
    """Rows, targets, and the true parts of the linear predictor, centred."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 6))
    Z[:, 3:] = correlation * Z[:, :3] + np.sqrt(1 - correlation**2) * Z[:, 3:]
    X = norm.cdf(Z)
    parts = functions(X) / {"gaussian": 1.0, "binomial": 3.0, "poisson": 6.0}[family]
    parts[:, 0] *= weak
    parts -= parts.mean(axis=0)
    eta = parts.sum(axis=1)
    if pair:
        unit = {"gaussian": 2.0, "binomial": 2.0, "poisson": 1.0}[family]  # about one standard deviation
        eta = eta + pair * unit * 12 * (X[:, 0] - 0.5) * (X[:, 3] - 0.5)
    if family == "gaussian":
        y = eta + 2.0 * rng.normal(size=n)
    elif family == "binomial":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    else:
        y = rng.poisson(np.exp(eta)).astype(float)
    return X, y, parts, eta


def model_of(family: str, interactions):
    if family == "binomial":
        return AdditiveKernelClassifier(interactions)
    return AdditiveKernelRegressor(interactions, loss={"gaussian": "squared"}.get(family, family))


def ours(draws, family: str):
    X, y, _, _ = draws
    model = model_of(family, 0).fit(X, y)
    fits, errors, p = np.zeros((len(X), 6)), np.zeros((len(X), 6)), np.ones(6)
    parts = model.contributions(X)
    for t, term in enumerate(model.terms_):
        effect = model.effects_[model.term_names_[t]]
        fits[:, term[0]] = parts[:, t]
        errors[:, term[0]] = np.interp(X[:, term[0]], effect.grids[0].points, effect.se)
    for name, _, value in model.tests_[0]:
        p[int(name[1:])] = value
    return model.intercept_ + fits.sum(axis=1), fits - fits.mean(axis=0), errors, p


def theirs(every, family: str, n_jobs: int):
    """Results of mgcv for several draws, in a few processes of R."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "fit.R").write_text(SCRIPT)
        for k, (X, y, _, _) in enumerate(every):
            with open(root / f"{k}.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow([*(f"x{j}" for j in range(6)), "y"])
                writer.writerows(np.column_stack([X, y]).tolist())

        def run(part: int) -> None:
            own = root / f"part{part}"
            own.mkdir()
            own.joinpath("files.txt").write_text(
                "\n".join(str(root / f"{k}.csv") for k in range(part, len(every), n_jobs)) + "\n"
            )
            subprocess.run(["Rscript", str(root / "fit.R"), str(own), family], check=True)

        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(run)(part) for part in range(n_jobs))
        found = []
        for k in range(len(every)):
            out = np.loadtxt(root / f"{k}.csv.out", delimiter=",", skiprows=1)
            found.append((out[:, 0], out[:, 1:7], out[:, 7:13], np.loadtxt(root / f"{k}.csv.p")))
    return found


def scores(draws, result) -> dict[str, float]:
    _, _, parts, eta = draws
    fitted, fits, errors, p = result
    real = slice(0, 3)
    inside = np.abs(fits - parts) <= 1.96 * errors
    return {
        "rmse": float(np.sqrt(np.mean((fitted - eta) ** 2))),
        "coverage": 100 * float(inside[:, real].mean()),
        "width": 2 * 1.96 * float(errors[:, real].mean()),
        "size": 100 * float(np.mean(p[3:] < 0.05)),
    }


def pairs_found(draws, family: str) -> tuple[int, bool]:
    X, y, _, _ = draws
    terms = [t for t in model_of(family, "auto").fit(X, y).terms_ if len(t) == 2]
    return sum(t != (0, 3) for t in terms), (0, 3) in terms


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, nargs=2, default=(100, 40), help="at 400 and at 2000 rows")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--parts", nargs="+", default=["error", "power", "pairs"])
    parser.add_argument("--families", nargs="+", default=list(FAMILIES))
    parser.add_argument("--ours-only", action="store_true")
    options = parser.parse_args()
    if not options.ours_only and shutil.which("Rscript") is None:
        print("Rscript is missing: install R and mgcv (Debian: r-base-core, r-cran-mgcv).")
        return
    repetitions = dict(zip((400, 2000), options.repetitions, strict=True))

    def both(draws, family):
        own = Parallel(n_jobs=options.jobs)(delayed(ours)(d, family) for d in draws)
        return own, own if options.ours_only else theirs(draws, family, options.jobs)

    if "error" in options.parts:
        print("RMSE of η, coverage of 95 % bands, their width, size of tests at 5 %: ours / mgcv")
        for family in options.families:
            for n, correlation in DESIGNS:
                draws = [draw(seed, family, n, correlation) for seed in range(repetitions[n])]
                pair = [
                    [scores(d, r) for d, r in zip(draws, side, strict=True)] for side in both(draws, family)
                ]
                mean = [{key: np.mean([run[key] for run in side]) for key in side[0]} for side in pair]
                a, b = mean
                print(
                    f"{family:<9}{n:>5} r={correlation:.1f}  rmse {a['rmse']:.4f} / {b['rmse']:.4f} = "
                    f"{a['rmse'] / b['rmse']:.3f}  coverage {a['coverage']:.1f} / {b['coverage']:.1f}  width "
                    f"{a['width'] / b['width']:.3f}  size {a['size']:.1f} / {b['size']:.1f}",
                    flush=True,
                )
    if "power" in options.parts:
        print("power at 5 % for a weak f0: ours / mgcv")
        for family in options.families:
            for n, correlation in DESIGNS:
                weak = 0.1 if family == "gaussian" else 0.2
                draws = [
                    draw(1000 + s, family, n, correlation, weak * (2 if n == 400 else 1))
                    for s in range(repetitions[n])
                ]
                a, b = (100 * np.mean([r[3][0] < 0.05 for r in side]) for side in both(draws, family))
                print(f"{family:<9}{n:>5} r={correlation:.1f}  {a:.0f} / {b:.0f}", flush=True)
    if "pairs" in options.parts:
        print("pairs at 2000 rows: false ones per fit without and with a real pair; the real one found")
        for family in options.families:
            counts = []
            for strength in (0.0, 0.3):
                draws = [draw(2000 + s, family, 2000, 0.0, pair=strength) for s in range(repetitions[2000])]
                found = Parallel(n_jobs=options.jobs)(delayed(pairs_found)(d, family) for d in draws)
                counts.append(np.mean(found, axis=0))
            print(
                f"{family:<9} {counts[0][0]:.2f}, {counts[1][0]:.2f}; {100 * counts[1][1]:.0f} %", flush=True
            )


if __name__ == "__main__":
    main()
