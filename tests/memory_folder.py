"""A folder in memory for the files of tests: files on a disk took a tenth of the time of all tests."""

from __future__ import annotations

import os
from pathlib import Path

PLACE = Path("/dev/shm")
ROOM = 4 << 30
"""The bytes that must be free, several times as many as all tests write."""


def has_room(place: Path = PLACE) -> bool:
    """Whether a file system in memory has room for tests and allows to load machine code.

    In containers it is often small or does not allow that.
    """
    try:
        status = os.statvfs(place)
    except (AttributeError, OSError):
        return False
    can_write_and_load = os.access(place, os.W_OK) and not status.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
    return can_write_and_load and min(status.f_bavail * status.f_frsize, memory_left()) >= ROOM


def memory_left() -> int:
    """The available memory, bytes; 0 if it is not known."""
    try:
        rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text("utf-8").splitlines())
        return 1024 * int(rows["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return 0
