"""Predictions of kernel models are sums over the parts of strings, graphs and molecules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import (
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    deletion_fidelity,
)
from pellucid.kernels import (
    RBF,
    REGISTRY,
    Categorical,
    CountedParts,
    GappedKmer,
    Spectrum,
    Subsequence,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
)

COUNTED = sorted(name for name, cls in REGISTRY.items() if issubclass(cls, CountedParts))
SEQUENCES = [
    "ACGTACGTTG",
    "TTGACA",
    "TATAAT",
    "ACACACAC",
    "GGGTTTACC",
    "TTGACATATAAT",
    "AC",
    "ACGGT",
    "CATTAG",
]


def frame(seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ACGT"), 9)) for _ in range(24)]
    table = pandas.DataFrame({"note": "unused", "promoter": texts, "dose": rng.normal(size=24)})
    y = np.array([text.count("AC") for text in texts]) + np.sin(table["dose"])
    return table, y.to_numpy()


MIXED = 2.0 * Spectrum(2).on("promoter") + RBF().on(["dose"])


def check(one, score):
    """The three sums agree with the score: over parts, over places, and both with the intercept."""
    counted = {name for site in one.maps for name in site.kernels}
    others = sum(v for v, k in zip(one.contributions, one.kernels, strict=True) if k not in counted)
    places = sum(site.total for site in one.maps)
    assert_allclose(one.prediction, score, rtol=1e-10, atol=1e-10)
    assert_allclose(one.intercept + places + others, score, rtol=1e-10, atol=1e-10)
    for site in one.maps:
        assert_allclose(site.on_labels.sum(), site.total, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", COUNTED)
def test_sums_for_every_kernel(name):
    if name in ("Tanimoto", "MinMax"):
        pytest.importorskip("rdkit")
    for kernel in REGISTRY[name].examples():
        rows = kernel.example_rows()
        y = np.random.default_rng(1).normal(size=(len(rows), 2))
        model = KernelRidge(kernel, alpha=0.3).fit(rows, y)
        for output in (0, 1):
            for one, score in zip(
                model.part_contributions(rows, output=output), model.predict(rows)[:, output], strict=True
            ):
                check(one, score)


@pytest.mark.parametrize("name", COUNTED)
def test_contributions_belong_to_the_parts_they_are_listed_under(name):
    """Each part alone: the terms of the sum over training objects that have it."""
    if name in ("Tanimoto", "MinMax"):
        pytest.importorskip("rdkit")
    for kernel in REGISTRY[name].examples():
        rows = kernel._rows(kernel.example_rows())
        dual = np.random.default_rng(2).normal(size=len(rows))
        model = KernelRidge(kernel, alpha=1.0).fit(rows, dual)
        dual = model.dual_coef_
        counts = [count_parts(kernel, item) for item in rows]
        one = model.part_contributions(rows[:1])[0]
        assert set(one.parts) == set(counts[0])
        for part, value in zip(one.parts, one.contributions, strict=True):
            assert_allclose(value, share(kernel, part, counts[0], counts, dual), rtol=1e-9, atol=1e-12)


def count_parts(kernel, item):
    found = kernel._occurrences(kernel._rows([item]))
    names = found.names(np.arange(found.n_parts))
    return dict(zip(names, found.table(1).toarray()[0], strict=True))


def share(kernel, part, mine, others, dual):
    """Contribution of one part by its definition."""
    total = 0.0
    for a, other in zip(dual, others, strict=True):
        if part not in other:
            continue
        if type(kernel).__name__ == "Tanimoto":
            both = sum(mine[p] * other.get(p, 0.0) for p in mine)
            whole = sum(v * v for v in mine.values()) + sum(v * v for v in other.values()) - both
            total += a * mine[part] * other[part] / whole
        elif type(kernel).__name__ == "MinMax":
            both = sum(min(mine[p], other.get(p, 0.0)) for p in mine)
            total += a * min(mine[part], other[part]) / (sum(mine.values()) + sum(other.values()) - both)
        else:
            norm = 1.0
            if kernel.normalise:
                norm = np.sqrt(sum(v * v for v in mine.values()) * sum(v * v for v in other.values()))
            total += a * mine[part] * other[part] / norm
    return total


MODELS = {
    "ridge": (KernelRidge(MIXED), lambda y: y, "predict"),
    "ridge classes": (KernelRidgeClassifier(MIXED), lambda y: y > 1, "decision_function"),
    "glm": (KernelGLMRegressor(MIXED, alpha=1.0), lambda y: np.round(np.abs(y)), "log"),
    "glm classes": (KernelClassifier(MIXED, alpha=1.0), lambda y: y > 1, "decision_function"),
    "three classes": (KernelClassifier(MIXED, alpha=1.0), lambda y: np.digitize(y, [0.3, 1.2]), "best"),
    "search": (LooSearch(KernelRidge(MIXED), {"kernel__spectrum__k": [1, 2, 3]}), lambda y: y, "predict"),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("label", MODELS)
def test_a_column_of_sequences_beside_numbers(label, library):
    module = pytest.importorskip(library)
    table, y = frame()
    table = module.DataFrame(table.to_dict("list"))
    model, target, how = MODELS[label]
    model.fit(table, target(y))
    if how == "log":
        scores = np.log(model.predict(table[:5]))
    elif how == "best":
        scores = model.decision_function(table[:5]).max(axis=1)
    else:
        scores = getattr(model, how)(table[:5])
    for one, score in zip(model.part_contributions(table[:5]), scores, strict=True):
        check(one, score)
        assert "RBF(length_scale=1).on(['dose'])" in one.parts
    assert len(model.motifs_) == (16 if label != "search" else min(20, len(model.motifs_)))


@pytest.mark.parametrize("kernel", [MIXED, MIXED + Categorical().on("strain")], ids=["objects", "levels"])
def test_columns_kept_by_arrow(kernel):
    """Strings, numbers and dates of every backend are the same rows."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table, y = frame()
    table["strain"] = ["a", "b"] * 12
    table["day"] = pandas.date_range("2024-01-01", periods=24)
    model = KernelRidge(kernel, alpha=0.1).fit(table, y)
    for backend in ("pyarrow", "numpy_nullable"):
        other = table.convert_dtypes(dtype_backend=backend)
        assert_array_equal(model.predict(other), model.predict(table))
        assert_array_equal(KernelRidge(kernel, alpha=0.1).fit(other, y).predict(table), model.predict(table))
        other.loc[3, "promoter"] = None
        with pytest.raises(ValueError, match="missing value in column 'promoter', row 3"):
            model.predict(other)


