"""Sparse additive classification: smooth main effects on log-odds or margins, most of them zero."""

from typing import Any

from pellucid._docs import inherit_docs, store_parameters
from pellucid.models.common.terms import TermClassifier
from pellucid.models.sparse_additive.base import SparseAdditiveBase


@inherit_docs
class SparseAdditiveClassifier(TermClassifier, SparseAdditiveBase):
    r"""Sparse additive classification: log-odds or margins as a sum of smooth functions, most of them zero.

    Minimises :math:`\frac1S\sum_i s_i\,\ell\big(y_i, b + \sum_j f_j(x_{ij})\big) + \alpha\sum_j\|f_j\|_n`,
    with functions and norms as in :class:`SparseAdditiveRegressor`. With the squared hinge loss it is a
    sparse additive machine.

    Parameters
    ----------
    {alpha}
    loss : {"logistic", "squared_hinge"}, default="logistic"
        Logistic gives probabilities.
    {n_basis, alphas, n_knots, cv, weights}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted. More than two are fitted one against the rest, with one alpha.
    {alpha_, terms_, selected_}
    intercept_ : float, or ndarray of shape (n_classes,) for more than two classes
        The intercept.
    {importances_, effects_, path_, categorical_, optimality_}

    References
    ----------
    Ravikumar et al. (2009), section 6; Zhao and Liu (2012), Sparse additive machine, AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import SparseAdditiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseAdditiveClassifier(alpha=0.01, n_basis=4).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.94
    True
    """

    _losses = ("logistic", "squared_hinge")

    def __init__(
        self,
        alpha: Any = "cv",
        *,
        loss: Any = "logistic",
        n_basis: Any = "cv",
        alphas: Any = None,
        n_knots: int = 64,
        cv: Any = 5,
        weights: str = "auto",
    ) -> None:
        store_parameters(self, locals())
