"""Kernel ridge: regression, classes and discriminants from one solve, with exact leave-one-out.

A fit enters in ``regressor``, ``classifier`` or ``fisher``, which state the targets; ``base`` checks rows
and weights, takes a kernel and its length-scale, calls :mod:`pellucid.models.common.ridge_fit` and stores
what it returns; predictions, influence and readings are in ``base`` too.
"""
