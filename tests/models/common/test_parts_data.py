"""Motifs that biologists know, found in real sequences."""

import os
from pathlib import Path

import numpy as np
import pytest

from pellucid import KernelRidgeClassifier
from pellucid.kernels import WeightedDegree

pandas = pytest.importorskip("pandas")
FOLDER = os.environ.get("PELLUCID_DATA")
pytestmark = [pytest.mark.data, pytest.mark.skipif(FOLDER is None, reason="PELLUCID_DATA is not set")]


def test_promoters_have_their_two_boxes():
    table = pandas.read_parquet(Path(FOLDER) / "dna_promoters.parquet")
    rows, y = table["sequence"].str.upper().to_numpy(), (table["class"] == "+").to_numpy()
    model = KernelRidgeClassifier(WeightedDegree(2)).fit(rows, y)
    profile = np.mean([one.positions for one in model.part_contributions(rows[y])], axis=0)
    strongest = set(np.argsort(-profile)[:12].tolist())
    assert set(range(14, 20)) <= strongest  # the box at -35, with position 50 the start of transcription
    assert len(strongest & set(range(36, 42))) >= 3  # the box at -10
    windows = np.convolve(profile, np.ones(6), "valid")
    first = int(np.argmax(windows))
    windows[max(first - 5, 0) : first + 6] = -np.inf
    assert first == 14  # of all windows of six letters, the strongest is the box at -35,
    assert 36 <= int(np.argmax(windows)) <= 38  # and the next that at -10, which begins there
    motifs = model.motifs(12).parts
    assert {"T@14", "T@15", "G@16", "A@17"} <= set(motifs)  # TTGACA begins at 14


def test_splice_junctions_have_gt_and_ag():
    table = pandas.read_parquet(Path(FOLDER) / "dna_splice.parquet").iloc[::5]
    rows, y = table["sequence"].str.strip().to_numpy(), table["label"].str.strip().to_numpy()
    model = KernelRidgeClassifier(WeightedDegree(2)).fit(rows, y)
    for junction, first, word in (("EI", 30, "GT"), ("IE", 28, "AG")):
        parts = model.part_contributions(rows[y == junction], output=junction)
        profile = np.mean([one.positions for one in parts], axis=0)
        assert set(np.argsort(-profile)[:2].tolist()) == {first, first + 1}
        assert f"{word}@{first}" in model.motifs(8, output=junction).parts
