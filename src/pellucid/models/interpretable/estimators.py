"""Kernel models with coefficients on the original features, and a certificate of how faithful they are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid.data.targets import check_offset
from pellucid.models.glm.estimators import KernelClassifier, KernelGLMRegressor, is_logistic
from pellucid.models.interpretable.base import InterpretableBase


class InterpretableKernelRegressor(InterpretableBase, KernelGLMRegressor):
    r"""Kernel regression whose solution is re-expressed as coefficients on the original features.

    With at least as many features as rows the coefficients γ reproduce the fitted values of the kernel
    model exactly. With fewer, the kernel is projected on what is linear in the features, ``KAF`` says how
    much of it that is, and the model fitted with the projected kernel *is* linear. Either way the
    certificate tells how closely the linear predictor follows the full kernel model on rows that neither
    has seen, and how well each predicts.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelGLMRegressor`.
    loss : {"squared", "poisson", "gamma"}, default="squared"
        What a good fit means.
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength, chosen separately for the kernel model and the projected one.
    alphas, cv, fit_intercept, n_components, max_iter
        As in :class:`KernelGLMRegressor`.
    certify : int, default=5
        Number of folds for the out-of-sample part of the certificate; 0 leaves it out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients γ.
    intercept_ : float
        Intercept of the linear predictor.
    kaf_ : float
        Kernel accounted for, 1 in the exact case.
    certificate_ : Certificate
        Exact or projected, in-sample gap, KAF, held-out fidelity and scores.
    alpha_, kernel_alpha_ : float
        Ridge strength of the model behind the coefficients, and of the full kernel model.
    feature_sd_ : ndarray of shape (n_features,)
        Standard deviations of the features.
    kernel_, kernel_accuracy_, n_iter_, optimality_
        As in :class:`KernelGLMRegressor`.

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
    ) -> None:
        super().__init__(
            kernel,
            loss=loss,
            alpha=alpha,
            alphas=alphas,
            cv=cv,
            fit_intercept=fit_intercept,
            n_components=n_components,
            max_iter=max_iter,
        )
        self.certify = certify

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the kernel model and its coefficients; parameters as in :meth:`KernelGLMRegressor.fit`."""
        super().fit(X, y, sample_weight, offset=offset, exposure=exposure)
        self.coef_ = self._shaped(self._linear_coef)
        self.intercept_ = self._shaped(self._linear_intercept)
        return self

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
        scores = self._scores_by(X, how)[:, 0]
        return self.loss_.mean(scores + self._known(offset, exposure, len(scores)))


class InterpretableKernelClassifier(InterpretableBase, KernelClassifier):
    r"""Kernel classification whose solution is re-expressed as coefficients on the original features.

    The classifier's companion of :class:`InterpretableKernelRegressor`: logistic (multinomial for more than
    two classes), hinge or squared hinge loss.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelClassifier`.
    loss : {"logistic", "hinge", "squared_hinge"}, default="logistic"
        What a good fit means.
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength, chosen separately for the kernel model and the projected one.
    alphas, cv, fit_intercept, n_components, max_iter
        As in :class:`KernelClassifier`.
    certify : int, default=5
        Number of folds for the out-of-sample part of the certificate; 0 leaves it out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_features,) or (n_features, n_classes)
        The coefficients γ of the score.
    intercept_ : float or ndarray of shape (n_classes,)
        Intercept of the linear score.
    kaf_, certificate_, alpha_, kernel_alpha_, feature_sd_, kernel_, kernel_accuracy_, n_iter_, optimality_
        As in :class:`InterpretableKernelRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import InterpretableKernelClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = InterpretableKernelClassifier(alpha="loo").fit(X, y)
    >>> model.certificate_.agreement > 0.95
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        loss: Any = "logistic",
        alpha: Any = "cv",
        alphas: Any = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        n_components: int | None = None,
        max_iter: int = 100,
        certify: int = 5,
    ) -> None:
        super().__init__(
            kernel,
            loss=loss,
            alpha=alpha,
            alphas=alphas,
            cv=cv,
            fit_intercept=fit_intercept,
            n_components=n_components,
            max_iter=max_iter,
        )
        self.certify = certify

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit the kernel model and its coefficients; parameters as in :meth:`KernelClassifier.fit`."""
        super().fit(X, y, sample_weight, offset=offset)
        self.coef_ = self._shaped(self._linear_coef)
        self.intercept_ = self._shaped(self._linear_intercept)
        return self

    def decision_function(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Scores by the coefficients (``how="linear"``) or by the full kernel model (``how="kernel"``)."""
        scores = self._scores_by(X, how)
        if scores.shape[1] > 1:
            return scores
        return scores[:, 0] + check_offset(offset, None, len(scores), log_link=False)

    def predict(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Predicted classes, by the coefficients or by the full kernel model."""
        return self._classes_of(self.decision_function(X, how, offset=offset))

    @available_if(is_logistic)
    def predict_proba(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Class probabilities, by the coefficients or by the full kernel model; logistic loss only."""
        return self._probabilities_of(self.decision_function(X, how, offset=offset))
