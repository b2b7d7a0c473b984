"""Kernel regression with coefficients on the original features."""

from typing import Any

import numpy as np

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.losses import Loss
from pellucid.models.glm_fit.regression import KernelGLMRegression
from pellucid.models.interpretable.base import InterpretableBase


@inherit_docs
class InterpretableKernelRegressor(InterpretableBase, KernelGLMRegression):
    r"""Kernel regression whose solution is re-expressed as coefficients on the original features.

    With at least as many features as rows the coefficients γ reproduce the fitted values of the kernel
    model exactly. With fewer, the kernel is projected on what is linear in the features, ``KAF`` says how
    much of it that is, and the model fitted with the projected kernel *is* linear. Either way the
    certificate tells how closely the linear predictor follows the full kernel model on rows that neither
    has seen, and how well each predicts.

    Parameters
    ----------
    {kernel}
    loss : str or Loss, default="squared"
        What a good fit means; those of :class:`KernelGLMRegressor`.
    {alpha, alphas, cv, fit_intercept, n_components, max_iter, certify, weights, quantile}
    {max_time, verbose}

    Attributes
    ----------
    {coef_, intercept_, kaf_, certificate_, alpha_, feature_sd_, kernel_, kernel_accuracy_, n_iter_}
    {n_features_in_, feature_names_in_}

    References
    ----------
    Groenen and Greenacre (2025), Interpretable kernels, Economics working paper 1915, Universitat Pompeu
    Fabra.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pellucid import InterpretableKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = InterpretableKernelRegressor().fit(X, y)
    >>> model.coef_.shape, 0 < model.kaf_ < 1
    ((10,), True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        loss: Any = "squared",
        alpha: Any = "cv",
        alphas: Any = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        n_components: int | None = None,
        max_iter: int = 100,
        certify: int = 5,
        weights: str = "auto",
        quantile: float = 0.5,
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _stated_losses(self) -> list[Loss]:
        if np.ndim(self.quantile):
            raise ValueError(
                f"Coefficients are of one level; quantile must be a number, got {self.quantile!r}."
            )
        return super()._stated_losses()

    @in_blocks
    def predict(self, X: Any, how: str = "linear", *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predicted means, by the coefficients or by the full kernel model.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        how : {"linear", "kernel"}, default="linear"
            Which predictor: ``x @ coef_ + intercept_``, or the kernel model. The certificate compares them.
        offset, exposure : array-like of shape (m,), optional
            As in :meth:`fit`.

        Returns
        -------
        mean : ndarray of shape (m,)
        """
        return self._mean(self._scores(X, how), offset, exposure)
