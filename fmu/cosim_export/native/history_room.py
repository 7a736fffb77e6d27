"""How much room the histories of an FMU have that allocates nothing while it runs."""

from __future__ import annotations

import cosim
from cosim.kit import ENTRY_WIDTH, FIRST_ENTRIES
from cosim_lowering.linking import plan_of
from cosim_lowering.program import Program

DEFAULT_ENTRIES = 4096


def history_room(program: Program, entries: int) -> int:
    """Numbers for all histories together, each with room for `entries` values or somewhat more.

    Raises
    ------
    ModelError
        What a step may add at once does not fit.
    """
    if isinstance(entries, bool) or not isinstance(entries, int) or entries < 1:
        raise cosim.ModelError.of("history", f"is {entries!r}, needs a whole number of values, such as {DEFAULT_ENTRIES}")
    count, least = len(program.system.rings), _doubled(plan_of(program).room)
    if count and entries < least:
        text = f"is {entries}, needs at least {least}: so many values of a signal may be there after one step"
        raise cosim.ModelError.of("history", text)
    return max(1, count * _doubled(entries) * ENTRY_WIDTH)


def _doubled(entries: int) -> int:
    """The room that a history has once it has doubled often enough."""
    room = FIRST_ENTRIES
    while room < entries:
        room *= 2
    return room
