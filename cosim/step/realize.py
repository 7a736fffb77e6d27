"""Evaluating a state, and the functions of the integrator."""

from __future__ import annotations

from cosim.contracts.method_layout import BLOCK_FAILED as STEP_BLOCK_FAILED
from cosim.contracts.method_layout import END, FAILED_BLOCK, IS_CUBIC, RETURNED, SLOTS_HEADER
from cosim.step.assembling import meet_constraints
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.codes import FAILED_CONSTRAINTS, FAILED_STEP
from cosim.step.evaluation import probed, walk_here
from cosim.step.event_log import GREW_BACK, tell
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


def realize(run: Run, stage: int) -> int:
    """As `realize_here`, compiled by itself."""
    return realize_here(run, stage)


def realized(run: Run, stage: int) -> int:
    """As `realize`, without a call where everything is computed."""
    return 0 if run.evaluation.stage >= stage else realize(run, stage)


def realize_here(run: Run, stage: int) -> int:
    """Compute what is not computed yet, up to DERIVATIVES, MOTION or REPORT; 0 or a code."""
    if run.evaluation.stage == DERIVATIVES and stage > DERIVATIVES:
        for block in run.past:
            if block.waits != 0 and walk_here(run, block.row, block.row + 1) != 0:
                return CODE_BLOCK
        run.evaluation.stage = MOTION
    if (
        run.evaluation.stage < DERIVATIVES
        and run.evaluation.touched != 0
        and held_count(run) == 0
        and not has_held_derivatives(run)
    ):
        note_derivatives(run, 0)
        code = realize_touched(run)
        if code != 0:
            return code
    if run.evaluation.stage < DERIVATIVES:
        # put back as it was where a step ended: with what holds witnesses, unless it was written to since
        again = run.evaluation.stage == RESTORED and run.clock.jumped == 0.0
        again = again and has_held_derivatives(run) and held_count(run) > 0
        note_derivatives(run, 0)
        run.evaluation.touched = 0
        run.evaluation.evaluations += 1
        first = run.plan.first_row if run.evaluation.stage <= NOTHING else run.plan.derivatives.first
        code = walk_here(run, first, run.plan.derivatives.last)
        if code != 0:
            return code
        run.evaluation.stage = MOTION
        if again:
            code = realize_held(run)
            if code != 0:
                return code
    if run.evaluation.stage < stage:
        code = walk_here(run, run.plan.derivatives.last, run.plan.report_end)
        if code != 0:
            return code
        run.evaluation.stage = stage
    return 0


def assemble(run: Run) -> int:
    """Make the state one that meets the constraints, and realize it; 0 or a code."""
    counted = run.evaluation.evaluations
    code = realize(run, MOTION)
    run.evaluation.evaluations = counted
    if code != 0 or run.slots[NORMALIZE] == run.slots[END_OF_CORRECTIONS]:
        return code
    status = meet(run)
    run.evaluation.stage = NOTHING
    if status > 0:
        run.failure.block = status - 1
        return CODE_BLOCK
    if status != 0:
        return FAILED_CONSTRAINTS
    code = realize(run, MOTION)
    run.evaluation.evaluations = counted
    return code


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


def begin_integration(run: Run) -> int:
    """The integrator's memory at the beginning of a run."""
    return call_method(run, run.plan.method.begin, run.clock.time, 0)


def restart_integration(run: Run) -> int:
    """After a jump."""
    run.evaluation.stage = MOTION
    return call_method(run, run.plan.method.restart, run.clock.time, 0)


def follow_holds(run: Run, held: int) -> int:
    """Where the memory of the method has another length while witnesses are held, begin anew; 0 or a code."""
    before = memory_size(run)
    run.holds.uses_own_method = float(held)
    size = memory_size(run)
    if size == before:
        return 0
    for m in range(size):
        run.memory[m] = 0.0
    return call_method(run, run.plan.method.begin, run.clock.time, held)


def step(run: Run, t_stop: float) -> int:
    """One step of the integrator, not past `t_stop`; time and cache are those of its end."""
    held = 1 if held_count(run) > 0 else 0
    if (held != 0) != uses_held_method(run):
        code = follow_holds(run, held)
        if code != 0:
            return code
    state = (run.clock.time, run.y, run.p, run.d, run.k, run.h, run.c)
    method = method_arrays(run)
    given = derivative_rows(run, held != 0) + state + method + (t_stop, UNBOUNDED)
    if run.y.shape[0] == 0 and method[4].shape[0] == SLOTS_HEADER:
        code = whole_way(*given)
    else:
        code = call_step(run.plan.method.step, given)
    if code != DONE:
        return method_failed(run, code)
    run.clock.time = run.work[END]
    run.evaluation.stage = MOTION
    if run.work[RETURNED] != 0.0:
        tell(run, GREW_BACK, int(run.work[RETURNED]) - 1, 0.0)
        run.work[RETURNED] = 0.0
    note_derivatives(run, held)
    return complete(run) if completes_at_once(run) else 0


def redo(run: Run, t_event: float) -> int:
    """The last step again, ending at `t_event`."""
    code = call_method(run, run.plan.method.redo, t_event, 1 if held_count(run) > 0 else 0)
    run.clock.time = run.work[END]
    run.evaluation.stage = MOTION
    if code == 0 and completes_at_once(run):
        code = complete(run)
    return code


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


def complete(run: Run) -> int:
    """What dense output needs beyond the last step."""
    if run.plan.method.complete == 0:
        return 0
    held = held_count(run) > 0
    y, c = probed(run)
    for m in range(run.c.shape[0] if held else run.plan.cache_size):
        c[m] = run.c[m]
    state = (run.clock.time, y, run.p, run.d, run.k, run.h, c)
    status = call_redo(run.plan.method.complete, derivative_rows(run, held) + state + method_arrays(run))
    if status == 0:
        return 0
    run.failure.block = status - 1
    return CODE_BLOCK


def call_method(run: Run, address: int, t: float, held: int) -> int:
    """Call a function of the integrator that has the signature of a step taken again."""
    state = (t, run.y, run.p, run.d, run.k, run.h, run.c)
    code = call_redo(address, derivative_rows(run, held != 0) + state + method_arrays(run))
    return method_failed(run, code) if code != DONE else 0


def method_failed(run: Run, code: int) -> int:
    """The code for an integrator that cannot go on."""
    run.failure.step_code = code
    if code == STEP_BLOCK_FAILED:
        run.failure.block = int(run.work[FAILED_BLOCK])
    return FAILED_STEP
