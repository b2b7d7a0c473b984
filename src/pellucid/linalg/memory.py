"""How much memory is left, and a clear refusal before a matrix that would not fit is allocated."""

import math
import os
import re
from contextlib import suppress
from pathlib import Path

from pellucid.exceptions import NotEnoughMemoryError

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")
_CGROUP_STAT = Path("/sys/fs/cgroup/memory.stat")


def available_memory() -> int:
    """Bytes this process can still allocate, as far as the system tells.

    Reads ``MemAvailable`` on Linux and what the control group leaves, whichever is smaller; elsewhere half of
    the physical memory. The environment variable ``PELLUCID_MEMORY`` (bytes) overrides all of it.
    """
    override = os.environ.get("PELLUCID_MEMORY")
    if override:
        try:
            return int(float(override))
        except (ValueError, OverflowError):
            raise ValueError(
                f"Environment variable PELLUCID_MEMORY is a number of bytes, such as 8e9; got {override!r}."
            ) from None
    available = _meminfo_available()
    candidates = [_physical_memory() // 2 if available is None else available]
    with suppress(OSError, ValueError):  # no control group, or its limit is the word "max"
        candidates.append(int(_CGROUP_LIMIT.read_text()) - int(_CGROUP_USED.read_text()) + _cgroup_cache())
    return max(min(candidates), 0)


def _cgroup_cache() -> int:
    """Bytes of cached files, which count as used but make way for an allocation."""
    found = re.search(r"^inactive_file (\d+)$", _CGROUP_STAT.read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def _meminfo_available() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf: assume a small laptop
        return 8 << 30


def format_bytes(n_bytes: float) -> str:
    """Render a number of bytes for people.

    Examples
    --------
    >>> format_bytes(3_221_225_472)
    '3.0 GiB'
    """
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    power = min((int(max(n_bytes, 1)).bit_length() - 1) // 10, len(units) - 1)
    return f"{n_bytes / 1024**power:.{0 if power == 0 else 1}f} {units[power]}"


def parse_bytes(text: str | float) -> int:
    """Number of bytes that a text such as "2GB" means; thousands, or powers of 1024 with "GiB".

    Examples
    --------
    >>> parse_bytes("2GB"), parse_bytes("1.5 MiB"), parse_bytes(1000)
    (2000000000, 1572864, 1000)
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([KMGTP]?)(i?)B?\s*", str(text), re.IGNORECASE)
    try:
        number = float(found[1]) if found else -1.0
    except ValueError:
        number = -1.0
    if found is None or not 0 < number < math.inf:
        raise ValueError(f"A limit of memory is a number of bytes or a text such as '2GB', got {text!r}.")
    return int(number * (1024 if found[3] else 1000) ** " KMGTP".index(found[2].upper() or " "))


def require_memory(n_rows: int, n_matrices: float, *, what: str = "the kernel matrix") -> None:
    """Raise :class:`NotEnoughMemoryError` unless ``n_matrices`` square float64 matrices of ``n_rows`` fit.

    Parameters
    ----------
    n_rows : int
        Rows of the data, so that one matrix takes ``8 * n_rows**2`` bytes.
    n_matrices : float
        How many such matrices live at the same time.
    what : str
        What needs the memory, for the message.
    """
    need = 8.0 * n_rows**2 * n_matrices
    have = available_memory()
    if need <= 0.9 * have:
        return
    fits = int(math.sqrt(0.9 * have / (8.0 * n_matrices)))
    raise NotEnoughMemoryError(
        f"{what[:1].upper()}{what[1:]} of {n_rows} rows needs about {format_bytes(need)}, but only "
        f"{format_bytes(have)} of memory is available. About {fits} rows would fit: fit on a sample of the "
        f"rows, or use a kernel with fewer explicit features than rows (such as 'linear'), which never forms "
        f"this matrix."
    )
