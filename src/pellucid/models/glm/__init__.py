"""Kernel models of other losses: counts, amounts, logistic regression, support vector machines.

A fit enters in ``estimators``, which checks targets and states one problem, or one per class; everything
after that is in :mod:`pellucid.models.common`: ``glm_base`` (rows, kernel, folds), then ``glm_fit``
(features, alpha, solution).
"""
