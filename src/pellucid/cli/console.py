"""What goes to the terminal: results on standard output; notes, progress and errors on standard error."""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from pellucid.report.packing import plain

_WIDE = 100_000  # where there is no terminal, nothing is cut off or wrapped


def clean(text: object) -> str:
    r"""Text as it can be shown on a terminal: control characters are made visible.

    Examples
    --------
    >>> clean("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def _console(stream: Any) -> Console:
    return Console(
        file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else _WIDE
    )


def say(text: str) -> None:
    """A note on standard error."""
    _console(sys.stderr).print(Text(clean(text), style="dim"))


def warn(text: str) -> None:
    """A note on standard error that should not be overlooked."""
    _console(sys.stderr).print(Text(f"Note: {clean(text)}", style="yellow"))


def fail(text: str) -> None:
    """An error on standard error."""
    _console(sys.stderr).print(Text.assemble(("pellucid: ", "bold red"), clean(text)))


def show(text: str) -> None:
    """A result in words on standard output."""
    print("\n".join(clean(line) for line in str(text).split("\n")))


def show_table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", best: int | None = None
) -> None:
    """A result as a table on standard output; row number ``best`` is in bold.

    The first column and one without a name are aligned to the left, all others to the right.
    """
    table = Table(
        title=Text(clean(title), style="bold") if title else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
        show_edge=False,
    )
    for place, header in enumerate(headers):
        left = place == 0 or header == ""
        table.add_column(Text(header), justify="left" if left else "right", overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(*(Text(clean(cell)) for cell in row), style="bold" if number == best else "")
    _console(sys.stdout).print(table)


def show_json(document: Any) -> None:
    """A result for programs: one JSON document on standard output."""
    print(json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=2))


# --------------------------------------------------------------------- progress
class Clock:
    """How long a piece of work is expected to take; the expectation can be corrected on the way."""

    def __init__(self, expected: float | None = None) -> None:
        self.start = time.monotonic()
        self.expected = expected

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def left(self, seconds: float | None) -> None:
        """Say how many seconds are expected from now on."""
        self.expected = None if seconds is None else self.elapsed + seconds

    @property
    def words(self) -> str:
        """Time left, in words, or time gone where that is not known.

        Examples
        --------
        >>> Clock(90.0).words
        'about 90 s left'
        """
        if self.expected is None:
            return f"{self.elapsed:.0f} s so far"
        left = self.expected - self.elapsed
        if left < 0:
            return f"{self.elapsed:.0f} s so far, longer than expected"
        return f"about {left / 60:.0f} min left" if left > 180 else f"about {left:.0f} s left"


class _Bar(Progress):
    """A bar that is moved by a clock: the work itself cannot be asked how far it is."""

    clock: Clock

    def get_renderables(self) -> Iterable[RenderableType]:
        """Move the bar before it is drawn."""
        for task in self.tasks:
            expected = self.clock.expected
            task.total = expected
            task.completed = 0.0 if expected is None else min(self.clock.elapsed, 0.99 * expected)
            task.fields["words"] = self.clock.words
        yield from super().get_renderables()


@contextmanager
def working(label: str, expected: float | None = None) -> Iterator[Clock]:
    """Show, on a terminal, that something is being done and how long it will take; elsewhere be silent."""
    clock = Clock(expected)
    if not on_terminal():
        yield clock
        return
    bar = _Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[words]}", markup=False),
        console=_console(sys.stderr),
        transient=True,
        refresh_per_second=5,
    )
    bar.clock = clock
    bar.add_task(clean(label), total=None, words="")
    with bar:
        yield clock


def on_terminal() -> bool:
    """Whether somebody may be watching the progress."""
    return sys.stderr.isatty()