def test_fisher_discriminants_explain_the_scores_of_classes():
    table, y = frame()
    classes = np.digitize(y, [0.3, 1.2])
    model = KernelFisherDiscriminant(MIXED).fit(table, classes)
    for q in range(3):
        for i, one in enumerate(model.part_contributions(table[:3], output=q)):
            check(one, model._decision(model._check_new_rows(table))[i, q])
            assert one.output == f"class {q}"


@st.composite
def smiles(draw):
    """Chains with branches and rings: fragments that RDKit reads, side by side."""
    pieces = ["C", "N", "O", "C(C)", "C(=O)", "c1ccccc1", "C1CC1", "C(O)", "C#C", "C(Cl)"]
    return "C" + "".join(draw(st.lists(st.sampled_from(pieces), max_size=6)))


@st.composite
def any_graphs(draw):
    n = draw(st.integers(0, 6))
    labels = draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return labels, edges, draw(st.lists(st.sampled_from("-="), min_size=len(edges), max_size=len(edges)))


KINDS = {
    "letters": st.text("ACGT", max_size=12),
    "text": st.text("ab Bc.", max_size=15),
    "graph": any_graphs(),
    "molecule": smiles(),
}


def kind_of(kernel):
    if kernel.places == "letters":
        return "text" if type(kernel).__name__ == "NGrams" else "letters"
    return "molecule" if type(kernel).__name__ in ("Tanimoto", "MinMax") else "graph"


