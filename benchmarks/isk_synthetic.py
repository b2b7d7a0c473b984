"""ISK on functions whose terms are known: error against the number of Fourier features, ranking of terms.

    python benchmarks/isk_synthetic.py

Claims, over 10 repetitions of three synthetic functions (1000 rows, 80/20 splits, parameters by 5-fold
cross-validation): the error of ISK falls with the number d of Fourier features per pair; at the largest d it
is within 10 % (relative) of kernel ridge regression with the exact Gaussian kernel, or below; SpAM is best on
the first function, which has main effects only; the true terms are the top-ranked ones.

nRMSE is in per cent of the standard deviation of the test targets, as mean (standard error). Exact-Gau is
scikit-learn's KernelRidge on standardised inputs and target, gamma and alpha by cross-validation. Finished
repetitions are kept.
"""

import argparse

import numpy as np
from _linear import sparse_linear, svm_rfe
from _measure import over_splits, print_table, split_options
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import ISKRegressor, SparseAdditiveRegressor
from pellucid.datasets import make_synthetic

SIZES = (4, 10, 20, 40, 80, 160)
OTHERS = ("Lasso", "SVM-RFE", "SpAM", "Exact-Gau")


def exact_gauss():
    grid = {"gamma": np.logspace(-3, 0.5, 8), "alpha": np.logspace(-4, 1, 11)}
    search = GridSearchCV(
        KernelRidge(kernel="rbf"),
        grid,
        cv=KFold(5, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), search), transformer=StandardScaler())


def frame(X: np.ndarray, names: list[str]):
    import pandas as pd

    return pd.DataFrame(X, columns=names)


def repetition(which: int, seed: int, noise: float | None) -> dict[str, np.ndarray]:
    """Errors of all methods, and the importances of all terms in ISK with the most features."""
    data = make_synthetic(which, random_state=seed, noise=noise)
    X = frame(data.data, data.feature_names)
    train, test = train_test_split(np.arange(len(X)), test_size=0.2, random_state=seed)
    y, y_test = data.target[train], data.target[test]

    def error(model) -> float:
        predicted = model.fit(X.iloc[train], y).predict(X.iloc[test])
        return float(100 * np.sqrt(np.mean((predicted - y_test) ** 2)) / y_test.std())

    isk = [ISKRegressor(n_components=d, random_state=seed) for d in SIZES]
    spam = SparseAdditiveRegressor()
    result = {"isk": np.array([error(model) for model in isk])}
    result["others"] = np.array([error(m) for m in (sparse_linear(True), svm_rfe(True), spam, exact_gauss())])
    result["noise"] = np.array(100 * data.noise / y_test.std())
    result["importance"] = ranked(isk[-1], X.shape[1])
    result["purified"] = purified(isk[-1], X.shape[1])
    result["spam"] = np.zeros(X.shape[1])
    result["spam"][[t[0] for t in spam.terms_]] = spam.importances_.values
    return result


def all_terms(p: int) -> list[tuple[int, ...]]:
    return [(j,) for j in range(p)] + [(a, b) for a in range(p) for b in range(a + 1, p)]


def ranked(model, p: int) -> np.ndarray:
    """Importances of all terms, zero for those left out."""
    found = dict(zip(model.terms_, model.importances_.values, strict=True))
    return np.array([found.get(term, 0.0) for term in all_terms(p)])


def purified(model, p: int) -> np.ndarray:
    """Root mean squares of the effects after main effects have been moved out of the pairs."""
    found = {}
    for effect in model.effects(purify=True).values():
        found[effect.term] = float(np.sqrt(np.sum(effect.density * effect.values**2)))
    return np.array([found.get(term, 0.0) for term in all_terms(p)])


def report(which: int, runs: dict[str, np.ndarray]) -> None:
    def cell(values: np.ndarray) -> str:
        return f"{values.mean():.2f} ({values.std(ddof=1) / np.sqrt(len(values)):.2f})"

    print(f"\nSynthetic {which}: {make_synthetic(which, 1, random_state=0).DESCR}")
    rows = [[f"ISK, d = {d}", cell(runs["isk"][:, k])] for k, d in enumerate(SIZES)]
    rows += [[name, cell(runs["others"][:, k])] for k, name in enumerate(OTHERS)]
    rows.append(["noise alone", cell(runs["noise"])])
    print_table(["method", "nRMSE"], rows)
    isk, others = runs["isk"].mean(axis=0), dict(zip(OTHERS, runs["others"].mean(axis=0), strict=True))
    print(f"falls with d, from {isk[0]:.2f} to {isk[-1]:.2f}: {verdict(bool(isk[-1] < isk[0]))}", end="; ")
    print(f"at every step: {verdict(bool(np.all(np.diff(isk) <= 0)))}")
    ratio = isk[-1] / others["Exact-Gau"]
    print(f"ISK / Exact-Gau at d = {SIZES[-1]}: {ratio:.3f}, at most 1.1: {verdict(ratio <= 1.1)}")
    if which == 1:
        best = min(others["SpAM"], isk.min(), *others.values()) == others["SpAM"]
        print(f"SpAM is best: {verdict(best)}")
    for key, title in (("importance", "ISK |β|"), ("purified", "ISK, purified effects")):
        terms_report(which, runs[key], title)


def terms_report(which: int, importance: np.ndarray, title: str) -> None:
    """Terms by mean relative importance, the true ones marked."""
    data = make_synthetic(which, 1, random_state=0)
    terms = all_terms(data.data.shape[1])
    relative = (importance / importance.max(axis=1, keepdims=True)).mean(axis=0)
    order = np.argsort(-relative, kind="stable")
    truth = set(data.terms)
    shown = []
    for i in order[: len(truth) + 3]:
        name = " × ".join(data.feature_names[j] for j in terms[i])
        shown.append(f"{name}{'*' if terms[i] in truth else ''} {relative[i]:.2f}")
    hits = sum(terms[i] in truth for i in order[: len(truth)])
    print(f"{title}, relative (* true term): {', '.join(shown)}")
    print(f"  {hits} of the {len(truth)} true terms are among the {len(truth)} top-ranked")


def verdict(holds: bool) -> str:
    return "yes" if holds else "NO"


def main() -> None:
    parser = split_options(__doc__, splits=10)
    parser.add_argument("--which", nargs="+", type=int, default=[1, 2, 3], choices=[1, 2, 3])
    parser.add_argument("--noise", type=float, help="instead of the published noise")
    options: argparse.Namespace = parser.parse_args()
    for which in options.which:
        label = f"isk_synthetic_{which}" + ("" if options.noise is None else f"_{options.noise:g}")

        def work(seed: int, which: int = which) -> dict[str, np.ndarray]:
            return repetition(which, seed, options.noise)

        report(which, over_splits(label, work, options))


if __name__ == "__main__":
    main()
