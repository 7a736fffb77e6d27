"""The integrator, as the Step calls it: steps, steps taken again, dense output, constraints at a start."""

from __future__ import annotations

from cosim.contracts.constraints import assemble_system, has_corrections
from cosim.contracts.method_entries import by_address, step_entry
from cosim.contracts.method_layout import (
    BLOCK_FAILED,
    BY_LIMIT,
    BY_TARGET,
    DONE,
    SLOTS_HEADER,
    TUNE_SIGNATURE,
    Corrections,
    MethodArrays,
    OdeSystem,
)
from cosim.contracts.tolerances import LOOSEST_ACCURACY, SCALE, accuracy_of_step
from cosim.run_data.records.evaluation import MOTION, NOTHING
from cosim.run_data.records.recording import ON_GRID
from cosim.run_data.run import Integers, Reals, Run
from cosim.step.block_calls import probed
from cosim.step.event_log import GREW_BACK, report_finding
from cosim.step.failures import REACHED, BlockFailed, ConstraintsNotMet, IntegrationFailed
from cosim.step.holds import held_count, mark_held_derivatives, uses_held_method
from cosim.step.realize import realize
from cosim.walker import call_dense, call_redo, call_step
from cosim_compiler.calls import indirect_call
from cosim_compiler.record import rows_of

UNBOUNDED = float("inf")


def assemble(run: Run) -> None:
    """Make the state one that meets the constraints, and realize it; the statistics do not count that."""
    counted = run.evaluation.evaluations
    realize(run, MOTION)
    run.evaluation.evaluations = counted
    if not has_corrections(corrections_of(run)):
        return
    status = assemble_system(
        ode_system(run, False),
        corrections_of(run),
        run.clock.time,
        run.plan.nq,
        run.plan.nu,
        run.spare_states,
    )
    run.evaluation.stage = NOTHING
    if status > 0:
        run.failure.block = status - 1
        raise BlockFailed()
    if status != 0:
        raise ConstraintsNotMet()
    realize(run, MOTION)
    run.evaluation.evaluations = counted


def corrections_of(run: Run) -> Corrections:
    """The rows of the table that correct a solution."""
    return rows_of(Corrections, run.slots, 0, 1)[0]


def numbers_of_method(run: Run) -> tuple[Reals, Integers]:
    """The coefficients and slots of the method; others apply while witnesses are held."""
    return numbers_where(run, uses_held_method(run))


def numbers_where(run: Run, held: bool) -> tuple[Reals, Integers]:
    """The coefficients and slots of the method while witnesses are held, or while none is."""
    first = run.plan.sizes.held_coefficients if held else 0
    last = run.coefficients.shape[0] if held else run.plan.sizes.coefficients
    first_slot = run.plan.sizes.held_slots if held else 0
    last_slot = run.slots.shape[0] if held else run.plan.sizes.slots
    return run.coefficients[first:last], run.slots[first_slot:last_slot]


def memory_size(run: Run) -> int:
    """The length of the part of the method's memory that belongs to the State."""
    return run.plan.sizes.memory if not uses_held_method(run) else run.plan.sizes.held_memory


def ode_system(run: Run, is_held: bool) -> OdeSystem:
    """The system that the integrator evaluates, with the holds of witnesses."""
    if is_held:
        rows = run.plan.held
        return OdeSystem(
            run.held_table, run.held_ints, rows.first, rows.last, run.y, run.p, run.d, run.k, run.h, run.c
        )
    rows = run.plan.derivatives
    return OdeSystem(run.table, run.ints, rows.first, rows.last, run.y, run.p, run.d, run.k, run.h, run.c)


def method_arrays(run: Run) -> MethodArrays:
    """The arrays of the integrator."""
    coefficients, slots = numbers_of_method(run)
    memory = run.memory[: memory_size(run)]
    return MethodArrays(run.y.shape[0], coefficients, run.settings, memory, run.work, slots)


def interpolate(run: Run, t: float, work: Reals) -> None:
    """The states at a time inside the step that `work` remembers, on its dense output, into `probed`."""
    y, _ = probed(run)
    coefficients, _ = numbers_of_method(run)
    call_dense(run.plan.method.dense, (t, coefficients, work, y, y))


def initialize_method(run: Run) -> None:
    """The integrator's memory at the beginning of a run."""
    call_method(run, run.plan.method.begin, run.clock.time, False)


def restart_integration(run: Run) -> None:
    """Restart the integrator after a jump: its memory no longer fits the present state."""
    run.evaluation.stage = MOTION
    call_method(run, run.plan.method.restart, run.clock.time, False)


def fit_method_to_holds(run: Run, is_held: bool) -> None:
    """Restart the method where its memory has another length while witnesses are held."""
    before = memory_size(run)
    run.holds.uses_own_method = 1.0 if is_held else 0.0
    size = memory_size(run)
    if size == before:
        return
    for m in range(size):
        run.memory[m] = 0.0
    call_method(run, run.plan.method.begin, run.clock.time, is_held)


