"""Row blocks under a memory budget, and threads to walk them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from os import cpu_count, environ
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_BLOCK_BYTES = 1 << 25  # 32 MiB: several blocks stay in flight without showing in the peak


def row_blocks(n_rows: int, row_bytes: float, budget: int = _BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each needing about ``budget`` bytes at ``row_bytes`` per row.

    Examples
    --------
    >>> list(row_blocks(5, row_bytes=10, budget=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, int(budget // max(row_bytes, 1)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def for_each_block(
    work: Callable[[slice], None], n_rows: int, row_bytes: float, budget: int = _BLOCK_BYTES // 8
) -> None:
    """Call ``work(rows)`` for every block, on as many threads as ``OMP_NUM_THREADS`` allows, or cores.

    For work in which NumPy or SciPy release the interpreter lock. Blocks write to disjoint rows, so the
    result does not depend on the order in which they run. ``np.errstate`` of the caller holds in the threads.
    """
    blocks = list(row_blocks(n_rows, row_bytes, budget))
    if len(blocks) > 1:
        in_threads(work, blocks, min(_threads(), len(blocks)))
    elif blocks:
        work(blocks[0])


def in_threads(work: Callable[[T], R], parts: Sequence[T], n: int) -> list[R]:
    """Results of ``work`` for each part, in their order, by ``n`` threads that share the caller's context."""
    with ThreadPoolExecutor(n) as pool:
        contexts = [copy_context() for _ in parts]
        return list(pool.map(lambda context, part: context.run(work, part), contexts, parts))


def _threads() -> int:
    """Threads to use; joblib's worker processes set the variable so that together they fill the cores."""
    wish = environ.get("OMP_NUM_THREADS", "")
    return max(1, int(wish)) if wish.isdigit() else cpu_count() or 1
