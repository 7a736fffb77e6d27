"""A folder in memory for what tests write: files on a disk took a tenth of all their time."""

from __future__ import annotations

import os
from pathlib import Path

PLACE = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes: some times what all tests write."""


def has_room(place: Path = PLACE) -> bool:
    """Whether a file system in memory takes what tests write, and lets machine code be loaded from there.

    That of a container is often small, or lets no code be loaded.
    """
    try:
        about = os.statvfs(place)
    except (AttributeError, OSError):
        return False
    allowed = os.access(place, os.W_OK) and not about.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
    return allowed and min(about.f_bavail * about.f_frsize, memory_left()) >= ROOM


def memory_left() -> int:
    """Bytes that processes may still take; 0 where the system does not tell."""
    try:
        rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text("utf-8").splitlines())
        return 1024 * int(rows["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return 0
