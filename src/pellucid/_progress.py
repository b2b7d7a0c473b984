"""A line of progress with the time left, for work that takes longer than two seconds on a terminal."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Counts steps and rewrites one line on standard error; silent on anything but a terminal.

    ``total`` is ``None`` where the number of steps is not known; then ``detail`` tells how far things are.
    """

    def __init__(self, label: str, total: int | None = None, patience: float = 2.0) -> None:
        self.label, self.total, self.patience = label, total, patience
        self.start = time.monotonic()
        self.done = 0
        self.shown = False

    def step(self, detail: str = "") -> None:
        """Note one finished step."""
        self.done += 1
        elapsed = time.monotonic() - self.start
        if elapsed < self.patience or not _on_terminal():
            return
        text = f"{self.label}: {self.done}"
        if self.total:
            left = elapsed / self.done * (self.total - self.done)
            text += f" of {self.total}, {left:.0f} s left"
        print(f"\r{text} {detail}\x1b[K", end="", file=sys.stderr, flush=True)
        self.shown = True

    def close(self) -> None:
        """Wipe the line."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # programs without a console have no standard error


def track(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    """Yield ``items``, showing progress between them."""
    progress = Progress(label, total)
    try:
        for item in items:
            yield item
            progress.step()
    finally:
        progress.close()
