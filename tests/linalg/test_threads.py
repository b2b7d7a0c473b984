import numpy as np
import pytest
from threadpoolctl import threadpool_info

from pellucid.linalg import calm_threads, threads


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_few_rows_take_one_thread_and_give_it_back():
    before = blas_threads()
    with calm_threads(np.zeros((10, 3))):
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_the_limit_is_lifted_after_an_error():
    before = blas_threads()
    with pytest.raises(ValueError, match="inside"), calm_threads(np.zeros((10, 3))):
        raise ValueError("inside")
    assert blas_threads() == before


@pytest.mark.parametrize("X", [np.zeros((threads._SMALL, 1)), np.broadcast_to(0.0, (2, threads._HUGE))])
def test_many_rows_or_numbers_are_left_alone(X):
    before = blas_threads()
    with calm_threads(X):
        assert blas_threads() == before


def test_overlapping_fits_do_not_restore_each_others_limit():
    before = blas_threads()
    first, second = calm_threads(np.zeros((10, 3))), calm_threads(np.zeros((10, 3)))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before
