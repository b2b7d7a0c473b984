"""Strings, graphs and molecules: accuracy, deletion fidelity and speed, beside rivals.

    python benchmarks/structured.py               promoters, MUTAG, and reduced forms of the larger sets
    python benchmarks/structured.py --full        all folds of splice, ten times ten of MUTAG, five splits
    python benchmarks/structured.py --speed       Gram matrices, and 100 000 sequences in the primal

Needs RDKit, and the data sets in the folder PELLUCID_DATA.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from pellucid import KernelRidge, KernelRidgeClassifier, LooSearch, deletion_fidelity
from pellucid.kernels import (
    GappedKmer,
    MinMax,
    Mismatch,
    ShortestPath,
    Spectrum,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
)

DATA = Path(os.environ.get("PELLUCID_DATA", "data"))
STRINGS = {
    "spectrum": (Spectrum(), {"kernel__k": [3, 4, 5, 6]}),
    "mismatch": (Mismatch(skip_unknown=True), {"kernel__k": [4, 5, 6]}),
    "gapped k-mer": (GappedKmer(), {"kernel__k": [3, 4, 5]}),
    "weighted degree": (WeightedDegree(), {"kernel__degree": [1, 2, 4, 8]}),
}
MOLECULES = {
    "Tanimoto": (Tanimoto(), {"kernel__radius": [1, 2, 3]}),
    "min-max": (MinMax(), {"kernel__radius": [1, 2, 3]}),
    "WL of atoms": (WeisfeilerLehman(), {"kernel__depth": [1, 2, 3]}),
}


def promoters() -> None:
    table = pd.read_parquet(DATA / "dna_promoters.parquet")
    rows, y = table["sequence"].str.upper(), (table["class"] == "+").to_numpy()
    print("\nPromoters, 106 sequences, leave-one-out errors")
    for name, (kernel, grid) in STRINGS.items():
        search = LooSearch(KernelRidgeClassifier(kernel), grid).fit(rows, y)
        errors = round(search.loo_.error_rate * len(rows))
        print(
            f"  {name:16s} {errors:3d}  {search.best_params_}  "
            f"{deletion_fidelity(search.best_estimator_, rows)}"
        )
    model = search.best_estimator_
    profile = np.mean([one.positions for one in model.part_contributions(rows[y])], axis=0)
    strongest = sorted(np.argsort(-profile)[:12].tolist())
    print(
        f"  weighted degree, strongest positions of promoters {strongest}: the -35 box is at 14-19, the "
        f"-10 box at 36-41 (position 50 is the start of transcription)"
    )
    print("\n".join("    " + line for line in str(model.motifs(12)).splitlines()))


def splice(full: bool) -> None:
    table = pd.read_parquet(DATA / "dna_splice.parquet")
    rows, y = table["sequence"].str.upper().str.strip().to_numpy(), table["label"].str.strip().to_numpy()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(rows, y))
    used = folds if full else folds[:1]
    print(f"\nSplice junctions, 3190 sequences, {len(used)} of 10 folds, error rate ")
    chosen = {k: STRINGS[k] for k in ("gapped k-mer", "weighted degree")}
    for name, (kernel, grid) in chosen.items():
        rates, start = [], time.perf_counter()
        for train, test in used:
            search = LooSearch(KernelRidgeClassifier(kernel), grid).fit(rows[train], y[train])
            rates.append(np.mean(search.predict(rows[test]) != y[test]))
        took = time.perf_counter() - start
        fidelity = deletion_fidelity(search.best_estimator_, rows[test][:30])
        print(f"  {name:16s} {100 * np.mean(rates):5.2f} %  {search.best_params_}  {took:.0f} s  {fidelity}")
    model = search.best_estimator_
    for junction, what in (("EI", "GT at 30 and 31"), ("IE", "AG at 28 and 29")):
        which = rows[y == junction][:200]
        values = np.mean([c.positions for c in model.part_contributions(which, output=junction)], axis=0)
        print(
            f"  {junction}: strongest positions {sorted(np.argsort(-values)[:4].tolist())}; the junction "
            f"has {what}"
        )


def read_mutag() -> tuple[list[tuple], np.ndarray]:
    table = pd.read_parquet(DATA / "mutag.parquet")
    graphs = [
        (row.node_label, list(zip(row.edge_src, row.edge_dst, strict=True)), row.edge_label)
        for row in table.itertuples()
    ]
    return graphs, table["y"].to_numpy()


def mutag(full: bool) -> None:
    graphs, y = read_mutag()
    repeats = 10 if full else 1
    print(f"\nMUTAG, 188 graphs, ten folds × {repeats}, accuracy ")
    cases = {
        "WL": (WeisfeilerLehman(), {"kernel__depth": [1, 2, 3, 4], "kernel__edge_labels": [True, False]}),
        "shortest paths": (ShortestPath(), {"kernel__normalise": [True, False]}),
    }
    for name, (kernel, grid) in cases.items():
        accuracy = []
        for seed in range(repeats):
            right = 0
            for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y):
                search = LooSearch(KernelRidgeClassifier(kernel), grid).fit(
                    [graphs[i] for i in train], y[train]
                )
                right += np.sum(search.predict([graphs[i] for i in test]) == y[test])
            accuracy.append(right / len(y))
        spread = f" ± {np.std(accuracy):.3f}" if repeats > 1 else ""
        print(
            f"  {name:16s} {np.mean(accuracy):.3f}{spread}  "
            f"{deletion_fidelity(search.best_estimator_, graphs)}"
        )


class Given(GPKernel):
    """A Gram matrix for scikit-learn's Gaussian process, whose rows are numbers of molecules."""

    def __init__(self, scale: float = 1.0, noise: float = 0.1, K: np.ndarray | None = None) -> None:
        self.scale, self.noise, self.K = scale, noise, K

    @property
    def theta(self) -> np.ndarray:
        return np.log([self.scale, self.noise])

    @theta.setter
    def theta(self, theta: np.ndarray) -> None:
        self.scale, self.noise = np.exp(theta)

    @property
    def bounds(self) -> np.ndarray:
        return np.log([[1e-3, 1e4], [1e-5, 1e2]])

    def __call__(self, X, Y=None, eval_gradient=False):
        i = np.ravel(X).astype(int)
        j = i if Y is None else np.ravel(Y).astype(int)
        signal = self.scale * self.K[np.ix_(i, j)]
        if Y is not None:
            return signal
        noise = self.noise * np.eye(len(i))
        return (signal + noise, np.stack([signal, noise], axis=2)) if eval_gradient else signal + noise

    def diag(self, X):
        return self.scale * np.diag(self.K)[np.ravel(X).astype(int)] + self.noise

    def is_stationary(self):
        return False

    def clone_with_theta(self, theta):
        return Given(*np.exp(theta), self.K)

    def get_params(self, deep=True):
        return {"scale": self.scale, "noise": self.noise, "K": self.K}


