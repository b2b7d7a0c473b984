"""ISK for numbers: pairwise Fourier features, a dense model, and a sparse model of its components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from pellucid.data.table import enter_table
from pellucid.data.targets import check_targets
from pellucid.losses import Squared
from pellucid.models.isk.base import ISKBase, entered_weight


class ISKRegressor(RegressorMixin, ISKBase):
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
    sigma : float or "cv", default="cv"
        Length-scale of the kernel, in units of scaled features. Larger is smoother.
    n_components : int, default=20
        Number d of Fourier features per pair; an odd one is raised by one, as they come as cosine and sine.
        More follow the kernel more closely; time grows with the square.
    alpha : float or "cv", default="cv"
        Ridge strength of phase 1; larger is smoother. The published λ is ``alpha / n_rows``.
    sparse_alpha : float or "cv", default="cv"
        Strength :math:`\tilde\lambda` of phase 2; larger keeps fewer terms.
    l1_ratio : float in (0, 1] or "cv", default="cv"
        Share :math:`\rho` of the absolute values in the penalty of phase 2.
    scaling : {"robust", "standard", "minmax", "rank"}, default="robust"
        How columns are put on one scale. "robust" averages the rank and a linear scale without its tails.
        Values outside the training range count as its ends, whatever the scaling.
    kernel : str or Kernel, default="rbf"
        "rbf", "matern", "laplacian", "rational_quadratic", or a kernel that has a spectral sampler.
    cv : int, splitter or iterable, default=5
        Folds for all that is to be chosen; each row must be held out exactly once.
    max_iter : int, default=200
        Most steps of iterative solvers.
    random_state : int, RandomState instance or None, default=0
        Source of the frequencies.

    Attributes
    ----------
    terms_ : list of tuples
        Column numbers of the terms that phase 2 kept: one for a main effect, two for an interaction.
    term_names_ : list of str
        Their names.
    importances_ : Importances
        Their :math:`|\beta|`; ``importances_.relative`` is relative to the largest.
    intercept_ : float
        Mean prediction over the training rows.
    effects_ : dict from name to Effect
        Their curves and surfaces on grids of the original features; :meth:`effects` can purify them.
    sigma_, alpha_, sparse_alpha_, l1_ratio_ : float
        Values in use.
    path_ : SparsePath
        How many terms phase 2 keeps along its path, and the held-out error.
    trials_ : list of tuples (sigma, alpha, error)
        Held-out squared errors of phase 1.
    solver_ : {"primal", "dual"}
        Whether phase 1 worked on features or on rows, whichever are fewer.

    Notes
    -----
    *Choice of parameters*, in two stages. First sigma and alpha by the folds' squared error of phase 1,
    walking from the middle of a grid to a minimum: one pass over the rows per sigma serves all folds and
    alphas. Then the parameters of phase 2 by the folds' error of the whole model: the components of a
    held-out fold come from the phase 1 fit without it.

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

    def __init__(
        self,
        sigma: Any = "cv",
        *,
        n_components: int = 20,
        alpha: Any = "cv",
        sparse_alpha: Any = "cv",
        l1_ratio: Any = "cv",
        scaling: str = "robust",
        kernel: Any = "rbf",
        cv: Any = 5,
        max_iter: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.sigma = sigma
        self.n_components = n_components
        self.alpha = alpha
        self.sparse_alpha = sparse_alpha
        self.l1_ratio = l1_ratio
        self.scaling = scaling
        self.kernel = kernel
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit both phases.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            At least two features.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : ISKRegressor
        """
        self._check_parameters()
        table = enter_table(self, X, reset=True, least=2)
        y = column_or_1d(check_targets(y, table), warn=True)
        weight, kept = entered_weight(sample_weight, len(table))
        rows = self._learn_rows(table, weight)
        fold = self._folds(y, kept)
        if not kept.all():
            rows, y, weight = rows[kept], y[kept], weight[kept]
        level = float(y[0] + weight @ (y - y[0]) / weight.sum())
        centred = y - level
        self._fit(rows, [centred], centred[:, None], Squared(), weight, fold)
        self.intercept_ = float(self._intercept[0]) + level
        self._intercept = np.array([self.intercept_])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        predictions : ndarray of shape (m,)
        """
        return self._predictor(X)[:, 0]
