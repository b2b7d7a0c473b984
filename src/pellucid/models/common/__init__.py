"""What machines stand on together: kernel machines, and the sparse models of terms.

``kernel_machine`` enters rows, compares new ones with them, and reads any machine as a linear one; ``parts``
reads those of objects by their parts. ``from_formula`` makes and fits any of them from a formula, ``scoring``
says how much deviance was explained. ``terms`` is the estimator around both sparse models of terms, ISK and
SpAM.
"""