@pytest.mark.parametrize("name", COUNTED)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_sums_for_any_objects(name, data):
    """Trained on some, asked for others: parts that training never had are among them."""
    kernel = data.draw(st.sampled_from(REGISTRY[name].examples()))
    kind = kind_of(kernel)
    if kind == "molecule":
        pytest.importorskip("rdkit")
    objects = st.lists(KINDS[kind], min_size=3, max_size=7)
    train, new = data.draw(objects), data.draw(objects)
    model = KernelRidge(kernel, alpha=0.5).fit(train, np.arange(len(train), dtype=float))
    for rows in (train, new):
        for one, score in zip(model.part_contributions(rows), model.predict(rows), strict=True):
            check(one, score)


def test_kernels_of_one_column_share_its_letters():
    kernel = Spectrum(2) + 0.5 * WeightedDegree(1)
    model = KernelRidge(kernel, alpha=0.5).fit(SEQUENCES, np.arange(9.0))
    one = model.part_contributions("TTGACA")
    assert len(one.maps) == 1
    assert one.maps[0].kernels == (str(Spectrum(2)), str(WeightedDegree(1)))
    apart = np.zeros(6)
    covers = {
        name: member.occurrences("TTGACA")
        for name, member in zip(one.maps[0].kernels, [Spectrum(2), WeightedDegree(1)], strict=True)
    }
    for part, name, value in zip(one.parts, one.kernels, one.contributions, strict=True):
        places = covers[name][part]
        for cover in places:
            apart[list(cover)] += value / len(places) / len(cover)
    assert_allclose(one.positions, apart, rtol=1e-10, atol=1e-12)
    # a letter is gone for both kernels at once
    found = deletion_fidelity(model, SEQUENCES)
    each = [
        KernelRidge(k, alpha=0.5).fit(SEQUENCES, np.arange(9.0)) for k in (Spectrum(2), WeightedDegree(1))
    ]
    changes = 0.0
    for member, factor in zip(each, (1.0, 0.5), strict=True):
        member._dual = factor * model._dual  # the same model, one kernel at a time
        changes = changes + deletion_fidelity(member, SEQUENCES).changes
    assert_allclose(found.changes, changes, rtol=1e-10, atol=1e-12)
    assert len(found.changes) == sum(map(len, SEQUENCES))


def test_atoms_of_two_kernels_are_the_same_atoms():
    pytest.importorskip("rdkit")
    table = pytest.importorskip("pandas").DataFrame(
        {"smiles": ["CCO", "CC(=O)[O-]", "c1ccccc1N", "C"], "sequence": ["AC", "ACGT", "GG", "ACCA"]}
    )
    kernel = Tanimoto(1).on("smiles") + WeisfeilerLehman(1).on("smiles") + Spectrum(1).on("sequence")
    model = KernelRidge(kernel, alpha=0.5).fit(table, np.arange(4.0))
    for one, score in zip(model.part_contributions(table), model.predict(table), strict=True):
        check(one, score)
        assert [site.places for site in one.maps] == ["nodes", "letters"]
        assert len(one.maps[0].kernels) == 2


def test_one_object_and_objects_without_parts():
    model = KernelRidge(Spectrum(3), alpha=0.1).fit(SEQUENCES, np.arange(9.0))
    one = model.part_contributions("TTGACA")
    assert one.parts == model.part_contributions(["TTGACA"])[0].parts
    assert one.positions.shape == (6,)
    assert str(one).startswith("prediction")
    short = model.part_contributions("AC")
    assert short.parts == ()
    assert short.prediction == short.intercept == model.predict(["AC"])[0]


def test_the_primal_gives_the_same_answer():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(60)]
    y = [text.count("CG") for text in texts]
    primal = KernelRidge(Spectrum(2, alphabet="ACGT"), alpha=0.1).fit(texts, y)
    dual = KernelRidge(Spectrum(2), alpha=0.1).fit(texts, y)
    assert primal.solver_ == "primal"
    assert_allclose(primal.predict(texts), dual.predict(texts), rtol=1e-9)
    for one, score in zip(primal.part_contributions(texts[:5]), primal.predict(texts[:5]), strict=True):
        check(one, score)


