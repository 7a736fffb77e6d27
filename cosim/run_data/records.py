"""The records in the arrays of a run, declared once for the tables, the Step and its readers.

`Run` (`cosim.run_data.run`) shows them: ``run.clock.time``, ``run.handlers``, ``run.witnesses[i].level`` …
"""

from __future__ import annotations

import math

from cosim.cause import EventCause
from cosim.rational import EXACT, tick, tick_time
from cosim_compiler.record import Record

# of several records: arrays of variables in tables
IN_Y, IN_P, IN_D, IN_K, IN_C, IN_NUMBERS = range(6)
# Handler.cause
INITIALIZATION_CAUSE, TERMINATION_CAUSE = int(EventCause.INITIALIZATION), int(EventCause.TERMINATION)
TRIGGERED, SCHEDULED = int(EventCause.TRIGGERED), int(EventCause.SCHEDULED)
TIME_CAUSE, SIGNALED = int(EventCause.TIME_ADVANCED), int(EventCause.SIGNALED)
# Evaluation.stage, and the stage of a `Node`; DERIVATIVES: all of the motion but the past blocks that wait
RESTORED, NOTHING, INSTANCE, DERIVATIVES, MOTION, REPORT = -1, 0, 1, 2, 3, 4
# Witness.guard and Level.guard: what leaving zero means, see `zeros`
UNGUARDED, DOWNWARD, UPWARD, EITHER, ARRIVED, PASSED = 0.0, 1.0, -1.0, 2.0, 3.0, 4.0
# Witness.band and Level.band beside distances: the witness does not lie at zero; zero is its level exactly
NOT_AT_ZERO, EXACT_BAND = -1.0, 0.0
SAME_TIME = 1e-9
"""Tolerance, s: a scheduled event this close to the end of a host's step counts as at its end."""


# ---- constant: in `program`


UNRESTRICTED, DISCRETE, PUBLISH = 1, 2, 3
"""Handler.kind."""
BOTH_KINDS = UNRESTRICTED | DISCRETE
"""Agenda.time_advanced: both kinds of updates, as bits."""
PERIODIC, LISTED, TIMED = 1, 2, 3
"""Handler.schedule."""


class Handler(Record):
    """The cause of a handler, and the variables that it may change."""

    number: int
    cause: int
    kind: int  # UNRESTRICTED, DISCRETE, PUBLISH
    block: int  # of the schedule: that of a kernel function; -1: Python
    flag: int  # of a signal or a witness its number, of a timer its place in `d`
    schedule: int  # 0, or PERIODIC, LISTED, TIMED
    period: int  # where in `program` its `GivenTime` stands
    offset: int
    follows: int  # whether a parameter is its period or its offset
    times: int  # how many are listed
    times_at: int  # and where in `numbers`
    status: int  # where in the cache its answer stands; -1: it gives none
    needs_report: int
    results: int  # how many variables it may change
    results_at: int
    is_private: int
    sets: int  # how many witnesses depend on states that it may set
    sets_at: int


WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS = range(3)
"""Result.write_pattern: on some paths through the handler (or unknown), on each path, only by ``+=``."""


class Result(Record):
    """A variable that a handler may change."""

    at: int  # where a kernel function leaves it in the cache
    array: int  # the variable: IN_Y, IN_P, IN_D, IN_K, its place and its size
    offset: int
    size: int
    is_switchable: int  # whether a hold may switch it
    write_pattern: int  # WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS


class GivenTime(Record):
    """A period or an offset as it was given."""

    array: int  # IN_NUMBERS, or that of the parameter that it is
    at: int
    given_at: int  # where in `numbers` the value stands whose rational number follows
    whole: int  # that number, s: whole seconds, and a rest in the resolution
    rest: int
    resolution: int


class SetState(Record):
    """A state that a handler may set and that a witness depends on."""

    witness: int
    result: int  # where in the cache the handler leaves it
    state: int  # its place in y


FALLING, RISING, BOTH = 1, 2, 3
"""WitnessKind.direction, Probe.direction."""


