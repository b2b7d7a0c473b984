"""Kernel regression for counts, amounts and numbers."""

from __future__ import annotations

from typing import Any

from pellucid._docs import inherit_docs, store_parameters
from pellucid.losses import Quantile
from pellucid.models.common.survival import SurvivalCurves
from pellucid.models.glm_fit.regression import KernelGLMRegression


@inherit_docs
class KernelGLMRegressor(SurvivalCurves, KernelGLMRegression):
    r"""Kernel regression of counts, amounts, quantiles and plain numbers: Poisson, gamma, quantile loss, ...

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta_i = o_i +
    f(x_i) + b`, an unpenalised intercept ``b`` and offsets ``o``; for Poisson and gamma the prediction is
    :math:`e^{\eta}`.

    Parameters
    ----------
    {kernel}
    loss : str or Loss, default="poisson"
        What a good fit means: ``"poisson"`` and ``"negative_binomial"`` for counts, ``"gamma"`` and
        ``"tweedie"`` for amounts (the latter with zeros), ``"squared"``, ``"huber"``, ``"expectile"`` and
        ``"quantile"`` for numbers of any sign, ``"binomial"`` for proportions, ``"cox"`` for times until an
        event, some of them censored. What a loss leaves open (a dispersion, a power, a threshold) is
        estimated; to fix it pass the loss itself, as ``pellucid.losses.Tweedie(1.5)``.
    {alpha, alphas, cv, fit_intercept, n_components, max_iter, weights, max_time, verbose}
    quantile : float or list of floats, default=0.5
        Level of the quantile or expectile, for these losses; several at once share the kernel and alpha.
    {solver}

    Attributes
    ----------
    {kernel_, loss_, alpha_, alpha_path_, centre_alpha_, dual_coef_, intercept_, X_fit_}
    {kernel_accuracy_, n_iter_, solver_report_}
    {n_features_in_, feature_names_in_}

    Notes
    -----
    *Quantiles*. With ``loss="quantile"`` the curves depart from a common centre, a function fitted by Huber's
    loss whose ``alpha`` leave-one-out chooses: ``f`` is the departure of a level, and ``alpha`` its strength.
    Each curve then has the constant that gives rows left out its level. Where errors are alike everywhere,
    curves so have the precision of the centre and not that of a quantile. The penalised check loss alone is
    the loss itself, ``loss=pellucid.losses.Quantile(0.9)``, or ``solver="iterative"``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelGLMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(200, 1))
    >>> y = rng.poisson(np.exp(np.sin(2 * X[:, 0])))
    >>> model = KernelGLMRegressor(loss="poisson").fit(X, y)
    >>> model.predict([[np.pi / 4], [-np.pi / 4]]).round(1)
    array([2.7, 0.5])
    """

    _kinds = ("regression", "counts", "proportions", "survival")

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        loss: Any = "poisson",
        alpha: Any = "cv",
        alphas: Any = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        n_components: int | None = None,
        max_iter: int = 100,
        weights: str = "auto",
        quantile: Any = 0.5,
        solver: str = "auto",
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @property
    def _departs(self) -> bool:  # type: ignore[override]
        named = isinstance(self.loss, str) and isinstance(self.loss_, Quantile)
        return named and self.solver != "iterative"
