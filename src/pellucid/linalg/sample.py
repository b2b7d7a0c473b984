"""Some of the rows of a table, chosen by what they hold and not by where they are."""

from collections.abc import Iterable, Sequence

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def sample_rows(columns: Sequence[np.ndarray], k: int) -> np.ndarray:
    """Positions of ``k`` rows, increasing: like a random sample, but the same rows in whatever order.

    Every row gets a number that is computed from its values, and the smallest numbers are taken. Rows that
    are equal are numbered through, so that of many equal rows about the right share is taken.

    Parameters
    ----------
    columns : sequence of ndarrays of shape (n,)
        The columns of the table.
    k : int
        How many rows; all of them if there are not more.

    Examples
    --------
    >>> x = np.arange(1000.0)
    >>> some = sample_rows([x], 100)
    >>> other = sample_rows([x[::-1]], 100)
    >>> bool(np.array_equal(np.sort(x[some]), np.sort(x[::-1][other])))
    True
    """
    n = len(columns[0])
    if n <= k:
        return np.arange(n)
    number = _numbers(columns)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    first = np.append(True, ordered[1:] != ordered[:-1])
    start = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    repeat = (np.arange(n) - start).astype(np.uint64)
    taken = np.argsort(_mixed(ordered + repeat * _GOLDEN), kind="stable")[:k]
    return np.sort(order[taken])


def n_different(columns: Sequence[np.ndarray], target: np.ndarray, weight: np.ndarray) -> int | None:
    """How many rows differ, if those that are alike always have the same target; None if some have others.

    Rows of weight zero do not count.

    Examples
    --------
    >>> x, w = np.array([1.0, 1.0, 2.0]), np.ones(3)
    >>> (
    ...     n_different([x], np.array([5.0, 5.0, 6.0]), w),
    ...     n_different([x], np.array([5.0, 5.5, 6.0]), w),
    ... )
    (2, None)
    """
    some = weight > 0
    if not some.any():
        return 0
    _, first, place = np.unique(
        _numbers([column[some] for column in columns]), return_index=True, return_inverse=True
    )
    target = target[some]
    return len(first) if np.array_equal(target, target[first][place]) else None


def lots(columns: Iterable[np.ndarray], block: int) -> np.ndarray:
    """A number for each row of one block of a table; the rows of the smallest numbers are a random sample.

    It is computed from what a row holds, so that neither the order of rows nor the blocks matter. Only rows
    that hold the same as one before them in their block have numbers by their place.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> bool(np.array_equal(lots([x], 0)[60:], lots([x[60:]], 1)))
    True
    """
    number = _numbers(columns)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    first = np.append(True, ordered[1:] != ordered[:-1])
    start = np.maximum.accumulate(np.where(first, np.arange(len(number)), 0))
    repeat = (np.arange(len(number)) - start).astype(np.uint64)
    place = _mixed(np.full(1, block, dtype=np.uint64))[0]
    shift = np.where(repeat > 0, _mixed(repeat + place), np.uint64(0))
    out = np.empty_like(number)
    out[order] = _mixed(ordered + shift)
    return out


def in_order_of_lots(columns: Iterable[np.ndarray], most: int) -> np.ndarray:
    """Positions of the rows of the smallest lots, in their order: a random sample, shuffled.

    Examples
    --------
    >>> x = np.arange(1000.0)
    >>> some, other = in_order_of_lots([x], 100), in_order_of_lots([x[::-1]], 100)
    >>> bool(np.array_equal(x[some], x[::-1][other]))
    True
    """
    return np.argsort(lots(columns, 0), kind="stable")[:most]


def fold_rows(columns: Sequence[np.ndarray], k: int) -> np.ndarray:
    """Fold of each row, from 0 to k - 1: by what rows hold, so that equal rows are in one fold.

    Only the order of the values within each column counts, neither unit nor precision.

    Examples
    --------
    >>> x = np.arange(1000.0)
    >>> bool(np.bincount(fold_rows([x], 5)).min() > 150)
    True
    >>> bool(np.array_equal(fold_rows([x], 5), fold_rows([np.exp(x / 100)], 5)))
    True
    """
    ranks = [np.unique(column, return_inverse=True)[1].astype(np.float64) for column in columns]
    return (_numbers(ranks) % np.uint64(k)).astype(np.intp)


def equal_rows(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Number of each row by first appearance, the same for rows that hold the same values or miss them.

    Examples
    --------
    >>> equal_rows([np.array([1.0, 2.0, 1.0]), np.array([np.nan, 0.0, np.nan])]).tolist()
    [0, 1, 0]
    """
    _, first, number = np.unique(_numbers(columns), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def _numbers(columns: Iterable[np.ndarray]) -> np.ndarray:
    """A number for each row, computed from its values."""
    number = np.zeros(1, dtype=np.uint64)
    for column in columns:
        values = np.asarray(column, dtype=np.float64) + 0.0  # one zero instead of two
        values[np.isnan(values)] = np.nan
        number = _mixed(number ^ values.view(np.uint64))
    return number


def _mixed(number: np.ndarray) -> np.ndarray:
    """A permutation of the 64-bit numbers that looks random (the finaliser of splitmix64)."""
    number = number + _GOLDEN
    number = (number ^ (number >> np.uint64(30))) * _MIX[0]
    number = (number ^ (number >> np.uint64(27))) * _MIX[1]
    return number ^ (number >> np.uint64(31))
