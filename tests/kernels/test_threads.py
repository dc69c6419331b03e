import numba
import pytest

from efex.kernels.threads import ALONE, threads_for


def test_few_observations_are_left_to_one_thread_and_many_to_all():
    available = numba.get_num_threads()
    with threads_for(ALONE):
        assert numba.get_num_threads() == 1
        with threads_for(ALONE + 1):
            assert numba.get_num_threads() == 1, "who is told to use one thread does not take more"
    with threads_for(ALONE + 1):
        assert numba.get_num_threads() == available
    assert numba.get_num_threads() == available


def test_the_threads_come_back_after_an_error():
    available = numba.get_num_threads()
    with pytest.raises(ZeroDivisionError), threads_for(1):
        raise ZeroDivisionError
    assert numba.get_num_threads() == available
