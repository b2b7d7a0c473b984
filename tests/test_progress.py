"""A line of progress on a terminal, and silence anywhere else."""

import io
import sys

import pytest
from oracles import curve

from pellucid import KernelRidge, LooSearch, stability
from pellucid._progress import Deadline, Progress, track
from pellucid.exceptions import SearchWarning
from pellucid.kernels import RBF


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def open_terminal(monkeypatch):
    """A function, as pytest captures anew between the set-up of a test and the test itself."""

    def start():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return start


def search(**options):
    X, y = curve(15)
    return LooSearch(KernelRidge(RBF()), **options).fit(X, y)


def test_steps_and_the_time_left(open_terminal):
    terminal = open_terminal()
    progress = Progress("work", total=4, patience=-1.0)
    progress.step("first")
    progress.step()
    assert "work: 1 of 4, 0 s left first" in terminal.getvalue()
    assert "work: 2 of 4" in terminal.getvalue()
    progress.close()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_without_a_total(open_terminal):
    terminal = open_terminal()
    progress = Progress("work", patience=-1.0)
    progress.step("loo 0.5")
    assert "work: 1 loo 0.5" in terminal.getvalue()


def test_short_work_is_silent(open_terminal):
    terminal = open_terminal()
    assert list(track([1, 2, 3], "work", 3)) == [1, 2, 3]
    search(param_grid={"kernel__length_scale": [0.5, 1.0]})
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_no_terminal_no_progress(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("work", total=2, patience=-1.0)
    progress.step()
    progress.close()
    assert stream is None or stream.getvalue() == ""


def test_long_searches_are_shown(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setattr(Progress.__init__, "__defaults__", (None, -1.0, 0))
    search(param_grid={"kernel__length_scale": [0.5, 1.0]})
    assert "leave-one-out search: 2 of 2, 0 s left" in terminal.getvalue()
    search()
    assert "learning kernel parameters: 1 loo" in terminal.getvalue()


def test_the_line_is_wiped_after_an_error(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setattr(Progress.__init__, "__defaults__", (None, -1.0, 0))

    def items():
        yield 1
        yield 2
        raise RuntimeError

    with pytest.raises(RuntimeError):
        list(track(items(), "work", 3))
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert terminal.getvalue().count("work: 2 of 3") == 1


def test_told_in_a_log_file_where_asked(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("work", total=3, patience=-1.0, verbose=1)
    progress.step("first")
    progress.step("soon after")
    assert stream.getvalue() == "work: 1 of 3, 0 s left first\n"
    progress.told -= 10.0
    progress.step()
    progress.close()
    assert stream.getvalue().splitlines()[1:] == ["work: 3 of 3, 0 s left"]


def test_searches_end_in_time_with_the_best_so_far(monkeypatch):
    grid = {"kernel__length_scale": [0.1, 0.5, 1.0, 2.0]}
    with pytest.warns(SearchWarning, match="out of time after 1 of 4"):
        short = search(param_grid=grid, max_time=1e-9)
    assert len(short.results_["params"]) == 1
    assert short.best_params_ == {"kernel__length_scale": 0.1}
    assert search(param_grid=grid, max_time=1e9).best_params_ == search(param_grid=grid).best_params_
    with pytest.warns(SearchWarning, match="stopped before it converged"):
        cut = search(max_time=1e-9)
    assert not cut.results_["converged"][0]
    assert cut.results_["n_evaluations"][0] < search().results_["n_evaluations"][0]
    for wrong in (0, -1, True, "1s"):
        with pytest.raises(ValueError, match="max_time"):
            Deadline(wrong)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_stability_ends_in_time(tmp_path, n_jobs):
    X, y = curve(15)
    path, options = tmp_path / "splits.npz", {"n_splits": 4, "n_jobs": n_jobs}
    with pytest.warns(UserWarning, match="Out of time: the result has the 1 of 4 splits"):
        short = stability(KernelRidge(RBF()), X, y, max_time=1e-9, checkpoint=path, **options)
    full = stability(KernelRidge(RBF()), X, y, checkpoint=path, **options)
    assert len(short.test_error) == 1
    assert len(full.test_error) == 4
    assert short.test_error[0] == full.test_error[0]
