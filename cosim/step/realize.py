"""Evaluating a state, and the functions of the integrator."""

from __future__ import annotations

from cosim.contracts.method_layout import BLOCK_FAILED as STEP_BLOCK_FAILED
from cosim.contracts.method_layout import END, FAILED_BLOCK, IS_CUBIC, RETURNED, SLOTS_HEADER
from cosim.step.assembling import meet_constraints
from cosim.step.evaluation import probed, walk_here
from cosim.step.event_log import GREW_BACK, report_finding
from cosim.step.failures import BlockFailed, ConstraintsNotMet, IntegrationFailed
from cosim.step.holds import (
    has_held_derivatives,
    held_count,
    note_derivatives,
    realize_held,
    uses_held_method,
)
from cosim.step.projection import END_OF_CORRECTIONS, NORMALIZE
from cosim.step.records import DERIVATIVES, MOTION, NOTHING, ON_GRID, RESTORED
from cosim.step.run import Integers, Reals, Run
from cosim.step.touched import realize_touched
from cosim.step.whole_way import whole_way
from cosim.walker import call_dense, call_redo, call_step

DONE = 0
UNBOUNDED = float("inf")


def realize(run: Run, stage: int) -> None:
    """Compute what is not computed yet, up to DERIVATIVES, MOTION or REPORT."""
    if run.evaluation.stage < stage:
        realize_missing(run, stage)


def realize_missing(run: Run, stage: int) -> None:
    """As `realize`, where something is missing."""
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
        note_derivatives(run, False)
        realize_touched(run)
        return
    # put back as it was where a step ended: with what holds witnesses, unless it was written to since
    again = run.evaluation.stage == RESTORED and run.clock.jumped == 0.0
    again = again and has_held_derivatives(run) and held_count(run) > 0
    note_derivatives(run, False)
    run.evaluation.touched = 0
    run.evaluation.evaluations += 1
    first = run.plan.first_row if run.evaluation.stage <= NOTHING else run.plan.derivatives.first
    walk_here(run, first, run.plan.derivatives.last)
    run.evaluation.stage = MOTION
    if again:
        realize_held(run)


def assemble(run: Run) -> None:
    """Make the state one that meets the constraints, and realize it; the statistics do not count that."""
    counted = run.evaluation.evaluations
    realize(run, MOTION)
    run.evaluation.evaluations = counted
    if run.slots[NORMALIZE] == run.slots[END_OF_CORRECTIONS]:
        return
    status = meet(run)
    run.evaluation.stage = NOTHING
    if status > 0:
        run.failure.block = status - 1
        raise BlockFailed()
    if status != 0:
        raise ConstraintsNotMet()
    realize(run, MOTION)
    run.evaluation.evaluations = counted


def meet(run: Run) -> int:
    """Change coordinates, then speeds, until every constraint is met; what `meet_constraints` answers."""
    return meet_constraints(
        run.table, run.ints, run.plan.derivatives.first, run.plan.derivatives.last, run.clock.time,
        run.y, run.p, run.d, run.k, run.h, run.c, run.slots, run.plan.nq, run.plan.nu,
        run.spare_states,
    )  # fmt: skip


def numbers_of_method(run: Run) -> tuple[Reals, Integers]:
    """Its coefficients and slots: while witnesses are held they may be others."""
    held = uses_held_method(run)
    first = run.plan.sizes.held_coefficients if held else 0
    last = run.coefficients.shape[0] if held else run.plan.sizes.coefficients
    first_slot = run.plan.sizes.held_slots if held else 0
    last_slot = run.slots.shape[0] if held else run.plan.sizes.slots
    return run.coefficients[first:last], run.slots[first_slot:last_slot]


def memory_size(run: Run) -> int:
    """How much of the method lies in the state."""
    return run.plan.sizes.memory if not uses_held_method(run) else run.plan.sizes.held_memory


def derivative_rows(run: Run, held: bool) -> tuple[Integers, Integers, int, int]:
    """What the integrator walks: table, integers, first and last row."""
    if held:
        return run.held_table, run.held_ints, run.plan.held.first, run.plan.held.last
    return run.table, run.ints, run.plan.derivatives.first, run.plan.derivatives.last


def method_arrays(run: Run) -> tuple[Reals, Reals, Reals, Reals, Integers]:
    """What is the integrator's own, as its functions take it."""
    coefficients, slots = numbers_of_method(run)
    return coefficients, run.settings, run.memory[: memory_size(run)], run.work, slots


