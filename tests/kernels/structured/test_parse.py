import pytest

from pellucid.kernels import RBF, Categorical, Matern, Spectrum, Tanimoto, WeisfeilerLehman
from pellucid.kernels.structured.parse import parse_kernel


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tanimoto(smiles)", Tanimoto().on("smiles")),
        ("Tanimoto(smiles, radius=3)", Tanimoto(3).on("smiles")),
        ("weisfeiler_lehman(graph, depth=2)", WeisfeilerLehman(2).on("graph")),
        ("spectrum(seq, k=4) + rbf(dose)", Spectrum(4).on("seq") + RBF().on("dose")),
        ("2 * matern(a, 'b c', nu=2.5) ** 2", 2 * Matern(nu=2.5).on(["a", "b c"]) ** 2),
        ("rbf * categorical(city) + 0.5", RBF() * Categorical().on("city") + 0.5),
        ("spectrum(seq, alphabet='ACGT')", Spectrum(alphabet="ACGT").on("seq")),
        ("rbf(length_scale=[1, 2])", RBF([1.0, 2.0])),
    ],
)
def test_formulas(text, expected):
    assert parse_kernel(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tanimoto(smiles", "is not a kernel"),
        ("nonsense(smiles)", "There is no kernel 'nonsense'"),
        ("spectrum(seq, depth=4)", "Spectrum has no parameter 'depth'; it has k, alphabet"),
        ("spectrum(seq, k=0)", "k must be a whole number"),
        ("spectrum(seq, k=f())", r"'f\(\)' in .* is not understood"),
        ("spectrum(seq) - rbf(x)", "not understood"),
        ("1 + 2", "not understood"),
        ("__import__('os').system('ls')", "not understood"),
        ("pair_function(x)", "There is no kernel 'pair_function'"),
        ("spectrum(3)", "'3' in .* is not understood"),
        ("", "is not a kernel"),
    ],
)
def test_what_is_not_a_formula(text, message):
    with pytest.raises(ValueError, match=message):
        parse_kernel(text)
