"""Kernel models re-expressed as coefficients on the original features, with a certificate.

``regressor`` and ``classifier`` say what can be set. The kernel model itself is that of
:mod:`pellucid.models.common`, whose ``glm_regression`` or ``glm_classification`` a fit enters; ``base`` then
projects it on the columns of ``X`` and chooses the ridge of the projected model,
:mod:`pellucid.effects.certificate` compares the two on rows held out; standard errors are read in ``base``.
"""
