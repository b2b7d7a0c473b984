"""Shares of the total."""

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from pellucid.preprocessing.base import CompositionTransformer


def close(parts: np.ndarray) -> np.ndarray:
    """Divide rows by their totals; none may be zero. The largest part goes first, so no total overflows."""
    shares = parts / parts.max(axis=1, keepdims=True)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


class Closure(OneToOneFeatureMixin, CompositionTransformer):
    r"""Divide each row by its total, so that the parts become shares.

    .. math:: z_{ij} = \frac{x_{ij}}{\sum_k x_{ik}}

    Zeros are allowed as long as each row has a positive part.

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

    def _convert(self, parts: np.ndarray) -> np.ndarray:
        return close(parts)
