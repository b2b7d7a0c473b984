"""Effects by output, and terms too small to be looked at one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

from pellucid.effects import Effect, Grid, Importances
from pellucid.effects.measures import measures_of_classes, measures_of_counts
from pellucid.effects.term_table import folded, term_rows


def test_which_terms_are_minor():
    shares = Importances(("a", "b", "c"), np.array([0.9, 9.9e-4, 1e-3]), measure="share of variance")
    assert shares.minor.tolist() == [False, True, False]
    sizes = Importances(("a", "b"), np.array([100.0, 0.09]), measure="|β|")
    assert sizes.minor.tolist() == [False, True]
    assert not Importances(("a", "b"), np.zeros(2)).minor.any()
    assert not Importances(tuple("ab"), np.full(2, 1e-5), measure="share of variance").minor.any()


def test_rows_of_terms_and_what_is_folded():
    importances = Importances(
        tuple("abcd"), np.array([0.5, 1e-4, 0.3, 2e-4]), np.ones(4), "share of variance"
    )
    tests = [
        [(n, e, p) for n, e, p in zip("abcd", (1.0, 2.0, 3.0, 4.0), (1e-9, 0.6, 0.02, np.nan), strict=True)],
        [(n, 3.0, 0.5) for n in "abc"] + [("d", 3.0, np.nan)],
    ]
    rows = term_rows(SimpleNamespace(importances_=importances, tests_=tests))
    assert [row.name for row in rows] == ["a", "c", "d", "b"]
    assert [row.p for row in rows] == ["<1e-4", "0.0400", "frozen", "1.0000"]
    assert [row.size for row in rows[:2]] == ["50.0 %", "30.0 %"]
    assert rows[1].edf == 3.0
    assert folded(rows, 1) == (rows[:1], "... and 1 more\n2 terms below 0.1 %")
    assert folded(rows[:2], 5) == (rows[:2], "")


def test_outputs_of_an_effect():
    grid = Grid("u", np.arange(3.0))
    values = np.array([[1.0, 0.0], [2.0, -3.0], [0.0, 4.0]])
    effect = Effect((0,), "u", (grid,), values, np.array([0.5, 0.25, 0.25]), values / 10, ("low", "high"))
    assert effect.which() == [0, 1]
    assert effect.which("high") == effect.which(1) == [1]
    assert effect.of(1).values.tolist() == [0.0, -3.0, 4.0]
    assert effect.of(1).outputs == ("high",)
    np.testing.assert_allclose(effect.sizes, np.sqrt([1.5, 6.25]))
    with pytest.raises(ValueError, match="no output 'mid'; there are low, high"):
        effect.which("mid")
    single = effect.of(0)
    assert single.of(0) is single


def test_measures_of_counts_and_of_classes_not_seen():
    y, amount = np.array([0.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])
    perfect = measures_of_counts(y, y, amount, np.ones(3))
    assert perfect == pytest.approx({"explained": 1.0, "deviance": 0.0}, abs=1e-10)
    constant = measures_of_counts(y, amount, amount, np.ones(3))
    assert constant["explained"] == pytest.approx(0.0, abs=1e-12)
    P = np.array([[0.75, 0.25], [0.5, 0.5]])
    made = measures_of_classes(np.array(["a", "z"]), np.array(["a", "a"]), ["a", "b"], np.ones(2), P)
    assert made["log_loss"] == pytest.approx(-(np.log(0.75) + np.log(1e-15)) / 2)
    assert made["accuracy"] == 0.5