def integrate_step(run: Run, t_stop: float) -> None:
    """One step of the integrator, not past `t_stop`; time and cache are those of its end."""
    is_held = held_count(run) > 0
    if is_held != uses_held_method(run):
        fit_method_to_holds(run, is_held)
    system = ode_system(run, is_held)
    method = method_arrays(run)
    t = run.clock.time
    if system.size == 0 and method.slot_numbers.shape[0] == SLOTS_HEADER:
        check_method(run, advance_without_states(system, method, t, t_stop, UNBOUNDED))
    else:
        arguments = by_address(system, method, t) + (t_stop, UNBOUNDED)
        check_method(run, call_step(run.plan.method.step, arguments))
    work = method.work
    run.clock.time = work.end
    run.evaluation.stage = MOTION
    if work.returned_state != 0.0:
        report_finding(run, GREW_BACK, int(work.returned_state) - 1, 0.0)
        work.returned_state = 0.0
    mark_held_derivatives(run, is_held)
    if completes_at_once(run):
        complete(run)


def redo(run: Run, t_event: float) -> None:
    """The last step again, ending at `t_event`."""
    call_method(run, run.plan.method.redo, t_event, held_count(run) > 0)
    run.clock.time = method_arrays(run).work.end
    run.evaluation.stage = MOTION
    if completes_at_once(run):
        complete(run)


def completes_at_once(run: Run) -> bool:
    """Whether dense output is completed before updates change what it is completed from.

    Where it is a cubic without that, only for steps between whose ends histories or rows take values.
    """
    if run.plan.remembers == 0 or run.plan.method.complete == 0:
        return False
    if method_arrays(run).settings.is_cubic == 0.0:
        return True
    keeps = not (run.plan.inside_updates.is_empty() and run.plan.between_updates.is_empty())
    return keeps or has_rows_inside(run)


def has_rows_inside(run: Run) -> bool:
    """Whether a row is recorded before the end of the step that was taken last."""
    if run.output.recording < ON_GRID:
        return False
    return run.output_grid.next_time() < run.clock.time


def complete(run: Run) -> None:
    """Complete the data that dense output needs beyond the last step."""
    if run.plan.method.complete == 0:
        return
    is_held = held_count(run) > 0
    y, c = probed(run)
    for m in range(run.c.shape[0] if is_held else run.plan.cache_size):
        c[m] = run.c[m]
    system_at_end = ode_system(run, is_held)
    system = OdeSystem(
        system_at_end.table,
        system_at_end.ints,
        system_at_end.first,
        system_at_end.last,
        y,
        run.p,
        run.d,
        run.k,
        run.h,
        c,
    )
    arguments = by_address(system, method_arrays(run), run.clock.time)
    status = call_redo(run.plan.method.complete, arguments)
    if status != 0:
        run.failure.block = status - 1
        raise BlockFailed()


def call_method(run: Run, address: int, t: float, is_held: bool) -> None:
    """Call a function of the integrator that has the signature of a step taken again."""
    arguments = by_address(ode_system(run, is_held), method_arrays(run), t)
    check_method(run, call_redo(address, arguments))


def check_method(run: Run, code: int) -> None:
    """Refuse to go on where the integrator cannot."""
    if code != DONE:
        run.failure.step_code = code
        if code == BLOCK_FAILED:
            run.failure.block = int(method_arrays(run).work.failed_block)
        raise IntegrationFailed()


def advance_without_states(system, method, t, t_stop, limit):
    """Go all the way in one step, with one evaluation; see `cosim.contracts.method_layout`."""
    work = method.work
    end = min(t_stop, t + min(limit, method.settings.largest_step))
    status = system.evaluate(end)
    if status != 0:
        work.failed_block = float(status - 1)
        work.failed_time = end
        system.evaluate(t)
        return BLOCK_FAILED
    work.accept(t, end, BY_TARGET if end == t_stop else BY_LIMIT)
    return DONE


step_without_states = step_entry(MethodArrays, advance_without_states)


call_tune = indirect_call(TUNE_SIGNATURE)
"""What of an integrator's coefficients depends on the accuracy."""


def set_accuracy(run: Run, accuracy: float) -> int:
    """Integrate, and locate events, with `accuracy`; tolerances that were given as numbers stay.

    What the host of an FMU asks for is a hint: where it is looser than any of ours, the loosest is taken.
    """
    run.options.accuracy = accuracy
    method = method_arrays(run)
    settings = method.settings
    rule = method.tolerance_rule
    settings.accuracy = min(accuracy, LOOSEST_ACCURACY)
    settings.step_accuracy = accuracy_of_step(settings.accuracy, rule.factor, rule.power)
    for m in run.relative:
        method.relative_tolerances[m] = settings.step_accuracy
    for m in run.absolute:
        size = method.state_sizes[m] if method.state_sizes[m] > 0.0 else 1.0
        method.absolute_tolerances[m] = max(SCALE * settings.step_accuracy * size, rule.least_absolute)
    if run.plan.method.tune != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[: run.plan.sizes.coefficients]))
    if run.plan.method.tune != 0 and run.plan.sizes.held_coefficients != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[run.plan.sizes.held_coefficients :]))
    return REACHED
