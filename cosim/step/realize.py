"""Evaluating a state, and the functions of the integrator."""

from __future__ import annotations

from cosim.contracts.method_entries import by_address
from cosim.contracts.method_layout import BLOCK_FAILED as STEP_BLOCK_FAILED
from cosim.contracts.method_layout import SLOTS_HEADER, Corrections, MethodArrays, OdeSystem
from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Integers, Reals
from cosim.step.assembling import assemble_system
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.codes import FAILED_CONSTRAINTS, FAILED_STEP
from cosim.step.evaluation import probed, walk_here
from cosim.step.event_log import GREW_BACK, tell
from cosim.step.holds import (
    METHOD,
    has_held_derivatives,
    held_count,
    note_derivatives,
    realize_held,
    uses_held_method,
)
from cosim.step.projection import has_corrections
from cosim.step.step_without_states import take_step_without_states
from cosim.step.touched import realize_touched
from cosim.walker import call_dense, call_redo, call_step
from cosim_compiler.record import rows_of

DONE = 0
UNBOUNDED = float("inf")


def realize(a: Arrays, stage: int) -> int:
    """As `realize_here`, compiled by itself."""
    return realize_here(a, stage)


def realized(a: Arrays, stage: int) -> int:
    """As `realize`, without a call where everything is computed."""
    return 0 if a.places[ix.STAGE] >= stage else realize(a, stage)


def realize_here(a: Arrays, stage: int) -> int:
    """Compute what is not computed yet, up to DERIVATIVES, MOTION or REPORT; 0 or a code."""
    if a.places[ix.STAGE] == ix.DERIVATIVES and stage > ix.DERIVATIVES:
        for i in range(a.program[ix.PAST]):
            listed = a.program[ix.PAST_AT] + ix.PAST_WIDTH * i
            row = a.program[listed + ix.PAST_ROW]
            if a.program[listed + ix.WAITS] != 0 and walk_here(a, row, row + 1) != 0:
                return CODE_BLOCK
        a.places[ix.STAGE] = ix.MOTION
    if (
        a.places[ix.STAGE] < ix.DERIVATIVES
        and a.places[ix.TOUCHED] != 0
        and held_count(a) == 0
        and not has_held_derivatives(a)
    ):
        note_derivatives(a, 0)
        code = realize_touched(a)
        if code != 0:
            return code
    if a.places[ix.STAGE] < ix.DERIVATIVES:
        # put back as it was where a step ended: with what holds witnesses, unless it was written to since
        again = a.places[ix.STAGE] == ix.RESTORED and a.clock[ix.JUMPED] == 0.0
        again = again and has_held_derivatives(a) and held_count(a) > 0
        note_derivatives(a, 0)
        a.places[ix.TOUCHED] = 0
        a.places[ix.EVALUATED] += 1
        first = a.program[ix.ALL] if a.places[ix.STAGE] <= ix.NOTHING else a.program[ix.FIRST]
        code = walk_here(a, first, a.program[ix.LAST])
        if code != 0:
            return code
        a.places[ix.STAGE] = ix.MOTION
        if again:
            code = realize_held(a)
            if code != 0:
                return code
    if a.places[ix.STAGE] < stage:
        code = walk_here(a, a.program[ix.LAST], a.program[ix.REPORTS])
        if code != 0:
            return code
        a.places[ix.STAGE] = stage
    return 0


def assemble(a: Arrays) -> int:
    """Make the state one that meets the constraints, and realize it; 0 or a code."""
    counted = a.places[ix.EVALUATED]
    code = realize(a, ix.MOTION)
    a.places[ix.EVALUATED] = counted
    if code != 0 or not has_corrections(corrections_of(a)):
        return code
    status = meet(a)
    a.places[ix.STAGE] = ix.NOTHING
    if status > 0:
        a.places[ix.BLOCK] = status - 1
        return CODE_BLOCK
    if status != 0:
        return FAILED_CONSTRAINTS
    code = realize(a, ix.MOTION)
    a.places[ix.EVALUATED] = counted
    return code


def meet(a: Arrays) -> int:
    """Change coordinates, then speeds, until every constraint is met; what `assemble_system` answers."""
    at = a.program[ix.SPARE]
    return assemble_system(
        ode_system(a, False), corrections_of(a), a.clock[ix.TIME], a.program[ix.NQ], a.program[ix.NU],
        a.scratch[at : at + 2 * a.y.shape[0]],
    )  # fmt: skip


def corrections_of(a: Arrays) -> Corrections:
    """The rows of the table that correct a solution."""
    return rows_of(Corrections, a.slots, 0, 1)[0]


def numbers_of_method(a: Arrays) -> tuple[Reals, Integers]:
    """Its coefficients and slots: while witnesses are held they may be others."""
    held = uses_held_method(a)
    first = a.program[ix.HELD_COEFFICIENTS] if held else 0
    last = a.coefficients.shape[0] if held else a.program[ix.COEFFICIENTS]
    first_slot = a.program[ix.HELD_SLOTS] if held else 0
    last_slot = a.slots.shape[0] if held else a.program[ix.SLOTS]
    return a.coefficients[first:last], a.slots[first_slot:last_slot]


def memory_size(a: Arrays) -> int:
    """How much of the method lies in the state."""
    return a.program[ix.MEMORY] if not uses_held_method(a) else a.program[ix.HELD_MEMORY]


