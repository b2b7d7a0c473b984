"""ISK for classes: pairwise Fourier features, a dense model, and a sparse model of its components."""

from typing import Any

from pellucid._docs import inherit_docs, store_parameters
from pellucid.models.common.terms import TermClassifier
from pellucid.models.isk.base import ISKBase


@inherit_docs
class ISKClassifier(TermClassifier, ISKBase):
    r"""Interpretable, scalable kernel classification: main effects and pairwise interactions, sparse.

    The two phases of :class:`ISKRegressor` with a loss for classes,
    :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|w\|^2` in phase 1. More than two classes are
    fitted one against the rest, on shared features.

    Parameters
    ----------
    {sigma, n_components, alpha, sparse_alpha, l1_ratio}
    loss : {"logistic", "squared_hinge", "hinge"}, default="logistic"
        The published method has the hinge loss. The logistic loss is the default as it is smooth, which makes
        it the fastest to fit, and gives probabilities; error rates hardly differ.
    {scaling, kernel, cv, max_iter, random_state, weights, max_time, verbose}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    {terms_, term_names_}
    importances_ : Importances
        :math:`|\beta|` of the terms; with more than two classes the largest over the classes.
    intercept_ : float or ndarray of shape (n_classes,)
        Constant part of the linear predictor: log-odds, or the score of the hinge losses.
    {effects_, sigma_, path_, trials_, solver_}

    Notes
    -----
    *Choice of sigma and alpha*: by the folds' squared error of a ridge fit to targets ±1, which is linear
    algebra alone. Near the decision boundary the loss is about a multiple of the squared one, and alpha is
    multiplied by the same number (¼ for the logistic, 2 for the squared hinge, ½ for the hinge loss). The
    parameters of phase 2 are chosen by the folds' own loss.

    *Hinge loss*: small problems are solved as a quadratic programme. Larger ones go through ever less
    smoothed losses until the duality gap is below 0.1 % of the objective (a gap above 1 % brings a warning);
    phase 2 rounds the kink off on a stretch of 0.02.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import ISKClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X.iloc[:, :6]
    >>> model = ISKClassifier(sigma=2.0, alpha=0.01, cv=3).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    _losses = ("logistic", "squared_hinge", "hinge")

    def __init__(
        self,
        sigma: Any = "cv",
        *,
        n_components: int = 20,
        alpha: Any = "cv",
        sparse_alpha: Any = "cv",
        l1_ratio: Any = "cv",
        loss: Any = "logistic",
        scaling: str = "robust",
        kernel: Any = "rbf",
        cv: Any = 5,
        max_iter: int = 200,
        random_state: Any = 0,
        weights: str = "auto",
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())
