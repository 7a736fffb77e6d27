"""Whether a state that came from outside can be one of a program."""

from __future__ import annotations

from cosim.contracts.restored_memory import are_of_a_run
from cosim.rational import LONGEST
from cosim.run_data.records.evaluation import RESTORED
from cosim.run_data.records.handlers import LISTED, PERIODIC, Grid, Handler
from cosim.run_data.records.holds import (
    IN_SWITCH_D,
    IN_SWITCH_K,
    IN_SWITCH_P,
    PUSHED,
    SET_BACK,
    SWITCHED,
    Switch,
)
from cosim.run_data.run import Run
from cosim.step.agenda import time_of
from cosim.step.failures import ForeignState
from cosim.step.holds import can_hold, held_at, held_count, hold_of, switch_of


def check_state(run: Run) -> None:
    """Check the numbers of a restored state: times, agenda, histories and holds.

    Raises
    ------
    ForeignState
        No run has such numbers, for instance a place outside of an array.
    """
    run.evaluation.stage = RESTORED
    is_finite_time = run.clock.time - run.clock.time == 0.0  # infinity and NaN minus themselves are NaN
    if not is_finite_time or not are_of_a_run(run.y, run.memory):
        raise ForeignState()
    for handler in run.handlers:
        if run.next_index[handler.number] < 0:
            raise ForeignState()
        if run.agenda.initialized != 0 and not is_agenda(run, handler):
            raise ForeignState()
    if not are_histories(run):
        raise ForeignState()
    if can_hold(run) and not are_holds(run):
        raise ForeignState()


def are_histories(run: Run) -> bool:
    """Whether each history lies inside the array of histories, and none in another."""
    size = run.h.shape[0]
    for i in range(len(run.rings)):
        ring = run.history(i).ring
        if not ring.is_possible(size):
            return False
        for j in range(i):
            earlier = run.history(j).ring
            if earlier.start < ring.stop and ring.start < earlier.stop:
                return False
    return True


def is_agenda(run: Run, handler: Handler) -> bool:
    """Whether the next event of a handler with a schedule is at a time of the schedule."""
    if handler.schedule not in (PERIODIC, LISTED):
        return True
    index = run.next_index[handler.number]
    if handler.schedule == PERIODIC and not is_countable(run.grids[handler.number], index):
        return False
    upcoming = run.timings[handler.number].next_time
    is_none = upcoming != upcoming  # NaN: there is no further event
    return is_none or upcoming == time_of(run, handler, index)


def is_countable(grid: Grid, index: int) -> bool:
    """Whether whole numbers hold the times of a grid up to an index: `multiple` must not overflow."""
    if not (grid.resolution > 0 and grid.period_whole >= 0):
        return False
    if not abs(float(grid.offset_whole)) <= LONGEST:
        return False
    # the time of the index is below (index + 1) (period + 1); beside an offset it fits twice the longest time
    if not (float(index) + 1.0) * (float(grid.period_whole) + 1.0) <= 2.0 * LONGEST:
        return False
    return 0 <= grid.offset_rest < grid.resolution and 0 <= grid.period_rest < grid.resolution


def are_holds(run: Run) -> bool:
    """Whether all that is held are different witnesses of the program, each with numbers that fit."""
    count = len(run.witnesses)
    if not 0.0 <= run.holds.count <= count:
        return False
    for j in range(held_count(run)):
        if not 0.0 <= run.held_order[j] < count:
            return False
        for earlier in range(j):
            if held_at(run, earlier) == held_at(run, j):
                return False
        if not is_hold(run, held_at(run, j)):
            return False
    return True


def is_hold(run: Run, witness: int) -> bool:
    """Whether a witness is held in one of the known ways, by numbers that the program has."""
    hold = hold_of(run, witness)
    if hold.kind in (PUSHED, SET_BACK):
        return hold.size == run.y.shape[0]
    if hold.kind != SWITCHED or not 0.0 <= hold.size <= run.plan.switchable:
        return False
    for s in range(int(hold.size)):  # noqa: SIM110
        if not is_switch(run, switch_of(run, witness, s)):
            return False
    return True


def is_switch(run: Run, switch: Switch) -> bool:
    """Whether a variable that a witness switches is one of this program."""
    if switch.array == IN_SWITCH_P:
        return 0.0 <= switch.offset < run.p.shape[0]
    if switch.array == IN_SWITCH_K:
        return 0.0 <= switch.offset < run.k.shape[0]
    return switch.array == IN_SWITCH_D and 0.0 <= switch.offset < run.d.shape[0]
