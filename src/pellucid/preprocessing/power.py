"""Powers of shares: close to log-ratios, but zeros are allowed."""

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from pellucid._docs import store_parameters
from pellucid.preprocessing.base import CompositionTransformer
from pellucid.preprocessing.checks import check_fraction, listed


class PowerTransform(OneToOneFeatureMixin, CompositionTransformer):
    r"""Powers of shares; with the scaling of the chi-square distance, a bridge to log-ratios.

    With shares :math:`s_{ij} = x_{ij} / \sum_k x_{ik}` and power :math:`\lambda`, the result is

    .. math:: z_{ij} = s_{ij}^\lambda ,

    for :math:`\lambda = 1/2` the Hellinger transformation, whose rows have length 1. With ``chi=True`` it is
    the chiPower transformation: powers are closed again, and each column is divided by the root of its mean
    over the :math:`n` training rows,

    .. math:: y_{ij} = \frac{x_{ij}^\lambda}{\sum_k x_{ik}^\lambda}, \qquad
              c_j = \frac1n \sum_i y_{ij}, \qquad
              z_{ij} = \frac{1}{\lambda} \left( \sqrt{\frac{D}{c_j}}\, y_{ij} - 1 \right) .

    At :math:`\lambda = 1` distances are chi-square distances between rows of equal weight, times
    :math:`\sqrt{D}`. As :math:`\lambda \to 0`, distances of rows without zeros converge to those of
    :class:`CenteredLogRatio`. Subtracting 1 changes no distance but keeps values finite in the limit, and
    :math:`\sqrt{D}` is there because Aitchison's distance is a sum over :math:`D` parts; without it the limit
    would be the distance that averages over them.

    Parameters
    ----------
    power : float, default=0.5
        The exponent, above 0 and at most 1. Smaller ones make more of rare parts. It can be searched like any
        other parameter.
    closure : bool, default=True
        Whether to divide rows by their totals first. Without it totals matter, and rows may be all zero. With
        ``chi=True`` rows are closed in any case.
    chi : bool, default=False
        Whether to scale columns by their means in the training rows.

    Attributes
    ----------
    column_means_ : ndarray of shape (n_parts,)
        The means :math:`c_j`; only with ``chi=True``.

    See Also
    --------
    CenteredLogRatio : The limit of small powers with ``chi=True``, for positive parts.

    References
    ----------
    Greenacre (2024), The chiPower transformation: a valid alternative to logratio transformations in
    compositional data analysis, Advances in Data Analysis and Classification.

    Examples
    --------
    >>> from pellucid.preprocessing import PowerTransform
    >>> PowerTransform().fit_transform([[0, 1, 3], [9, 16, 0]])
    array([[0.   , 0.5  , 0.866],
           [0.6  , 0.8  , 0.   ]])
    >>> PowerTransform(power=0.25, chi=True).fit_transform([[0, 1, 3], [9, 16, 0]]).round(2)
    array([[-4.  ,  0.3 ,  3.39],
           [ 2.67,  1.34, -4.  ]])
    """

    def __init__(self, power: float = 0.5, *, closure: bool = True, chi: bool = False) -> None:
        store_parameters(self, locals())

    def _learn(self, parts: np.ndarray) -> None:
        self._power = check_fraction(self.power, "power")
        if self.chi:
            means = np.exp(log_powers(parts, self._power)).mean(axis=0) / parts.shape[1]
            empty = np.flatnonzero(means == 0)
            if empty.size:
                raise ValueError(
                    f"PowerTransform with chi=True divides by the means of columns, but column(s) "
                    f"{listed(repr(self._names[c]) for c in empty)} have only zeros. Drop these columns."
                )
            self.column_means_ = means

    def _convert(self, parts: np.ndarray) -> np.ndarray:
        if self.chi:
            scale = np.log(parts.shape[1] * self.column_means_)
            return np.expm1(log_powers(parts, self._power) - 0.5 * scale) / self._power
        powers = parts**self._power
        if self.closure:
            # total**power, without a total that might overflow
            largest = parts.max(axis=1, keepdims=True)
            powers /= largest**self._power
            powers /= (parts / largest).sum(axis=1, keepdims=True) ** self._power
        return powers

    def _takes_shares(self) -> bool:
        return bool(self.chi or self.closure)


def log_powers(parts: np.ndarray, power: float) -> np.ndarray:
    """Logarithms of closed powers times the number of parts, accurate also where the power is tiny."""
    with np.errstate(divide="ignore"):
        logs = np.log(parts)
    logs -= logs.max(axis=1, keepdims=True)
    logs *= power
    logs -= np.log1p(np.expm1(logs).mean(axis=1, keepdims=True))
    return logs
