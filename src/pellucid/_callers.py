"""Warnings that point at the line of the person who called, however deep in the library they arise."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import sys
import threading
import warnings
from functools import cache
from types import FrameType

import joblib
import sklearn

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BETWEEN = tuple(
    os.path.dirname(os.path.abspath(str(package.__file__))) + os.sep
    for package in (sklearn, joblib, concurrent.futures)
) + tuple(os.path.abspath(str(module.__file__)) for module in (contextlib, functools, threading))
"""What may stand between the library and its caller: packages, and modules of the standard library."""


@cache
def _side(file: str) -> str:
    """Whether the code of a file is ours, stands in between, or is that of a caller."""
    if file.startswith(_OWN):
        return "own"
    return "between" if file.startswith(_BETWEEN) else "caller"


def warn_caller(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the first line on the way up that is neither ours nor of what stands in between.

    Where there is none, as in a thread, the warning points at the line that calls this.
    """
    level, frame = 2, sys._getframe(1)
    above: FrameType | None = frame
    while above is not None and _side(above.f_code.co_filename) != "caller":
        above, level = above.f_back, level + 1
    warnings.warn(message, category, stacklevel=2 if above is None else level)


def called_by_us(depth: int = 1) -> bool:
    """Whether the function that asks was called by the library itself; ``depth`` frames above are skipped.

    A caller in between, such as a pipeline of scikit-learn, is looked through.
    """
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None:
        side = _side(frame.f_code.co_filename)
        if side != "between":
            return side == "own"
        frame = frame.f_back
    return True
