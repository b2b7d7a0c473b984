"""Logarithms of ratios of parts: additive, centered and isometric, with the way back to shares."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.preprocessing.base import FLOATS, CompositionTransformer
from pellucid.preprocessing.checks import check_no_zeros


class LogRatio(CompositionTransformer):
    """A transformation that is linear in the logarithms of the parts.

    A subclass gives ``_forward`` from logarithms to coordinates, ``_backward`` from coordinates to logarithms
    up to a constant per row, and ``_label``.
    """

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Shares that have the given log-ratios.

        Parameters
        ----------
        X : array-like of shape (m, n_columns_out)
            Rows as ``transform`` returns them.

        Returns
        -------
        shares : ndarray of shape (m, n_parts)
            Positive parts with total 1 in each row.
        """
        check_is_fitted(self)
        rows = check_array(X, dtype=FLOATS)
        expected = len(self.get_feature_names_out())
        if rows.shape[1] != expected:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but {type(self).__name__} makes {expected} of "
                f"{self.n_features_in_} parts."
            )
        return softmax(self._backward(rows.astype(np.float64)), axis=1).astype(rows.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the log-ratios, made of the names of the parts.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the parts; by default those seen in ``fit``, or ``x0``, ``x1`` and so on.

        Returns
        -------
        names : ndarray of str objects
        """
        parts = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.array(self._label(list(parts)), dtype=object)

    def _takes_shares(self) -> bool:
        return False  # a row without positive parts has zeros, which are refused below

    def _learn(self, parts: np.ndarray) -> None:
        self._logs(parts)

    def _logs(self, parts: np.ndarray) -> np.ndarray:
        check_no_zeros(parts, self._names, type(self).__name__)
        return np.log(parts)

    def _convert(self, parts: np.ndarray) -> np.ndarray:
        return self._forward(self._logs(parts))

    @abstractmethod
    def _forward(self, logs: np.ndarray) -> np.ndarray:
        """Coordinates of rows with these logarithms."""

    @abstractmethod
    def _backward(self, rows: np.ndarray) -> np.ndarray:
        """Logarithms of the parts, up to a constant per row."""

    @abstractmethod
    def _label(self, parts: list[str]) -> list[str]:
        """Names of the coordinates."""


class AdditiveLogRatio(LogRatio):
    r"""Logarithms of the ratios of all parts to one of them.

    .. math:: z_{ij} = \log \frac{x_{ij}}{x_{ir}}, \qquad j \ne r

    Each column speaks of two parts only, so it is the easiest log-ratio to read. Distances depend on the
    reference :math:`r`; a reference whose share hardly varies changes them least.

    Parameters
    ----------
    reference : int, str or "auto", default=-1
        The part that the others are divided by: number of its column, negative ones counted from the end; its
        name, for data frames; or ``"auto"`` for the part whose log share has the smallest variance in the
        training rows.

    Attributes
    ----------
    reference_ : int
        Column of the reference.

    See Also
    --------
    CenteredLogRatio : Treats all parts alike.

    References
    ----------
    Aitchison (1986), The Statistical Analysis of Compositional Data. Greenacre, Martínez-Álvaro and Blasco
    (2021), Compositional data analysis of microbiome and any-omics datasets: a validation of the additive
    logratio transformation, Frontiers in Microbiology 12.

    Examples
    --------
    >>> import pandas as pd
    >>> from pellucid.preprocessing import AdditiveLogRatio
    >>> parts = pd.DataFrame({"sand": [70, 40], "silt": [20, 50], "clay": [10, 10]})
    >>> ratios = AdditiveLogRatio("clay").set_output(transform="pandas")
    >>> ratios.fit_transform(parts).round(2)
       log(sand/clay)  log(silt/clay)
    0            1.95            0.69
    1            1.39            1.61
    >>> ratios.inverse_transform([[0.0, 0.0]])
    array([[0.333, 0.333, 0.333]])
    """

    def __init__(self, reference: int | str = -1) -> None:
        self.reference = reference

    def _learn(self, parts: np.ndarray) -> None:
        logs = self._logs(parts)
        if isinstance(self.reference, str) and self.reference == "auto":
            self.reference_ = int(np.argmin(log_softmax(logs, axis=1).var(axis=0)))
        else:
            self.reference_ = self._column(self.reference)

    def _column(self, reference: Any) -> int:
        n_parts = self.n_features_in_
        if isinstance(reference, str):
            if not hasattr(self, "feature_names_in_"):
                raise ValueError(
                    f"reference={reference!r} is the name of a column, but X has no names: give a data frame "
                    f"or the number of the column. In a pipeline, set_output(transform='pandas') keeps names."
                )
            if reference not in self._names:
                raise ValueError(f"reference={reference!r} is not a column of X, which has {self._names}.")
            return self._names.index(reference)
        if isinstance(reference, bool) or not isinstance(reference, Integral):
            raise ValueError(
                f"reference must be the number or name of a column, or 'auto', got {reference!r}."
            )
        if not -n_parts <= reference < n_parts:
            raise ValueError(f"reference={reference} is out of range for {n_parts} columns.")
        return int(reference) % n_parts

    def _forward(self, logs: np.ndarray) -> np.ndarray:
        return np.delete(logs, self.reference_, axis=1) - logs[:, [self.reference_]]

    def _backward(self, rows: np.ndarray) -> np.ndarray:
        return np.insert(rows, self.reference_, 0.0, axis=1)

    def _label(self, parts: list[str]) -> list[str]:
        below = parts.pop(self.reference_)
        return [f"log({part}/{below})" for part in parts]


class CenteredLogRatio(LogRatio):
    r"""Logarithms of the ratios of parts to their geometric mean.

    .. math:: z_{ij} = \log x_{ij} - \frac{1}{D} \sum_k \log x_{ik}

    One column per part; each row sums to zero, so linear methods without a penalty see a singular matrix.
    The Euclidean distance of two rows is Aitchison's distance: up to a constant, the root of the sum of
    squared differences of *all* pairwise log-ratios.

    See Also
    --------
    IsometricLogRatio : The same distances with one column less.

    References
    ----------
    Aitchison (1986), The Statistical Analysis of Compositional Data.

    Examples
    --------
    >>> from pellucid.preprocessing import CenteredLogRatio
    >>> ratios = CenteredLogRatio().fit([[1, 10, 100], [5, 5, 5]])
    >>> ratios.transform([[1, 10, 100], [0.2, 2.0, 20.0]]).round(2)
    array([[-2.3,  0. ,  2.3],
           [-2.3,  0. ,  2.3]])
    >>> ratios.get_feature_names_out()
    array(['clr(x0)', 'clr(x1)', 'clr(x2)'], dtype=object)
    """

    def _forward(self, logs: np.ndarray) -> np.ndarray:
        return logs - logs.mean(axis=1, keepdims=True)

    def _backward(self, rows: np.ndarray) -> np.ndarray:
        return rows

    def _label(self, parts: list[str]) -> list[str]:
        return [f"clr({part})" for part in parts]


class IsometricLogRatio(LogRatio):
    r"""Each part against the geometric mean of the parts after it: pivot coordinates.

    .. math:: z_{ij} = \sqrt{\frac{D-j}{D-j+1}}\,
              \log \frac{x_{ij}}{\bigl(\prod_{k>j} x_{ik}\bigr)^{1/(D-j)}}, \qquad j = 1, \dots, D-1

    The columns are coordinates in an orthonormal basis: Euclidean distances are those of
    :class:`CenteredLogRatio`, with one column less and none redundant. The order of the parts decides what
    the columns mean; put the parts of interest first.

    A column is named ``ilr(sand|rest)``, where the rest are the parts after it, or ``ilr(silt|clay)`` where
    one part is left.

    See Also
    --------
    CenteredLogRatio : The same distances, columns easier to read.

    References
    ----------
    Egozcue et al. (2003), Isometric logratio transformations for compositional data analysis, Mathematical
    Geology 35. Filzmoser, Hron and Templ (2018), Applied Compositional Data Analysis.

    Examples
    --------
    >>> import pandas as pd
    >>> from pellucid.preprocessing import IsometricLogRatio
    >>> parts = pd.DataFrame({"sand": [70, 40], "silt": [20, 50], "clay": [10, 10]})
    >>> IsometricLogRatio().set_output(transform="pandas").fit_transform(parts).round(2)
       ilr(sand|rest)  ilr(silt|clay)
    0            1.31            0.49
    1            0.47            1.14
    """

    def _forward(self, logs: np.ndarray) -> np.ndarray:
        logs = logs - logs.mean(axis=1, keepdims=True)
        after, length = self._basis(logs.shape[1])
        sums = np.cumsum(logs[:, :0:-1], axis=1)[:, ::-1]
        return length * (logs[:, :-1] - sums / after)

    def _backward(self, rows: np.ndarray) -> np.ndarray:
        after, length = self._basis(rows.shape[1] + 1)
        ahead = length * rows
        logs = np.zeros((rows.shape[0], rows.shape[1] + 1))
        np.cumsum(-ahead / after, axis=1, out=logs[:, 1:])
        logs[:, :-1] += ahead
        return logs

    def _label(self, parts: list[str]) -> list[str]:
        return [*(f"ilr({part}|rest)" for part in parts[:-2]), f"ilr({parts[-2]}|{parts[-1]})"]

    @staticmethod
    def _basis(n_parts: int) -> tuple[np.ndarray, np.ndarray]:
        """Number of parts after each but the last, and the factors that make the coordinates orthonormal."""
        after = np.arange(n_parts - 1, 0, -1)
        return after, np.sqrt(after / (after + 1.0))
