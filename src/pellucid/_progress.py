"""Progress with the time left, for work that takes longer than two seconds: on a terminal, or where asked."""

import sys
import time
from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any, TypeVar

T = TypeVar("T")

_EVERY = 5.0  # seconds between lines where there is no terminal


class Progress:
    """Counts steps and rewrites one line on standard error; silent on anything but a terminal.

    ``total`` is ``None`` where the number of steps is not known; then ``detail`` tells how far things are.
    With ``verbose`` there is progress in log files and notebooks too, a line every five seconds or so.
    """

    def __init__(self, label: str, total: int | None = None, patience: float = 2.0, verbose: int = 0) -> None:
        self.label, self.total, self.patience, self.verbose = label, total, patience, verbose
        self.told = -_EVERY
        self.start = time.monotonic()
        self.done = 0
        self.shown = False

    def step(self, detail: str = "", by: int = 1) -> None:
        """Note a finished step, or several."""
        self.done += by
        elapsed = time.monotonic() - self.start
        if elapsed < self.patience or not (_on_terminal() or self.verbose):
            return
        text = f"{self.label}: {self.done}"
        if self.total:
            left = elapsed / self.done * (self.total - self.done)
            text += f" of {self.total}, {left:.0f} s left"
        if _on_terminal():
            print(f"\r{text} {detail}\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = True
        elif elapsed - self.told >= _EVERY and sys.stderr is not None:
            print(f"{text} {detail}".rstrip(), file=sys.stderr, flush=True)
            self.told = elapsed

    def close(self) -> None:
        """Wipe the line."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # programs without a console have no standard error


def track(items: Iterable[T], label: str, total: int, verbose: int = 0) -> Iterator[T]:
    """Yield ``items``, showing progress between them."""
    progress = Progress(label, total, verbose=verbose)
    try:
        for item in items:
            yield item
            progress.step()
    finally:
        progress.close()


class Deadline:
    """The end of the time that a search may take; never, if there is no limit (None)."""

    def __init__(self, seconds: Any) -> None:
        number = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if seconds is not None and (not number or not seconds > 0):
            raise ValueError(f"max_time must be a positive number of seconds, got {seconds!r}.")
        self.end = float("inf") if seconds is None else time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.end


class Watch:
    """Progress and the end of the time together, for searches that go on while there is time.

    Examples
    --------
    >>> watch = Watch("choosing", max_time=60.0)
    >>> watch.step("first"), watch.cut
    (True, False)
    """

    def __init__(
        self, label: str, total: int | None = None, max_time: float | None = None, verbose: int = 0
    ) -> None:
        self.progress, self.deadline = Progress(label, total, verbose=verbose), Deadline(max_time)
        self.cut = False
        """Whether a search was told to stop."""

    def step(self, detail: str = "") -> bool:
        """Note a finished step; whether there is time for another."""
        self.progress.step(detail)
        self.cut = self.cut or self.deadline.over
        return not self.cut

    def close(self) -> None:
        """Wipe the line."""
        self.progress.close()
