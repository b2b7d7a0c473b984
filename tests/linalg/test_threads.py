from threading import Barrier, get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from pellucid.linalg import limited_threads, side_by_side, threads


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_few_rows_take_one_thread_and_give_it_back():
    before = blas_threads()
    with limited_threads(np.zeros((10, 3))):
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_the_limit_is_lifted_after_an_error():
    before = blas_threads()
    with pytest.raises(ValueError, match="inside"), limited_threads(np.zeros((10, 3))):
        raise ValueError("inside")
    assert blas_threads() == before


@pytest.mark.parametrize("X", [np.zeros((threads._SMALL, 1)), np.broadcast_to(0.0, (2, threads._HUGE))])
def test_many_rows_or_numbers_are_left_alone(X):
    before = blas_threads()
    with limited_threads(X):
        assert blas_threads() == before


def test_overlapping_fits_do_not_restore_each_others_limit():
    before = blas_threads()
    first, second = limited_threads(np.zeros((10, 3))), limited_threads(np.zeros((10, 3)))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


@pytest.fixture
def three_threads(monkeypatch):
    monkeypatch.setattr(threads, "_blas_threads", lambda: 3)


def test_parts_run_side_by_side_with_one_thread_each_and_keep_their_order(three_threads):
    before = blas_threads()
    meet = Barrier(3, timeout=30)  # broken if fewer than three run at once

    def work(part):
        meet.wait()
        return part, set(blas_threads()), threads.n_workers()

    results = side_by_side(work, [5, 6, 7])
    assert [part for part, *_ in results] == [5, 6, 7]
    assert all(limits == {1} and workers == 1 for _, limits, workers in results)
    assert blas_threads() == before
    assert threads.n_workers() == 3


def test_parts_of_a_part_run_one_after_another(three_threads):
    def work(_):
        return side_by_side(lambda _: get_ident(), range(4))

    assert all(len(set(inner)) == 1 for inner in side_by_side(work, range(3)))


def test_few_rows_are_no_reason_not_to_work_side_by_side(three_threads):
    with limited_threads(np.zeros((10, 3))):
        assert threads.n_workers() == 3


def test_one_thread_of_linear_algebra_means_one_part_at_a_time(monkeypatch):
    monkeypatch.setattr(threads, "_blas_threads", lambda: 1)
    assert set(side_by_side(lambda _: get_ident(), range(5))) == {get_ident()}
    assert side_by_side(abs, []) == []


def test_an_error_in_a_part_is_raised_and_the_limit_lifted(three_threads):
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda part: 1 / part, [1, 0, 2])
    assert blas_threads() == before


def test_parts_heed_the_error_state_of_the_caller(three_threads):
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        side_by_side(lambda x: np.ones(1) / x, [np.zeros(1), np.zeros(1)])
