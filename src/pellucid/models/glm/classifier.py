"""Kernel logistic regression and kernel support vector machines."""

from __future__ import annotations

from typing import Any

from pellucid._docs import inherit_docs, store_parameters
from pellucid.models.glm_fit.classification import KernelGLMClassification


@inherit_docs
class KernelClassifier(KernelGLMClassification):
    r"""Kernel logistic regression and kernel support vector machines.

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta = f(x) + b`
    and an unpenalised intercept. In terms of scikit-learn's ``SVC`` and ``LogisticRegression``, alpha is
    ``1 / C``.

    Parameters
    ----------
    {kernel}
    loss : {"logistic", "ordinal", "hinge", "squared_hinge"}, default="logistic"
        Logistic gives probabilities, multinomial for more than two classes. Ordinal is for classes with an
        order, such as grades: one score and thresholds between the classes (proportional odds). The hinge
        losses are support vector machines, one against the rest.
    {alpha, alphas, cv, fit_intercept, n_components, max_iter, weights, solver, max_time, verbose}

    Attributes
    ----------
    {classes_, kernel_, alpha_, alpha_path_, dual_coef_, intercept_, X_fit_, kernel_accuracy_, n_iter_}
    {solver_report_}
    {n_features_in_, feature_names_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import KernelClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelClassifier(alpha="loo").fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.96
    True
    """

    _kinds = ("classification", "ordinal")

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
        weights: str = "auto",
        solver: str = "auto",
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())