def test_kernels_without_parts_are_one_part():
    kernel = Spectrum(2) + Subsequence(2)
    model = KernelRidge(kernel, alpha=0.1).fit(SEQUENCES, np.arange(9.0))
    one = model.part_contributions(SEQUENCES)[3]
    check(one, model.predict(SEQUENCES)[3])
    assert str(Subsequence(2)) in one.parts
    alone = KernelRidge(Subsequence(2), alpha=0.1).fit(SEQUENCES, np.arange(9.0))
    assert alone.part_contributions("TTG").parts == (str(Subsequence(2)),)
    with pytest.raises(ValueError, match="counts no parts"):
        alone.motifs()
    assert not hasattr(KernelRidge().fit(np.eye(5), np.arange(5)), "motifs_")


def test_motifs_and_their_errors_are_those_of_refits():
    """The jackknife by fitting again without each object, alpha as it is."""
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("AC"), 8)) for _ in range(15)]
    y = np.array([text.count("AA") for text in texts]) + 0.1 * rng.normal(size=15)
    for kernel in (Spectrum(2), 3.0 * Spectrum(2, normalise=False) + 1.0):
        model = KernelRidge(kernel, alpha=0.5).fit(texts, y)
        motifs = model.motifs(3)
        plain = Spectrum(2, normalise="False" not in str(kernel))
        factor = 3.0 if "3" in str(kernel) else 1.0
        table = plain._occurrences(np.array(texts, dtype=object))
        features = plain.scaled(table.table(15)).toarray() * np.sqrt(factor)
        names = table.names(np.arange(table.n_parts))
        mean = np.array([column[column > 0].mean() for column in features.T])
        K = kernel(texts)
        weights = []
        for left_out in [None, *range(15)]:
            kept = np.delete(np.arange(15), [] if left_out is None else left_out)
            H = np.eye(len(kept)) - 1.0 / len(kept)
            dual = np.linalg.solve(H @ K[np.ix_(kept, kept)] @ H + 0.5 * np.eye(len(kept)), H @ y[kept])
            weights.append(mean * (features[kept].T @ dual))
        order = np.argsort(-np.abs(weights[0]))[:3]
        assert motifs.parts == tuple(names[p] for p in order)
        assert_allclose(motifs.weight, weights[0][order], rtol=1e-8)
        without = np.array(weights[1:])
        error = np.sqrt(14 / 15 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        assert_allclose(motifs.standard_error, error[order], rtol=1e-8)
        ranks = np.argsort(np.argsort(-np.abs(without), axis=1), axis=1)
        assert_allclose(motifs.stability, (ranks[:, order] < 3).mean(axis=0))
        assert "std. error" in str(motifs)


def test_motifs_cannot_be_less_than_one():
    model = KernelRidge(Spectrum(2), alpha=0.1).fit(SEQUENCES, np.arange(9.0))
    with pytest.raises(ValueError, match="n_motifs must be a whole number"):
        model.motifs(-1)
    with pytest.raises(ValueError, match="least must be a whole number"):
        model.motifs(least=0)


def test_motifs_of_ratios_are_mean_contributions():
    pytest.importorskip("rdkit")
    from pellucid.kernels import MinMax, Tanimoto

    for kernel in (Tanimoto(1), MinMax(1)):
        rows = kernel.example_rows()
        model = KernelRidge(kernel, alpha=0.5).fit(rows, np.arange(7.0))
        motifs = model.motifs(5, least=1)
        explained = model.part_contributions(rows)
        for part, weight in zip(motifs.parts, motifs.weight, strict=True):
            values = [
                v for one in explained for p, v in zip(one.parts, one.contributions, strict=True) if p == part
            ]
            assert_allclose(weight, np.mean(values), rtol=1e-10)
        G = kernel.mean_shares(kernel._occurrences(model.X_fit_).table(7), np.arange(3))
        shares = kernel.shares(*[kernel._occurrences(model.X_fit_).table(7)] * 2, model._dual)[:, 0]
        table = kernel._occurrences(model.X_fit_).table(7)
        assert_allclose(G @ model._dual[:, 0], [shares[table.indices == p].mean() for p in range(3)])


def test_planted_motifs_are_found_where_they_are():
    rng = np.random.default_rng(4)
    texts, y = [], []
    for i in range(80):
        letters = rng.choice(list("ACGT"), 30)
        if i % 2:
            letters[12:16] = list("TATA")
        texts.append("".join(letters))
        y.append(i % 2)
    model = KernelRidgeClassifier(Spectrum(4)).fit(texts, y)
    assert model.motifs(5).parts[0] == "TATA"
    assert model.motifs(5).stability[0] == 1.0
    profile = np.mean([model.part_contributions(text).positions for text in texts[1::2]], axis=0)
    assert set(np.argsort(-profile)[:4]) == {12, 13, 14, 15}


@pytest.mark.parametrize("how", ["mask", "mutate"])
def test_deletion_is_exact_for_single_letters(how):
    """Without norm and overlap, the contribution of a letter is what its removal takes away."""
    kernel = WeightedDegree(1, normalise=False)
    model = KernelRidge(kernel, alpha=0.5).fit(SEQUENCES, np.arange(9.0))
    found = deletion_fidelity(model, SEQUENCES, how=how)
    if how == "mask":
        assert_allclose(found.contributions, found.changes, rtol=1e-9, atol=1e-12)
        assert found.r2 == pytest.approx(1.0)
        assert found.slope == pytest.approx(1.0)
    changes = []
    for text in SEQUENCES:
        for i in range(len(text)):
            letters = "x" if how == "mask" else sorted(set("ACGT") - {text[i]})
            others = model.predict([text[:i] + letter + text[i + 1 :] for letter in letters])
            changes.append(model.predict([text])[0] - others.mean())
    assert_allclose(found.changes, changes, rtol=1e-8, atol=1e-10)
    assert "fidelity" in str(found)


def test_deletion_of_letters_is_masking_with_an_unknown_letter():
    for kernel in (Spectrum(2), GappedKmer(3, 2)):
        model = KernelRidge(kernel, alpha=0.5).fit(SEQUENCES, np.arange(9.0))
        skipping = type(kernel)(**{**kernel.get_params(), "alphabet": "ACGT", "skip_unknown": True})
        found = deletion_fidelity(model, SEQUENCES[:1])
        masked = [SEQUENCES[0][:i] + "?" + SEQUENCES[0][i + 1 :] for i in range(len(SEQUENCES[0]))]
        if isinstance(kernel, Spectrum):
            expected = model.predict(SEQUENCES[:1]) - (
                skipping(masked, SEQUENCES) @ model.dual_coef_ + model.intercept_
            )
            assert_allclose(found.changes, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="how must be"):
        deletion_fidelity(model, SEQUENCES, how="cut")
    with pytest.raises(ValueError, match="counts no parts"):
        deletion_fidelity(KernelRidge(Subsequence(2), alpha=1.0).fit(SEQUENCES, np.arange(9)), SEQUENCES)


def test_bad_columns():
    table, y = frame()
    model = KernelRidge(MIXED)
    broken = table.copy()
    broken.loc[3, "promoter"] = None
    with pytest.raises(ValueError, match="missing value in column 'promoter', row 3"):
        model.fit(broken, y)
    broken = table.copy()
    broken["note"] = None  # not read, so not looked at
    assert np.isfinite(model.fit(broken, y).predict(broken)).all()
    broken = table.copy()
    broken.loc[2, "dose"] = np.nan
    with pytest.raises(ValueError, match="missing value in column 'dose', row 2"):
        model.fit(broken, y)
    strict = Spectrum(2, alphabet="ACGT").on("promoter")
    broken = table.copy()
    broken.loc[1, "promoter"] = "ACNGT"
    with pytest.raises(ValueError, match="Column 'promoter': row 1: the letters 'N' are not in the alphabet"):
        KernelRidge(strict).fit(broken, y)
    with pytest.raises(ValueError, match="compares single objects, but X has 3 columns"):
        KernelRidge(Spectrum(2)).fit(table, y)
    with pytest.raises(ValueError, match="compares one column of objects"):
        KernelRidge(Spectrum(2).on(["promoter", "note"])).fit(table, y)
    with pytest.raises(ValueError, match="names columns that X does not have"):
        KernelRidge(Spectrum(2).on("gene")).fit(table, y)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        KernelRidge(Spectrum(2)).fit([], [])
    with pytest.raises(ValueError, match="objects"):
        KernelRidge(Spectrum(2), alpha=1.0).fit(SEQUENCES, np.arange(9)).linear_view()


def test_categories_and_sequences_in_one_model():
    table, y = frame()
    table["strain"] = np.where(np.arange(24) % 2, "a", "b")
    model = KernelRidge(Spectrum(2).on("promoter") + Categorical().on("strain")).fit(table, y)
    check(model.part_contributions(table[:1])[0], model.predict(table[:1])[0])
    one_column = KernelRidge(Spectrum(2), alpha=1.0).fit(table[["promoter"]], y)
    listed = KernelRidge(Spectrum(2), alpha=1.0).fit(table["promoter"], y)
    assert_allclose(one_column.predict(table[["promoter"]]), listed.predict(table["promoter"].tolist()))


def test_search_over_words():
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(60)]
    y = np.array([sum(text[i : i + 2] == "CG" for i in range(39)) for text in texts], dtype=float)
    search = LooSearch(KernelRidge(Spectrum()), {"kernel__k": [1, 2, 4]}).fit(texts, y)
    assert search.best_params_ == {"kernel__k": 2}
    assert search.part_contributions(texts[:1])[0].maps[0].item == texts[0]
    assert search.motifs_.parts[0] == "CG"


