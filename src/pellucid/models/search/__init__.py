"""Choice of kernel parameters by leave-one-out or likelihood: on a grid, or by descent with gradients.

``loo_search`` is the estimator, ``gradient_search`` the descent.
"""
