"""Outcomes other than numbers with equal noise: quantiles, counts, amounts and times, beside what others use.

Questions. Quantiles: is the pinball loss of the kernel and of the additive model at or below that of LightGBM
(on the first five tables of ``_sets.REGRESSION``, named before anything was run), are levels on new rows what
was asked for, and do curves cross? Counts: is the deviance on ``randhie`` and ``fremtpl_freq`` near that of
LightGBM with the same objective? Times: is the concordance on lifelines' ``rossi`` and ``gbsg2`` at or above
that of lifelines' linear model and scikit-survival's boosted one?

Seen so far. Quantiles, 800 training rows, one split or two, as parts of the loss of LightGBM: pumadyn8nh
0.87, pumadyn8nm 0.68, california 0.83, parkinsons 0.01, airfoil 0.60. No crossings. With 3000 rows in 600
landmarks and two splits, pumadyn8nh 0.94 with levels 0.088, 0.498 and 0.907, pumadyn8nm 0.79 with 0.089,
0.490 and 0.894: within 1.5 points, beside 0.122, 0.499, 0.859 and 0.171, 0.493, 0.799 of LightGBM. With 800
rows levels of eight splits were 0.090, 0.494 and 0.905 on average (LightGBM: 0.191, 0.500, 0.802); by table
they were off by up to 2.3 points, and chance alone makes about one for 0.1 and two for 0.5 in a split.
Additive, 800 rows, eight splits: airfoil 0.701 (0.113, 0.518, 0.906), parkinsons 0.016 (0.103, 0.489, 0.890),
pumadyn8nh 0.893 (0.102, 0.502, 0.899), pumadyn8nm 0.674 (0.100, 0.504, 0.901), california 0.848 (0.104,
0.496, 0.894), no crossings; 1.8 points off on airfoil, where there are 300 test rows in a split, at most 1.1
elsewhere. All three levels took 4 to 26 seconds of processor.
Counts, Poisson deviance:
fremtpl_freq with 40 000 rows 0.2510 of the additive Poisson model beside 0.2525 of LightGBM and 0.2559 of a
constant; randhie with 8000 rows 4.255 of the additive and 4.326 of the kernel Poisson model beside 4.139 and
4.836 (with 4000 rows of another draw 4.060 beside 4.072 and 4.453). The rows of randhie are years of people
whose features do not change: of 20 190 rows 2760 differ, and 99.5 % have twins. LightGBM learns the people:
with half of the rows for training 3.696 and 3.692 beside 3.987 and 3.912 of the additive model in two draws;
with half of the people, so that new rows are of others, 4.368 and 4.668 beside 4.214 and 4.611. Times:
rossi 0.624 (linear) and 0.618 (RBF) over twice five folds, beside 0.621 of lifelines and 0.594 of scikit-
survival; gbsg2 0.678 and 0.688 over five folds, beside 0.679 and 0.687.

Nothing here is tuned on test rows. LightGBM gets early stopping on a fifth of its training rows; the kernel
models choose length-scale, alpha and the number of their loss on theirs. Kernel models of many rows use
landmarks, and the samples are stated in each line. Rivals that are not installed are left out.

    python benchmarks/outcomes.py [quantiles | additive | counts | people | times] [tables]
"""

import importlib.util
import sys
import time
import warnings

import numpy as np
import pandas as pd
from _measure import data_folder
from _sets import REGRESSION, split
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance, mean_tweedie_deviance
from sklearn.model_selection import KFold, train_test_split
from threadpoolctl import threadpool_limits

from pellucid import AdditiveKernelRegressor, KernelGLMRegressor, KernelRidge, LooSearch

LEVELS = [0.1, 0.5, 0.9]
TRAIN, TEST, SEEDS = 800, 3000, 3
ADDITIVE_SEEDS = 8  # 800 rows leave a level of one split uncertain by one to two points
LANDMARKS, KERNEL_ROWS = 300, 8000  # of counts


def installed(name):
    return importlib.util.find_spec(name) is not None


def clock(work):
    """Result of some work, with its seconds of processor."""
    start = time.process_time()
    return work(), time.process_time() - start


def boosted(X, y, objective, weight=None, **options):
    """LightGBM with early stopping on a fifth of the rows."""
    import lightgbm

    fit, stop = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    model = lightgbm.LGBMRegressor(
        objective=objective, n_estimators=2000, learning_rate=0.05, n_jobs=1, verbose=-1, **options
    )
    weight = np.ones(len(y)) if weight is None else weight
    return model.fit(
        X.iloc[fit],
        y[fit],
        sample_weight=weight[fit],
        eval_set=[(X.iloc[stop], y[stop])],
        eval_sample_weight=[weight[stop]],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )


# ------------------------------------------------------------------- quantiles
def kernel_quantiles(X, y):
    """One length-scale per feature and one of two kernels, by leave-one-out of kernel ridge."""
    searches = [LooSearch(KernelRidge(k), ard=True).fit(X, y) for k in ("rbf", "matern")]
    kernel = min(searches, key=lambda search: search.best_score_).best_estimator_.kernel_
    return KernelGLMRegressor(kernel, loss="quantile", quantile=LEVELS, alpha="loo").fit(X, y)


