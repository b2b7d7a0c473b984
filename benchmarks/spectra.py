"""Claims: with at least as many wavelengths as samples the linear reading of a kernel model has its fitted
values to 1e-8; how it predicts, beside three others.

Seven public spectroscopy sets take the place of the apples of Groenen and Greenacre (2025), Table 1, which
are not public. Each is split 100 times at random into two thirds for training and one third for testing.
Where all values are positive they are taken as compositions: additive log-ratios, with as reference the
wavelength whose log share varies least over all samples (targets are not looked at); otherwise they stay as
they are. Columns are standardised and targets centred on the training part. Four methods:

- RBF: kernel ridge with exp(-|x - z|² / p), predictions of the kernel model;
- reading: the same fit by its coefficients; where there are fewer wavelengths than samples, the fit with the
  projected kernel;
- ridge: ordinary linear ridge regression, scikit-learn's ``RidgeCV``;
- PLS: partial least squares, scikit-learn's ``PLSRegression``, up to 20 components.

The ridge strengths of the first two and the number of components are those of least squared error over ten
folds, the same for all; ``RidgeCV`` goes by leave-one-out. Fidelity is the R² of the reading, taken as a
prediction of the kernel model's prediction, on the test rows. That both agree on the training rows is checked
in units of the standard deviation of the targets; their training errors agree to as many digits unless the
fit interpolates and the errors are next to nothing.

    PELLUCID_DATA=... python benchmarks/spectra.py [--splits 100] [--jobs 2] [--figure spectra.png] [--fresh]
"""

import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import data_folder, mean_ranks, over_splits, print_table, split_options

METHODS = ("RBF", "reading", "ridge", "PLS")
ALPHAS = np.logspace(-5.0, 1.0, 25)
RIDGE_ALPHAS = np.logspace(-10.0, 1.0, 45)  # times the number of columns
MOST_COMPONENTS = 20


class Spectra(NamedTuple):
    file: str
    target: str
    unit: str
    start: float | None = None  # wavelengths, where the columns' names do not give them
    step: float | None = None


SETS = {
    "gasoline": Spectra("gasoline_nir", "octane", "octane number"),
    "tecator": Spectra("tecator", "fat", "% fat", 850.0, 200.0 / 99.0),
    "corn": Spectra("corn_nir_m5", "Moisture", "% moisture"),
    "soil": Spectra("soil_nir", "som", "% organic matter"),  # codespell:ignore som
    "beer": Spectra("beer_nir", "extract", "% extract"),
    "wheat": Spectra("wheat_kernels_nit", "protein", "% protein"),
    "peach": Spectra("peach_nir_brix", "Brix", "°Brix"),
}
NOT_SPECTRUM = {
    "set",
    "octane",
    "moisture",
    "protein",
    "fat",
    "Oil",
    "Protein",
    "Starch",
    "Moisture",
    "som",  # codespell:ignore som
    "extract",
    "Brix",
}


def load(name: str) -> tuple[Any, np.ndarray]:
    import pandas as pd

    table = pd.read_parquet(data_folder() / f"{SETS[name].file}.parquet")
    X = table[[c for c in table.columns if c not in NOT_SPECTRUM]].astype(float)
    return X, table[SETS[name].target].to_numpy(float)


def steps(X: Any) -> list[Any]:
    from sklearn.preprocessing import StandardScaler

    from pellucid.preprocessing import AdditiveLogRatio

    if (X.to_numpy() > 0).all():
        reference = AdditiveLogRatio(reference="auto").fit(X).reference_
        return [AdditiveLogRatio(reference=reference), StandardScaler()]
    return [StandardScaler()]


def wavelengths(name: str) -> tuple[np.ndarray, str]:
    """Positions of the columns that the model sees, and what they are."""
    X, _ = load(name)
    found = [re.fullmatch(r"([0-9.]+)( nm)?", str(c)) for c in X.columns]
    start, step = SETS[name].start, SETS[name].step
    if all(found):
        at, label = np.array([float(m[1]) for m in found if m]), "wavelength (nm)"
    elif start is not None and step is not None:
        at, label = start + step * np.arange(X.shape[1]), "wavelength (nm)"
    else:
        at, label = np.arange(1.0, X.shape[1] + 1), "channel"
    first = steps(X)[0]
    if hasattr(first, "reference"):
        at = np.delete(at, first.reference)
    return at, label