def molecules(full: bool) -> None:
    sets = {
        "ESOL": ("esol", "measured log solubility in mols per litre"),
        "FreeSolv": ("freesolv", "expt"),
        "Lipophilicity": ("lipophilicity", "exp"),
    }
    n_splits = 5 if full else 1
    for title, (file, target) in sets.items():
        table = pd.read_parquet(DATA / f"{file}.parquet")
        rows, y = table["smiles"].to_numpy(), table[target].to_numpy()
        splits = list(ShuffleSplit(n_splits, test_size=0.2, random_state=0).split(rows))
        print(f"\n{title}, {len(rows)} molecules, {n_splits} random split(s) 80/20, RMSE")
        for name, (kernel, grid) in MOLECULES.items():
            errors, start = [], time.perf_counter()
            for train, test in splits:
                search = LooSearch(KernelRidge(kernel), grid).fit(rows[train], y[train])
                errors.append(np.sqrt(np.mean((search.predict(rows[test]) - y[test]) ** 2)))
            report(f"pellucid, {name}", errors, time.perf_counter() - start)
            print(
                f"{'':34s}{search.best_params_}  {deletion_fidelity(search.best_estimator_, rows[test][:50])}"
            )
        K = Tanimoto(2)(rows)
        counts = Tanimoto(2)._occurrences(rows).table(len(rows)).toarray()
        gp, forest, start = [], [], time.perf_counter()
        for train, test in splits:
            process = GaussianProcessRegressor(Given(1.0, 0.1, K), alpha=0.0, normalize_y=True)
            process.fit(train[:, None], y[train])
            gp.append(np.sqrt(np.mean((process.predict(test[:, None]) - y[test]) ** 2)))
        report("GP of scikit-learn, Tanimoto", gp, time.perf_counter() - start)
        start = time.perf_counter()
        for train, test in splits:
            trees = RandomForestRegressor(300, random_state=0, n_jobs=-1).fit(counts[train], y[train])
            forest.append(np.sqrt(np.mean((trees.predict(counts[test]) - y[test]) ** 2)))
        report("random forest, Morgan counts", forest, time.perf_counter() - start)


