"""Whether a state that came from outside can be one of a program."""

from __future__ import annotations

from cosim.component.history import LARGE, UNKNOWN, ZERO
from cosim.contracts.restored_memory import are_of_a_run
from cosim.rational import LONGEST
from cosim.run_data.records.evaluation import RESTORED
from cosim.run_data.records.handlers import LISTED, PERIODIC, Handler
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
    """Refuse numbers that no run has, such as places outside of the arrays."""
    run.evaluation.stage = RESTORED
    bad = run.clock.time - run.clock.time != 0.0 or not are_of_a_run(run.y, run.memory)
    for handler in run.handlers:
        bad = bad or run.next_index[handler.number] < 0
        bad = bad or (run.agenda.initialized != 0 and not is_agenda(run, handler))
    size = run.h.shape[0]
    for i in range(len(run.rings)):
        ring = run.history(i).ring
        bad = bad or ring.start < 0 or ring.start > size or ring.capacity < 1 or ring.capacity > size
        bad = bad or ring.stop > size
        bad = bad or ring.oldest < 0 or ring.oldest >= ring.capacity
        bad = bad or ring.count < 0 or ring.count > ring.capacity
        bad = bad or ring.piece_begin < -1 or ring.piece_begin >= max(ring.count, 1)
        bad = bad or ring.piece_end < -1 or ring.piece_end >= max(ring.count, 1)
        bad = bad or ring.size_exponent < ZERO or ring.size_exponent > LARGE
        bad = bad or ring.rounding_exponent < ZERO or ring.rounding_exponent > UNKNOWN
        for j in range(len(run.rings)):
            other = run.history(j).ring
            bad = bad or (j != i and other.start < ring.stop and ring.start < other.stop)
    if can_hold(run):
        bad = bad or not are_holds(run)
    if bad:
        raise ForeignState()


def is_agenda(run: Run, handler: Handler) -> bool:
    """Whether a scheduled event comes at a time of its grid, and this can be counted."""
    if handler.schedule not in (PERIODIC, LISTED):
        return True
    index = run.next_index[handler.number]
    if handler.schedule == PERIODIC:
        grid = run.grids[handler.number]
        good = grid.resolution > 0 and grid.period_whole >= 0
        good = good and abs(float(grid.offset_whole)) <= LONGEST
        good = good and (float(index) + 1.0) * (float(grid.period_whole) + 1.0) <= 2.0 * LONGEST
        good = good and 0 <= grid.offset_rest < grid.resolution
        if not (good and 0 <= grid.period_rest < grid.resolution):
            return False
    upcoming = run.timings[handler.number].next_time
    return upcoming != upcoming or upcoming == time_of(run, handler, index)


def are_holds(run: Run) -> bool:
    """Whether what is held are witnesses, each by numbers that fit."""
    count = len(run.witnesses)
    if not 0.0 <= run.holds.count <= count:
        return False
    good = True
    for j in range(held_count(run)):
        if not 0.0 <= run.held_order[j] < count:
            return False
        for earlier in range(j):
            good = good and held_at(run, earlier) != held_at(run, j)
        hold = hold_of(run, held_at(run, j))
        if hold.kind in (PUSHED, SET_BACK):
            good = good and hold.size == run.y.shape[0]
            continue
        if hold.kind != SWITCHED or not 0.0 <= hold.size <= run.plan.switchable:
            return False
        for s in range(int(hold.size)):
            good = good and is_switch(run, switch_of(run, held_at(run, j), s))
    return good


def is_switch(run: Run, switch: Switch) -> bool:
    """Whether a variable that a witness switches is one of this program."""
    if switch.array == IN_SWITCH_P:
        return 0.0 <= switch.offset < run.p.shape[0]
    if switch.array == IN_SWITCH_K:
        return 0.0 <= switch.offset < run.k.shape[0]
    return switch.array == IN_SWITCH_D and 0.0 <= switch.offset < run.d.shape[0]
