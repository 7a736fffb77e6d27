"""Calling blocks of the schedule, on the present state or on a spare one beside it."""

from __future__ import annotations

from cosim.step.failures import BlockFailed
from cosim.step.run import Reals, Run
from cosim.walker import walk


def walk_rows(run: Run, first: int, last: int, t: float, y: Reals, c: Reals) -> None:
    """Call the blocks of these rows of the table."""
    status = walk(run.table, run.ints, first, last, t, y, run.p, run.d, run.k, run.h, c)
    if status != 0:
        run.failure.block = status - 1
        raise BlockFailed()


def walk_here(run: Run, first: int, last: int) -> None:
    """As `walk_rows`, on the present state."""
    walk_rows(run, first, last, run.clock.time, run.y, run.c)


def probed(run: Run) -> tuple[Reals, Reals]:
    """Spare states, for looks at other times, and the cache that belongs to them."""
    return run.probed_states, run.probed_cache


def copy_cache(run: Run, source: Reals, target: Reals) -> None:
    """What does not vary with the time that is looked at is the same in a spare cache."""
    for m in range(run.plan.cache_size):
        target[m] = source[m]
