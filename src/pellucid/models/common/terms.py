"""What the sparse models of terms share: targets in a unit of their own, folds, and predictions.

The linear predictor is an intercept plus a few terms, in one column, or in one per class where there are
more than two.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.data.by_blocks import in_blocks, read_as_table
from pellucid.data.folds import Fold, check_folds
from pellucid.data.labels import check_labels, class_probabilities, winner
from pellucid.data.roles import takes_roles
from pellucid.data.table import Column, enter_table
from pellucid.data.targets import check_targets, unit_of
from pellucid.data.unseen import tells_unseen
from pellucid.data.weights import check_weight
from pellucid.effects import Importances
from pellucid.linalg import row_blocks
from pellucid.losses import Loss, Squared, as_loss
from pellucid.models.common.from_formula import FromFormula
from pellucid.models.common.scoring import AccuracyScore


@dataclass(frozen=True)
class Targets:
    """Targets of the rows of positive weight, one array per column of the predictor.

    Numbers are given about their mean ``origin`` and in a ``unit`` in which none is extreme; a class is given
    by ones, and zeros for the rest.
    """

    columns: list[np.ndarray]
    loss: Loss
    unit: float = 1.0
    origin: float = 0.0


def squared_in(error: Any, unit: float) -> np.ndarray:
    """Squared errors in a unit, as those of the targets themselves; infinite where no number is so large."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(error) * unit * unit


class TermModel(FromFormula, BaseEstimator):
    """An intercept plus terms, of which ``terms_`` names the features."""

    cv: Any
    weights: str
    terms_: list[tuple[int, ...]]
    term_names_: list[str]
    importances_: Importances
    _intercept: np.ndarray
    _chosen: tuple[str, ...]  # parameters that folds choose where they are "cv"
    _least_features = 1

    @read_as_table
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets: numbers, or classes.
        sample_weight : array-like of shape (n,), optional
            What each row counts for; see ``weights``.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, weight = self._enter(X, sample_weight)
        y, targets = self._read_targets(y, rows, weight)
        kept = weight > 0
        folds = self._folds(y, kept)
        self._fit(rows if kept.all() else rows[kept], weight[kept], targets, folds)
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise if a parameter makes no sense."""

    @abstractmethod
    def _fit(self, X: np.ndarray, weight: np.ndarray, targets: Targets, folds: list[Fold]) -> None:
        """Fit rows of positive weight and store the result; there are no folds where nothing is chosen."""

    @abstractmethod
    def _read_targets(self, y: Any, rows: Any, weight: np.ndarray) -> tuple[np.ndarray, Targets]:
        """Return the checked targets of all rows, and what is fitted."""

    @abstractmethod
    def _terms_at(self, X: np.ndarray) -> np.ndarray:
        """Effects at checked rows, of shape (m, n_terms, q)."""

    @abstractmethod
    def _levels(self) -> list[tuple[Any, ...] | None]:
        """Levels of each column as the fitted parts know them; ``None`` for numbers."""

    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Training rows, as numbers and codes of levels, and their weights."""
        table = enter_table(self, X, reset=True, least=self._least_features)
        weight = check_weight(sample_weight, len(table), self.weights)
        self.columns_ = table.learn(weight)
        return table.rows(self.columns_, complete=True), weight

    def _new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        # a model may have been stored without its columns
        columns = getattr(self, "columns_", None) or list(map(Column, self._names(), self._levels()))
        return enter_table(self, X, reset=False).rows(columns, complete=True)

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> list[Fold]:
        if not any(isinstance(getattr(self, name), str) for name in self._chosen):
            return []
        classes, instead = isinstance(self, ClassifierMixin), "numbers instead of 'cv'"
        folds = check_folds(self.cv, y, kept, classifier=classes, instead=instead)
        if not folds or any(len(train) == 0 or len(test) == 0 for train, test in folds):
            raise ValueError("cv must give folds with training and test rows of positive weight.")
        return folds

    def _store_intercept(self, intercept: np.ndarray) -> None:
        self._intercept = intercept
        self.intercept_ = float(intercept[0]) if len(intercept) == 1 else intercept.copy()

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _class_names(self) -> tuple[str, ...]:
        """Names of the classes where the predictor has a column for each."""
        return ()

    def _scores(self, X: Any) -> np.ndarray:
        """Linear predictor of shape (m, q), a block of rows at a time."""
        rows = self._new_rows(X)
        out = np.empty((len(rows), len(self._intercept)))
        for block in row_blocks(len(rows), 8.0 * (1 + len(self.terms_)) * len(self._intercept)):
            out[block] = self._terms_at(rows[block]).sum(axis=1) + self._intercept
        return out

    @tells_unseen
    def contributions(self, X: Any) -> np.ndarray:
        """What each term adds to the linear predictor of each row.

        Summed over the terms, and with ``intercept_`` added, they give the linear predictor. Of several
        quantiles they do so before predictions that would cross are put in order, which are rare.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (m, n_terms), or (m, n_terms, n_classes) for more than two classes
        """
        parts = self._terms_at(self._new_rows(X))
        return parts if self._class_names() else parts[:, :, 0]

    def _how(self, name: str) -> str:
        """The value of a parameter in use, and where it comes from."""
        used = getattr(self, name + "_")
        shown = f"{used:.5g}" if isinstance(used, float) else str(used)
        return f"{shown} ({'chosen on folds' if isinstance(getattr(self, name), str) else 'given'})"

    def _class_facts(self, sizes: np.ndarray) -> list[tuple[str, object]]:
        """Lines of a summary about classes; ``sizes`` are those of the terms, of shape (n_terms, q)."""
        return []


