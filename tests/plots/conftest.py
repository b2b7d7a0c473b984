"""Closed figures, and a small model of terms whose numbers are known."""

import numpy as np
import pytest

from pellucid.effects import Effect, Grid, Importances

AGE = np.array([20.0, 30.0, 50.0, 60.0])


@pytest.fixture(autouse=True)
def _closed():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def effect(values, grids, term=(0,), density=None, se=None, outputs=()):
    shape = tuple(len(grid) for grid in grids)
    density = np.full(shape, 1.0 / np.prod(shape)) if density is None else density
    name = " × ".join(grid.feature for grid in grids)
    return Effect(term, name, tuple(grids), np.asarray(values, dtype=float), density, se, outputs)


class TermModel:
    """``10 + age/10 − 4 + kind + age·dose``: everything that plots and reports ask of a model of terms."""

    def __init__(self, outputs=0):
        self.n_features_in_ = 3
        self.feature_names_in_ = np.array(["age", "kind", "dose"], dtype=object)
        age = Grid("age", np.append(AGE, np.nan), missing=True)
        kind = Grid("kind", np.array(["flat", "house", "(missing)"], dtype=object), levels=True, missing=True)
        dose = Grid("dose", np.array([0.0, 1.0, 2.0]))
        self.classes = tuple(f"c{k}" for k in range(outputs))
        rows = {
            (0,): (np.append(AGE / 10 - 4, 0.5), [age], np.array([0.1, 0.2, 0.3, 0.2, 0.2])),
            (1,): ([1.0, -1.0, 0.25], [kind], np.array([0.5, 0.3, 0.2])),
            (0, 2): (np.outer([-1, 0, 1, 2, 0.5], [-1.0, 0.0, 1.0]), [age, dose], np.eye(5, 3) / 3),
        }
        self.effects_, self.terms_, self.term_names_ = {}, list(rows), []
        for term, (values, grids, density) in rows.items():
            values = np.asarray(values, dtype=float)
            se = None if len(grids) == 2 else 0.1 * (1.0 + np.arange(len(values)))
            if outputs:
                values = np.stack([values * (k + 1) for k in range(outputs)], axis=-1)
                se = se if se is None else np.stack([se] * outputs, axis=-1)
            made = effect(values, grids, term, density, se, self.classes)
            self.effects_[made.name] = made
            self.term_names_.append(made.name)
        self.importances_ = Importances(tuple(self.term_names_), np.array([1.0, 0.7, 2.0]), measure="sd")
        self.intercept_ = np.arange(outputs, dtype=float) if outputs else 10.0
        if outputs:
            self.classes_ = np.array(self.classes)

    def contributions(self, X):
        X = np.asarray(X, dtype=object)
        age, dose = X[:, 0].astype(float), X[:, 2].astype(float)
        kind = np.array([{"flat": 1.0, "house": -1.0}.get(k, 0.25) for k in X[:, 1]])
        terms = np.column_stack([age / 10 - 4, kind, (age / 10 - 3) * (dose - 1)])
        outputs = len(self.classes)
        return terms if not outputs else np.stack([terms * (k + 1) for k in range(outputs)], axis=-1)

    def predict(self, X):
        scores = self.contributions(X).sum(axis=1) + self.intercept_
        return scores if not self.classes else self.classes_[scores.argmax(axis=1)]


@pytest.fixture
def model():
    return TermModel()


@pytest.fixture
def classifier():
    return TermModel(3)
