"""What a run remembers of its past: auto-update variables, and the blocks that read histories."""

from __future__ import annotations

from cosim_compiler.record import Record

ON_MOTION, ON_ALL, ON_REPORTS = range(3)
"""Swap.depends."""


class Swap(Record):
    """An auto-update variable."""

    update: int  # where in the cache its new value is computed
    array: int  # IN_D or IN_K, and its place there
    offset: int
    depends: int  # what depends on it: ON_MOTION, ON_ALL, ON_REPORTS


class PastRow(Record):
    """A block that reads histories."""

    row: int  # of the schedule
    waits: int  # whether it waits for the end of the next step, see DERIVATIVES


class Smoothness(Record):
    """The smoothness of a source."""

    at: int  # where in the cache it stands
    is_immediate: int  # whether it follows a delayed signal at once
