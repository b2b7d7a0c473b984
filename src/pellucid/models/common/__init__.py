"""What machines stand on together: kernel machines, and the sparse models of terms.

``kernel_machine`` enters rows, compares new ones with them, and reads any machine as a linear one. Of ridges,
``length_scale`` gives a named kernel its length-scale, and ``ridge_fit`` solves for one alpha or many. Of
other losses, ``glm_regression`` and ``glm_classification`` state problems (``scoring``: how well they were
met), and ``glm_base`` fits them on ``kernel_features``. ``terms`` is the estimator around both sparse models
of terms, ISK and SpAM.
"""
