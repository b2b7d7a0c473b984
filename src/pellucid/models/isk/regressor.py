"""ISK for numbers: pairwise Fourier features, a dense model, and a sparse model of its components."""

from pellucid._docs import inherit_docs
from pellucid.models.common.terms import TermRegressor
from pellucid.models.isk.base import ISKBase


@inherit_docs
class ISKRegressor(TermRegressor, ISKBase):
    r"""Interpretable, scalable kernel regression: main effects and pairwise interactions, sparse.

    Phase 1 fits a dense ridge model on random Fourier features of every pair of columns
    (:class:`pellucid.features.PairwiseFourierFeatures`),

    .. math:: \min_{w, b}\; \sum_i s_i\, \tfrac12 (y_i - w^T \phi(x_i) - b)^2 + \tfrac{\alpha}{2} \|w\|^2 .

    Its terms :math:`\cos(\omega_1 u + \omega_2 v) = \cos \omega_1 u + \cos \omega_2 v + \text{rest}`
    (likewise the sines) are summed into one component per feature and one per pair. Phase 2 fits an elastic
    net on the components :math:`\tilde x`, centred and with unit variance,

    .. math:: \min_{\beta, \beta_0}\; \tfrac1N \sum_i s_i\, \tfrac12 (y_i - \beta^T \tilde x_i - \beta_0)^2
              + \tilde\lambda \rho \|\beta\|_1 + \tfrac{\tilde\lambda (1 - \rho)}{2} \|\beta\|^2 ,

    and what is left is a sum of curves and surfaces with importances :math:`|\beta|`. Time is linear in the
    number of rows; memory beyond the data does not grow with it while there are more rows than Fourier
    features.

    Parameters
    ----------
    {sigma, n_components, alpha, sparse_alpha, l1_ratio, scaling, kernel, cv, max_iter}
    {random_state, weights, max_time, verbose}

    Attributes
    ----------
    {terms_, term_names_}
    importances_ : Importances
        Their :math:`|\beta|`, in units of the target; ``importances_.relative`` is relative to the largest.
    intercept_ : float
        Mean prediction over the training rows.
    {effects_, sigma_, path_, trials_, solver_}

    Notes
    -----
    *Choice of parameters*, in two stages. First sigma and alpha by the folds' squared error of phase 1,
    going from the middle of a grid to a minimum: one pass over the rows per sigma serves all folds and
    alphas. Then the parameters of phase 2 by the folds' error of the whole model: the components of a
    held-out fold come from the phase 1 fit without it.

    *Units*: absolute values of β have the unit of the target, squares its square. So ``sparse_alpha`` and
    ``l1_ratio`` are numbers for the target as it is; ``"cv"`` chooses among ratios of 0.5, 0.9 and 1 for a
    target of unit variance, and gives ``l1_ratio_`` back in the unit of the target.

    *Categorical columns* (strings or pandas categories in a data frame) are ordered by the mean target of
    their levels in the training rows; see :mod:`pellucid.features.scaling`. Booleans count as 0 and 1.
    Missing values are refused.

    References
    ----------
    Zhang, H., Nakadai, S., Fukumizu, K.: From black-box to white-box: interpretable learning with kernel
    machines (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ISKRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 4))
    >>> y = np.sin(3 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=500)
    >>> model = ISKRegressor().fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> sorted(model.importances_.top(2))
    ['x0', 'x1 × x2']
    """
