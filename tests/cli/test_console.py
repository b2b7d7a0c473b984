"""Progress with the time left, on a terminal only."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

from pellucid.cli import console
from pellucid.cli.console import Clock, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    def start():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return start


def test_clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    clock = Clock()
    now[0] = 7.0
    assert clock.words == "7 s so far"
    clock.left(20.0)
    assert clock.words == "about 20 s left"
    now[0] = 17.0
    assert clock.words == "about 10 s left"
    now[0] = 40.0
    assert clock.words == "40 s so far, longer than expected"
    clock.left(600.0)
    assert clock.words == "about 10 min left"


def test_the_bar_tells_the_time_left(terminal):
    stream = terminal()
    with working("fitting [x]", expected=1000.0):
        pass
    assert "fitting [x]" in stream.getvalue()
    assert "min left" in stream.getvalue()


def test_silence_where_nobody_watches(capsys):
    with working("fitting", expected=10.0):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_long_fit_is_forecast(terminal, tmp_path):
    from pellucid.cli.run import run

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=5500), "z": rng.normal(size=5500)})
    table["y"] = np.sin(table["x"]) + rng.normal(size=5500)
    table.to_csv(tmp_path / "t.csv", index=False)
    stream = terminal()
    assert run(["fit", str(tmp_path / "t.csv"), "-t", "y", "--interactions", "0"]) == 0
    told = stream.getvalue()
    assert "looking how long it will take" in told
    assert "fitting (to be scored)" in told
    assert "fitting on all rows" in told
    assert "left" in told
