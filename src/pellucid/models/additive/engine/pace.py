"""How far a fit is, and whether its time is up."""

from __future__ import annotations

import time

from pellucid._progress import Deadline, Progress

STEPS = {"main effects": 3, "pairs": 5, "columns": 5, "smoothness": 4, "minimum": 3}
"""Steps of the fit of one output in their order, and about what share of the work each is, of twenty."""


class Pace:
    """Progress of a fit and the end of its time; without arguments there is neither.

    A step that is needed is always done; one that is not is left out when the time is up. Several outputs
    share the time.

    Parameters
    ----------
    n_outputs : int
        Number of outputs, one fitted after the other.
    max_time : float, optional
        Seconds.
    verbose : int
        Whether the steps are told, with the time left.
    """

    def __init__(self, n_outputs: int = 1, max_time: float | None = None, verbose: int = 0) -> None:
        self._end = Deadline(max_time).end
        self._start, self._n, self._k = time.monotonic(), n_outputs, 0
        total = n_outputs * sum(STEPS.values())
        self._progress = Progress("fitting", total, verbose=verbose) if verbose else None
        self.left_out: list[str] = []

    def begins(self) -> None:
        """Say that the fit of the next output begins."""
        self._k += 1

    def done(self, what: str) -> None:
        """Say that a step is done."""
        if self._progress is not None:
            self._progress.step(what, STEPS[what])

    def over(self, what: str) -> bool:
        """Whether the time of this output is up, so that something is left out."""
        end = self._start + (self._end - self._start) * max(self._k, 1) / self._n
        over = time.monotonic() >= end
        if over and what not in self.left_out:
            self.left_out.append(what)
        return over

    def close(self) -> None:
        """Say that all is done."""
        if self._progress is not None:
            self._progress.close()
