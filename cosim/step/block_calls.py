"""Variables, and the blocks that compute what follows from them.

Rows of the schedule are called in a range (`walk_here`), or behind an event only those that it has reached:
variables that differ from a copy are written back, and what reads them is marked (`restore_variables`);
`realize_touched` calls what is marked and what follows.

A `Node` is one row of the schedule, or a few rows of one component. Lists of lists are stored as starts, one
more than there are lists, and contents: for each variable of [y | p | d | k] the nodes that read it, for each
node those that read what it writes.
"""

from __future__ import annotations

from cosim.run_data.records.evaluation import INSTANCE, MOTION, NOTHING
from cosim.run_data.records.handlers import IN_D, IN_K, IN_P, IN_Y
from cosim.run_data.run import Integers, Reals, Run, Variables
from cosim.stage import Stage
from cosim.step.failures import BlockFailed
from cosim.walker import call_block, walk


def walk_rows(run: Run, first: int, last: int, t: float, y: Reals, c: Reals) -> None:
    """Call the blocks of these rows of the table."""
    status = walk(run.table, run.ints, first, last, t, y, run.p, run.d, run.k, run.h, c)
    if status != 0:
        run.failure.block = status - 1
        raise BlockFailed()


def walk_here(run: Run, first: int, last: int) -> None:
    """Walk rows on the present state."""
    walk_rows(run, first, last, run.clock.time, run.y, run.c)


def probed(run: Run) -> tuple[Reals, Reals]:
    """Spare states, for evaluations at other times, and the cache that belongs to them."""
    return run.probed_states, run.probed_cache


def copy_cache(run: Run, source: Reals, target: Reals) -> None:
    """Copy the cache to a spare one, where an evaluation at another time renews what varies with it."""
    for m in range(run.plan.cache_size):
        target[m] = source[m]


UNTOUCHED = 99  # in place of the lowest stage that changes invalidate: there are none
ON_INSTANCE, ON_POSITION, ON_VELOCITY = int(Stage.INSTANCE), int(Stage.POSITION), int(Stage.VELOCITY)
ON_DYNAMICS, ON_ACCELERATION, ON_TIME = int(Stage.DYNAMICS), int(Stage.ACCELERATION), int(Stage.TIME)


def lower_stage(run: Run, stage: int) -> None:
    """Invalidate all that is realized beyond `stage`, for another reason than marks of handlers."""
    run.evaluation.stage = min(run.evaluation.stage, stage)
    run.evaluation.touched = 0


def mark_readers(run: Run, number: int) -> None:
    """Mark the nodes that read a variable; `number` counts through [y | p | d | k]."""
    for i in range(run.reader_starts[number], run.reader_starts[number + 1]):
        run.marks[run.readers[i]] = 1


def number_of_variable(run: Run, array: int, offset: int) -> int:
    """The place of a variable in [y | p | d | k]."""
    if array == IN_Y:
        return offset
    if array == IN_P:
        return run.y.shape[0] + offset
    if array == IN_D:
        return run.y.shape[0] + run.p.shape[0] + offset
    return run.y.shape[0] + run.p.shape[0] + run.d.shape[0] + offset


def invalidated_stage(run: Run, array: int, offset: int) -> int:
    """The stage that a variable invalidates."""
    if array == IN_Y:
        if offset < run.plan.nq:
            return ON_POSITION
        return ON_VELOCITY if offset < run.plan.nq + run.plan.nu else ON_DYNAMICS
    if array == IN_P:
        return ON_INSTANCE
    return run.stages_of_d[offset] if array == IN_D else run.stages_of_k[offset]


def mark_change(run: Run, array: int, offset: int) -> int:
    """Mark what reads a variable that a handler has changed; the stage that this invalidates."""
    stage = invalidated_stage(run, array, offset)
    if len(run.nodes) > 0 and stage <= ON_ACCELERATION:
        mark_readers(run, number_of_variable(run, array, offset))
    return stage


def follow_change(run: Run, lowest: int) -> None:
    """Handlers have changed variables, all of them marked; `lowest` stage that this invalidates."""
    was_computed = run.evaluation.stage >= MOTION
    run.evaluation.lowered = min(run.evaluation.lowered, lowest)
    if lowest > ON_ACCELERATION:
        run.evaluation.stage = min(run.evaluation.stage, MOTION)
        return
    run.evaluation.stage = min(run.evaluation.stage, INSTANCE if lowest >= ON_TIME else NOTHING)
    if was_computed and len(run.nodes) > 0:
        run.evaluation.touched = 1
        run.evaluation.lowest = lowest
    elif run.evaluation.touched != 0:
        run.evaluation.lowest = min(lowest, run.evaluation.lowest)


