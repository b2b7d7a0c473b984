"""The additive kernel machine: main effects and pairs that choose their own smoothness.

In the order of a fit:

1. ``regressor`` and ``classifier`` check targets (``targets``) and weights; ``base`` reads the table, and
   ``monotonicity`` which shapes effects must have.
2. :mod:`.engine` finds terms, variances and coefficients, once per output.
3. ``refit`` moves the fit into the cone of effects of these shapes; ``monotone_pairs`` says which sums of
   pairs and main effects must rise.
4. ``results`` stores what users read: tables, effects, importances and tests (``reading``), shares of
   deviance (``receipt``), and all of it on half a screen (``summary``).
5. ``edit`` changes a fitted model: ``refit_spec`` is what a fit leaves for that, ``refit`` does it.
6. Of rows that come in blocks, ``from_source`` states the problems, on ``coded_rows``.
"""
