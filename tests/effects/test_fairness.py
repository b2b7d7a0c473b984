"""Measures by group against scikit-learn's, and their standard errors by simulation."""

import numpy as np
import pytest
from sklearn import metrics

from pellucid.effects.fairness import groups_of_classes, groups_of_numbers

rng = np.random.default_rng(0)
N = 300
GROUPS = rng.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1])
YES = rng.random(N) < np.where(GROUPS == "a", 0.7, 0.3)
P = np.clip(YES * 0.3 + 0.35 + 0.3 * rng.normal(size=N), 0.01, 0.99)


def test_two_classes():
    table = groups_of_classes(
        np.where(YES, "yes", "no"), np.where(P > 0.5, "yes", "no"), GROUPS,
        np.column_stack([1 - P, P]), np.array(["no", "yes"]),
    )  # fmt: skip
    assert table.groups == ("a", "b", "c")
    for g, name in enumerate("abc"):
        own = name == GROUPS
        (tn, fp), (fn, tp) = metrics.confusion_matrix(YES[own], P[own] > 0.5)
        wanted = {
            "accuracy": (tp + tn) / own.sum(),
            "share of yes": YES[own].mean(),
            "predicted yes": (tp + fp) / own.sum(),
            "false positives": fp / (fp + tn),
            "false negatives": fn / (fn + tp),
            "mean probability": P[own].mean(),
            "calibration error": P[own].mean() - YES[own].mean(),
            "log loss": metrics.log_loss(YES[own], P[own]),
        }
        assert {key: v[g] for key, v in table.values.items()} == pytest.approx(wanted)
        assert table.counts[g] == own.sum()
    assert table.gaps()["accuracy"] == pytest.approx(np.ptp(table.values["accuracy"]))


def test_a_group_without_one_of_the_classes():
    y = np.array(["no", "no", "yes", "no"])
    table = groups_of_classes(y, y, np.array(["a", "a", "b", "b"]), None, np.array(["no", "yes"]))
    assert np.isnan(table.values["false negatives"][0])
    assert table.values["false positives"][0] == 0
    assert table.errors["false positives"][0] > 0.1  # none of two proves little
    assert "–" in str(table)
    assert "<table>" in table._repr_html_()


def test_amounts_and_their_errors():
    truth = rng.gamma(2.0, 1.0, size=(2000, 80))
    mu = np.full(80, 2.0) * np.exp(0.2 * rng.normal(size=80))
    tables = [groups_of_numbers(y, mu, np.repeat("all", 80), ratio=True) for y in truth]
    for key in ("mean error", "RMSE", "mean target"):
        values = np.array([t.values[key][0] for t in tables])
        errors = np.array([t.errors[key][0] for t in tables])
        told = values.std()
        # the error of a mean counts the spread of the predictions among the rows too
        assert 0.9 * told < errors.mean() < 1.15 * told
    y = truth[0]
    assert tables[0].values["predicted / observed"][0] == pytest.approx(mu.sum() / y.sum())
    assert tables[0].values["RMSE"][0] == pytest.approx(np.sqrt(np.mean((mu - y) ** 2)))
