"""What holds for all work within a block: a limit of memory, progress, a file to resume from."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pellucid.linalg.memory import available_memory, parse_bytes


@dataclass(frozen=True)
class Settings:
    """What holds now."""

    memory_limit: int | None = None
    verbose: int = 0
    checkpoint: Path | None = None

    @property
    def most_memory(self) -> int:
        """Bytes beyond which a fit is refused: the limit, or what is available."""
        return available_memory() if self.memory_limit is None else self.memory_limit

    @property
    def usual_memory(self) -> int:
        """Bytes that a fit takes if it has a use for them: the limit, or half of what is available."""
        return available_memory() // 2 if self.memory_limit is None else self.memory_limit


_NOW: ContextVar[Settings] = ContextVar("_NOW", default=Settings())  # noqa: B039 (it is frozen)


def current() -> Settings:
    """The settings that hold here."""
    return _NOW.get()


@contextmanager
def settings(
    *,
    memory_limit: str | float | None = None,
    verbose: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Iterator[None]:
    """Set what holds for fits and predictions inside a ``with`` block; nothing of it changes a model.

    Parameters
    ----------
    memory_limit : str or number of bytes, optional
        Memory that fitting to rows beyond memory may take on top of what the process has, such as "2GB". A
        limit below what is needed raises an error that names the smallest that would do, before any work.
        By default half of what is available.
    verbose : int, optional
        1 shows which pass over the rows is under way, and the time left.
    checkpoint : path, optional
        Folder to keep the result of each finished pass in. After an interrupt the same fit, with the same
        folder, goes on from the last finished pass and ends with the same model.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> x = np.linspace(0.0, 1.0, 100)[:, None]
    >>> with pellucid.settings(memory_limit="2GB", verbose=1):
    ...     model = pellucid.AdditiveKernelRegressor().fit(x, x[:, 0])
    >>> round(float(model.predict([[0.5]])[0]), 3)
    0.5
    """
    new: dict[str, Any] = {}
    if memory_limit is not None:
        new["memory_limit"] = parse_bytes(memory_limit)
    if verbose is not None:
        new["verbose"] = int(verbose)
    if checkpoint is not None:
        new["checkpoint"] = Path(checkpoint)
    token = _NOW.set(replace(_NOW.get(), **new))
    try:
        yield
    finally:
        _NOW.reset(token)
