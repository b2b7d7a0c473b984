"""Small amounts in place of zeros."""

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from pellucid._docs import store_parameters
from pellucid.preprocessing.base import CompositionTransformer
from pellucid.preprocessing.checks import check_fraction, listed
from pellucid.preprocessing.closure import close


class ReplaceZeros(OneToOneFeatureMixin, CompositionTransformer):
    r"""Replace zeros by a fraction of what could just have been detected; totals stay the same.

    With the total :math:`t_i` of a row, the detection limit :math:`d_j` of a column as a share of the total,
    and :math:`\delta_j = \varphi d_j`,

    .. math:: z_{ij} = \begin{cases} t_i\, \delta_j & x_{ij} = 0 \\
              x_{ij} \Bigl(1 - \sum_{k:\, x_{ik} = 0} \delta_k \Bigr) & x_{ij} > 0 \end{cases}

    This multiplicative replacement leaves the ratios of positive parts as they are. Rows without zeros do not
    change.

    Parameters
    ----------
    fraction : float, default=0.65
        The fraction :math:`\varphi`, above 0 and at most 1.
    detection_limit : float or array-like of shape (n_parts,), optional
        Smallest share that can be detected, for all columns or for each. By default, the smallest positive
        share of each column in the training rows.

    Attributes
    ----------
    detection_limit_ : ndarray of shape (n_parts,)
        The limits :math:`d_j`.

    See Also
    --------
    PowerTransform : Needs no replacement.

    References
    ----------
    Martín-Fernández, Barceló-Vidal and Pawlowsky-Glahn (2003), Dealing with zeros and missing values in
    compositional data sets using nonparametric imputation, Mathematical Geology 35.

    Examples
    --------
    >>> from pellucid.preprocessing import ReplaceZeros
    >>> ReplaceZeros().fit_transform([[0, 20, 80], [10, 30, 60]])
    array([[ 6.5, 18.7, 74.8],
           [10. , 30. , 60. ]])
    """

    def __init__(self, fraction: float = 0.65, detection_limit: Any = None) -> None:
        store_parameters(self, locals())

    def _learn(self, parts: np.ndarray) -> None:
        self._fraction = check_fraction(self.fraction, "fraction")
        if self.detection_limit is None:
            self.detection_limit_ = self._smallest_shares(parts)
        else:
            self.detection_limit_ = self._given_limits(parts.shape[1])
        self._amounts(parts)

    def _smallest_shares(self, parts: np.ndarray) -> np.ndarray:
        empty = np.flatnonzero(~parts.any(axis=0))
        if empty.size:
            raise ValueError(
                f"ReplaceZeros takes detection limits from the smallest positive shares, but column(s) "
                f"{listed(repr(self._names[c]) for c in empty)} have only zeros. Drop these columns, or give "
                f"detection_limit."
            )
        return np.where(parts > 0, close(parts), np.inf).min(axis=0)

    def _given_limits(self, n_parts: int) -> np.ndarray:
        limits = np.asarray(self.detection_limit, dtype=np.float64)
        if limits.shape not in ((), (n_parts,)):
            raise ValueError(
                f"detection_limit must be one number, or one for each of the {n_parts} columns, got shape "
                f"{limits.shape}."
            )
        if not np.all((limits > 0) & (limits < 1)):
            raise ValueError(
                f"detection_limit must be shares of the total, between 0 and 1, got {self.detection_limit!r}."
            )
        return np.broadcast_to(limits, (n_parts,)).copy()

    def _amounts(self, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What replaces each zero, as a share, and what of each row is left for its positive parts."""
        amounts = np.where(parts == 0, self._fraction * self.detection_limit_, 0.0)
        left = 1.0 - amounts.sum(axis=1, keepdims=True)
        full = np.flatnonzero(left[:, 0] <= 0)
        if full.size:
            raise ValueError(
                f"In row(s) {listed(full)} the replacements of zeros add up to the whole total or more. Use "
                f"a smaller fraction or detection_limit, drop columns that are almost always zero, or use "
                f"PowerTransform, which allows zeros."
            )
        return amounts, left

    def _convert(self, parts: np.ndarray) -> np.ndarray:
        amounts, left = self._amounts(parts)
        largest = parts.max(axis=1, keepdims=True)
        amounts *= (parts / largest).sum(axis=1, keepdims=True)
        amounts *= largest
        return parts * left + amounts
