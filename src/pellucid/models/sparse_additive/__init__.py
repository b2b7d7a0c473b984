"""SpAM: sparse additive models, smooth terms chosen by a group lasso.

A fit enters in ``regressor`` or ``classifier``; ``columns`` reads the table, ``basis`` gives each column
its smooth functions, ``design`` sums over rows, ``path`` walks the penalties and cross-validates them, and
``base`` stores the terms that are left.
"""