class PLS:
    """Partial least squares, components by cross-validation; one fit per fold serves all numbers of them."""

    def __init__(self, folds: Any) -> None:
        self.folds = folds

    def fit(self, X: np.ndarray, y: np.ndarray) -> "PLS":
        most = min(MOST_COMPONENTS, X.shape[1], min(len(train) for train, _ in self.folds.split(X)) - 1)
        error = np.zeros(most)
        for train, test in self.folds.split(X):
            coefs, intercepts = self._all(X[train], y[train], most)
            error += np.sum((X[test] @ coefs + intercepts - y[test, None]) ** 2, axis=0)
        self.n_components_ = int(np.argmin(error)) + 1
        coefs, intercepts = self._all(X, y, self.n_components_)
        self.coef_, self.intercept_ = coefs[:, -1], intercepts[-1]
        return self

    @staticmethod
    def _all(X: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients with 1, ..., ``most`` components: rotations do not depend on those that follow."""
        from sklearn.cross_decomposition import PLSRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # residual is constant: no more components in the data
            model = PLSRegression(most, scale=False).fit(X, y)
        coefs = np.cumsum(model.x_rotations_ * model.y_loadings_[0], axis=1)
        return coefs, y.mean() - X.mean(axis=0) @ coefs

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


def one_split(name: str, split: int) -> dict[str, Any]:
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, train_test_split
    from sklearn.pipeline import make_pipeline

    from pellucid import InterpretableKernelRegressor
    from pellucid.kernels import RBF

    X, y = load(name)
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=split)
    scaling = make_pipeline(*steps(X)).fit(X.iloc[train])
    X_train, X_test = (np.asarray(scaling.transform(X.iloc[rows])) for rows in (train, test))
    y_train, y_test = y[train] - y[train].mean(), y[test] - y[train].mean()
    n, p = X_train.shape
    folds = KFold(10, shuffle=True, random_state=split)
    kernel = InterpretableKernelRegressor(RBF.from_gamma(1.0 / p), alphas=ALPHAS, cv=folds, certify=0).fit(
        X_train, y_train
    )
    ridge = RidgeCV(alphas=RIDGE_ALPHAS * p).fit(X_train, y_train)
    pls = PLS(folds).fit(X_train, y_train)
    predictors = (
        partial(kernel.predict, how="kernel"),
        partial(kernel.predict, how="linear"),
        ridge.predict,
        pls.predict,
    )
    train_error, test_error = (
        np.array([np.sqrt(np.mean((predict(rows) - truth) ** 2)) for predict in predictors])
        for rows, truth in ((X_train, y_train), (X_test, y_test))
    )
    gap = np.abs(predictors[0](X_train) - predictors[1](X_train)).max() / y_train.std()
    if p >= n:
        assert kernel.certificate_.exact, (
            f"{name}, split {split}: {p} wavelengths, {n} samples, and yet not of full rank"
        )
        assert gap < 1e-8, f"{name}, split {split}: fitted values differ by {gap:.1e} standard deviations"
        apart = abs(train_error[1] / train_error[0] - 1.0)
        assert apart < 1e-8, f"{name}, split {split}: training errors differ by {apart:.1e} of themselves"
    full, read = (predict(X_test) for predict in predictors[:2])
    return {
        "train": train_error,
        "test": test_error,
        "kaf": kernel.kaf_,
        "exact": kernel.certificate_.exact,
        "gap": gap,
        "fidelity": 1.0 - np.mean((full - read) ** 2) / np.var(full),
        "alpha": [kernel.kernel_alpha_, kernel.alpha_, ridge.alpha_ / p],
        "n_components": pls.n_components_,
        "shape": [n, p],
        "coef": kernel.coef_,
        "coef_ridge": ridge.coef_,
        "coef_pls": pls.coef_,
    }


def main() -> None:
    parser = split_options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--figure", type=Path, help="where to draw the coefficients (default: in the cache)")
    options = parser.parse_args()
    results = {
        name: over_splits(f"spectra-{name}", partial(one_split, name), options) for name in options.sets
    }
    report(results)
    draw(results, options.figure or options.cache / "spectra.png")


def report(results: dict[str, dict[str, np.ndarray]]) -> None:
    ranks_train, ranks_test = [], []
    for name, result in results.items():
        describe(name, result)
        train, test = np.median(result["train"], axis=0), np.median(result["test"], axis=0)
        ranks_train.append(mean_ranks(result["train"], 8))
        ranks_test.append(mean_ranks(result["test"]))
        tuned = [f"alpha {a:.1e}" for a in np.median(result["alpha"], axis=0)]
        tuned.append(f"{np.median(result['n_components']):.0f} components")
        sizes = [np.median(np.linalg.norm(result[key], axis=1)) for key in ("coef", "coef_ridge", "coef_pls")]
        size = ["", *(f"{value:.3g}" for value in sizes)]
        ranks = [[f"{r[j]:.2f}" for r in (ranks_train[-1], ranks_test[-1])] for j in range(len(METHODS))]
        rows = [
            [m, f"{train[j]:.4f}", f"{test[j]:.4f}", *ranks[j], size[j], tuned[j]]
            for j, m in enumerate(METHODS)
        ]
        print_table(["", "train RMSE", "test RMSE", "rank, train", "rank, test", "|coef|", "tuned"], rows)
        if result["exact"].all():
            relative = np.abs(result["train"][:, 1] / result["train"][:, 0] - 1.0).max()
            gap = result["gap"].max()
            print(
                f"fitted values of RBF and its reading differ by {gap:.1e} standard deviations at most,"
                f" training errors by {relative:.1e} of themselves"
            )
    print(f"\nmean ranks over {len(results)} sets")
    train, test = np.mean(ranks_train, axis=0), np.mean(ranks_test, axis=0)
    print_table(
        ["", "train", "test"], [[m, f"{train[j]:.2f}", f"{test[j]:.2f}"] for j, m in enumerate(METHODS)]
    )


def describe(name: str, result: dict[str, np.ndarray]) -> None:
    X, _ = load(name)
    first = steps(X)[0]
    columns = "raw, as some are negative"
    if hasattr(first, "reference"):
        columns = f"log-ratios to {X.columns[first.reference]}"
    n, p = result["shape"][0]
    fidelity = result["fidelity"]
    print(f"\n{name} ({SETS[name].unit}): {n} training rows, {p} columns ({columns})")
    exact, kaf = int(result["exact"].sum()), np.median(result["kaf"])
    print(
        f"exact in {exact} of {len(fidelity)} splits, KAF {kaf:.4f}; fidelity on test rows: median"
        f" {np.median(fidelity):.3f}, from {fidelity.min():.3f} to {fidelity.max():.3f}"
    )


def draw(results: dict[str, dict[str, np.ndarray]], path: Path) -> None:
    """Coefficients of the reading over wavelengths: median, quartiles and range over the splits."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    n_rows = -(-(len(results) + 1) // 2)  # one place is for the legend
    figure, axes = plt.subplots(n_rows, 2, figsize=(11, 2.5 * n_rows), layout="constrained", squeeze=False)
    for ax, (name, result) in zip(axes.flat, results.items(), strict=False):
        at, label = wavelengths(name)
        low, lower, middle, upper, high = np.quantile(result["coef"], [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        ax.fill_between(at, low, high, color="#0072b2", alpha=0.15, linewidth=0, label="range")
        ax.fill_between(at, lower, upper, color="#0072b2", alpha=0.35, linewidth=0, label="quartiles")
        ax.plot(at, middle, color="#003f66", linewidth=1.1, label="median")
        constant = (low > 0) | (high < 0)
        if constant.any():
            ax.vlines(
                at[constant],
                0.0,
                0.03,
                color="#d55e00",
                linewidth=0.9,
                transform=ax.get_xaxis_transform(),
                label="same sign in all splits",
            )
        ax.set_xlim(at[0], at[-1])
        kind = "exact" if result["exact"].all() else f"projected, KAF {np.median(result['kaf']):.2f}"
        title = f"{name}, {SETS[name].unit} ({kind}; same sign: {constant.sum()} of {len(at)})"
        ax.set_title(title, loc="left", fontsize=9.5)
        ax.set_xlabel(label, fontsize=8.5)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    known = {
        label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    for ax in list(axes.flat)[len(results) :]:
        ax.axis("off")
    n_splits = len(next(iter(results.values()))["kaf"])
    what = f"coefficient per standard deviation of the column,\n{n_splits} random splits"
    axes.flat[len(results)].legend(
        known.values(), known.keys(), loc="center", frameon=False, title=what, alignment="left"
    )
    figure.savefig(path, dpi=150)
    print(f"\ncoefficient profiles: {path}")


if __name__ == "__main__":
    main()
