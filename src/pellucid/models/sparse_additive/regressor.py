"""Sparse additive regression (SpAM): smooth main effects, most of them zero."""

from pellucid._docs import inherit_docs
from pellucid.models.common.terms import TermRegressor
from pellucid.models.sparse_additive.base import SparseAdditiveBase


@inherit_docs
class SparseAdditiveRegressor(TermRegressor, SparseAdditiveBase):
    r"""Sparse additive regression (SpAM): a sum of smooth functions of single features, most of them zero.

    Minimises :math:`\frac{1}{2S}\sum_i s_i\big(y_i - b - \sum_j f_j(x_{ij})\big)^2 + \alpha\sum_j\|f_j\|_n`
    with :math:`S = \sum_i s_i` and :math:`\|f\|_n^2 = \frac1S\sum_i s_i f(x_{ij})^2`, the intercept ``b``
    unpenalised. Each :math:`f_j` is a combination of the leading eigenfunctions of a spline kernel under
    the distribution of its feature: centred, orthonormal over the training rows, straight between knots at
    quantiles and constant beyond the outer ones, so that heavy tails do no harm. A categorical feature of a
    data frame (text or category) has a function for its levels.

    Because the functions are orthonormal, the penalty is that of a group lasso. It is solved on the Gram
    matrix, which is accumulated over blocks of rows: memory does not grow with their number, and folds cost
    no further passes.

    Parameters
    ----------
    {alpha, n_basis, alphas, n_knots, cv, weights}

    Attributes
    ----------
    intercept_ : float
        The intercept.
    {alpha_, terms_, selected_, importances_, effects_, path_, categorical_, optimality_}

    References
    ----------
    Ravikumar, Lafferty, Liu and Wasserman (2009), Sparse additive models, JRSS B 71.

    Examples
    --------
    >>> from pellucid import SparseAdditiveRegressor
    >>> from pellucid.datasets import make_synthetic
    >>> X, y = make_synthetic(1, n_samples=500, random_state=0, return_X_y=True)
    >>> model = SparseAdditiveRegressor().fit(X, y)
    >>> sorted(model.importances_.top(4))
    ['x0', 'x1', 'x2', 'x3']
    >>> model.score(X, y) > 0.85
    True
    """
