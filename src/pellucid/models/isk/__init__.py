"""ISK: pairwise random Fourier features, a dense ridge and then a sparse choice of terms.

A fit enters in ``regressor`` or ``classifier``; ``base`` scales the table, ``rows`` makes features block by
block, ``trial`` and ``dense`` fit the first phase (``loss_fit`` for losses other than the squared one),
``sparse`` the second, and ``reading`` turns terms into effects.
"""
