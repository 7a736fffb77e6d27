"""Whether a state that came from outside can be one of a program."""

from __future__ import annotations

from cosim.contracts.restored_memory import are_of_a_run
from cosim.rational import LONGEST
from cosim.step import layout as ix
from cosim.step.agenda import time_of
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_STATE, REACHED
from cosim.step.holds import (
    DATA,
    KIND,
    ORDER,
    SIZE,
    SWITCH_IN,
    SWITCH_OFFSET,
    SWITCH_WIDTH,
    can_hold,
    held_at,
    held_count,
    hold_row,
)
from cosim.step.records import Handler
from cosim.step.sliding_field import PUSHED, SWITCHED
from cosim.system.history_buffer import BEGIN, CAPACITY, COUNT, END, FIRST, START, WIDTH


def check_state(a: Arrays) -> int:
    """Refuse numbers that no run has, such as places outside of the arrays: REACHED or FAILED_STATE."""
    a.places[ix.STAGE] = ix.RESTORED
    bad = a.clock[ix.TIME] - a.clock[ix.TIME] != 0.0 or not are_of_a_run(a.y, a.memory)
    for handler in a.handlers:
        bad = bad or a.next_index[handler.number] < 0
        bad = bad or (a.agenda[ix.INITIALIZED] != 0 and not is_agenda(a, handler))
    size = a.h.shape[0]
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        start = a.k[ring + START]
        capacity = a.k[ring + CAPACITY]
        count = a.k[ring + COUNT]
        bad = bad or start < 0 or start > size or capacity < 1 or capacity > size
        bad = bad or start + WIDTH * capacity > size
        bad = bad or a.k[ring + FIRST] < 0 or a.k[ring + FIRST] >= capacity
        bad = bad or count < 0 or count > capacity
        bad = bad or a.k[ring + BEGIN] < -1 or a.k[ring + BEGIN] >= max(count, 1)
        bad = bad or a.k[ring + END] < -1 or a.k[ring + END] >= max(count, 1)
        for j in range(a.program[ix.RINGS]):
            other = a.program[a.program[ix.RINGS_AT] + j]
            first = a.k[other + START]
            apart = first >= start + WIDTH * capacity or start >= first + WIDTH * a.k[other + CAPACITY]
            bad = bad or (other != ring and not apart)
    if can_hold(a):
        bad = bad or not are_holds(a)
    return FAILED_STATE if bad else REACHED


def is_agenda(a: Arrays, handler: Handler) -> bool:
    """Whether a scheduled event comes at a time of its grid, and this can be counted."""
    if handler.schedule not in (ix.PERIODIC, ix.LISTED):
        return True
    index = a.next_index[handler.number]
    if handler.schedule == ix.PERIODIC:
        grid = a.grids[handler.number]
        good = grid.resolution > 0 and grid.period_whole >= 0
        good = good and abs(float(grid.offset_whole)) <= LONGEST
        good = good and (float(index) + 1.0) * (float(grid.period_whole) + 1.0) <= 2.0 * LONGEST
        good = good and 0 <= grid.offset_rest < grid.resolution
        if not (good and 0 <= grid.period_rest < grid.resolution):
            return False
    comes = a.timings[handler.number].comes
    return comes != comes or comes == time_of(a, handler, index)


def are_holds(a: Arrays) -> bool:
    """Whether what is held are witnesses, each by numbers that fit."""
    count = a.program[ix.WITNESSES]
    at = a.program[ix.HOLDS]
    if not 0.0 <= a.clock[at] <= count:
        return False
    good = True
    for j in range(held_count(a)):
        if not 0.0 <= a.clock[at + ORDER + j] < count:
            return False
        for other in range(j):
            good = good and held_at(a, other) != held_at(a, j)
        row = hold_row(a, held_at(a, j))
        if a.clock[row + KIND] == PUSHED:
            good = good and a.clock[row + SIZE] == a.y.shape[0]
            continue
        size = a.clock[row + SIZE]
        if a.clock[row + KIND] != SWITCHED or not 0.0 <= size <= a.program[ix.HOLDS_WIDTH] - DATA:
            return False
        for s in range(int(size) // SWITCH_WIDTH):
            data = row + DATA + SWITCH_WIDTH * s
            array = a.clock[data + SWITCH_IN]
            room = a.p.shape[0] if array == 2.0 else a.k.shape[0] if array == 1.0 else a.d.shape[0]
            good = good and array in (0.0, 1.0, 2.0) and 0.0 <= a.clock[data + SWITCH_OFFSET] < room
    return good
