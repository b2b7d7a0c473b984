"""What kernel machines stand on together: ridge, generalised and interpretable models.

``length_scale`` gives a named kernel its length-scale, ``ridge_fit`` solves kernel ridge for one alpha or
many, ``glm_fit`` turns a kernel into features and chooses alpha for any loss, ``glm_base`` is the estimator
around it, and ``linear_reading`` reads a fitted kernel model as a linear one.
"""
