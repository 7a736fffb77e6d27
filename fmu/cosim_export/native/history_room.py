"""The size of the histories of an FMU that allocates nothing while it runs."""

from __future__ import annotations

import cosim
from cosim.kit import ENTRY_WIDTH, Ring, place_in
from cosim_lowering.linking import plan_of
from cosim_lowering.program import Program

DEFAULT_ENTRIES = 4096  # values of each signal


def history_room(program: Program, entries: int) -> int:
    """The count of numbers for all histories together, each with room for at least `entries` values.

    Raises
    ------
    ModelError
        `entries` is not a positive whole number, or less than a single step may add.
    """
    if isinstance(entries, bool) or not isinstance(entries, int) or entries < 1:
        raise cosim.ModelError.of(
            "history", f"is {entries!r}, needs a whole number of values, such as {DEFAULT_ENTRIES}"
        )
    rings = program.system.rings
    if not rings:
        return 1
    start_room = int(program.arrays["k"][rings[0].offset + place_in(Ring, "capacity")])
    least, room = (_doubled(start_room, needed) for needed in (plan_of(program).room, entries))
    if room < least:
        text = f"is {entries}, needs at least {least}: so many values of a signal may be there after one step"
        raise cosim.ModelError.of("history", text)
    return len(rings) * room * ENTRY_WIDTH


def _doubled(room: int, needed: int) -> int:
    """`room`, doubled until it is at least as large as needed: so histories grow."""
    while room < needed:
        room *= 2
    return room
