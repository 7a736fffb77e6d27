"""Evaluating what is not evaluated yet, also with what holds witnesses.

While something is held the integrator walks a second list of the blocks of a derivative, with `sliding_field`
at its end. The row of that block in `held_ints`, and the numbers behind the cache in `c` that it works with,
are written before each step and each evaluation (`prepare_sliding_field`).
"""

from __future__ import annotations

from cosim.run_data.records.evaluation import DERIVATIVES, MOTION, NOTHING, RESTORED
from cosim.run_data.records.holds import PUSHED, SWITCHED
from cosim.run_data.run import Reals, Run
from cosim.step.block_calls import realize_touched, walk_here
from cosim.step.failures import BlockFailed
from cosim.step.holds import (
    has_held_derivatives,
    held_at,
    held_count,
    hold_of,
    mark_held_derivatives,
    push_of,
    switch_of,
)
from cosim.step.sliding_field import (
    SWITCHED_WIDTH,
    HeldWitness,
    ListedBlock,
    SlidingRow,
    Switched,
    field_numbers,
    solve,
)
from cosim.walker import walk
from cosim_compiler.calls import never_inlined
from cosim_compiler.record import rows_of


def realize(run: Run, stage: int) -> None:
    """Compute what is not computed yet, up to DERIVATIVES, MOTION or REPORT."""
    if run.evaluation.stage < stage:
        realize_missing(run, stage)


@never_inlined
def realize_missing(run: Run, stage: int) -> None:
    """Realize a stage, of which something is missing. What asks, which is often, stays a comparison."""
    if run.evaluation.stage == DERIVATIVES:
        for block in run.past:
            if block.waits != 0:
                walk_here(run, block.row, block.row + 1)
        run.evaluation.stage = MOTION
    if run.evaluation.stage < DERIVATIVES:
        realize_motion(run)
    if run.evaluation.stage < stage:
        walk_here(run, run.plan.derivatives.last, run.plan.report_end)
        run.evaluation.stage = stage


def realize_motion(run: Run) -> None:
    """Compute everything up to the derivatives: wholly, or what changes of handlers have reached."""
    if run.evaluation.touched != 0 and held_count(run) == 0 and not has_held_derivatives(run):
        mark_held_derivatives(run, False)
        realize_touched(run)
        return
    # put back as it was where a step ended: with what holds witnesses, unless it was written to since
    again = run.evaluation.stage == RESTORED and run.clock.jumped == 0.0
    again = again and has_held_derivatives(run) and held_count(run) > 0
    run.course.hold_known = 0
    mark_held_derivatives(run, False)
    run.evaluation.touched = 0
    run.evaluation.evaluations += 1
    first = run.plan.first_row if run.evaluation.stage <= NOTHING else run.plan.derivatives.first
    walk_here(run, first, run.plan.derivatives.last)
    run.evaluation.stage = MOTION
    if again:
        realize_held(run)


def realize_held(run: Run) -> None:
    """Compute the derivatives with what holds witnesses, at the present state."""
    prepare_sliding_field(run)
    first = run.plan.held.first
    last = run.plan.held.last
    status = walk(
        run.held_table, run.held_ints, first, last, run.clock.time, run.y, run.p, run.d, run.k, run.h, run.c
    )
    mark_held_derivatives(run, True)
    if status != 0:
        run.failure.block = min(
            status - 1 - first + run.plan.derivatives.first, run.plan.derivatives.last - 1
        )
        raise BlockFailed()


def stop_held(run: Run) -> None:
    """Take the rates of witnesses that are held since the last step from the states, along their pushes.

    Flights that pile up end at rest. A ball that kept the speed of its last flight would rise at constant
    speed, as a held witness does, and fall from there: two that hold each other would never come to rest.
    """
    if run.holds.has_moving == 0.0:
        return
    run.holds.has_moving = 0.0
    realize_held(run)
    held = held_count(run)
    n = run.y.shape[0]
    numbers = field_numbers(run.c, held, n, run.plan.cache_size)
    for j in range(held):
        is_pressed = hold_of(run, held_at(run, j)).kind == PUSHED and numbers.multipliers[j] > 0.0
        numbers.right_side[j] = -numbers.first_rates[j] if is_pressed else 0.0
    solve(numbers.equations, numbers.right_side, held)
    for j in range(held):
        for m in range(n):
            run.y[m] += numbers.right_side[j] * numbers.directions[j * n + m]
    run.evaluation.stage = NOTHING
    realize(run, MOTION)


def prepare_sliding_field(run: Run) -> None:
    """Write the row of `sliding_field` and the numbers that it works with."""
    held = held_count(run)
    row = rows_of(SlidingRow, run.held_ints, run.plan.held_row, 1)[0]
    numbers = field_numbers(run.c, held, run.y.shape[0], run.plan.cache_size)
    at = row.switches_at
    sides = 0
    row.held = held
    row.pushed = 0
    for j in range(held):
        hold = hold_of(run, held_at(run, j))
        list_held_witness(run, row, j)
        write_push(run, j, numbers.pushes)
        if hold.kind == PUSHED:
            row.pushed += 1
        if hold.kind == SWITCHED:
            count = int(hold.size)
            write_switches(run, j, at, numbers.sides, sides)
            at += 1 + SWITCHED_WIDTH * count
            sides += 2 * count


def list_held_witness(run: Run, row: SlidingRow, j: int) -> None:
    """Write the entry of the `j`-th held witness: where its value is, and how its rate is computed."""
    held = held_count(run)
    i = held_at(run, j)
    kind = run.witness_kinds[i]
    own_rate = rows_of(ListedBlock, run.held_ints, row.rates_at, len(run.witnesses))[i]
    entry = rows_of(HeldWitness, run.held_ints, row.witnesses_at, held)[j]
    entry.value = run.probes[i].value
    entry.rate = run.probes[i].rate
    entry.kind = int(hold_of(run, i).kind)
    entry.straight_block = kind.own_block if kind.is_straight != 0 else -1
    entry.rate_block = i if own_rate.address != 0 else -1
    entry.side = int(hold_of(run, i).side)
    entry.shown_state = kind.shown_state
    entry.is_first = 1
    for earlier in range(j):
        if run.witness_kinds[held_at(run, earlier)].own_block == kind.own_block:
            entry.is_first = 0


def write_push(run: Run, j: int, pushes: Reals) -> None:
    """Write the direction in which the `j`-th held witness is pushed: zeros if it switches variables."""
    n = run.y.shape[0]
    i = held_at(run, j)
    is_pushed = hold_of(run, i).kind != SWITCHED
    direction = push_of(run, i)
    for m in range(n):
        pushes[j * n + m] = direction[m] if is_pushed else 0.0


def write_switches(run: Run, j: int, at: int, sides: Reals, first_side: int) -> None:
    """Write the variables that the `j`-th held witness switches, from `at` on, and both values of each."""
    i = held_at(run, j)
    count = int(hold_of(run, i).size)
    run.held_ints[at] = count
    for s in range(count):
        switch = switch_of(run, i, s)
        switched = rows_of(Switched, run.held_ints, at + 1, count)[s]
        switched.array = int(switch.array)
        switched.offset = int(switch.offset)
        switched.sides_at = first_side + 2 * s
        sides[first_side + 2 * s] = switch.present
        sides[first_side + 2 * s + 1] = switch.other
