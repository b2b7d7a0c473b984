"""Matrices that are to be symmetric."""

import numpy as np

from pellucid.exceptions import IndefiniteKernelError
from pellucid.linalg.blocks import row_blocks
from pellucid.linalg.factor import smallest_eigenvalue


def symmetrise(K: np.ndarray, tolerance: float) -> None:
    """Replace ``K`` by its symmetric part, in place; raise if that changes more than rounding error does."""
    limit = tolerance * max(float(K.max()), -float(K.min()))
    for rows in row_blocks(len(K), 8.0 * 4 * len(K)):
        across, down = K[rows, rows.start :], K[rows.start :, rows].T
        gap = np.abs(across - down)
        i, j = np.unravel_index(np.argmax(gap), gap.shape)
        if gap[i, j] > limit:
            i, j = int(i) + rows.start, int(j) + rows.start
            raise IndefiniteKernelError(
                f"The kernel matrix is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g}, but entry "
                f"({j}, {i}) is {K[j, i]:.6g} (smallest eigenvalue of its symmetric part: "
                f"{smallest_eigenvalue((K + K.T) / 2):.4g}). If that is meant, pass the symmetric part "
                f"(K + K.T) / 2."
            )
        mean = (across + down) / 2.0
        K[rows, rows.start :], K[rows.start :, rows] = mean, mean.T