def test_parts_inside_a_product_have_no_contribution_of_their_own():
    rows = np.array([[text, i / 9] for i, text in enumerate(SEQUENCES)], dtype=object)
    kernel = Spectrum(2).on([0]) * RBF().on([1])
    model = KernelRidge(kernel, alpha=0.1).fit(rows, np.arange(9.0))
    for ask in (model.part_contributions, lambda X: deletion_fidelity(model, X), lambda X: model.motifs()):
        with pytest.raises(ValueError, match=r"inside a product or power.*Add the kernels instead"):
            ask(rows)
    with pytest.raises(AttributeError, match="inside a product"):
        model.motifs_  # noqa: B018


def test_one_object_is_not_taken_for_rows():
    """Letters of a string, or keys of a dict, would be predicted one by one."""
    model = KernelRidge(Spectrum(2), alpha=1.0).fit(SEQUENCES, np.arange(9.0))
    with pytest.raises(TypeError, match=r"Expected rows, got one str\. For a single object, pass a list"):
        model.predict("TTGACA")
    graph = {"labels": ["A", "B"], "edges": [(0, 1)]}
    model = KernelRidge(WeisfeilerLehman(1), alpha=1.0).fit([graph] * 3, np.arange(3.0))
    with pytest.raises(TypeError, match="got one dict"):
        model.predict(graph)
    assert model.part_contributions(graph).prediction == pytest.approx(model.predict([graph])[0])


def test_models_made_from_sums_have_no_rows_to_explain_by():
    texts = ["".join(letters) for letters in np.random.default_rng(6).choice(list("ACGT"), (40, 12))]
    y = np.array([text.count("CG") for text in texts], dtype=float)
    model = KernelRidge(Spectrum(2, alphabet="ACGT"), alpha=0.1, updatable=True).fit(texts[:30], y[:30])
    model.update(texts[30:], y[30:])
    for ask in (model.part_contributions, lambda rows: deletion_fidelity(model, rows)):
        with pytest.raises(ValueError, match=r"read from the training rows.*refit"):
            ask(texts[:2])