class TermRegressor(RegressorMixin, TermModel):
    """Numbers, with the squared loss."""

    def _read_targets(self, y: Any, rows: Any, weight: np.ndarray) -> tuple[np.ndarray, Targets]:
        all_rows = check_targets(y, rows, one=True)
        y, s = all_rows[weight > 0], weight[weight > 0]
        unit = unit_of(y)
        # from the first target, not from zero: nothing is lost to a large mean
        origin = float(y[0] + unit * (s @ ((y - y[0]) / unit) / s.sum()))
        return all_rows, Targets([(y - origin) / unit], Squared(), unit, origin)

    @in_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._scores(X)[:, 0]

    @tells_unseen
    @takes_roles
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share R² of the variance explained, whatever the unit of the target.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional

        Returns
        -------
        float
        """
        found = self.predict(X)
        y = check_targets(y, found, one=True)
        unit = unit_of(y)
        return float(r2_score(y / unit, found / unit, sample_weight=sample_weight))


def _has_probabilities(model: Any) -> bool:
    name = as_loss(model.loss).name
    if name != "logistic":
        raise AttributeError(
            f"predict_proba needs loss='logistic'; the {name} loss has scores, not probabilities. Fit with "
            f"loss='logistic', or calibrate this model with sklearn.calibration.CalibratedClassifierCV."
        )
    return True


class TermClassifier(AccuracyScore, TermModel):
    """Classes; more than two are fitted one against the rest."""

    loss: Any
    _losses: tuple[str, ...]  # names of the losses that can be fitted

    def _read_targets(self, y: Any, rows: Any, weight: np.ndarray) -> tuple[np.ndarray, Targets]:
        self.loss_ = as_loss(self.loss, among=self._losses)
        self.classes_, codes = check_labels(y, rows, weight)
        inside = codes[weight > 0]
        which = range(1 if len(self.classes_) == 2 else 0, len(self.classes_))
        return codes, Targets([(inside == c).astype(float) for c in which], self.loss_)

    def _class_names(self) -> tuple[str, ...]:
        return () if len(self.classes_) == 2 else tuple(str(c) for c in self.classes_)

    @in_blocks
    def decision_function(self, X: Any) -> np.ndarray:
        """Linear predictor: a column per class, or for two classes a score that is positive for the second.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @in_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes of shape (m,); parameters as in :meth:`decision_function`."""
        best = winner(self._scores(X))
        return self.classes_[best]

    @available_if(_has_probabilities)
    @in_blocks
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of shape (m, n_classes), logistic loss only; see :meth:`decision_function`.

        Those of more than two classes are scaled to sum to one.
        """
        return class_probabilities(as_loss("logistic").mean(self._scores(X)))

    def _class_facts(self, sizes: np.ndarray) -> list[tuple[str, object]]:
        facts: list[tuple[str, object]] = [("loss", as_loss(self.loss).name)]
        for c, name in enumerate(self._class_names()):
            own = Importances(tuple(self.term_names_), sizes[:, c]).top(4)
            inside = int(np.count_nonzero(sizes[:, c]))
            named = ", ".join(own[:inside])
            facts.append(
                (f"class {name}", f"{inside} {'term' if inside == 1 else 'terms'}: {named or 'none'}")
            )
        return facts
