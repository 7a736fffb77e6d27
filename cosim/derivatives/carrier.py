"""What tangents that are carried along a run lie in, and walking blocks with them.

The first direction is that of the flow, Y = f and time_dot = 1. Where the derivative of a state jumps inside
a step, and no event is there, it is the flow no longer: so it is noticed. It also says how fast a witness is.
"""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

from cosim.contracts.method_entries import by_address
from cosim.contracts.method_layout import WORK_HEADER, MethodArrays, OdeSystem
from cosim.run_data.run import Integers, Reals
from cosim.step.integration import numbers_where
from cosim.walker import Walked, WalkedDots, call_redo_tangent, walk_tangents
from cosim_compiler.array_groups import Table, address_reader
from cosim_compiler.record import Record, rows_of, width_of

GRAZES, CHANGES_ORDER, IS_PYTHON, IS_CONDITION, HAS_PERIOD, IS_AT_JUMP = range(1, 7)
"""Why there are no tangents any more: of a handler."""
JUMPS, WAS_CHANGED, FAILED, IS_HELD, BLOCK_FAILED, JUMPS_MEET, LOOKS_AHEAD, MEETS_EXCHANGE, TAPE_IS_FULL = (
    range(7, 16)
)
"""The same of a state or variable, of a step, of a row of the table, of an exchange of values, of a tape."""

ALONG = 1
"""The direction of a run with gradients, beside that of the flow."""


class CarryPlan(Record):
    """What carries tangents, and how many."""

    step: int  # addresses of the tangents of the method's functions; 0: it has none
    dense: int
    complete: int
    settle: int  # of `constraints.settle`
    step_in_lanes: int  # as `step`, along several directions at once; 0: one by one
    complete_in_lanes: int  # the same of `complete`
    last_step_in_lanes: int  # as both, with the lanes of the last group of directions
    last_complete_in_lanes: int
    stays_in_lanes: int  # whether rows that are recorded, and updates, can go so, too
    follows_holds: int  # whether steps of the method are followed while witnesses are held
    error_at: int  # the first of the vectors of `work` that the error estimate of the method adds up
    error_is_rate: int  # whether the error estimate of the method is one over the length of the step
    order: int  # of the method
    directions: int  # with that of the flow, which is the first
    first_direction: int  # that goes along each step: 1 where the flow is evaluated only where it is needed
    lanes: int  # in a group of directions that are computed side by side
    last_lanes: int  # in the last group
    last_group: int  # its first direction


class CarryNotes(Record):
    """How far the tangents have come."""

    time: float  # s
    freshness: float  # of the cache and its tangents: NOT_FRESH, IS_MOTION, IS_REPORT
    has_flow: float  # whether those along the flow are as fresh; of interest where it does not go along steps
    is_shifted: float  # whether an event of this instant has shifted the time
    passed_kinks: float  # NO_KINK, KINKS_ALIKE, KINKS_APART: at this instant, until what they do is known
    is_held: float  # NOT_HELD, HELD, or PARTLY_RELEASED since the last step
    is_complete: float  # whether the dense output of the last step is
    missed: float  # by what part of itself the tangent of the flow misses derivatives; 0: it is the flow
    error: float  # by what part of themselves derivatives may be off, since it has missed some
    error_time: float  # s, when it did so first
    touched: float  # 1 + the number of a witness that touches zero in the step that follows; 0: none does
    touched_time: float  # s
    touched_since: float  # s, from when on it may cross
    lost: float  # 0, or why there are no tangents any more
    lost_time: float  # s
    lost_subject: float
    rows_used: float
    log_used: float
    needs_room: float  # whether histories have to be longer before it goes on
    in_lanes: float  # whether the tangents of the cache lie in lanes, see `tangent_lanes`
    calm_steps: float  # steps since the last event
    past_in_lanes: float  # whether what is remembered does
    meets_host: float  # whether a host without Python has written at this instant
    shifted_at: float  # s, when an event or a jump has moved the time last; see `event_order`
    shifted_by: float  # 1 + the number of the handler, or 0
    shift_spread: float  # s, how far it moves if all states and the time move by as much as they are
    is_close: float  # whether two events have come closer than the run is exact
    close_time: float  # s, when they did so first
    close_handler: float
    estimated_length: float  # s, of the last step whose errors were estimated, see `tangent_error`
    skipped_steps: float  # since then
    went_apart: float  # 1 + a handler of this instant, whose events have moved apart; 0: they have not


