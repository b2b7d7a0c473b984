"""Shapley values by their definition: every coalition, every background row."""

from itertools import product
from math import factorial

import numpy as np


def by_definition(predictor, X, Z):
    """Values of shape (m, p, q) and the value of no feature, from the predictor at mixed rows."""
    m, p = X.shape
    worth = {}
    for inside in product([False, True], repeat=p):
        mixed = np.where(inside, np.repeat(X, len(Z), axis=0), np.tile(Z, (m, 1)))
        worth[inside] = np.asarray(predictor(mixed), dtype=float).reshape(m, len(Z), -1).mean(axis=1)
    values = np.zeros((m, p, worth[inside].shape[1]))
    for inside, without in worth.items():
        s = sum(inside)
        for j in range(p):
            if not inside[j]:
                more = (*inside[:j], True, *inside[j + 1 :])
                values[:, j] += (worth[more] - without) * factorial(s) * factorial(p - s - 1) / factorial(p)
    return values, worth[(False,) * p][0]


def product_rows(Z):
    """All rows that can be made of the values in the columns: the product of the empirical marginals."""
    return np.array(list(product(*Z.T)), dtype=Z.dtype)