class WitnessKind(Record):
    """The properties of a witness that its declaration fixes."""

    direction: int  # which way it has to cross: FALLING, RISING, BOTH
    is_condition: int  # whether it is true or false instead of a number that varies
    is_moved: int  # whether it changes with the states or the time; else it jumps where variables are written
    is_timed: int  # whether it is computed from the time
    is_straight: int  # whether it is a sum of states and the time, each times a constant
    straight_block: int  # then, which block of the derivatives computes it, from the first one on; else -1


class WitnessOptions(Record):
    """The options of a witness: a field for each option of `cosim.witness`, by its name."""

    shortest_pulse: float  # s


class Smoothness(Record):
    """The smoothness of a source."""

    at: int  # where in the cache it stands
    is_immediate: int  # whether it follows a delayed signal at once


ON_MOTION, ON_ALL, ON_REPORTS = range(3)
"""Swap.depends."""


class Swap(Record):
    """An auto-update variable."""

    update: int  # where in the cache its new value is computed
    array: int  # IN_D or IN_K, and its place there
    offset: int
    depends: int  # what depends on it: ON_MOTION, ON_ALL, ON_REPORTS


class PastRow(Record):
    """A block that reads histories."""

    row: int  # of the schedule
    waits: int  # whether it waits for the end of the next step, see DERIVATIVES


class Node(Record):
    """Rows of the schedule that are called together, see `block_calls`."""

    block: int
    first: int  # where in `ints` its rows begin
    rows: int  # how many
    width: int  # of a row
    stage: int
    is_always_called: int  # whatever it says that it reads


class RowRange(Record):
    """Rows of the schedule, from `first` to `last` - 1."""

    first: int
    last: int

    def is_empty(rows):
        """Whether there are none."""
        return rows.first == rows.last


# ---- of the State: in `times` and `indices`


class Clock(Record):
    """The time of a run."""

    time: float  # s
    jumped: float  # whether a variable was written since the last step (whoever writes says so)
    stamp: float  # time at the end of the last step: it shows whether the time was changed since
    next_event: float  # the next scheduled event or kink
    completed: float  # Model Exchange: where the last step was completed
    states_changed: float  # whether handlers have changed something in the last step or event


UPDATES_WAIT, UPDATES_DONE, JUMP_WAITS = range(3)
"""Agenda.next_start: the updates at the start of the next step wait, have run, wait behind a delayed jump."""


class Agenda(Record):
    """The work that is left for the next call."""

    initialized: int
    next_start: int  # how the next step starts: UPDATES_WAIT, UPDATES_DONE, JUMP_WAITS
    time_advanced: int  # kinds of handlers (bits) that have not run yet since time advanced
    finished: int  # whether Termination was issued


class Holds(Record):
    """Which witnesses are held: how many; see `holds`."""

    count: float
    uses_own_method: float  # whether the memory of the method is that of a system with held witnesses
    has_derivatives: float  # whether the derivatives in the cache are those with what holds them


PUSHED, SWITCHED, SET_BACK = 0, 1, 2
"""Hold.kind: how `sliding_field` holds a witness."""


class Hold(Record):
    """How a witness is held: by a push of its rate or of itself, or by variables that it switches."""

    kind: float  # PUSHED, SET_BACK, SWITCHED
    side: float  # where it came from: 1 from above, -1 from below
    size: float  # how many states are pushed, or variables switched


IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P = 0, 1, 2
"""Switch.array: numbers of their own, since saved states have them (not IN_D, IN_K, IN_P)."""


class Switch(Record):
    """A variable that a held witness switches."""

    array: float  # IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P, and its place there
    offset: float
    present: float  # its value
    other: float  # its value on the other side


class Timing(Record):
    """When a handler comes; part of the State."""

    served: float  # the time of its timer that was served last, s
    period: float  # of the present grid, s
    offset: float
    next_time: float  # the next time, s; NaN if the period is lost to rounding beside the time