NO_KINK, KINKS_ALIKE, KINKS_APART = 0.0, 1.0, 2.0
NOT_HELD, HELD, PARTLY_RELEASED = 0.0, 1.0, 2.0
NOT_FRESH, IS_MOTION, IS_REPORT = 0.0, 1.0, 2.0
CARRY_NOTES = width_of(CarryNotes)


class Carrier(NamedTuple):
    """The arrays of tangents that are carried: values, and one direction after the other.

    Of `k` and `h` each direction has its own values (but see `past_of`): updates of histories move them
    beside their tangents.
    """

    table: Table  # of the tangents of blocks
    held_table: Table  # as `Run.held_table`, of tangents
    held_ints: Integers  # with the addresses of tangents in the row of `sliding_field`
    numbers: Integers  # a `CarryPlan`
    notes_numbers: Reals  # `CarryNotes`
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals
    c: Reals
    memory: Reals
    start_memory: Reals  # at the start of the step
    work: Reals
    swaps: Reals  # auto-update variables at the start of the step, then their tangents
    spare_work: Reals
    time_dots: Reals
    y_dots: Reals
    p_dots: Reals
    d_dots: Reals
    h_dots: Reals
    c_dots: Reals
    memory_dots: Reals
    work_dots: Reals
    heads: Reals  # what `work` begins with, for each direction
    slopes_before: Reals  # derivatives before the kinks that were passed last
    pace_before: Reals  # how fast derivatives change at the start of a step
    flow_errors: Reals  # by how much the flow misses them there
    spare_y: Reals
    spare_y_dot: Reals
    spare_c: Reals
    spare_c_dot: Reals
    event_dots: Reals  # tangents of the time of an event, a kink or an exchange
    kept: Reals  # times of kinks, then their tangents
    inner_caches: Reals  # of points inside a step
    inner_dots: Reals  # along one direction
    break_orders: Integers  # where in the cache that of the break that arrives at each kink stands, or -1
    integers: Integers  # where in `k` what belongs to no history lies, and what a run has measured of these
    former: Reals  # parameters and discrete variables before a handler has changed them last
    former_dots: Reals
    working: Reals  # what handlers write to: y, p, d and k
    working_dots: Reals
    rows: Reals  # tangents of the recorded values
    lane_table: Table  # as `table`, of tangents in lanes
    last_lane_table: Table  # the same of the last group
    lanes: Reals  # see `tangent_lanes`
    slots_before_motion: Integers  # of the cache, which blocks before those of the motion write
    refused_lanes: Reals  # whether the directions from each on go one by one, as lanes have disagreed
    order_copies: Reals  # of variables and tangents, see `either_order`; none where it is not asked
    error_weights: Reals  # of the vectors in the error estimate of the method; none: it has no estimate
    second_weights: Reals  # the same of a second estimate
    jump_weights: Reals  # of those vectors, in a sum that shows jumps; none: see `CarryPlan.first_direction`
    largest_dots: Reals  # the largest sizes of tangents
    dot_errors: Reals  # by how much tangents may be off, see `tangent_error`
    likely_errors: Reals  # and by how much they are, if nothing has a kink
    worst_errors: Reals  # the largest part of that from one step
    worst_times: Reals  # s, where that step begins

    @property
    def plan(carrier):
        """The plan: what carries tangents, and how many."""
        return rows_of(CarryPlan, carrier.numbers, 0, 1)[0]

    @property
    def notes(carrier):
        """How far they have come."""
        return rows_of(CarryNotes, carrier.notes_numbers, 0, 1)[0]

    @property
    def directions(carrier):
        """How many there are, with that of the flow."""
        return carrier.plan.directions


carrier_at = address_reader("C", Carrier)


def part_of(dots, i, like):
    """The tangents along a direction of an array."""
    size = like.shape[0]
    return dots[i * size : (i + 1) * size]


def own_part(carrier, numbers, i):
    """The numbers of a direction, of those that each direction has as many of."""
    size = numbers.shape[0] // carrier.directions
    return numbers[i * size : (i + 1) * size]


