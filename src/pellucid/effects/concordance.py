"""How well scores order the times of events: Harrell's concordance."""

from __future__ import annotations

import numpy as np


def concordance(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Share of comparable pairs whose first event has the higher risk; ties in risk count half.

    A pair is comparable if one row had its event and the other was still without one: at a later time, or
    censored at the same time. One half is chance, one a perfect order. NaN where no pair is comparable.

    Parameters
    ----------
    time, event, risk : ndarray of shape (n,)
        Time of observation, whether it ended with the event, and scores that rise with the risk.
    weight : ndarray of shape (n,), optional
        A pair counts the product of its weights.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, True])
    >>> concordance(time, event, np.array([4.0, 3.0, 2.0, 1.0]))
    1.0
    >>> concordance(time, event, np.array([4.0, 1.0, 2.0, 1.0]))
    0.7
    """
    w = np.ones(len(time)) if weight is None else np.asarray(weight, dtype=float)
    _, place = np.unique(time, return_inverse=True)
    rank = 2 * place + ~event  # at equal times, events come first
    order = np.argsort(rank, kind="stable")
    won, tied, pairs = _count(rank[order], event[order], np.asarray(risk, dtype=float)[order], w[order])
    return float((won + 0.5 * tied) / pairs) if pairs > 0 else float("nan")


def _count(
    rank: np.ndarray, event: np.ndarray, risk: np.ndarray, w: np.ndarray
) -> tuple[float, float, float]:
    """Weight of pairs won, tied and compared: those within either half, and those between the halves."""
    if len(rank) == 0 or rank[0] == rank[-1]:
        return 0.0, 0.0, 0.0
    cut = int(np.searchsorted(rank, rank[len(rank) // 2]))
    cut = cut or int(np.searchsorted(rank, rank[0], "right"))  # rows of one rank stay together
    first = _count(rank[:cut], event[:cut], risk[:cut], w[:cut])
    last = _count(rank[cut:], event[cut:], risk[cut:], w[cut:])
    ended = np.flatnonzero(event[:cut])
    order = np.argsort(risk[cut:], kind="stable")
    later, gained = risk[cut:][order], np.append(0.0, np.cumsum(w[cut:][order]))
    below = gained[np.searchsorted(later, risk[ended], "left")]
    upto = gained[np.searchsorted(later, risk[ended], "right")]
    between = float(w[ended] @ below), float(w[ended] @ (upto - below)), float(w[ended].sum() * gained[-1])
    return tuple(map(sum, zip(first, last, between, strict=True)))  # type: ignore[return-value]
