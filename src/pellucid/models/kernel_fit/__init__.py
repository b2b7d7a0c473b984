"""Fitting with the Gram matrix of a kernel, for every machine that has one.

In the order of a fit: ``length_scale`` for kernels given by name; ``ridge_fit`` states the problem and picks
a solver; with many rows ``tall_fit`` (blocks of the kernel, conjugate gradients), unless ``conditioning``
says that a factor costs less, or ``landmark_fit``;
``ridge_types`` has what they return; ``kernel_features`` are explicit features for other losses.
"""
