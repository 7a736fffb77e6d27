"""Records of events and findings, in a buffer that is emptied when it is full.

A record begins with its length. That of an event has the numbers named below, then for each variable that was
changed the array, the offset, how many numbers, these before and these after. That of a finding has its kind,
as a negative number, in place of the handler.
"""

from __future__ import annotations

from cosim.step.arrays import Arrays
from cosim.step.layout import DRAIN, LOG_USED, LOGGING, TIME
from cosim.walker import call_python

LENGTH, WHEN, WHO, WINDOW_START, WINDOW_END, WITNESS_BEFORE, WITNESS_AFTER, ANSWER, TOOK, CELLS, RECORD = (
    range(11)
)
CELL_ARRAY, CELL_OFFSET, CELL_SIZE, CELL = range(4)  # behind them the values after and before
FINDING_WITNESS, FINDING_VALUE, FINDING = 3, 4, 5
WRONG_SIDE, CHATTERING, ZENO, HELD, RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE, NOTICE = range(
    -1, -9, -1
)
NOT_SMOOTH, NOT_KNOWN_INSIDE = -9, -10  # of a history, by the number of its ring
NOT_A_NUMBER = -11  # of a witness; its value is when
OVERWRITTEN = (
    -12
)  # two handlers in one number, the later one times all and the earlier one; of which variable
DRAIN_LOG, DRAIN_ROWS = -1, -2


def room_in_log(a: Arrays, size: int) -> int:
    """Where in `log` a record of this size may begin; -1 where nothing is recorded."""
    if a.places[LOGGING] == 0:
        return -1
    if a.places[LOG_USED] + size > a.log.shape[0]:
        call_python(a.program[DRAIN], (DRAIN_LOG,))
    at = a.places[LOG_USED]
    if at + size > a.log.shape[0]:
        return -1
    a.places[LOG_USED] = at + size
    a.log[at + LENGTH] = float(size)
    a.log[at + WHEN] = a.clock[TIME]
    return at


def tell(a: Arrays, kind: int, witness: int, value: float) -> None:
    """Record a finding."""
    at = room_in_log(a, FINDING)
    if at >= 0:
        a.log[at + WHO] = float(kind)
        a.log[at + FINDING_WITNESS] = float(witness)
        a.log[at + FINDING_VALUE] = value
