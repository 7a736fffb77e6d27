"""Limits of this process that code of others has lowered, and that would keep results from being written."""

from __future__ import annotations

import math
from contextlib import suppress

try:
    import resource
except ImportError:  # not on Windows
    LIMITED: tuple[int, ...] = ()
else:
    NAMES = ("FSIZE", "NOFILE", "AS", "DATA", "CPU")
    LIMITED = tuple(
        getattr(resource, f"RLIMIT_{name}") for name in NAMES if hasattr(resource, f"RLIMIT_{name}")
    )


class ResourceLimits:
    """The limits of the moment for the size of files, their number, memory and processor time."""

    def __init__(self) -> None:
        self._limits = {kind: resource.getrlimit(kind) for kind in LIMITED}

    def restore(self) -> bool:
        """Raise those again that are lower now. Returns whether none is lower any more.

        A process without rights can go up to its hard limit alone. Higher limits stay: run-time environments
        that an FMU has started may need them.
        """
        is_whole = True
        for kind, (soft, hard) in self._limits.items():
            present, most = resource.getrlimit(kind)
            if _size(present) < _size(soft):
                for limits in ((soft, hard), (min(soft, most, key=_size), most)):
                    with suppress(OSError, ValueError):
                        resource.setrlimit(kind, limits)
                        break
                is_whole &= _size(resource.getrlimit(kind)[0]) >= _size(soft)
        return is_whole


def _size(limit: int) -> float:
    """A limit as a number."""
    return math.inf if limit == resource.RLIM_INFINITY else limit