def past_of(carrier, i):
    """The direction whose integers and histories are read along a direction.

    A flow that does not go along all steps has none of its own: along it, what is remembered does not vary.
    """
    return max(i, carrier.plan.first_direction)


NEARLY_ZERO = 1e-14  # s: shifts that are that small are none


def flow_goes_along(carrier):
    """Whether the flow goes along the step that is followed, as the other directions do."""
    return carrier.plan.first_direction == 0 or carrier.notes.is_held == HELD


def lose(carrier, time, reason, subject):
    """Record why there are no tangents from a time (s) on; the first reason stays."""
    notes = carrier.notes
    if notes.lost == 0.0:
        notes.lost = float(reason)
        notes.lost_time = time
        notes.lost_subject = float(subject)


class Dual(NamedTuple):
    """A number or a view, and its tangent along a direction."""

    value: Any
    dot: Any


def walked_dots(carrier, i, t_dot, y_dot, c_dot):
    """The tangents along a direction of what blocks read; those of time, states and cache are given."""
    p_dot = part_of(carrier.p_dots, i, carrier.p)
    d_dot = part_of(carrier.d_dots, i, carrier.d)
    return WalkedDots(t_dot, y_dot, p_dot, d_dot, own_part(carrier, carrier.h_dots, i), c_dot)


class BlockTables(NamedTuple):
    """Tables of what is called in place of blocks: tangents, or functions that record."""

    table: Table
    held_table: Table  # as `Run.held_table`
    held_ints: Integers


def tangent_tables(carrier):
    """The tables of tangents."""
    return BlockTables(carrier.table, carrier.held_table, carrier.held_ints)


def walked_along(carrier, i, table, ints, rows, t, y, c):
    """What is walked along a direction; `rows` are the first one and the one behind the last."""
    first, last = rows
    k = own_part(carrier, carrier.k, past_of(carrier, i))
    h = own_part(carrier, carrier.h, past_of(carrier, i))
    return Walked(table, ints, first, last, t, y, carrier.p, carrier.d, k, h, c)


def system_along(run, carrier, i, tables, y, c):
    """What functions of the method walk along a direction, with what holds witnesses where some are held."""
    k = own_part(carrier, carrier.k, past_of(carrier, i))
    h = own_part(carrier, carrier.h, past_of(carrier, i))
    if carrier.notes.is_held == HELD:
        held = run.plan.held
        return OdeSystem(
            tables.held_table, tables.held_ints, held.first, held.last, y, carrier.p, carrier.d, k, h, c
        )
    rows = run.plan.derivatives
    return OdeSystem(tables.table, run.ints, rows.first, rows.last, y, carrier.p, carrier.d, k, h, c)


def walk_with(run, carrier, i, first, last, t, t_dot, y, y_dot, c, c_dot):
    """Walk blocks and their tangents along a direction, on these states and this cache."""
    walked = walked_along(carrier, i, carrier.table, run.ints, (first, last), t, y, c)
    status = walk_tangents(walked, walked_dots(carrier, i, t_dot, y_dot, c_dot))
    if status != 0:
        lose(carrier, t, BLOCK_FAILED, status - 1)


def walk_along(run, carrier, i, first, last, t, t_dot, y_dot, c_dot):
    """Walk blocks and their tangents along a direction, on the present states and cache."""
    walk_with(run, carrier, i, first, last, t, t_dot, carrier.y, y_dot, carrier.c, c_dot)


def walk_spare(run, carrier, i, first, last, t, t_dot, y_dot):
    """Walk blocks and their tangents along a direction, on the spare states and cache."""
    walk_with(
        run, carrier, i, first, last, t, t_dot, carrier.spare_y, y_dot, carrier.spare_c, carrier.spare_c_dot
    )


