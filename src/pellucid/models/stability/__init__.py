"""Coefficients, scores and ranks of several methods over the same random splits.

``plan`` draws the splits, ``single_split`` fits and scores one of them, ``checkpoint`` keeps what is done,
and ``repeated_splits`` is the function that users call.
"""
