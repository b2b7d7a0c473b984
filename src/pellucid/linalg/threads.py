"""One thread where more would only get in each other's way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

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


class _Calm:
    """Counts the fits that want one thread: the first sets the limit, the last lifts it.

    The limit is that of the whole process: fits in several threads would otherwise lift each other's.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.depth = 0
        self.limiter: Any = None

    def enter(self) -> None:
        """One more fit wants calm."""
        with self.lock:
            if self.depth == 0:
                self.limiter = _controller().limit(limits=1, user_api="blas")
            self.depth += 1

    def leave(self) -> None:
        """One fit is done."""
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.limiter.restore_original_limits()


_CALM = _Calm()


@contextmanager
def calm_threads(X: np.ndarray) -> Iterator[None]:
    """Keep linear algebra to one thread while a model of the rows ``X`` is fitted, if they are few."""
    if len(X) >= _SMALL or X.size >= _HUGE:
        yield
        return
    _CALM.enter()
    try:
        yield
    finally:
        _CALM.leave()
