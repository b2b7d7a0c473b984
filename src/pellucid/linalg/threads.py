"""Threads: one where more would only get in each other's way, several for work that falls into parts."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from pellucid.linalg.blocks import in_threads

T = TypeVar("T")
R = TypeVar("R")

# Below this size threads save little, and on a busy machine, where they wait for each other in a loop, a
# decomposition by two threads was seen to take ten times as long as by one.
_SMALL = 1500  # rows
_HUGE = 20_000_000  # numbers


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Libraries found once: looking for them again would take longer than many a fit."""
    return ThreadpoolController()


def _blas_threads() -> int:
    """Threads that linear algebra uses now."""
    libraries = _controller().info()
    return max((lib["num_threads"] for lib in libraries if lib["user_api"] == "blas"), default=1)


class _OneThread:
    """Within it, linear algebra keeps to one thread: the first to enter sets the limit, the last lifts it.

    The limit is that of the whole process: fits in several threads would otherwise lift each other's.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.depth = 0
        self.usual = 1  # threads of linear algebra without the limit
        self.limiter: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.usual = _blas_threads()
                self.limiter = _controller().limit(limits=1, user_api="blas")
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.limiter.restore_original_limits()


_ONE_THREAD = _OneThread()
_ASIDE: ContextVar[bool] = ContextVar("_ASIDE", default=False)  # whether this is one of several parts


def n_workers() -> int:
    """How many parts of the work may run at once: as many as linear algebra has threads, if at all."""
    if _ASIDE.get():
        return 1
    with _ONE_THREAD.lock:
        return _ONE_THREAD.usual if _ONE_THREAD.depth else _blas_threads()


def side_by_side(work: Callable[[T], R], parts: Sequence[T]) -> list[R]:
    """Results of ``work`` for each part, in their order; parts run at once, with one thread each.

    Parts are to spend their time where NumPy and SciPy release the interpreter lock. Two threads that each
    walk through linear algebra of their own are never idle, whereas two threads within it wait for all that
    is not linear algebra. Parts of a part run one after another. ``np.errstate`` of the caller holds.
    """
    n = min(n_workers(), len(parts))
    if n < 2:
        return [work(part) for part in parts]

    def aside(part: T) -> R:
        _ASIDE.set(True)
        return work(part)

    with _ONE_THREAD:
        return in_threads(aside, parts, n)


def limited_threads(X: np.ndarray) -> AbstractContextManager[None]:
    """Keep linear algebra to one thread while a model of the rows ``X`` is fitted, if they are few."""
    return nullcontext() if len(X) >= _SMALL or X.size >= _HUGE else _ONE_THREAD
