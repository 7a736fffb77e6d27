"""The size of the histories of an FMU that allocates nothing while it runs."""

from __future__ import annotations

import cosim
from cosim.kit import ENTRY_WIDTH, Ring, place_in
from cosim_lowering.linking import plan_of
from cosim_lowering.program import Program

DEFAULT_ENTRIES = 4096


def history_room(program: Program, entries: int) -> int:
    """Numbers for all histories together, each with room for `entries` values or somewhat more.

    Raises
    ------
    ModelError
        The values that a step may add at once do not fit.
    """
    if isinstance(entries, bool) or not isinstance(entries, int) or entries < 1:
        raise cosim.ModelError.of(
            "history", f"is {entries!r}, needs a whole number of values, such as {DEFAULT_ENTRIES}"
        )
    rings = program.system.rings
    if not rings:
        return 1
    begin = int(program.arrays["k"][rings[0].offset + place_in(Ring, "capacity")])
    least, room = (_doubled(begin, wanted) for wanted in (plan_of(program).room, entries))
    if room < least:
        text = f"is {entries}, needs at least {least}: so many values of a signal may be there after one step"
        raise cosim.ModelError.of("history", text)
    return len(rings) * room * ENTRY_WIDTH


def _doubled(room: int, wanted: int) -> int:
    """The room that a history has once it has doubled often enough."""
    while room < wanted:
        room *= 2
    return room