def pinball(y, Q):
    return np.mean([mean_pinball_loss(y, q, alpha=a) for a, q in zip(LEVELS, Q.T, strict=True)])


def quantiles(*names):
    _quantiles("Kernel", lambda X, y: kernel_quantiles(numbers_of(X), y), numbers_of, SEEDS, names)


def additive_quantiles(X, y):
    return AdditiveKernelRegressor(loss="quantile", quantile=LEVELS).fit(X, y)


def additive(*names):
    _quantiles("Additive", additive_quantiles, lambda X: X, ADDITIVE_SEEDS, names)


def _quantiles(machine, fitted, table, seeds, names):
    print(
        f"{machine} quantiles {LEVELS}: pinball loss (mean over levels) and levels on new rows; {TRAIN} "
        f"training rows, {seeds} splits"
    )
    errors, wins = [], 0
    for name in names or REGRESSION[:5]:
        found = {"ours": [], "theirs": []}
        shares, others, crossings, seconds = [], [], 0, np.zeros(2)
        for seed in range(seeds):
            s = split(name, seed)
            old, y = s.X.iloc[:TRAIN], s.y[:TRAIN].astype(float)
            new, truth = s.X_test.iloc[:TEST], s.y_test[:TEST].astype(float)
            Q, own = clock(lambda old=old, y=y, new=new: fitted(old, y).predict(table(new)))
            found["ours"].append(pinball(truth, Q))
            shares.append(np.mean(truth[:, None] <= Q, axis=0))
            crossings += int(np.sum(np.diff(Q, axis=1) < 0))
            if installed("lightgbm"):
                X, Z = numbers_of(old), numbers_of(new)
                B, other = clock(
                    lambda X=X, y=y, Z=Z: np.column_stack(
                        [boosted(X, y, "quantile", alpha=a).predict(Z) for a in LEVELS]
                    )
                )
                found["theirs"].append(pinball(truth, B))
                others.append(np.mean(truth[:, None] <= B, axis=0))
                seconds += own, other
        errors.append(np.abs(np.mean(shares, axis=0) - LEVELS).max())
        ours, theirs = (np.mean(found[who]) if found[who] else np.nan for who in ("ours", "theirs"))
        wins += bool(ours <= theirs)
        print(
            f"  {name:12s} {ours:.4g}  LightGBM {theirs:.4g}, ratio {ours / theirs:.3f}; levels "
            f"{np.mean(shares, axis=0).round(3)} ± {(np.std(shares, axis=0) / seeds**0.5).round(3)} "
            f"(LightGBM {np.mean(others, axis=0).round(3)}), {crossings} crossings; "
            f"{seconds[0] / seeds:.0f} and {seconds[1] / seeds:.1f} s of processor",
            flush=True,
        )
    print(f"  at or below LightGBM on {wins}; largest error of a level {100 * max(errors):.1f} points")


# ---------------------------------------------------------------------- counts
def numbers_of(table):
    """Columns as numbers for kernels: levels one by one, with names that LightGBM takes."""
    wide = pd.get_dummies(table, dtype=float)
    return wide.set_axis([f"c{k}" for k in range(wide.shape[1])], axis=1).astype(float)


COUNTS = {"randhie": ("mdvis", 8000), "fremtpl_freq": ("ClaimNb", 40_000)}  # target, training rows


