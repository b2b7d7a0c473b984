"""Which solver is taken, and what it says of the reason."""

import pytest

from pellucid.solvers import choose_solver


@pytest.mark.parametrize(
    ("arguments", "name", "reason"),
    [
        ({"n_rows": 100, "n_features": 5, "n_alphas": 50}, "primal", "5 explicit features"),
        ({"n_rows": 100, "n_features": 100, "n_alphas": 50}, "spectral", "all 50 values"),
        ({"n_rows": 100, "n_features": None, "n_alphas": 8}, "spectral", "all 8 values"),
        ({"n_rows": 100, "n_features": None, "n_alphas": 7}, "cholesky", "7 values"),
        ({"n_rows": 100, "n_features": None, "n_alphas": 1}, "cholesky", "1 value of"),
    ],
)
def test_the_cheapest_is_taken(arguments, name, reason):
    choice = choose_solver("auto", **arguments)
    assert choice.name == name
    assert reason in choice.reason


def test_a_request_is_granted():
    choice = choose_solver("spectral", n_rows=10, n_features=2, n_alphas=1)
    assert (choice.name, choice.reason) == ("spectral", "asked for")


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match="Unknown solver 'svd'; choose from auto, primal"):
        choose_solver("svd", n_rows=10, n_features=2, n_alphas=1)
    with pytest.raises(ValueError, match="finitely many features"):
        choose_solver("primal", n_rows=10, n_features=None, n_alphas=1)
