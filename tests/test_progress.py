"""A line of progress on a terminal, and silence anywhere else."""

import io
import sys

import pytest
from oracles import curve

from pellucid import KernelRidge, LooSearch
from pellucid._progress import Progress, track
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
    monkeypatch.setattr(Progress.__init__, "__defaults__", (None, -1.0))
    search(param_grid={"kernel__length_scale": [0.5, 1.0]})
    assert "leave-one-out search: 2 of 2, 0 s left" in terminal.getvalue()
    search()
    assert "learning kernel parameters: 1 loo" in terminal.getvalue()


def test_the_line_is_wiped_after_an_error(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setattr(Progress.__init__, "__defaults__", (None, -1.0))

    def items():
        yield 1
        yield 2
        raise RuntimeError

    with pytest.raises(RuntimeError):
        list(track(items(), "work", 3))
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert terminal.getvalue().count("work: 2 of 3") == 1