def walk_motion(run, carrier, i, t, t_dot, y, y_dot, c, c_dot):
    """Walk all blocks of the motion and their tangents, with those that hold witnesses if some are held."""
    rows = run.plan.derivatives
    if carrier.notes.is_held != HELD:
        walk_with(run, carrier, i, rows.first, rows.last, t, t_dot, y, y_dot, c, c_dot)
        return
    held = run.plan.held
    table, ints = carrier.held_table, carrier.held_ints
    walked = walked_along(carrier, i, table, ints, (held.first, held.last), t, y, c)
    status = walk_tangents(walked, walked_dots(carrier, i, t_dot, y_dot, c_dot))
    if status != 0:
        lose(carrier, t, BLOCK_FAILED, min(status - 1 - held.first + rows.first, rows.last - 1))


def walk_present_motion(run, carrier, i):
    """Walk all blocks of the motion and their tangents at the present time, into the cache."""
    walk_motion(
        run, carrier, i, carrier.notes.time, carrier.time_dots[i],
        carrier.y, part_of(carrier.y_dots, i, carrier.y), carrier.c, part_of(carrier.c_dots, i, carrier.c),
    )  # fmt: skip


def walk_present(run, carrier, i, first, last):
    """Walk blocks and their tangents along a direction at the present time, into the cache."""
    walk_along(
        run, carrier, i, first, last, carrier.notes.time, carrier.time_dots[i],
        part_of(carrier.y_dots, i, carrier.y), part_of(carrier.c_dots, i, carrier.c),
    )  # fmt: skip


def shift_time(run, carrier, new_time_dots):
    """Describe the tangents at a time that moves so: `new_time_dots` become those of the time."""
    n = carrier.y.shape[0]
    for i in range(1, carrier.directions):
        shift = new_time_dots[i] - carrier.time_dots[i]
        y_dot = part_of(carrier.y_dots, i, carrier.y)
        if shift != 0.0:
            for m in range(n):
                y_dot[m] += carrier.c[m] * shift
            memory_dot = part_of(carrier.memory_dots, i, carrier.memory)
            flow = part_of(carrier.memory_dots, 0, carrier.memory)
            for m in range(memory_dot.shape[0]):
                memory_dot[m] += flow[m] * shift
            carrier.time_dots[i] = new_time_dots[i]
            carrier.notes.freshness = NOT_FRESH


def method_of(run, carrier):
    """The arrays of the method, with those of its last step that belong to the tangents."""
    is_held = carrier.notes.is_held == HELD
    coefficients, slots = numbers_where(run, is_held)
    size = run.plan.sizes.held_memory if is_held else run.plan.sizes.memory
    memory = carrier.memory[:size]
    return MethodArrays(run.y.shape[0], coefficients, run.settings, memory, carrier.work, slots)


def moved_along(run, carrier, i):
    """The tangents of the method's arrays along a direction."""
    method = method_of(run, carrier)
    memory_dot = part_of(carrier.memory_dots, i, carrier.memory)[: method.memory_numbers.shape[0]]
    work_dot = part_of(carrier.work_dots, i, carrier.work)
    return MethodArrays(
        method.n, method.coefficients, run.settings, memory_dot, work_dot, method.slot_numbers
    )


def call_followed(run, carrier, i, address, t, y, y_dot, c, c_dot):
    """Call the tangent of one of the method's functions along a direction; a method's code."""
    method = method_of(run, carrier)
    moved = moved_along(run, carrier, i)
    system = system_along(run, carrier, i, tangent_tables(carrier), y, c)
    dots = walked_dots(carrier, i, carrier.time_dots[i], y_dot, c_dot)
    behind = (moved.memory_numbers, moved.work_numbers)
    return call_redo_tangent(address, by_address(system, method, t) + dots + behind)


def copy_cache_aside(carrier, i):
    """Copy the cache and its tangents along a direction to the spare ones."""
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    for m in range(c_dot.shape[0]):
        carrier.spare_c[m] = carrier.c[m]
        carrier.spare_c_dot[m] = c_dot[m]


def store_head(carrier, i):
    """Keep what `work` begins with: a direction has its own flags of what dense output has at hand."""
    head = carrier.heads[i * WORK_HEADER : (i + 1) * WORK_HEADER]
    for m in range(WORK_HEADER):
        head[m] = carrier.work[m]


def load_head(carrier, i):
    """Restore what `store_head` has kept."""
    head = carrier.heads[i * WORK_HEADER : (i + 1) * WORK_HEADER]
    for m in range(WORK_HEADER):
        carrier.work[m] = head[m]
