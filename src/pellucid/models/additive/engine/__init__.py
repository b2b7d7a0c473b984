"""Fitting an additive model: which terms, with which variances and coefficients.

In the order of a fit:

1. ``state``: the problem (rows, targets, loss), and where a fit of it stands.
2. ``structure``: the order of a fit; it calls all that follows.
3. ``main_effects``: one function per feature.
4. ``pooled_pairs``: all pairs at once, where many are weak.
5. ``pair_selection``: the structure fit, which pairs carry signal; ``weak_terms`` decides on those in doubt.
6. ``penalised_fit``: variances and coefficients of one set of columns, by steps of ``newton`` on products of
   ``design``.
7. ``held_out``: losses of rows without themselves, which decide between alternatives.

``policy`` holds the numbers that all of them go by.
"""
