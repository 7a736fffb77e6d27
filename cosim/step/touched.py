"""Behind an event only what it has reached is computed again.

``reach`` has a header (the names below), then: for each variable of [y | p | d | k] the nodes that read it;
the nodes; for each node those that read what it writes. A node is one row of the schedule, or a few rows of
one component. Lists of lists are stored as starts, one more than there are lists, and contents.
"""

from __future__ import annotations

from cosim.stage import Stage
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_BLOCK
from cosim.walker import call_block

NODES, NODES_AT, READERS_FROM, READERS_AT, FOLLOWERS_FROM, FOLLOWERS_AT, REACH_HEADER = range(7)
NODE_BLOCK, NODE_FIRST, NODE_COUNT, NODE_ROW, NODE_STAGE, ALWAYS, NODE_WIDTH = range(7)
UNTOUCHED = 99  # no stage
ON_INSTANCE, ON_POSITION, ON_VELOCITY = int(Stage.INSTANCE), int(Stage.POSITION), int(Stage.VELOCITY)
ON_DYNAMICS, ON_ACCELERATION, ON_TIME = int(Stage.DYNAMICS), int(Stage.ACCELERATION), int(Stage.TIME)


def lower_stage(a: Arrays, stage: int) -> None:
    """What is realized beyond `stage` is void, and not because of what handlers have marked."""
    a.places[ix.STAGE] = min(a.places[ix.STAGE], stage)
    a.places[ix.TOUCHED] = 0


def mark_readers(a: Arrays, number: int) -> None:
    """Mark the nodes that read a variable; `number` counts through [y | p | d | k]."""
    starts = a.reach[READERS_FROM] + number
    for i in range(a.reach[starts], a.reach[starts + 1]):
        a.places[a.program[ix.MARKS] + a.reach[a.reach[READERS_AT] + i]] = 1


def note_change(a: Arrays, array: int, offset: int) -> int:
    """Mark what reads a variable that a handler has changed; the stage that this invalidates."""
    number = offset
    stage = ON_INSTANCE
    if array == ix.IN_Y:
        stage = ON_DYNAMICS
        if offset < a.program[ix.NQ]:
            stage = ON_POSITION
        elif offset < a.program[ix.NQ] + a.program[ix.NU]:
            stage = ON_VELOCITY
    else:
        number += a.y.shape[0]
    if array in (ix.IN_D, ix.IN_K):
        number += a.p.shape[0]
        stage = a.program[a.program[ix.STAGES_D_AT] + offset] if array == ix.IN_D else 0
    if array == ix.IN_K:
        number += a.d.shape[0]
        stage = a.program[a.program[ix.STAGES_K_AT] + offset]
    if a.reach[NODES] > 0 and stage <= ON_ACCELERATION:
        mark_readers(a, number)
    return stage


def follow_change(a: Arrays, lowest: int) -> None:
    """Handlers have changed variables, all of them marked; `lowest` stage that this invalidates."""
    was_computed = a.places[ix.STAGE] >= ix.MOTION
    a.places[ix.LOWERED] = min(a.places[ix.LOWERED], lowest)
    if lowest > ON_ACCELERATION:
        a.places[ix.STAGE] = min(a.places[ix.STAGE], ix.MOTION)
        return
    a.places[ix.STAGE] = min(a.places[ix.STAGE], ix.INSTANCE if lowest >= ON_TIME else ix.NOTHING)
    if was_computed and a.reach[NODES] > 0:
        a.places[ix.TOUCHED] = 1
        a.places[ix.LOWEST] = lowest
    elif a.places[ix.TOUCHED] != 0:
        a.places[ix.LOWEST] = min(lowest, a.places[ix.LOWEST])


def realize_touched(a: Arrays) -> int:
    """Call the rows that follow what is marked, in order; 0 or a code. The results are those of all rows."""
    marks = a.program[ix.MARKS]
    stack = a.program[ix.STACK]
    nodes = a.reach[NODES]
    pending = 0
    for i in range(nodes):
        row = a.reach[NODES_AT] + NODE_WIDTH * i
        if a.reach[row + ALWAYS] != 0 and a.reach[row + NODE_STAGE] >= a.places[ix.LOWEST]:
            a.places[marks + i] = 1
        if a.places[marks + i] != 0:
            a.places[stack + pending] = i
            pending += 1
    while pending > 0:
        pending -= 1
        starts = a.reach[FOLLOWERS_FROM] + a.places[stack + pending]
        for j in range(a.reach[starts], a.reach[starts + 1]):
            i = a.reach[a.reach[FOLLOWERS_AT] + j]
            if a.places[marks + i] == 0:
                a.places[marks + i] = 1
                a.places[stack + pending] = i
                pending += 1
    a.places[ix.TOUCHED] = 0
    a.places[ix.PARTLY_EVALUATED] += 1
    block = -1
    first = 0
    count = 0
    behind = 0
    failed = -1
    for i in range(nodes + 1):
        row = a.reach[NODES_AT] + NODE_WIDTH * i
        marked = i < nodes and a.places[marks + i] != 0
        if marked:
            a.places[marks + i] = 0
            if a.reach[row + NODE_STAGE] >= ON_TIME:
                a.places[ix.ROWS_CALLED] += a.reach[row + NODE_COUNT]
            if a.reach[row + NODE_BLOCK] == block and a.reach[row + NODE_FIRST] == behind:
                count += a.reach[row + NODE_COUNT]
                behind += a.reach[row + NODE_COUNT] * a.reach[row + NODE_ROW]
                continue
        if block >= 0 and failed < 0 and (marked or i == nodes):
            address = a.table[block, 0]
            status = call_block(
                address, a.clock[ix.TIME], a.y, a.p, a.d, a.k, a.h, a.c, a.ints, first, count
            )  # fmt: skip
            if status != 0:
                failed = block
        if marked:
            block = a.reach[row + NODE_BLOCK]
            first = a.reach[row + NODE_FIRST]
            count = a.reach[row + NODE_COUNT]
            behind = first + count * a.reach[row + NODE_ROW]
    if failed >= 0:
        a.places[ix.BLOCK] = failed
        return FAILED_BLOCK
    a.places[ix.STAGE] = ix.MOTION
    return 0
