"""Fitting an additive model: which terms, with which variances and coefficients.

In the order of a fit: ``state`` holds the problem and what is known of its solution, ``main_effects`` fits
one function per feature, ``pair_selection`` picks pairs, ``penalised_fit`` solves for variances and
coefficients on the products of ``design``, ``weak_terms`` and ``pooled_pairs`` are the alternatives that
``held_out`` losses decide between, and ``structure`` calls them all.
"""
