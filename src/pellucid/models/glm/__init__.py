"""Kernel models of other losses: counts, amounts, logistic regression, support vector machines.

``regressor`` and ``classifier`` say what can be set. A fit enters in
:mod:`pellucid.models.glm_fit.regression` or ``glm_classification``, which check targets and state one
problem, or one per class; ``glm_base`` takes a kernel with its features (``kernel_features``), draws folds,
has :mod:`pellucid.solvers` choose alpha and solve, and keeps the solution.
"""
