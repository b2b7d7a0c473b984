"""What a request can be refused for: a status of HTTP, and one sentence for the person who asked."""

from __future__ import annotations


class RequestError(ValueError):
    """A request that is not answered."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
