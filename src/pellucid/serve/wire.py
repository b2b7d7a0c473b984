"""JSON as it goes out."""

from __future__ import annotations

import json
from typing import Any

from pellucid.report.packing import plain


def as_bytes(content: Any) -> bytes:
    """JSON in ASCII; a number that is not finite becomes null.

    Examples
    --------
    >>> as_bytes({"mean": float("nan"), "rows": 3})
    b'{"mean":null,"rows":3}'
    """
    return json.dumps(plain(content), ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode(
        "ascii"
    )