def different(left: float, right: float) -> bool:
    """Whether two numbers differ; NaN is equal to NaN."""
    return left != right and (left == left or right == right)


def copy_reals(source: Reals, target: Reals) -> None:
    """Write numbers over others."""
    for m in range(source.shape[0]):
        target[m] = source[m]


def save_variables(run: Run, copy: Variables) -> None:
    """Write the present variables into a copy."""
    copy_reals(run.y, copy.y)
    copy_reals(run.p, copy.p)
    copy_reals(run.d, copy.d)
    for m in range(run.k.shape[0]):
        copy.k[m] = run.k[m]


def restore_variables(run: Run, copy: Variables) -> bool:
    """Make the variables those of a copy, and mark the rows that read them; whether one has changed."""
    lowest = restore_reals(run, IN_Y, copy.y, run.y)
    lowest = min(lowest, restore_reals(run, IN_P, copy.p, run.p))
    lowest = min(lowest, restore_reals(run, IN_D, copy.d, run.d))
    lowest = min(lowest, restore_integers(run, copy.k))
    if lowest != UNTOUCHED:
        follow_change(run, lowest)
    return lowest != UNTOUCHED


def restore_reals(run: Run, array: int, source: Reals, target: Reals) -> int:
    """Write numbers over variables; the lowest stage that this invalidates."""
    lowest = UNTOUCHED
    for m in range(target.shape[0]):
        if different(target[m], source[m]):
            target[m] = source[m]
            lowest = min(lowest, mark_change(run, array, m))
    return lowest


def restore_integers(run: Run, source: Integers) -> int:
    """Restore the integers of the saved variables."""
    lowest = UNTOUCHED
    for m in range(run.k.shape[0]):
        if run.k[m] != source[m]:
            run.k[m] = source[m]
            lowest = min(lowest, mark_change(run, IN_K, m))
    return lowest


def copied_value(copy: Variables, array: int, offset: int) -> float:
    """A variable in a copy."""
    if array == IN_K:
        return float(copy.k[offset])
    if array == IN_Y:
        return copy.y[offset]
    return copy.p[offset] if array == IN_P else copy.d[offset]


def set_copied(copy: Variables, array: int, offset: int, value: float) -> None:
    """Write a variable into a copy."""
    if array == IN_K:
        copy.k[offset] = int(value)
    elif array == IN_Y:
        copy.y[offset] = value
    elif array == IN_P:
        copy.p[offset] = value
    else:
        copy.d[offset] = value


def mark_followers(run: Run) -> None:
    """Mark the nodes that follow what is marked, and those that are called whatever they say they read."""
    pending = 0
    for i in range(len(run.nodes)):
        node = run.nodes[i]
        if node.is_always_called != 0 and node.stage >= run.evaluation.lowest:
            run.marks[i] = 1
        if run.marks[i] != 0:
            run.stack[pending] = i
            pending += 1
    while pending > 0:
        pending -= 1
        at = run.stack[pending]
        for j in range(run.follower_starts[at], run.follower_starts[at + 1]):
            i = run.followers[j]
            if run.marks[i] == 0:
                run.marks[i] = 1
                run.stack[pending] = i
                pending += 1


def realize_touched(run: Run) -> None:
    """Call the rows that follow what is marked, in order. The results are those of all rows.

    Marked nodes whose rows follow each other are called together. Where a block fails, no other is called.
    """
    mark_followers(run)
    run.evaluation.touched = 0
    run.evaluation.partial_evaluations += 1
    failed = -1
    i = next_marked(run, 0)
    while i < len(run.nodes):
        block = run.nodes[i].block
        first = run.nodes[i].first
        rows = 0
        last = first  # in `ints`, behind the rows that are called together
        while i < len(run.nodes) and run.nodes[i].block == block and run.nodes[i].first == last:
            node = run.nodes[i]
            run.marks[i] = 0
            rows += node.rows
            last += node.rows * node.width
            if node.stage >= ON_TIME:
                run.evaluation.rows_called += node.rows
            i = next_marked(run, i + 1)
        if failed < 0 and call_rows(run, block, first, rows) != 0:
            failed = block
    if failed >= 0:
        run.failure.block = failed
        raise BlockFailed()
    run.evaluation.stage = MOTION


def next_marked(run: Run, i: int) -> int:
    """The first marked node from `i` on; how many nodes there are where there is none."""
    while i < len(run.nodes) and run.marks[i] == 0:
        i += 1
    return i


def call_rows(run: Run, block: int, first: int, rows: int) -> int:
    """Call a block on some of its rows, which begin at `first` in `ints`; its status."""
    address = run.table[block, 0]
    t = run.clock.time
    return call_block(address, t, run.y, run.p, run.d, run.k, run.h, run.c, run.ints, first, rows)
