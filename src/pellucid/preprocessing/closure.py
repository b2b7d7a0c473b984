"""Shares of the total."""

from __future__ import annotations

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from pellucid.preprocessing.base import CompositionTransformer
from pellucid.preprocessing.checks import check_totals


def close(parts: np.ndarray) -> np.ndarray:
    """Divide rows by their totals; none may be zero. The largest part goes first, so no total overflows."""
    shares = parts / parts.max(axis=1, keepdims=True)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


class Closure(OneToOneFeatureMixin, CompositionTransformer):
    r"""Divide each row by its total, so that the parts become shares.

    .. math:: z_{ij} = \frac{x_{ij}}{\sum_k x_{ik}}

    Zeros are allowed as long as each row has a positive part.

    Attributes
    ----------
    n_features_in_ : int
        Number of parts.
    feature_names_in_ : ndarray of shape (n_parts,)
        Names of the parts, where the training rows were a data frame.

    See Also
    --------
    CenteredLogRatio : Ratios to the geometric mean, for positive parts.
    PowerTransform : Powers of shares, for parts some of which are zero.

    Examples
    --------
    >>> from pellucid.preprocessing import Closure
    >>> Closure().fit_transform([[1, 1, 2], [30, 0, 10]])
    array([[0.25, 0.25, 0.5 ],
           [0.75, 0.  , 0.25]])
    """

    def _learn(self, parts: np.ndarray) -> None:
        check_totals(parts, "Closure")

    def _convert(self, parts: np.ndarray) -> np.ndarray:
        check_totals(parts, "Closure")
        return close(parts)
