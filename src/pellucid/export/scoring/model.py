"""A fitted model as numbers that other programs can compute with, and its evaluation in NumPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.export.scoring.cells import columns_of, level_codes, numbers
from pellucid.export.scoring.parts import Feature, Line, Products, Response, ScoreAxis, ScoreTerm, Waves


@dataclass(frozen=True)
class ScoringModel:
    """A model that predicts: what :func:`~pellucid.export.from_json` reads from a document."""

    model: str
    """Name of the estimator that it came from."""
    features: tuple[Feature, ...]
    """Inputs."""
    axes: tuple[ScoreAxis, ...]
    """Points of features on which tables are given."""
    warps: dict[int, np.ndarray]
    """Warped values at the points, by number of the axis."""
    terms: tuple[ScoreTerm, ...]
    """Terms."""
    intercept: np.ndarray
    """Scores of a row to which no term adds anything, of shape (q,)."""
    response: Response
    """From scores to predictions."""

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def term_names(self) -> list[str]:
        """Names of the terms."""
        return [term.name for term in self.terms]

    @property
    def outputs(self) -> list[Any]:
        """Names of several outputs, nothing for one."""
        return list(self.response.classes or range(self.n_outputs)) if self.n_outputs > 1 else []

    def features_of(self, term: ScoreTerm) -> tuple[int, ...]:
        """Numbers of the features of a term."""
        return (term.feature,) if isinstance(term, Line) else tuple(self.axes[a].feature for a in term.axes)

    @property
    def used(self) -> list[int]:
        """Numbers of the features that some term has."""
        return sorted({j for term in self.terms for j in self.features_of(term)})

    def functions(self, a: int) -> list[tuple[int, int, np.ndarray]]:
        """All functions on an axis but its warp: number and side of the term, and tables of the products."""
        return [
            (t, side, term.factors[side])
            for t, term in enumerate(self.terms)
            for side, own in enumerate(term.axes if isinstance(term, Products) else ())
            if own == a and isinstance(term, Products)
        ]

    # ------------------------------------------------------------ predictions
    def contributions(self, rows: Any) -> np.ndarray:
        """What each term adds to the score of each row.

        Parameters
        ----------
        rows : data frame, list of dicts, or array of shape (n, n_features)
            Rows; a dict may leave out features that may be missing.

        Returns
        -------
        ndarray of shape (n, n_terms), or (n, n_terms, n_outputs) for several outputs
        """
        parts = self._contributions(rows)
        return parts[:, :, 0] if self.n_outputs == 1 else parts

    def decision_function(self, rows: Any) -> np.ndarray:
        """Scores of shape (n,), or (n, n_outputs) for several outputs."""
        scores = self._scores(rows)
        return scores[:, 0] if self.n_outputs == 1 else scores

    def predict_proba(self, rows: Any) -> np.ndarray:
        """Class probabilities of shape (n, n_classes)."""
        if not self.response.has_probabilities:
            raise ValueError(f"This {self.model} has no class probabilities.")
        return self.response.mean(self._scores(rows))

    def predict(self, rows: Any) -> np.ndarray:
        """Predictions, or predicted classes."""
        scores = self._scores(rows)
        if self.response.classes is not None:
            return self.response.labels(scores)
        mean = self.response.mean(scores)
        return mean[:, 0] if self.response.single else mean

    def _scores(self, rows: Any) -> np.ndarray:
        return self._contributions(rows).sum(axis=1) + self.intercept

    def _contributions(self, rows: Any) -> np.ndarray:
        X = self._coded(rows)
        places = [axis.locate(X[:, axis.feature]) for axis in self.axes]
        warped = {a: _look_up(curve[:, None], *places[a])[:, 0] for a, curve in self.warps.items()}
        out = np.zeros((len(X), len(self.terms), self.n_outputs))
        for t, term in enumerate(self.terms):
            if isinstance(term, Line):
                out[:, t] = X[:, [term.feature]] * term.coef
            elif isinstance(term, Waves):
                phase = np.column_stack([warped[a] for a in term.axes]) @ term.omega.T
                out[:, t] = term.constant + np.cos(phase) @ term.cos + np.sin(phase) @ term.sin
            else:
                value = np.ones((len(X), len(term.outputs)))
                for a, F in zip(term.axes, term.factors, strict=True):
                    value = value * _look_up(F, *places[a])
                for k, c in enumerate(term.outputs):
                    out[:, t, c] += value[:, k]
        return out

    def _coded(self, rows: Any) -> np.ndarray:
        """Rows as numbers: level numbers for categories, -1 for unseen ones, NaN for missing values."""
        columns = columns_of(rows, [feature.name for feature in self.features])
        coded = [
            numbers(values, feature.name) if feature.levels is None else level_codes(values, feature.levels)
            for feature, values in zip(self.features, columns, strict=True)
        ]
        for j in self.needed:
            if np.isnan(coded[j]).any():
                row = int(np.flatnonzero(np.isnan(coded[j]))[0])
                raise ValueError(
                    f"Feature {self.features[j].name!r} has no value in row {row}, and this model needs one."
                )
        return np.column_stack(coded) if coded else np.zeros((0, 0))

    @property
    def needed(self) -> list[int]:
        """Numbers of the features that may not be missing."""
        may = {axis.feature for axis in self.axes if axis.missing is not None}
        return [j for j in self.used if j not in may]


def _look_up(F: np.ndarray, i: np.ndarray, w: np.ndarray) -> np.ndarray:
    left = F[i]
    return left + w[:, None] * (F[np.minimum(i + 1, len(F) - 1)] - left)
