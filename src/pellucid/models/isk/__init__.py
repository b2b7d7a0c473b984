"""ISK: pairwise random Fourier features, a dense ridge and then a sparse choice of terms.

``regressor`` and ``classifier`` say what is fitted, ``base`` reads and scales the table and runs a fit.
``rows`` makes features block by block; ``ridge`` and ``dense`` fit the first phase (``loss_fit`` for losses
other than the squared one), ``sparse`` the second; ``effects`` shows the terms on grids.
"""
