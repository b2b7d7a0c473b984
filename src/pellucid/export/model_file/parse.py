"""JSON from bytes that nobody vouches for: no deep nesting, no key twice, no NaN."""

import json
import re
from math import isfinite
from typing import Any

import numpy as np

from pellucid.exceptions import ModelFileError

MAX_DEPTH = 100
"""Levels of nesting in a model, written and read."""

_MAX_BRACKETS = 5 * MAX_DEPTH  # a level of a model takes up to four of JSON
# possessive, and without need of a closing quote: it never goes back, so its time is linear
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def damaged(path: str, what: str = "") -> ModelFileError:
    """The error for content that no model has."""
    place = path if len(path) <= 200 else f"...{path[-200:]}"
    return ModelFileError(f"The file is damaged: {f'{place} {what}'.strip()}.")


def parse(data: bytes, name: str) -> Any:
    """What the JSON says; ``name`` is that of the member, for the message."""
    bare = np.frombuffer(_STRINGS.sub(b"", data), dtype=np.uint8)
    steps = np.isin(bare, list(b"[{")).astype(np.int32) - np.isin(bare, list(b"]}"))
    if np.cumsum(steps, dtype=np.int32).max(initial=0) > _MAX_BRACKETS:
        raise damaged(name, "is nested too deeply")
    try:
        return json.loads(
            data.decode("ascii"), parse_float=_finite, parse_constant=_finite, object_pairs_hook=_unique
        )
    except (ValueError, RecursionError) as error:
        raise damaged(name, f"is not the JSON of a model ({str(error)[:80]})") from error


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError("a number is not finite")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found
