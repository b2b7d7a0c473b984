"""Intervals of any fitted regressor, calibrated on rows that it has not seen.

``intervals`` has the function that users call; the formulas are in :mod:`pellucid.effects.conformal`.
"""
