"""Whether a state that came from outside can be one of a program."""

from __future__ import annotations

from cosim.lowering.codes import FAILED_STATE, REACHED
from cosim.lowering.layout import ENTRIES, FIRST_ENTRY, NOTHING, RINGS, RINGS_AT, STAGE, TIME
from cosim.system.history_buffer import BEGIN, CAPACITY, COUNT, END, FIRST, START, WIDTH


def check_state(a):
    """Refuse descriptors that point outside of the arrays: REACHED or FAILED_STATE."""
    a.places[STAGE] = NOTHING
    bad = a.clock[TIME] - a.clock[TIME] != 0.0
    for entry in range(a.program[ENTRIES]):
        bad = bad or a.agenda[FIRST_ENTRY + entry] < 0
    size = a.h.shape[0]
    for i in range(a.program[RINGS]):
        ring = a.program[a.program[RINGS_AT] + i]
        start = a.k[ring + START]
        capacity = a.k[ring + CAPACITY]
        count = a.k[ring + COUNT]
        bad = bad or start < 0 or start > size or capacity < 1 or capacity > size
        bad = bad or start + WIDTH * capacity > size
        bad = bad or a.k[ring + FIRST] < 0 or a.k[ring + FIRST] >= capacity
        bad = bad or count < 0 or count > capacity
        bad = bad or a.k[ring + BEGIN] < -1 or a.k[ring + BEGIN] >= max(count, 1)
        bad = bad or a.k[ring + END] < -1 or a.k[ring + END] >= max(count, 1)
        for j in range(a.program[RINGS]):
            other = a.program[a.program[RINGS_AT] + j]
            first = a.k[other + START]
            apart = first >= start + WIDTH * capacity or start >= first + WIDTH * a.k[other + CAPACITY]
            bad = bad or (other != ring and not apart)
    return FAILED_STATE if bad else REACHED
