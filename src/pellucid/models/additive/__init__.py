"""The additive kernel machine: main effects and pairs that choose their own smoothness.

A fit enters in ``estimators`` and ``base`` (table, axes, problems), goes through :mod:`.engine` once per
output (which terms, which variances, which coefficients), and ``results`` stores what ``reading``,
``receipt`` and ``summary`` read off the fitted tables. ``edit`` changes a fitted model through
``refit_spec`` and ``refit``; ``monotonicity`` says which effects must rise or fall.
"""