class Witness(Record):
    """The memory of a witness; part of the State. See `witnesses` and `zeros`."""

    value: float  # at the end of the last step
    level: float  # what counts as zero
    guard: float  # what leaving it means: UNGUARDED …, see `zeros`
    band: float  # how close to it zero begins; NOT_AT_ZERO: it does not lie there
    fired: float  # time at which it triggered last, s
    repeats: float  # how many events came close behind each other
    rate: float  # of the witness, when it triggered last, 1/s
    expected: float  # predicted time of the next crossing, s
    predicted_error: float  # that of `expected`, s

    def start_over(witness, level, guard, band):
        """Say what counts as zero and what leaving it means, with no event behind the witness."""
        witness.level = level
        witness.guard = guard
        witness.band = band
        witness.fired = -math.inf
        witness.repeats = 0.0

    def forget(witness):
        """Reset the memory to that of the beginning of a run."""
        witness.value = witness.level = witness.guard = witness.band = 0.0
        witness.fired = witness.repeats = witness.rate = witness.expected = witness.predicted_error = 0.0


class Grid(Record):
    """``offset + index * period``, exactly: whole seconds and rests in the resolution."""

    offset_whole: int
    offset_rest: int
    period_whole: int
    period_rest: int
    resolution: int

    def time(grid, index):
        """The time of an occurrence: the nearest double, never an accumulated sum."""
        return tick_time(
            index,
            grid.offset_whole,
            grid.offset_rest,
            grid.period_whole,
            grid.period_rest,
            grid.resolution,
        )

    def tick(grid, index):
        """The time of an occurrence as whole seconds and a rest in the resolution."""
        return tick(
            index,
            grid.offset_whole,
            grid.offset_rest,
            grid.period_whole,
            grid.period_rest,
            grid.resolution,
        )


# ---- of one call or step: in `places`, `scratch` and `numbers`


class Evaluation(Record):
    """The stage to which the cache is evaluated, and counts of evaluations."""

    stage: int  # RESTORED, NOTHING …
    touched: int  # whether all changes since the last evaluation are marked
    lowest: int  # the lowest stage that these changes invalidate
    lowered: int  # the lowest stage that handlers have invalidated since the last `stage_out`
    evaluations: int  # statistics: whole ones, partial ones, rows called in these
    partial_evaluations: int
    rows_called: int


class Answers(Record):
    """The results of handlers."""

    severity: int  # the worst answer
    source: int  # number of the handler that gave it
    phase: int  # the worst answer of this phase
    latest: int  # the answer of the last handler
    calls: int  # how many handlers were called since the updates of this instant began
    changed_now: int  # whether updates have changed something since those of this instant began
    changed_in_step: int  # the same since the step, or a host's event, began: it may have several rounds
    pushed: int  # whether triggered or signaled handlers have changed a state


class FailureNotes(Record):
    """The place of a failure."""

    block: int
    handler: int
    witness: int
    step_code: int  # of the integrator
    array: int  # a variable: its array, its place there
    index: int
    fastest: int  # the state that changes fastest
    needed: int  # length that `h` needs


class Course(Record):
    """How the steps of a call go on."""

    most_steps: int  # that one call may take
    counted_steps: int  # of this stretch, see `Pace`
    suppressed: int  # whether initialization leaves its events out
    continues: int  # whether another step follows at once, so that past rows may wait
    arrived: int  # whether a delayed break has arrived at the end of the step
    halts: int  # whether a step ends just before a delayed jump: the host has an event mode
    has_bands: int  # whether a witness counts as zero in a band in this step
    ends_known: int  # whether witnesses at both ends of the step are at hand


NO_ROWS, AT_EVENTS, AT_STEPS, ON_GRID, ON_GRID_ALONE = range(5)
"""Output.recording."""
LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE = range(4)
"""Output.logging: nothing, findings, events too, or all that tangents need (see `tape`)."""


class Output(Record):
    """The state of recording."""

    recording: int  # NO_ROWS, AT_EVENTS …
    rows_used: int  # numbers in the buffer of rows
    logging: int  # LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE
    log_used: int  # numbers in the buffer of events


class Counts(Record):
    """Statistics."""

    steps: int
    publishes: int
    discrete_updates: int
    unrestricted_updates: int
    events: int


class PlacesHeader(Record):
    """The beginning of `places`."""

    evaluation: Evaluation
    answers: Answers
    failure: FailureNotes
    course: Course
    output: Output
    counts: Counts


