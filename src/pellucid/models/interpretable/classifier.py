"""Kernel classification with coefficients on the original features."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.data.labels import class_probabilities, winner
from pellucid.models.glm_fit.classification import KernelGLMClassification, has_probabilities
from pellucid.models.interpretable.base import InterpretableBase


@inherit_docs
class InterpretableKernelClassifier(InterpretableBase, KernelGLMClassification):
    r"""Kernel classification whose solution is re-expressed as coefficients on the original features.

    The classifier's companion of :class:`InterpretableKernelRegressor`: logistic (multinomial for more than
    two classes), hinge or squared hinge loss.

    Parameters
    ----------
    {kernel, loss, alpha, alphas, cv, fit_intercept, n_components, max_iter, certify, weights}
    {max_time, verbose}

    Attributes
    ----------
    {classes_, coef_, intercept_, kaf_, certificate_, alpha_, feature_sd_, kernel_, kernel_accuracy_}
    {n_iter_, n_features_in_, feature_names_in_}

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
        weights: str = "auto",
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @in_blocks
    def decision_function(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Scores by the coefficients (``how="linear"``) or by the full kernel model (``how="kernel"``)."""
        return self._moved(self._scores(X, how), offset)

    @in_blocks
    def predict(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Predicted classes, by the coefficients or by the full kernel model."""
        index = winner(self.decision_function(X, how, offset=offset))
        return self.classes_[index]

    @available_if(has_probabilities)
    @in_blocks
    def predict_proba(self, X: Any, how: str = "linear", *, offset: Any = None) -> np.ndarray:
        """Class probabilities, by the coefficients or by the full kernel model; logistic loss only."""
        scores = self.decision_function(X, how, offset=offset)
        return class_probabilities(self.loss_.mean(scores))
