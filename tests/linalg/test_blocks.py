import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.linalg import for_each_block, row_blocks


@given(n=st.integers(0, 200), row_bytes=st.floats(0, 1e4), budget=st.integers(1, 1000))
@settings(deadline=None)
def test_blocks_cover_every_row_once_within_the_budget(n, row_bytes, budget):
    blocks = list(row_blocks(n, row_bytes, budget))
    assert [i for rows in blocks for i in range(n)[rows]] == list(range(n))
    for rows in blocks:
        size = rows.stop - rows.start
        assert size == 1 or size * row_bytes <= budget


def test_every_block_is_worked_on_once():
    counts = np.zeros(1000, dtype=int)

    def work(rows):
        counts[rows] += 1

    for_each_block(work, 1000, row_bytes=8, budget=64)
    assert np.all(counts == 1)


def test_no_rows():
    for_each_block(lambda rows: pytest.fail("nothing to do"), 0, row_bytes=8)


def test_one_block_stays_in_this_thread():
    threads = []
    for_each_block(lambda rows: threads.append(threading.current_thread()), 3, row_bytes=8)
    assert threads == [threading.current_thread()]


def test_errors_arrive():
    def work(rows):
        if rows.start == 4:
            raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        for_each_block(work, 10, row_bytes=1, budget=1)


def test_the_callers_error_state_holds_in_every_block():
    with np.errstate(over="ignore"):
        for_each_block(lambda rows: np.exp(np.array([1e4])), 10, row_bytes=1, budget=1)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        for_each_block(lambda rows: np.exp(np.array([1e4])), 10, row_bytes=1, budget=1)
