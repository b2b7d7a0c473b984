"""Choice of kernel parameters by leave-one-out: on a grid, or by descent with closed-form gradients.

``loo_search`` is the estimator, ``gradient_search`` the descent.
"""
