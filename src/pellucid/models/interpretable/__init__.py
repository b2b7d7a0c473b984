"""Kernel models re-expressed as coefficients on the original features, with a certificate.

A fit enters in ``estimators``; the kernel model itself is that of :mod:`pellucid.models.common`, and
``base`` projects it on the columns of ``X``, chooses the ridge of the projected model and certifies the
coefficients.
"""
