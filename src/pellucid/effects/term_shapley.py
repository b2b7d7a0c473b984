r"""Exact Shapley values of models that are sums of functions of one or two features.

The values of a sum are sums of values. A curve gives all it has to its feature, :math:`f_j(x_j) - \mathrm{E}
f_j`; a surface is a game of two players,

.. math::
    \phi_j = \tfrac12 \bigl(v_{\{j\}} - v_\emptyset + v_{\{j, l\}} - v_{\{l\}}\bigr), \qquad
    v_{\{j\}} = \mathrm{E} f_{jl}(x_j, Z_l), \quad v_{\{j, l\}} = f_{jl}(x_j, x_l).

Where curves have mean zero, and surfaces mean zero along both features, what is left is :math:`\phi_j = f_j +
\tfrac12 \sum_l f_{jl}`: the curve and half of each surface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pellucid.effects.terms import Term

Evaluate = Callable[[np.ndarray], np.ndarray]
"""Values of all terms at coded rows, of shape (m, n_terms, q)."""

_ROWS = 1 << 16  # rows whose terms are evaluated at a time


def shares_of_centred(parts: np.ndarray, terms: Sequence[Term], n_features: int) -> np.ndarray:
    """The curve and half of each surface, (m, n_features, q), from terms of shape (m, n_terms, q)."""
    values = np.zeros((len(parts), n_features, parts.shape[2]))
    for t, term in enumerate(terms):
        for j in term:
            values[:, j] += parts[:, t] / len(term)
    return values


def term_shapley(
    evaluate: Evaluate, terms: Sequence[Term], X: np.ndarray, Z: np.ndarray, *, independent: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values at coded rows ``X`` against background rows ``Z``, and the mean of all terms there.

    Returns
    -------
    values : ndarray of shape (m, n_features, q)
    base : ndarray of shape (q,)
        Without the intercept.
    """
    own, at_Z = evaluate(X), evaluate(Z)
    values = np.zeros((len(X), X.shape[1], own.shape[2]))
    empty = at_Z.mean(axis=0)
    for bit, split in splits(terms, X.shape[1]):
        first, second = (_means(evaluate, X, Z, bit, split, upper) for upper in (True, False))
        if independent:
            empty[split] = _means(evaluate, Z, Z, bit, split, True).mean(axis=0)
        for s, t in enumerate(split):
            up, down = pair_of(terms[t], bit)
            gain_up, gain_down = first[:, s] - empty[t], second[:, s] - empty[t]
            both = own[:, t] - empty[t]
            values[:, up] += 0.5 * (gain_up + both - gain_down)
            values[:, down] += 0.5 * (gain_down + both - gain_up)
    for t, term in enumerate(terms):
        if len(term) == 1:
            values[:, term[0]] += own[:, t] - empty[t]
    return values, empty.sum(axis=0)


def splits(terms: Sequence[Term], n_features: int) -> Iterator[tuple[int, list[int]]]:
    """Bits of the features' numbers, each with the surfaces whose features differ in it first.

    Two numbers differ in some bit, so a handful of ways to mix two rows tells the features of every pair
    apart.
    """
    left = [t for t, term in enumerate(terms) if len(term) == 2]
    for bit in range(max(n_features - 1, 1).bit_length()):
        found = [t for t in left if (terms[t][0] ^ terms[t][1]) >> bit & 1]
        left = [t for t in left if t not in found]
        if found:
            yield bit, found


def pair_of(term: Term, bit: int) -> tuple[int, int]:
    """The feature with the bit set, and the other one."""
    return (term[0], term[1]) if term[0] >> bit & 1 else (term[1], term[0])


def pair_values(
    evaluate: Evaluate, X: np.ndarray, Z: np.ndarray, bit: int, split: list[int], *, upper: bool = True
) -> Iterator[tuple[slice, np.ndarray]]:
    """Terms at all pairs of a row of ``X`` and one of ``Z``, of shape (rows, len(Z), len(split), q).

    Features with the bit set are taken from ``X`` and the others from ``Z``, or the other way round.
    """
    from_X = (np.arange(X.shape[1]) >> bit & 1).astype(bool) == upper
    step = max(1, _ROWS // len(Z))
    for start in range(0, len(X), step):
        x = X[start : start + step]
        mixed = np.where(from_X, np.repeat(x, len(Z), axis=0), np.tile(Z, (len(x), 1)))
        parts = evaluate(mixed)[:, split]
        yield slice(start, start + step), parts.reshape(len(x), len(Z), len(split), -1)


def _means(
    evaluate: Evaluate, X: np.ndarray, Z: np.ndarray, bit: int, split: list[int], upper: bool
) -> np.ndarray:
    """Means over ``Z`` of the terms at pairs of rows."""
    found = [values.mean(axis=1) for _, values in pair_values(evaluate, X, Z, bit, split, upper=upper)]
    return np.concatenate(found)
