"""One thread where more would only get in each other's way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from threadpoolctl import ThreadpoolController

# Below this size threads save little, and on a busy machine, where they wait for each other in a loop, a
# decomposition by two threads was seen to take ten times as long as by one.
_SMALL = 1500  # rows
_HUGE = 20_000_000  # numbers


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Libraries found once: looking for them again would take longer than many a fit."""
    return ThreadpoolController()


@contextmanager
def calm_threads(X: np.ndarray) -> Iterator[None]:
    """Keep linear algebra to one thread while a model of the rows ``X`` is fitted, if they are few.

    The limit holds for the whole process while the block runs, as there is no other.
    """
    if len(X) >= _SMALL or X.size >= _HUGE:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
