"""SpAM: sparse additive models, smooth terms chosen by a group lasso.

``regressor`` and ``classifier`` say what is fitted, ``base`` runs a fit: ``basis`` gives each column its
smooth functions, ``design`` multiplies with them and sums over rows, ``path`` follows the fits along falling
penalties, on all rows and on folds.
"""
