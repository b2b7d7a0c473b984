"""What every kernel machine does with rows: enter them, compare new ones with them, read itself as linear."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid.data.rows import check_rows, check_square, is_precomputed, reads_sparse, reads_vectors
from pellucid.data.unseen import tells_unseen
from pellucid.data.weights import check_weight
from pellucid.effects.linear import (
    Certificate,
    LinearView,
    WeightedColumns,
    held_out_fidelity,
    in_sample_gap,
)
from pellucid.kernels import Kernel, Linear, as_kernel
from pellucid.linalg import SparseRows, column_moments, is_sparse, row_blocks
from pellucid.models.common.from_formula import FromFormula
from pellucid.models.common.parts import PartsReading
from pellucid.models.kernel_fit.kernel_features import kernel_features

_FOLDS = 5  # of the held-out fidelity of a linear reading


class KernelMachine(FromFormula, PartsReading, BaseEstimator):
    """Estimators whose prediction is ``Σ_i a_i k(x, x_i) + b``, with one column of ``a`` per output.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        A name (``"rbf"``, ``"matern"``, ``"laplacian"``, ``"rational_quadratic"``, ``"linear"``,
        ``"polynomial"``, ``"ntk"``, ``"additive_pairs"``) takes its length-scale from the data: each column's
        standard deviation times one factor, which is chosen by leave-one-out. So raw, unscaled data are
        welcome. A kernel from :mod:`pellucid.kernels` is used as it is. ``"precomputed"`` takes ``X`` as the
        kernel matrix.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    weights : {"auto", "counts", "precision"}, default="auto"
        How ``sample_weight`` is read. ``"counts"``: a weight of 2 is the row given twice, so raising all
        weights weakens alpha. ``"precision"``: only their ratios matter, as for survey weights and inverse
        variances. ``"auto"`` counts, unless the mean weight is below 0.1 or above 10: then it takes
        precisions, with a :class:`~pellucid.exceptions.WeightWarning`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the parameters that were used.
    X_fit_ : ndarray
        The training rows, those of weight zero left out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where ``X`` had any.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    roles_ : dict of str
        Columns that ``fit`` was told to take for targets, weights and the like, if it was told their names.
    levels_ : dict of tuples of str
        Levels of the columns that the kernel compares as categories.
    """

    kernel: Any
    fit_intercept: bool
    weights: str
    _single: bool  # whether results lose the axis of outputs
    _kept: np.ndarray  # (n,): training rows of positive weight
    _dual: np.ndarray  # (rows of X_fit_, q)
    _intercept: np.ndarray  # (q,)
    _primal: np.ndarray | None = None  # (f, q): coefficients of explicit features, where they were solved for
    _centres: np.ndarray | None = None  # which of the rows kept are in X_fit_, where not all are

    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check rows and weights; from here on a model that was fitted before is not any more."""
        self._begin()
        rows = check_rows(self, X, self.kernel, reset=True)
        if self._precomputed:
            check_square(rows)
        return rows, check_weight(sample_weight, len(rows), self.weights)

    def _begin(self) -> None:
        """Check parameters, and forget an earlier fit."""
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}.")
        self.__dict__.pop("X_fit_", None)

    def _training_rows(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of positive weight; a copy, so that the caller may go on to change the array."""
        if not self._precomputed:
            return X[kept]
        return X if kept.all() else X[np.ix_(kept, kept)]

    def _given_kernel(self, rows: np.ndarray) -> Kernel:
        """The kernel that was passed in, with columns by their names."""
        names = getattr(self, "feature_names_in_", None)
        return as_kernel(self.kernel, rows).bind(None if names is None else list(names))

    # ------------------------------------------------------------ predicting
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "X_fit_")

    @property
    def _precomputed(self) -> bool:
        """Whether the rows of ``X`` are rows of a kernel matrix."""
        return is_precomputed(self.kernel)

    @property
    def _reads_vectors(self) -> bool:
        """Whether rows are numbers, and so may come in blocks."""
        return reads_vectors(self.kernel)

    @property
    def _names(self) -> list[str]:
        """Names of the features, made up where ``X`` had none."""
        names: Sequence[str] | None = getattr(self, "feature_names_in_", None)
        return [f"x{c}" for c in range(self.n_features_in_)] if names is None else list(names)

    def _check_new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        rows = check_rows(self, X, self.kernel, reset=False)
        if is_sparse(self.X_fit_) and isinstance(rows, np.ndarray):
            return SparseRows.of(rows)  # one kind to compare
        return rows

    def _cross_gram(self, X: np.ndarray) -> np.ndarray:
        """Kernel between new rows and ``X_fit_``."""
        if self._precomputed:
            if X.shape[1] == len(self._kept):  # columns are all training rows, those of weight zero included
                X = X[:, self._kept]
            X = X if self._centres is None else X[:, self._centres]
        # kernels may take Y is X for a Gram matrix, which has the noise of noisy kernels on its diagonal
        return self.kernel_._gram(X, self.X_fit_[:])

    def _decision(self, X: np.ndarray) -> np.ndarray:
        """Predictions of shape (m, q) for checked rows, a block of rows at a time."""
        out = np.empty((len(X), len(self._intercept)))
        explicit = self._primal is not None
        if is_sparse(X):  # features of other kernels would not be sparse
            explicit = explicit and isinstance(self.kernel_, Linear)
        for block in row_blocks(len(X), 8.0 * 3 * len(self.X_fit_)):
            if explicit:
                out[block] = self.kernel_.features(X[block]) @ self._primal
            else:
                out[block] = self._cross_gram(X[block]) @ self._dual
        return out + self._intercept

    def _shaped(self, values: np.ndarray) -> Any:
        """Results per output in the shape of ``y``: without the last axis where ``y`` has one dimension."""
        if not self._single:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    # --------------------------------------------------------------- reading
    @tells_unseen
    def linear_view(self, X: Any = None) -> LinearView:
        """Read the fitted function as a linear one: coefficients on the features, with a certificate.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            Rows on which to read it; by default the training rows, where the model keeps them all.

        Returns
        -------
        LinearView
            Its coefficients are those of the linear function nearest to the model's scores on these rows. The
            held-out fidelity in its certificate is that of the reading; the model is not fitted again.
        """
        check_is_fitted(self)
        if X is None and self._centres is not None:
            raise ValueError("This model keeps only its landmarks: pass the rows on which to read it.")
        rows = self.X_fit_ if X is None else self._check_new_rows(X)
        if self._precomputed or rows.ndim != 2 or rows.dtype == object:
            raise ValueError(
                "Coefficients need numeric features: this model was fitted on kernel values or objects."
            )
        weight = self.weight_fit_ if X is None else np.ones(len(rows))
        scores, intercept = self._decision(rows), bool(self.fit_intercept)
        columns = WeightedColumns.of(rows, weight, fit_intercept=intercept)
        coef = columns.coefficients(scores)
        level = columns.share @ scores - columns.mean @ coef
        F = None if columns.exact else kernel_features(self.kernel_, rows, None).Z
        exact = F is None or columns.hold(F)  # a linear kernel has nothing else, however few the columns
        certificate = Certificate(
            exact,
            1.0 if F is None or exact else columns.kaf(F),
            in_sample_gap(scores, columns.fitted(scores), weight),
            held_out_fidelity(columns, weight, scores, _FOLDS, fit_intercept=intercept),
            None,
            None,
            None,
            f"{_FOLDS}-fold reading of the fitted function",
        )
        single = scores.shape[1] == 1
        coef, level = (coef[:, 0], float(level[0])) if single else (coef, level)
        sd = column_moments(rows, weight)[1]
        return LinearView(coef, level, certificate, self._names, sd, self._outputs)

    @property
    def _outputs(self) -> list[str]:
        """What each score speaks for; nothing for a regression with one output."""
        n_outputs, classes = len(self._intercept), getattr(self, "classes_", None)
        if classes is None:
            return [] if n_outputs == 1 else [f"output {q}" for q in range(n_outputs)]
        return [f"class {c}" for c in (classes[1:] if n_outputs == 1 else classes)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = reads_sparse(self.kernel)
        return tags
