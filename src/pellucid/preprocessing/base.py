"""What all transformers of compositions share: how rows come in, and how they go out."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.data.table import collected
from pellucid.preprocessing.checks import check_parts, check_totals

FLOATS = [np.float64, np.float32]


class CompositionTransformer(TransformerMixin, BaseEstimator, ABC):
    """A transformer of rows of non-negative parts.

    A subclass says in ``_learn`` what it learns from the training rows, and in ``_convert`` how it changes
    rows. Both see float64; the result has the precision of the data.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_parts)
            Non-negative parts, at least two columns.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self._learn(self._rows(X, reset=True).astype(np.float64))
        return self

    def transform(self, X: Any) -> Any:
        """Transform rows.

        Parameters
        ----------
        X : array-like of shape (m, n_parts)
            Non-negative parts.

        Returns
        -------
        Z : ndarray of shape (m, n_columns_out), or a data frame after ``set_output``
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self._convert(rows.astype(np.float64)).astype(rows.dtype, copy=False)

    def _rows(self, X: Any, *, reset: bool) -> np.ndarray:
        least = {"ensure_min_features": 2} if reset else {}
        rows = validate_data(self, collected(X), reset=reset, dtype=FLOATS, **least)
        check_parts(rows, type(self).__name__)
        if self._takes_shares():
            check_totals(rows, type(self).__name__)
        return rows

    def _takes_shares(self) -> bool:
        """Whether rows are divided by their totals, which must then not be zero."""
        return True

    @property
    def _names(self) -> list[Any]:
        """Names of the columns for messages, or their numbers where there are no names."""
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _learn(self, parts: np.ndarray) -> None:
        """Check parameters and training rows, and keep what is learned from them."""

    @abstractmethod
    def _convert(self, parts: np.ndarray) -> np.ndarray:
        """Transformed rows, freshly allocated."""