class Options(Record):
    """The accuracy of a run, and how exactly it meets scheduled times."""

    accuracy: float  # of the State (NaN: none)
    meeting: float  # how far from a scheduled time a host may call the end of a step, s


class Level(Record):
    """The level with which a witness is compared during a step, see `zeros`."""

    zero: float  # the value that counts as zero
    guard: float  # what leaving it means where the step starts there
    band: float  # how close to it zero begins; NOT_AT_ZERO: it does not start there


class Probe(Record):
    """The place of a witness, and the direction in which it has to cross (0: it is held)."""

    value: int  # in the cache
    rate: int  # in the cache; -1: found by differences
    direction: int


class Window(Record):
    """An interval of time, s."""

    start: float
    end: float


class Pace(Record):
    """The progress of a run, by stretches of steps (`advance.is_too_far`)."""

    begin_of_all: float
    begin: float  # of this stretch
    last_progress: float
    finished_stretches: float
    slower_stretches: float


class Passing(Record):
    """Values that last no longer than a call of a handler or a step."""

    step_start: float  # s
    duration: float  # of the last handler in Python, s
    refined_until: float  # how far the histories of this step are good


# ---- recording: in `rows` and `choice`


class OutputGrid(Record):
    """The output times, ``origin + point * interval``, s: of the rational numbers that both stand for.

    Both are counted in the resolution, as doubles that are integers; a resolution of 0: they cannot.
    """

    origin: float
    interval: float
    point: float  # the next one
    until: float  # the end of the run
    origin_count: float
    interval_count: float
    resolution: float

    def next_time(grid):
        """The output time that comes next, s: rounded once, as times of timers are."""
        count = grid.origin_count + grid.point * grid.interval_count
        if grid.resolution > 0.0 and abs(count) < EXACT:
            return count / grid.resolution
        return grid.origin + grid.point * grid.interval


class Choice(Record):
    """The beginning of `choice`: the chosen values follow, then the blocks that compute them."""

    values: int  # how many
    inside: int  # blocks that compute them inside a step; they come first
    outside: int  # those that compute them where the motion is known


class ChosenValue(Record):
    """A recorded value: its array, its place there."""

    array: int
    offset: int


class MethodFunctions(Record):
    """Addresses of the functions of the method; 0: it has none."""

    step: int
    redo: int
    dense: int
    begin: int
    restart: int
    complete: int
    tune: int


class MethodSizes(Record):
    """The lengths of the method's arrays without held witnesses, and where the rest begins."""

    coefficients: int
    held_coefficients: int  # where those begin that it has while witnesses are held; 0: they are the same
    slots: int
    held_slots: int
    memory: int
    held_memory: int  # length of the memory while witnesses are held


HOLD, REPORT_ALONE, STOP_RUN = 0, 1, 2
"""Plan.policy: what is done about witnesses whose events do not end."""


class Plan(Record):
    """The constants of a run that follow from its system and its method."""

    # the schedule
    derivatives: RowRange
    first_row: int  # of all that is evaluated
    report_end: int
    nq: int
    nu: int
    cache_size: int
    # updates of histories and auto-update variables: at ends of steps, at points inside, between these
    end_updates: RowRange
    inside_updates: RowRange
    between_updates: RowRange
    remembers: int  # whether there are any
    points_inside: int
    room: int  # entries that a step can bring to a history
    side: int  # where in the cache the side of an instant stands
    # the method
    method: MethodFunctions
    sizes: MethodSizes
    order: int
    restarts_cheaply: int
    integrates_only: int  # whether nothing but integration happens in a step
    # what Python is called for: a handler, and a buffer that is full
    call_handler: int
    call_drain: int
    # handlers
    handled_in_steps: int  # how many handlers and signals a step may have to serve
    kinds: int  # of handlers, bits
    has_schedule: int
    has_timers: int
    has_grids: int
    shares_variables: int  # whether two handlers of one instant may write one variable
    first_checked: int  # row of the blocks that check histories, see `histories.compare`
    checked_values: int  # how many of them check the values alone; they come first
    # witnesses
    policy: int  # HOLD, REPORT_ALONE, STOP_RUN
    held: RowRange
    held_row: int
    switchable: int  # how many variables the handlers of one witness may switch at most
