"""Generalised linear models on a kernel, for those with and without coefficients.

In the order of a fit: ``base`` states the problem and chooses alpha; ``nuisance`` estimates what a loss
leaves open; ``regression`` and ``classification`` turn linear predictors into what users ask for,
``survival`` into survival curves.
"""
