"""What machines stand on together: kernel machines, and the sparse models of terms.

``length_scale`` gives a named kernel its length-scale, ``ridge_fit`` solves kernel ridge for one alpha or
many, ``glm_fit`` turns a kernel into features and chooses alpha for any loss, ``glm_base`` is the estimator
around it, and ``linear_reading`` reads a fitted kernel model as a linear one. ``terms`` is
the estimator around both sparse models of terms, ISK and SpAM.
"""
