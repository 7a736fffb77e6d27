"""What a run remembers of its past: auto-update variables, and the blocks that read histories."""

from __future__ import annotations

from cosim_compiler.record import Record

ON_MOTION, ON_ALL, ON_REPORTS = range(3)
"""Swap.depends."""


class Swap(Record):
    """An auto-update variable."""

    update: int  # slot of the cache with its new value
    array: int  # IN_D or IN_K
    offset: int  # its place there
    depends: int  # what has to be evaluated again after a change: ON_MOTION, ON_ALL, ON_REPORTS


class PastRow(Record):
    """A block that reads histories."""

    row: int  # of the schedule
    waits: int  # whether nothing needs it before the end of the next step, see DERIVATIVES


class Smoothness(Record):
    """A signal that a component remembers: the Step tells the component how smooth it is at an update."""

    at: int  # slot of the cache: the lowest order of a derivative that may jump; in checks, the tolerance
    is_immediate: int  # whether it follows a delayed signal at once: a break is not one order smoother then
