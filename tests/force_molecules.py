"""A small molecule with a known energy, for tests of force fields."""

import numpy as np

REST = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.1], [-0.4, 1.0, 0.0], [-0.3, -0.5, 1.0]])
ATOMS = ["N", "H", "H", "H"]


def energy(R: np.ndarray) -> np.ndarray:
    """Morse springs from the first atom, and repulsion between the others: the same for all hydrogens."""
    a, b = np.triu_indices(R.shape[1], 1)
    d = np.linalg.norm(R[:, a] - R[:, b], axis=2)
    bonded = a == 0
    return np.where(bonded, (1 - np.exp(-1.5 * (d - 1.1))) ** 2, 0.3 / d).sum(axis=1)


def forces(R: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Minus the gradient of the energy by central differences."""
    F = np.empty_like(R)
    for k in range(R.shape[1]):
        for c in range(3):
            step = np.zeros(R.shape[1:])
            step[k, c] = h
            F[:, k, c] = -(energy(R + step) - energy(R - step)) / (2 * h)
    return F


def geometries(n: int, seed: int = 0, spread: float = 0.12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return REST + spread * rng.normal(size=(n, *REST.shape))


def rotation(seed: int = 0) -> np.ndarray:
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))
