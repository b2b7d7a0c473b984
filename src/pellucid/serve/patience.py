"""Connections on which a request is long in coming are closed.

The guard limits the time of a body. What comes before it, the lines of the header, no application sees: a
client that sends them letter by letter would hold a connection for as long as it likes.
"""

from __future__ import annotations

import asyncio
from typing import Any


def patient_protocol(seconds: float) -> Any:
    """The protocol of uvicorn, with a limit to the time in which the header of a request arrives."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):
        _end: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _watch(self) -> None:
            """Start the clock where a header has begun, or is due, and stop it where it is complete."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self._end is None:
                self._end = self.loop.call_later(seconds, self.transport.close)

        def _forget(self) -> None:
            if self._end is not None:
                self._end.cancel()
                self._end = None

    return PatientProtocol
