"""How far the ten most important terms are the same on bootstrap samples: the additive machine beside EBM.

    PELLUCID_DATA=folder python benchmarks/additive_stability.py --rows 2000 --samples 5
    PELLUCID_DATA=folder python benchmarks/additive_stability.py --models pellucid --tables kin40k

The same random rows of each table, drawn with replacement; defaults of both. The overlap of two samples is
the share of terms that both have among their ten most important; shown is its mean over all pairs of samples.
A main effect and a pair count alike. Rivals that are not installed are left out.
"""

import argparse
import warnings
from importlib.util import find_spec
from itertools import combinations

import numpy as np
from _measure import print_table
from _sets import TABLES, is_regression, load

TOP = 10


def top_terms(which: str, X, y, regression: bool) -> set[frozenset[int]]:
    """The ten terms of largest importance, as sets of features."""
    if which == "pellucid":
        import pellucid

        kind = pellucid.AdditiveKernelRegressor if regression else pellucid.AdditiveKernelClassifier
        model = kind().fit(X, y)
        terms, value = model.terms_, [model.importances_[name] for name in model.term_names_]
    else:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
        model = kind(n_jobs=1).fit(X, y)
        terms, value = model.term_features_, model.term_importances()
    order = np.argsort(-np.asarray(value), kind="stable")[:TOP]
    return {frozenset(terms[k]) for k in order}


def overlap(which: str, name: str, n: int, samples: int) -> float:
    X, y = load(name)
    found = []
    for seed in range(samples):
        rows = np.random.default_rng(seed).integers(0, len(y), min(n, len(y)))
        found.append(top_terms(which, X.iloc[rows].reset_index(drop=True), y[rows], is_regression(name)))
    shares = [len(a & b) / max(min(len(a), len(b)), 1) for a, b in combinations(found, 2)]
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--models", nargs="+", default=["pellucid", "ebm"], choices=["pellucid", "ebm"])
    options = parser.parse_args()
    models = [m for m in options.models if m == "pellucid" or find_spec("interpret")]
    warnings.simplefilter("ignore")
    rows = []
    for name in options.tables:
        values = [overlap(which, name, options.rows, options.samples) for which in models]
        rows.append([name, *(f"{v:.2f}" for v in values)])
        print(*rows[-1], flush=True)
    print()
    print_table(["table", *models], rows)


if __name__ == "__main__":
    main()