def report(name: str, errors: list[float], took: float) -> None:
    spread = f" ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.3f}" if len(errors) > 1 else ""
    print(f"  {name:30s}  {np.mean(errors):.3f}{spread}  ({took:.1f} s)")


def speed() -> None:
    def timed(name, work):
        start = time.perf_counter()
        work()
        print(f"  {name:52s} {time.perf_counter() - start:8.2f} s", flush=True)

    print("\nGram matrices")
    rows = pd.read_parquet(DATA / "dna_splice.parquet")["sequence"].str.strip().to_numpy()[:3000]
    for kernel in (Spectrum(4), Spectrum(6), Mismatch(5, alphabet="ACGT", skip_unknown=True), GappedKmer()):
        timed(f"3000 splice sequences, {kernel}", lambda kernel=kernel: kernel(rows))
    graphs, _ = read_mutag()
    for kernel in (WeisfeilerLehman(), ShortestPath()):
        timed(f"MUTAG, {kernel}", lambda kernel=kernel: kernel(graphs))
    try:
        from grakel import Graph as Peer
        from grakel import GraphKernel

        peers = []
        for labels, edges, marks in graphs:
            both = {(u, v): m for (u, v), m in zip(edges, marks, strict=True)}
            both |= {(v, u): m for (u, v), m in both.items()}
            peers.append(Peer(list(both), node_labels=dict(enumerate(labels)), edge_labels=both))
        for name in ("weisfeiler_lehman", "shortest_path"):
            timed(
                f"MUTAG, GraKeL {name}",
                lambda name=name: GraphKernel(name, normalize=True).fit_transform(peers),
            )
    except ImportError:
        print("  GraKeL is not installed")
    smiles = pd.read_parquet(DATA / "lipophilicity.parquet")["smiles"].to_numpy()
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    generator = GetMorganGenerator(radius=2)

    def bulk():
        prints = [generator.GetSparseCountFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
        np.array([BulkTanimotoSimilarity(one, prints) for one in prints])

    timed("4200 molecules, MinMax(2), parsing included", lambda: MinMax(2)(smiles))
    timed("4200 molecules, Tanimoto(2), parsed before", lambda: Tanimoto(2)(smiles))
    timed("4200 molecules, RDKit BulkTanimotoSimilarity, with parsing", bulk)
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(100_000, 100))
    many = np.array(["".join(row) for row in letters], dtype=object)
    y = np.array([text.count("CG") for text in many], dtype=float)
    timed(
        "100 000 sequences of 100, KernelRidge(Spectrum(4)), primal",
        lambda: KernelRidge(Spectrum(4, alphabet="ACGT")).fit(many, y),
    )
    print(
        f"  largest memory of this run {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.speed:
        speed()
    else:
        promoters()
        splice(options.full)
        mutag(options.full)
        molecules(options.full)
