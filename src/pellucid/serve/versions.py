"""The versions of a model in one session: edits, their log, and the way back."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from pellucid.effects.tables import TermTables
from pellucid.models.reading.by_hand import edit_by_hand
from pellucid.serve.errors import RequestError
from pellucid.serve.served import Served

_MOST = 50  # versions kept


@dataclass(frozen=True)
class Version:
    """A model as it was after some edit; ``number`` grows with every change, undoing included."""

    number: int
    model: Any


class Versions:
    """The versions of a model, the last one being in use.

    Readers take :attr:`now` once and work on it; edits happen one at a time and put a new one there.
    """

    def __init__(self, model: Any, served: Served) -> None:
        self.served = served
        self.original = Version(0, model)
        self._stack = [self.original]
        self._count = 0
        self._lock = threading.Lock()

    @property
    def now(self) -> Version:
        """The version in use."""
        return self._stack[-1]

    @property
    def can_undo(self) -> bool:
        """Whether there is a version to go back to."""
        return len(self._stack) > 1

    @property
    def editable(self) -> bool:
        """Whether the model predicts with tables that can be changed."""
        return isinstance(getattr(self.original.model, "tables_", None), TermTables)

    @property
    def can_refit(self) -> bool:
        """Whether there are data to fit the other terms again."""
        return self.editable and self.served.sample is not None and hasattr(self.original.model, "edit")

    def edit(self, wish: dict[str, Any], version: int) -> Version:
        """Make a change to the version of that number, which must be the one in use."""
        if not self.editable:
            name = type(self.original.model).__name__
            raise RequestError(
                422, f"{name} has no tables that could be changed; additive kernel machines have."
            )
        with self._alone(version):
            try:
                model = self._edited(self.now.model, wish)
            except (ValueError, TypeError) as error:
                raise RequestError(422, " ".join(str(error).split())[:400]) from None
            return self._push(model)

    def undo(self, version: int) -> Version:
        """Go back by one edit."""
        with self._alone(version):
            if not self.can_undo:
                raise RequestError(409, "There is nothing to undo.")
            self._count += 1
            back = self._stack[-2]
            self._stack[-2:] = [Version(self._count, back.model)]
            return self.now

    def _edited(self, model: Any, wish: dict[str, Any]) -> Any:
        refit, wish = wish.pop("refit", False), dict(wish)
        if not refit:
            return edit_by_hand(model, **wish)
        if not self.can_refit:
            raise RequestError(422, "There are no data to fit the other terms to; start the page with some.")
        sample, term = self.served.sample, wish["term"]
        assert sample is not None
        if wish.get("remove"):
            todo: dict[str, Any] = {"drop": [term]}
        elif wish.get("smooth") is not None and wish.get("output") is None:
            todo = {"smooth": {term: max((wish["smooth"] / 0.05) ** 2, 1.0)}}  # ridges times 4, 36, 400, ...
        else:
            model, todo = edit_by_hand(model, **wish), {"freeze": [term]}
        return model.edit(sample.X, sample.y, sample_weight=sample.weight, **sample.known, **todo)

    def _push(self, model: Any) -> Version:
        self._count += 1
        self._stack = [*self._stack, Version(self._count, model)]
        if len(self._stack) > _MOST:
            self._stack = [self._stack[0], *self._stack[2:]]
        return self.now

    def _alone(self, version: int) -> _Alone:
        return _Alone(self, version)


class _Alone:
    """The lock, for somebody who saw the version in use and does not wait for others."""

    def __init__(self, versions: Versions, seen: int) -> None:
        self.versions, self.seen = versions, seen

    def __enter__(self) -> None:
        if not self.versions._lock.acquire(blocking=False):
            raise RequestError(409, "Another edit is being made; try again when it is done.")
        if self.versions.now.number != self.seen:
            self.versions._lock.release()
            raise RequestError(
                409, "The model was edited elsewhere in the meantime: look at it as it is now."
            )

    def __exit__(self, *error: Any) -> None:
        self.versions._lock.release()