def ode_system(a: Arrays, held: bool) -> OdeSystem:
    """What the integrator evaluates; with what holds witnesses, where they are held."""
    if held:
        first, last = a.program[ix.HELD_FIRST], a.program[ix.HELD_LAST]
        return OdeSystem(a.held_table, a.held_ints, first, last, a.y, a.p, a.d, a.k, a.h, a.c)
    return OdeSystem(a.table, a.ints, a.program[ix.FIRST], a.program[ix.LAST], a.y, a.p, a.d, a.k, a.h, a.c)


def method_arrays(a: Arrays) -> MethodArrays:
    """What the integrator works on."""
    coefficients, slots = numbers_of_method(a)
    return MethodArrays(a.y.shape[0], coefficients, a.settings, a.memory[: memory_size(a)], a.work, slots)


def interpolate(a: Arrays, t: float, work: Reals) -> None:
    """The states at a time inside the step that `work` remembers, on its dense output, into `probed`."""
    y, _ = probed(a)
    coefficients, _ = numbers_of_method(a)
    call_dense(a.program[ix.DENSE], (t, coefficients, work, y, y))


def begin_integration(a: Arrays) -> int:
    """The integrator's memory at the beginning of a run."""
    return call_method(a, a.program[ix.BEGIN], a.clock[ix.TIME], 0)


def restart_integration(a: Arrays) -> int:
    """After a jump."""
    a.places[ix.STAGE] = ix.MOTION
    return call_method(a, a.program[ix.RESTART], a.clock[ix.TIME], 0)


def follow_holds(a: Arrays, held: int) -> int:
    """Where the memory of the method has another length while witnesses are held, begin anew; 0 or a code."""
    before = memory_size(a)
    a.clock[a.program[ix.HOLDS] + METHOD] = float(held)
    size = memory_size(a)
    if size == before:
        return 0
    for m in range(size):
        a.memory[m] = 0.0
    return call_method(a, a.program[ix.BEGIN], a.clock[ix.TIME], held)


def step(a: Arrays, t_stop: float) -> int:
    """One step of the integrator, not past `t_stop`; time and cache are those of its end."""
    held = 1 if held_count(a) > 0 else 0
    if (held != 0) != uses_held_method(a):
        code = follow_holds(a, held)
        if code != 0:
            return code
    system = ode_system(a, held != 0)
    method = method_arrays(a)
    t = a.clock[ix.TIME]
    if system.size == 0 and method.slot_numbers.shape[0] == SLOTS_HEADER:
        code = take_step_without_states(system, method, t, t_stop, UNBOUNDED)
    else:
        code = call_step(a.program[ix.STEP], by_address(system, method, t) + (t_stop, UNBOUNDED))
    if code != DONE:
        return method_failed(a, code)
    work = method.work
    a.clock[ix.TIME] = work.end
    a.places[ix.STAGE] = ix.MOTION
    if work.returned_state != 0.0:
        tell(a, GREW_BACK, int(work.returned_state) - 1, 0.0)
        work.returned_state = 0.0
    note_derivatives(a, held)
    return complete(a) if completes_at_once(a) else 0


def redo(a: Arrays, t_event: float) -> int:
    """The last step again, ending at `t_event`."""
    code = call_method(a, a.program[ix.REDO], t_event, 1 if held_count(a) > 0 else 0)
    a.clock[ix.TIME] = method_arrays(a).work.end
    a.places[ix.STAGE] = ix.MOTION
    if code == 0 and completes_at_once(a):
        code = complete(a)
    return code


def completes_at_once(a: Arrays) -> bool:
    """Whether dense output is completed before updates change what it is completed from.

    Where it is a cubic without that, only for steps between whose ends histories or rows take values.
    """
    if a.program[ix.REMEMBERS] == 0 or a.program[ix.COMPLETE] == 0:
        return False
    if method_arrays(a).settings.is_cubic == 0.0:
        return True
    keeps = a.program[ix.INSIDE_FIRST] != a.program[ix.INSIDE_LAST]
    keeps = keeps or a.program[ix.BETWEEN_FIRST] != a.program[ix.BETWEEN_LAST]
    return keeps or has_rows_inside(a)


def has_rows_inside(a: Arrays) -> bool:
    """Whether a row is recorded before the end of the step that was taken last."""
    if a.places[ix.RECORDING] < ix.ON_GRID:
        return False
    return a.rows[ix.ORIGIN] + a.rows[ix.POINT] * a.rows[ix.INTERVAL] < a.clock[ix.TIME]


def complete(a: Arrays) -> int:
    """What dense output needs beyond the last step."""
    if a.program[ix.COMPLETE] == 0:
        return 0
    held = held_count(a) > 0
    y, c = probed(a)
    for m in range(a.c.shape[0] if held else a.program[ix.CACHE]):
        c[m] = a.c[m]
    evaluated = ode_system(a, held)
    system = OdeSystem(
        evaluated.table, evaluated.ints, evaluated.first, evaluated.last, y, a.p, a.d, a.k, a.h, c
    )
    method = method_arrays(a)
    status = call_redo(a.program[ix.COMPLETE], by_address(system, method, a.clock[ix.TIME]))
    if status == 0:
        return 0
    a.places[ix.BLOCK] = status - 1
    return CODE_BLOCK


def call_method(a: Arrays, address: int, t: float, held: int) -> int:
    """Call a function of the integrator that has the signature of a step taken again."""
    code = call_redo(address, by_address(ode_system(a, held != 0), method_arrays(a), t))
    return method_failed(a, code) if code != DONE else 0


def method_failed(a: Arrays, code: int) -> int:
    """The code for an integrator that cannot go on."""
    a.places[ix.STEP_CODE] = code
    if code == STEP_BLOCK_FAILED:
        a.places[ix.BLOCK] = int(method_arrays(a).work.failed_block)
    return FAILED_STEP
