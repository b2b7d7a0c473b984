"""Kernels of sequences against double loops over substrings."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.kernels import GappedKmer, Mismatch, NGrams, Spectrum, Subsequence, WeightedDegree

sequences = st.lists(st.text("ACGT", max_size=14), min_size=1, max_size=5)
OTHER = dict(zip("ACGT", "TGCA", strict=True))


def windows(text, k):
    return [text[i : i + k] for i in range(len(text) - k + 1)]


def strand(word):
    return "".join(OTHER.get(letter, letter) for letter in reversed(word))


def canonical(word):
    return min(word, strand(word))


def gapped(text, length, k):
    for window in windows(text, length):
        for places in combinations(range(length), k):
            yield "".join(c if i in places else "-" for i, c in enumerate(window))


def near(word, m):
    for other in product("ACGT", repeat=len(word)):
        if sum(a != b for a, b in zip(word, other, strict=True)) <= m:
            yield "".join(other)


def gram_of(features, texts, normalise=False):
    """Inner products of counters, one pair at a time."""
    counts = [Counter(features(text)) for text in texts]
    K = np.array([[float(sum(a[p] * b[p] for p in a)) for b in counts] for a in counts])
    if normalise:
        norm = np.sqrt(np.diag(K))
        K = np.divide(K, np.outer(norm, norm), out=np.zeros_like(K), where=np.outer(norm, norm) > 0)
    return K


@settings(max_examples=30, deadline=None)
@given(sequences, st.integers(1, 5), st.booleans(), st.booleans())
def test_spectrum(texts, k, both, normalise):
    kernel = Spectrum(k, reverse_complement=both, normalise=normalise)
    expected = gram_of(lambda t: [canonical(w) if both else w for w in windows(t, k)], texts, normalise)
    assert_allclose(kernel(texts), expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=15, deadline=None)
@given(sequences, st.integers(2, 3), st.integers(0, 1), st.booleans())
def test_mismatch(texts, k, m, both):
    kernel = Mismatch(k, m, reverse_complement=both, normalise=False)

    def features(text):
        return [canonical(n) if both else n for w in windows(text, k) for n in near(w, m)]

    assert_allclose(kernel(texts), gram_of(features, texts), rtol=1e-12)


def test_mismatches_in_two_letters():
    texts = ["ACGTAC", "TTGACA", "CCCC"]
    expected = gram_of(lambda t: [n for w in windows(t, 4) for n in near(w, 2)], texts)
    assert_allclose(Mismatch(4, 2, normalise=False)(texts), expected)


@settings(max_examples=20, deadline=None)
@given(sequences, st.sampled_from([(3, 2), (4, 2), (3, 3)]), st.booleans())
def test_gapped_words(texts, size, both):
    kernel = GappedKmer(*size, reverse_complement=both, normalise=False)

    def features(text):
        # in the order of the alphabet, with the gap first
        return [min(w, strand(w)) if both else w for w in gapped(text, *size)]

    assert_allclose(kernel(texts), gram_of(features, texts), rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(sequences, st.integers(1, 4))
def test_weighted_degree(texts, degree):
    kernel = WeightedDegree(degree, normalise=False)
    expected = np.zeros((len(texts), len(texts)))
    for (i, x), (j, y) in product(enumerate(texts), repeat=2):
        for d in range(1, degree + 1):
            beta = 2 * (degree - d + 1) / (degree * (degree + 1))
            same = sum(a == b for a, b in zip(windows(x, d), windows(y, d), strict=False))
            expected[i, j] += beta * same
    assert_allclose(kernel(texts), expected, rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("ab", max_size=7), min_size=1, max_size=3), st.integers(1, 3))
def test_subsequences(texts, k):
    decay = 0.6

    def value(x, y):
        return sum(
            decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
            for i in combinations(range(len(x)), k)
            for j in combinations(range(len(y)), k)
            if all(x[a] == y[b] for a, b in zip(i, j, strict=True))
        )

    expected = [[value(x, y) for y in texts] for x in texts]
    assert_allclose(Subsequence(k, decay, normalise=False)(texts), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("normalise", [True, False])
def test_subsequences_by_their_weights_and_pair_by_pair(monkeypatch, normalise):
    rng = np.random.default_rng(4)
    texts = ["", "GAT", *("".join(rng.choice(list("ACGT"), n)) for n in (9, 30, 30, 47))]
    for k in (1, 3, 4):
        kernel = Subsequence(k, 0.7, normalise=normalise)
        by_weights = kernel(texts), kernel(texts[:4], texts[3:]), kernel.diag(texts)
        with monkeypatch.context() as change:
            change.setattr("pellucid.kernels.structured.subsequence._CELLS", 0)
            pair_by_pair = kernel(texts), kernel(texts[:4], texts[3:]), kernel.diag(texts)
        for one, other in zip(by_weights, pair_by_pair, strict=True):
            assert_allclose(one, other, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("unit", ["word", "character"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_n_grams_are_those_of_scikit_learn(unit, most):
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["The cat sat on the mat.", "the CAT ran", "A dog ran on; on and on", "", "Über den Berg"]
    counter = CountVectorizer(ngram_range=(1, most), analyzer="word" if unit == "word" else "char")
    counts = counter.fit_transform(texts).toarray()
    assert_array_equal(NGrams(most, unit, normalise=False)(texts), counts @ counts.T)


def test_words_too_long_for_a_number_are_told_apart():
    texts = [
        "".join(map(chr, range(300, 340))) + "x" * 30,
        "x" * 60 + "y",
        "".join(map(chr, range(300, 345))),
    ]
    expected = gram_of(lambda t: windows(t, 25), texts)
    assert_allclose(Spectrum(25, normalise=False)(texts), expected)


def test_occurrences_say_where_parts_are():
    assert Spectrum(2).occurrences("AACA") == {"AA": [(0, 1)], "AC": [(1, 2)], "CA": [(2, 3)]}
    assert Spectrum(2, reverse_complement=True).occurrences("GTT") == {"AC": [(0, 1)], "AA": [(1, 2)]}
    assert GappedKmer(3, 2).occurrences("ACG") == {"AC-": [(0, 1)], "A-G": [(0, 2)], "-CG": [(1, 2)]}
    assert WeightedDegree(2).occurrences("AC") == {"A@0": [(0,)], "C@1": [(1,)], "AC@0": [(0, 1)]}
    assert len(Mismatch(2, 1).occurrences("AC")) == 7
    assert NGrams(2).occurrences("Big cat")["big cat"] == [(0, 1, 2, 4, 5, 6)]


def test_letters_outside_the_alphabet():
    with pytest.raises(ValueError, match=r"row 1: the letters 'N', 'x' are not in the alphabet 'ACGT'"):
        Spectrum(2, alphabet="ACGT")(["ACGT", "ACxNT"])
    skipping = Spectrum(2, alphabet="ACGT", skip_unknown=True, normalise=False)
    assert skipping.occurrences("ACNGT") == {"AC": [(0, 1)], "GT": [(3, 4)]}
    assert_array_equal(Spectrum(2, normalise=False)(["ACNGT"]), [[4.0]])


@pytest.mark.parametrize("made", [Spectrum(3), Mismatch(3), GappedKmer(4, 3), Subsequence(3)])
def test_strings_without_words_are_alike_to_nothing(made):
    K = made(["", "AC", "ACGTACGT"])
    assert_array_equal(K[:2], 0.0)
    assert K[2, 2] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectrum(0), "k must be a whole number of at least 1"),
        (lambda: Spectrum(alphabet="AA"), "alphabet must be a string of different letters"),
        (lambda: Spectrum(alphabet="AC", reverse_complement=True), "complement of each of its letters"),
        (lambda: Mismatch(2, 2), "m must be below k"),
        (lambda: Mismatch(alphabet=None), "needs an alphabet"),
        (lambda: GappedKmer(3, 4), "k must be at most length"),
        (lambda: Subsequence(decay=1.5), "decay must be at most 1"),
        (lambda: NGrams(unit="page"), "unit must be 'word' or 'character'"),
        (lambda: Spectrum()(["AC", None]), "row 1: expected a string, got a missing value"),
        (lambda: Spectrum()([1.5]), "row 0: expected a string, got float '1.5'"),
        (lambda: Mismatch(40)(["A" * 50]), "too long to be numbered"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_memory_is_estimated_before(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "1e5")
    with pytest.raises(NotEnoughMemoryError, match=r"take about .* but only"):
        GappedKmer(6, 3)(["ACGT" * 500])
