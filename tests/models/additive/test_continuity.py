"""Small changes of the data change a fit by little: there is no size at which it becomes another one."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.models.additive.engine import state, structure

RNG = np.random.default_rng(8)
N = 1501
X = RNG.uniform(-1, 1, (N + 1, 4))
ETA = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 0] * X[:, 2]
Y = ETA + 0.5 * RNG.normal(size=N + 1)
LABEL = RNG.random(N + 1) < 1 / (1 + np.exp(-2 * ETA))
NEW = RNG.uniform(-0.95, 0.95, (500, 4))
NOISE = 0.06  # about the error of the predictor, relative to its spread; changes stay well below


def predictor(rows, y=Y, new=NEW, **options):
    if y is LABEL:
        return AdditiveKernelClassifier(**options).fit(rows, y[: len(rows)]).decision_function(new)
    return AdditiveKernelRegressor(**options).fit(rows, y[: len(rows)]).predict(new)


def change(a, b):
    return np.sqrt(np.mean((a - b) ** 2)) / a.std()


@pytest.mark.parametrize("y", [Y, LABEL], ids=["numbers", "classes"])
def test_one_row_more_around_the_limit_of_folds(y):
    """Up to 1500 rows may be fitted again in folds."""
    assert structure.FOLD_ROWS == N - 1
    fits = [predictor(X[:n], y) for n in (N - 2, N - 1, N)]
    assert max(change(fits[0], fits[1]), change(fits[1], fits[2])) < 0.2 * NOISE


def test_one_row_more_around_the_limit_of_double_precision(monkeypatch):
    monkeypatch.setattr(state, "_EXACT", N - 1)
    assert change(predictor(X[: N - 1]), predictor(X[:N])) < 0.2 * NOISE


def test_one_row_more_where_work_begins_to_bind(monkeypatch):
    """Columns and the sample of the first look shrink as rows are added."""
    monkeypatch.setattr(structure, "FEW", 100)
    monkeypatch.setattr(structure, "WORK", 3e7)
    columns = structure.columns_for(N)
    assert columns < 200
    assert abs(structure.columns_for(N + 1) - columns) <= 1
    assert change(predictor(X[:N]), predictor(X)) < 0.5 * NOISE


@pytest.mark.parametrize("y", [Y, LABEL], ids=["numbers", "classes"])
def test_a_row_of_hardly_any_weight(y):
    weight = np.ones(400)
    weight[7] = 1e-9
    less = np.delete(np.arange(400), 7)
    kind = AdditiveKernelClassifier if y is LABEL else AdditiveKernelRegressor
    a = kind(1).fit(X[:400], y[:400], sample_weight=weight)
    b = kind(1).fit(X[less], y[less])
    one, two = (m.decision_function(NEW) if y is LABEL else m.predict(NEW) for m in (a, b))
    assert change(one, two) < 1e-3


@pytest.mark.parametrize("y", [Y, LABEL], ids=["numbers", "classes"])
def test_a_feature_of_noise(y):
    rows = X[:600]
    more = np.column_stack([rows, np.random.default_rng(1).normal(size=600)])
    new = np.column_stack([NEW, np.random.default_rng(2).normal(size=len(NEW))])
    assert change(predictor(rows, y), predictor(more, y, new)) < NOISE * (2 if y is LABEL else 1)


def test_a_monotone_transform_of_a_feature():
    def bent(rows):
        return np.column_stack([np.exp(rows[:, 0]), rows[:, 1:]])

    assert change(predictor(X[:600]), predictor(bent(X[:600]), new=bent(NEW))) < NOISE