def counts(*names):
    for name in names or COUNTS:
        target, n = COUNTS[name]
        table = pd.read_parquet(data_folder() / f"{name}.parquet")
        table = table.sample(min(len(table), 2 * n), random_state=0).reset_index(drop=True)
        e = table.pop("Exposure").to_numpy(float) if "Exposure" in table else np.ones(len(table))
        y, X = table.pop(target).to_numpy(float), numbers_of(table)
        old, new = slice(0, len(y) // 2), slice(len(y) // 2, None)
        print(f"{name}: {len(y[old])} training and {len(y[new])} test rows, {table.shape[1]} columns")
        _line("constant", y[new], e[new] * y[old].sum() / e[old].sum(), 0.0)
        some = slice(0, min(len(y) // 2, KERNEL_ROWS))
        kernels = {
            f"kernel {loss}, {some.stop} rows": LooSearch(
                KernelGLMRegressor(loss=loss, alpha="loo", n_components=LANDMARKS), ard=True
            )
            for loss in ("poisson", "negative_binomial")
        }
        for label, model in kernels.items():
            _fit_line(label, model, X[some], y[some], e[some], X[new], y[new], e[new])
        additive = AdditiveKernelRegressor(loss="poisson")
        _fit_line("additive poisson", additive, table[old], y[old], e[old], table[new], y[new], e[new])
        if installed("lightgbm"):
            for objective in ("poisson", "tweedie"):
                mean, seconds = clock(
                    lambda o=objective, X=X, y=y, e=e, old=old, new=new: boosted(
                        X[old], y[old] / e[old], o, weight=e[old]
                    ).predict(X[new])
                )
                _line(f"LightGBM {objective}", y[new], e[new] * mean, seconds)


def people(seeds=2):
    """All of ``randhie``, half for training: by rows, and by people, who are rows with the same features."""
    if not installed("lightgbm"):
        print("People: needs lightgbm")
        return
    table = pd.read_parquet(data_folder() / "randhie.parquet")
    y = table.pop("mdvis").to_numpy(float)
    person = table.groupby(list(table.columns), sort=False).ngroup().to_numpy()
    X = numbers_of(table)
    print(f"randhie: {len(y)} rows, {person.max() + 1} of which differ; Poisson deviance on new rows")
    for what, key in (("rows", np.arange(len(y))), ("people", person)):
        for seed in range(int(seeds)):
            draw = np.random.default_rng(seed).permutation(key.max() + 1)
            old = draw[key] < 0.5 * (key.max() + 1)
            additive = AdditiveKernelRegressor(loss="poisson").fit(table[old], y[old])
            found = {
                "constant": np.full(np.sum(~old), y[old].mean()),
                "LightGBM": boosted(X[old], y[old], "poisson").predict(X[~old]),
                "additive": additive.predict(table[~old]),
            }
            line = ", ".join(f"{who} {mean_poisson_deviance(y[~old], m):.3f}" for who, m in found.items())
            print(f"  new {what}, draw {seed}: {line}", flush=True)


def _fit_line(label, model, X, y, e, new, truth, e_new):
    mean, seconds = clock(lambda: model.fit(X, y, exposure=e).predict(new, exposure=e_new))
    _line(label, truth, mean, seconds)


def _line(label, y, mean, seconds):
    poisson, tweedie = mean_poisson_deviance(y, mean), mean_tweedie_deviance(y, mean, power=1.5)
    print(
        f"  {label:45s} deviance: Poisson {poisson:.4f}, Tweedie 1.5 {tweedie:.4f}; {seconds:.0f} s",
        flush=True,
    )


# ----------------------------------------------------------------------- times
SURVIVAL = {"rossi": ("week", "arrest"), "gbsg2": ("time", "cens")}  # tables of lifelines: time, event


def times(*names):
    if not installed("lifelines"):
        print("Times: needs lifelines, which has the data")
        return
    for name in names or SURVIVAL:
        survival(name, *SURVIVAL[name])


def survival(name, time_column, event_column):
    from lifelines import CoxPHFitter, datasets
    from lifelines.utils import concordance_index

    table = getattr(datasets, f"load_{name}")()
    outcome = [time_column, event_column]
    X = pd.get_dummies(table.drop(columns=outcome), drop_first=True, dtype=float).astype(float)
    y = table[outcome].to_numpy(float)
    plain = pd.concat([X, table[outcome]], axis=1)
    found = {}

    def add(label, test, hazard):
        found.setdefault(label, []).append(concordance_index(y[test, 0], -hazard, y[test, 1]))

    for seed in range(10):
        for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
            models = [
                KernelGLMRegressor(kernel, loss="cox", alpha="loo").fit(X.iloc[train], y[train])
                for kernel in ("linear", "rbf")
            ]
            for model, kernel in zip(models, ("linear", "rbf"), strict=True):
                add(f"pellucid {kernel}", test, model.predict(X.iloc[test]))
            best = min(models, key=lambda m: m.alpha_path_.deviance.min())
            add("pellucid, kernel by leave-one-out", test, best.predict(X.iloc[test]))
            other = CoxPHFitter().fit(plain.iloc[train], *outcome)
            add("lifelines linear", test, other.predict_partial_hazard(X.iloc[test]).to_numpy())
            if installed("sksurv"):
                from sksurv.ensemble import GradientBoostingSurvivalAnalysis

                pairs = np.array([(bool(e), t) for t, e in y], dtype=[("event", bool), ("time", float)])
                trees = GradientBoostingSurvivalAnalysis(random_state=0).fit(X.iloc[train], pairs[train])
                add("scikit-survival boosted", test, trees.predict(X.iloc[test]))
    print(f"{name}, {len(X)} rows, {int(y[:, 1].sum())} events: concordance over ten times five folds")
    for label, values in found.items():
        print(f"  {label:35s} {np.mean(values):.4f}")
    whole = KernelGLMRegressor("linear", loss="cox", alpha=1e-7).fit(X, y)
    reference = CoxPHFitter().fit(plain, *outcome)
    gap = np.abs(whole.linear_view().coef - reference.params_.to_numpy()).max()
    print(f"  largest difference of a coefficient from lifelines without penalty: {gap:.1e}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"quantiles": quantiles, "additive": additive, "counts": counts, "people": people, "times": times}
    wanted = sys.argv[1:2] or list(parts)
    with threadpool_limits(1):
        for part in wanted:
            parts[part](*sys.argv[2:])