def interpolate(run: Run, t: float, work: Reals) -> None:
    """The states at a time inside the step that `work` remembers, on its dense output, into `probed`."""
    y, _ = probed(run)
    coefficients, _ = numbers_of_method(run)
    call_dense(run.plan.method.dense, (t, coefficients, work, y, y))


def begin_integration(run: Run) -> None:
    """The integrator's memory at the beginning of a run."""
    call_method(run, run.plan.method.begin, run.clock.time, False)


def restart_integration(run: Run) -> None:
    """After a jump."""
    run.evaluation.stage = MOTION
    call_method(run, run.plan.method.restart, run.clock.time, False)


def follow_holds(run: Run, is_held: bool) -> None:
    """Where the memory of the method has another length while witnesses are held, begin anew."""
    before = memory_size(run)
    run.holds.uses_own_method = 1.0 if is_held else 0.0
    size = memory_size(run)
    if size == before:
        return
    for m in range(size):
        run.memory[m] = 0.0
    call_method(run, run.plan.method.begin, run.clock.time, is_held)


def step(run: Run, t_stop: float) -> None:
    """One step of the integrator, not past `t_stop`; time and cache are those of its end."""
    is_held = held_count(run) > 0
    if is_held != uses_held_method(run):
        follow_holds(run, is_held)
    state = (run.clock.time, run.y, run.p, run.d, run.k, run.h, run.c)
    method = method_arrays(run)
    given = derivative_rows(run, is_held) + state + method + (t_stop, UNBOUNDED)
    if run.y.shape[0] == 0 and method[4].shape[0] == SLOTS_HEADER:
        check_method(run, whole_way(*given))
    else:
        check_method(run, call_step(run.plan.method.step, given))
    run.clock.time = run.work[END]
    run.evaluation.stage = MOTION
    if run.work[RETURNED] != 0.0:
        report_finding(run, GREW_BACK, int(run.work[RETURNED]) - 1, 0.0)
        run.work[RETURNED] = 0.0
    note_derivatives(run, is_held)
    if completes_at_once(run):
        complete(run)


def redo(run: Run, t_event: float) -> None:
    """The last step again, ending at `t_event`."""
    call_method(run, run.plan.method.redo, t_event, held_count(run) > 0)
    run.clock.time = run.work[END]
    run.evaluation.stage = MOTION
    if completes_at_once(run):
        complete(run)


def completes_at_once(run: Run) -> bool:
    """Whether dense output is completed before updates change what it is completed from.

    Where it is a cubic without that, only for steps between whose ends histories or rows take values.
    """
    if run.plan.remembers == 0 or run.plan.method.complete == 0:
        return False
    if run.settings[IS_CUBIC] == 0.0:
        return True
    keeps = run.plan.inside_updates.first != run.plan.inside_updates.last
    keeps = keeps or run.plan.between_updates.first != run.plan.between_updates.last
    return keeps or has_rows_inside(run)


def has_rows_inside(run: Run) -> bool:
    """Whether a row is recorded before the end of the step that was taken last."""
    if run.output.recording < ON_GRID:
        return False
    return run.output_grid.origin + run.output_grid.point * run.output_grid.interval < run.clock.time


def complete(run: Run) -> None:
    """What dense output needs beyond the last step."""
    if run.plan.method.complete == 0:
        return
    is_held = held_count(run) > 0
    y, c = probed(run)
    for m in range(run.c.shape[0] if is_held else run.plan.cache_size):
        c[m] = run.c[m]
    state = (run.clock.time, y, run.p, run.d, run.k, run.h, c)
    given = derivative_rows(run, is_held) + state + method_arrays(run)
    status = call_redo(run.plan.method.complete, given)
    if status != 0:
        run.failure.block = status - 1
        raise BlockFailed()


def call_method(run: Run, address: int, t: float, is_held: bool) -> None:
    """Call a function of the integrator that has the signature of a step taken again."""
    state = (t, run.y, run.p, run.d, run.k, run.h, run.c)
    check_method(run, call_redo(address, derivative_rows(run, is_held) + state + method_arrays(run)))


def check_method(run: Run, code: int) -> None:
    """Refuse to go on where the integrator cannot."""
    if code != DONE:
        run.failure.step_code = code
        if code == STEP_BLOCK_FAILED:
            run.failure.block = int(run.work[FAILED_BLOCK])
        raise IntegrationFailed()
