"""Gram matrices of strings, graphs and molecules beside the fastest peers: one run, one thread each.

    python benchmarks/structured_speed.py

The claims: at least 3 times as fast as the weighted degree kernel of strkernels (in C, the fastest of its
kernels with a counterpart here; that of words of a single length takes half as long, and those of spectra
and subsequences, which count something else, take seconds for hundreds of sequences) on 3000 splice
sequences; 5 times GraKeL on MUTAG with subtrees of depth 1, more with deeper ones and shortest paths; not
slower than RDKit's BulkTanimotoSimilarity on 4200 molecules; and 100 000 sequences of 100 letters fitted in
less than 2 GB. Spectrum kernels are beside counts of scikit-learn, which are as fast where words are long.
Values are compared with the peer's in the same run. Peers that are not installed are left out. Needs RDKit,
and the data sets in the folder PELLUCID_DATA.

Seen in one run, in seconds of processor on a busy machine: WeightedDegree 3.5, 3.7 and 5.8 times as fast
for words of up to 2, 4 and 8 letters; Spectrum 7.7 times for words of 3 letters, and 1.8 times for 5;
WeisfeilerLehman 5.2, 7.1 and 8.5 times for depth 1, 3 and 5 (in three runs after that, 5.5 to 6.5 times for
depth 1); ShortestPath 17 times; MinMax of 4200 molecules from SMILES 31 times, Tanimoto of bits 4.4
times RDKit's on folded ones. The fit of 100 000 sequences took 0.88 GB above the data.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import in_own_process, measure
from _structured import grakel_graphs, read_molecules, read_mutag, read_splice
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from pellucid import KernelRidge
from pellucid.kernels import MinMax, ShortestPath, Spectrum, Tanimoto, WeightedDegree, WeisfeilerLehman
from pellucid.kernels.structured import chem
from pellucid.kernels.structured.graph import read_graph


def timed(
    work: Callable[..., Any], times: int, made: Callable[[], tuple] = tuple
) -> tuple[Any, float, float]:
    """The result, and seconds of processor and of the clock: the best of several runs.

    ``made`` makes the arguments anew before each run; this is not timed.
    """
    best = (np.inf, np.inf)
    for _ in range(times):
        given = made()
        clock, processor = time.perf_counter(), time.process_time()
        result = work(*given)
        best = min(best, (time.process_time() - processor, time.perf_counter() - clock))
    return result, *best


def beside(
    what: str,
    ours: Callable[..., np.ndarray],
    theirs: Callable[..., np.ndarray],
    times: int = 5,
    made: tuple[Callable[[], tuple], Callable[[], tuple]] = (tuple, tuple),
) -> None:
    """Print both, the ratio of processor seconds, and the largest difference of values."""
    A, seconds, clock = timed(ours, times, made[0])
    B, seconds_peer, clock_peer = timed(theirs, times, made[1])
    print(
        f"  {what:34s} {seconds:7.4f} s ({clock:.3f}), peer {seconds_peer:8.4f} s ({clock_peer:.3f}): "
        f"{seconds_peer / seconds:6.1f} times as fast; largest difference {np.abs(A - B).max():.1e}",
        flush=True,
    )


def strings() -> None:
    rows, _ = read_splice()
    rows = [text for text in rows if set(text) <= set("ACGT")][:3000]
    try:
        from strkernels import WeightedDegreeStringKernel
    except ImportError:
        print("  strkernels is not installed")
        return
    print(f"\n{len(rows)} splice sequences of 60 letters; peer: strkernels")
    for degree in (2, 4, 8):
        kernel, peer = WeightedDegree(degree), WeightedDegreeStringKernel(degree=degree)
        beside(str(kernel), lambda k=kernel: k(rows), lambda p=peer: p(rows, rows), 2)
    print("peer: CountVectorizer of scikit-learn, of which the rows are multiplied")
    for k in (3, 5):
        words = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False)

        def counted(words: CountVectorizer = words) -> np.ndarray:
            table = normalize(words.fit_transform(rows).astype(float))
            return (table @ table.T).toarray()

        beside(str(Spectrum(k)), lambda k=k: Spectrum(k)(rows), counted, 2)


def graphs() -> None:
    rows, _ = read_mutag()
    try:
        from grakel.kernels import ShortestPath as PeerPath
        from grakel.kernels import VertexHistogram
        from grakel.kernels import WeisfeilerLehman as PeerTrees
    except ImportError:
        print("  GraKeL is not installed")
        return
    print("\nMUTAG, 188 graphs in the form of each program, without labels of edges; peer: GraKeL")
    bare = [graph[:2] for graph in rows]

    def ours() -> tuple:
        return ([read_graph(graph) for graph in bare],)

    def theirs() -> tuple:
        return (grakel_graphs(rows),)

    for depth in (1, 3, 5):
        kernel = WeisfeilerLehman(depth, edge_labels=False)
        peer = PeerTrees(n_iter=depth, base_graph_kernel=VertexHistogram, normalize=True)
        beside(f"WeisfeilerLehman({depth})", kernel, peer.fit_transform, 20, (ours, theirs))
    peer = PeerPath(normalize=True)
    beside("ShortestPath()", ShortestPath(), peer.fit_transform, 10, (ours, theirs))


def molecules() -> None:
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    smiles, _ = read_molecules("lipophilicity")
    generator, kernel = GetMorganGenerator(radius=2), MinMax(2)
    print(f"\n{len(smiles)} molecules of lipophilicity; peer: RDKit's BulkTanimotoSimilarity, each pair once")

    def prints() -> list[Any]:
        return [generator.GetSparseCountFingerprint(Chem.MolFromSmiles(text)) for text in smiles]

    def bulk(fingerprints: list[Any]) -> np.ndarray:
        K = np.empty((len(fingerprints), len(fingerprints)))
        for i, one in enumerate(fingerprints):
            K[i, : i + 1] = K[: i + 1, i] = BulkTanimotoSimilarity(one, fingerprints[: i + 1])
        return K

    def afresh() -> np.ndarray:
        for cache in (chem.molecule, chem.fragments):
            cache.cache_clear()
        return kernel(smiles)

    beside("MinMax(2), from SMILES", afresh, lambda: bulk(prints()), 1)
    bits, there = Tanimoto(2, counts=False), GetMorganGenerator(radius=2, fpSize=2048)
    counts = bits._occurrences(smiles).table(len(smiles))
    folded = [there.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    beside("Tanimoto(2, counts=False), bits", lambda: bits.compare(counts, counts), lambda: bulk(folded), 2)
    print("    (the peer's 2048 bits are folded: fragments that share one by accident make the difference)")


def many_sequences() -> None:
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(100_000, 100))
    rows = np.array(["".join(row) for row in letters], dtype=object)
    y = np.array([text.count("CG") for text in rows], dtype=float)
    print(json.dumps(measure(lambda: KernelRidge(Spectrum(4, alphabet="ACGT")).fit(rows, y))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    if parser.parse_args().child:
        many_sequences()
    else:
        strings()
        graphs()
        molecules()
        told = in_own_process(__file__, "many")
        print(
            f"\nKernelRidge(Spectrum(4, alphabet='ACGT')) on 100 000 sequences of 100 letters: "
            f"{told['seconds']:.1f} s, {told['peak_bytes'] / 1e9:.2f} GB above the data"
        )
