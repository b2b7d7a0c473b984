"""Kernel ridge: regression, classes and discriminants from one solve, with exact leave-one-out.

A fit enters in ``regressor``, ``classifier`` or ``fisher``, which state the targets (``labelled``: codes of
classes). :mod:`pellucid.models.common.kernel_machine` checks rows and weights; ``base`` takes the kernel with
its length-scale, calls :mod:`pellucid.models.kernel_fit.ridge_fit` and keeps what it returns in units of the
targets; influence is read in ``base``, marginal effects in ``regressor``.
"""
