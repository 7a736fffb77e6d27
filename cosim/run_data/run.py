"""A run: its arrays, and the records and views that lie in them.

Everything that the Step does is a function of a `Run`. Where something lies is said here, once: the other
files read ``run.clock.time``, ``run.witnesses[i].level``, ``run.backup.y``.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from cosim.component.history import history_at
from cosim.component.witness_decorator import WitnessOptions
from cosim.contracts.method_layout import Settings, StepMemory, StepWork
from cosim.run_data.records.clock import Agenda, Clock, Counts, Course, FailureNotes, Options, Pace, Transient
from cosim.run_data.records.evaluation import Evaluation, Node
from cosim.run_data.records.handlers import Answers, Grid, Handler, Result, SetState, TimeSetting, Timing
from cosim.run_data.records.holds import Hold, Holds, Switch
from cosim.run_data.records.past import PastRow, Smoothness, Swap
from cosim.run_data.records.plan import PlacesHeader, Plan
from cosim.run_data.records.recording import Choice, ChosenValue, Output, OutputGrid
from cosim.run_data.records.witnesses import Level, Probe, Window, Witness, WitnessKind
from cosim.run_data.run_parts import first, numbers, one, rows
from cosim_compiler.array_groups import Integers as Integers
from cosim_compiler.array_groups import Reals as Reals
from cosim_compiler.array_groups import Table, address_reader, letters_of
from cosim_compiler.record import Record, Rows, place_in, rows_of, width_of

CONSTANT, GIVEN, STATE, COMPUTED, SCRATCH = "constant", "given", "state", "computed", "scratch"


class Arrays(NamedTuple):
    """All arrays of one run, as the functions of the Step take them; `ROLES` says what each is for."""

    table: Table  # of the system: address, start in `ints`, rows of each block
    ints: Integers
    watched: Table  # as `table`, for the blocks that witnesses and histories inside steps need
    program: Integers  # a `Plan`, then its tables
    numbers: Reals  # `Options`, then times of lists of events, periods and offsets
    coefficients: Reals  # of the integrator, as the next two
    settings: Reals
    slots: Integers
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals  # grows
    c: Reals
    memory: Reals  # of the integrator
    indices: Integers  # an `Agenda`, then for each handler its next index and its `Grid`
    times: Reals  # a `Clock`, then `Timing` of handlers, memory of witnesses, what is held
    work: Reals  # of the integrator
    scratch: Reals  # working space
    held_table: Table  # as `table`, where witnesses are held
    held_ints: Integers  # as `ints`, with what is held behind it
    probe: Integers  # a `Probe` for each witness
    places: Integers  # a `PlacesHeader`, then working space
    reach: Integers  # see `block_calls`
    choice: Integers  # see `recording`
    rows: Reals  # an `OutputGrid`, then recorded rows
    log: Reals  # see `event_log`


AGENDA_WIDTH, CLOCK_WIDTH, GRID_WIDTH = width_of(Agenda), width_of(Clock), width_of(OutputGrid)
CHOICE_WIDTH, VALUE_WIDTH = width_of(Choice), width_of(ChosenValue)


class Variables(NamedTuple):
    """A copy of the variables."""

    y: Reals
    p: Reals
    d: Reals
    k: Integers


class Run(Arrays):
    """All that a run works on: its arrays, and what lies in them.

    In the language and in plain Python alike; what is declared here the tables of a system lay out.
    """

    PARTS: ClassVar[dict[str, int]] = {}
    """Where in `program` the beginning of each part stands, and behind it the length."""

    plan: Plan = first("program", Plan)
    options: Options = first("numbers", Options)
    clock: Clock = first("times", Clock)
    agenda: Agenda = first("indices", Agenda)
    header: PlacesHeader = first("places", PlacesHeader)
    output_grid: OutputGrid = first("rows", OutputGrid)
    chosen: Choice = first("choice", Choice)

    # the method
    method_settings: Settings = first("settings", Settings)
    step_memory: StepMemory = first("memory", StepMemory)
    last_step: StepWork = first("work", StepWork)

    # handlers
    handlers: Rows[Handler] = rows("program", Handler)
    next_index: Integers = numbers("indices")  # which occurrence comes next, or whether it is pending
    grids: Rows[Grid] = rows("indices", Grid)
    timings: Rows[Timing] = rows("times", Timing)
    due: Integers = numbers("places")  # the cause of each that is due
    waiting: Integers = numbers("places")  # which wait because a witness has triggered them
    timer_values: Reals = numbers("scratch")  # what the timers of those that are due were set to
    signals: Integers = numbers("program")  # where in `k` they lie
    stages_of_d: Integers = numbers("program")  # the stage that each variable invalidates
    stages_of_k: Integers = numbers("program")
    writers: Integers = numbers("places")  # of each variable: 1 + the handler that has written it
    python_writers: Integers = numbers("places")  # the same of handlers in Python
    reported_writers: Integers = numbers("places")  # handlers that were reported to overwrite others

    # what components tell the Step
    smoothness: Rows[Smoothness] = rows("program", Smoothness)
    kinks: Integers = numbers("program")  # where in the cache they say until when they are smooth
    breaks: Integers = numbers("program")  # the order of a delayed break that has arrived
    notices: Integers = numbers("program")
    reported_notices: Integers = numbers("places")
    relative: Integers = numbers("program")  # states whose relative tolerance follows the accuracy
    absolute: Integers = numbers("program")

    # what is remembered
    swaps: Rows[Swap] = rows("program", Swap)  # auto-update variables
    kept_swaps: Reals = numbers("scratch")  # as they were during the step
    rings: Integers = numbers("program")  # where in `k` those of the histories lie
    followed_states: Integers = numbers("program")  # the state that each history remembers; -1: no state
    history_flags: Integers = numbers("places")  # what the last check has left in these
    reported_histories: Integers = numbers("places")
    past: Rows[PastRow] = rows("program", PastRow)  # blocks of an evaluation that read histories
    past_results: Integers = numbers("program")  # where in the cache others read what these found
    past_results_before: Reals = numbers("scratch")
    checked_blocks: Integers = numbers("program")  # that check histories between the ends of a step
    inner_caches: Reals = numbers("scratch")  # of points inside a step

    # witnesses
    witness_kinds: Rows[WitnessKind] = rows("program", WitnessKind)
    witness_options: Rows[WitnessOptions] = rows("numbers", WitnessOptions)
    watched_blocks: Integers = numbers("program")
    probes: Rows[Probe] = rows("probe", Probe)
    witnesses: Rows[Witness] = rows("times", Witness)
    levels: Rows[Level] = rows("scratch", Level)  # what they are compared with during this step
    values_before: Reals = numbers("scratch")  # at the start of the step, or before updates
    rates_before: Reals = numbers("scratch")  # their declared rates there
    rates_now: Reals = numbers("scratch")
    start_values: Reals = numbers("scratch")  # above their levels, at the start of the step
    stop_values: Reals = numbers("scratch")  # at its end
    window_values: Reals = numbers("scratch")  # at the start of the window
    present_values: Reals = numbers("scratch")
    search_window: Window = one("scratch", Window)  # where the search has found a crossing
    searched_work: Reals = numbers("scratch")  # the method's work when the step was searched
    point_numbers: Reals = numbers("scratch")  # see `search_points`
    located: Window = one("scratch", Window)  # of the event that ends the step; NaN: there is none
    located_before: Reals = numbers("scratch")  # the witnesses at its ends
    located_after: Reals = numbers("scratch")
    roundings: Reals = numbers("scratch")  # how far rounding moves each witness
    least_distances: Reals = numbers("scratch")  # while that is measured
    has_crossed: Integers = numbers("places")
    crossed_at_trial: Integers = numbers("places")  # which have crossed at the end of a step on trial
    has_fired: Integers = numbers("places")  # whose updates wait at this instant
    was_handled: Integers = numbers("places")  # of these, whose updates have run
    was_set: Integers = numbers("places")  # how a handler has set them, see `zeros`
    reported_witnesses: Integers = numbers("places")

    # witnesses that are held
    holds: Holds = one("times", Holds)
    held_order: Reals = numbers("times")  # which are held, in the order in which it began
    witness_holds: Rows[Hold] = rows("times", Hold)  # how each witness is held
    hold_pushes: Reals = numbers("times")  # the direction in which each is pushed: a number for each state
    hold_switches: Rows[Switch] = rows("times", Switch)  # as many for each as handlers may switch at most
    candidate_pushes: Reals = numbers("scratch")  # how the handlers of each witness have changed the states
    candidate_switches: Rows[Switch] = rows("scratch", Switch)  # which variables they have switched
    switched_counts: Integers = numbers("places")  # how many of these there are
    twin_cache: Reals = numbers("scratch")  # before updates

    # working space
    spare_states: Reals = numbers("scratch")  # two states
    arrived_states: Reals = numbers("scratch")  # with which a host has come to an event
    start_derivatives: Reals = numbers("scratch")  # before updates
    start_memory: Reals = numbers("scratch")  # of the method, before a step: for a tape
    probed_states: Reals = numbers("scratch")  # for evaluations at other times
    probed_cache: Reals = numbers("scratch")
    failed_cache: Reals = numbers("scratch")  # that a handler found that failed
    transient: Transient = one("scratch", Transient)
    pace: Pace = one("scratch", Pace)

    # what follows which variables, see `block_calls`
    nodes: Rows[Node] = rows("reach", Node)
    reader_starts: Integers = numbers("reach")
    readers: Integers = numbers("reach")
    follower_starts: Integers = numbers("reach")
    followers: Integers = numbers("reach")
    marks: Integers = numbers("places")
    stack: Integers = numbers("places")

    # copies of the variables
    backup_numbers: Reals = numbers("scratch")
    backup_integers: Integers = numbers("places")
    working_numbers: Reals = numbers("scratch")
    working_integers: Integers = numbers("places")
    written_numbers: Reals = numbers("scratch")
    written_integers: Integers = numbers("places")
    starting_numbers: Reals = numbers("scratch")
    starting_integers: Integers = numbers("places")
    failed_numbers: Reals = numbers("scratch")
    failed_integers: Integers = numbers("places")

    @property
    def evaluation(run) -> Evaluation:
        """The stage to which the cache is evaluated."""
        return run.header.evaluation

    @property
    def answers(run) -> Answers:
        """The results of handlers."""
        return run.header.answers

    @property
    def failure(run) -> FailureNotes:
        """The place of a failure."""
        return run.header.failure

    @property
    def course(run) -> Course:
        """How the steps of this call go on."""
        return run.header.course

    @property
    def output(run) -> Output:
        """The state of recording."""
        return run.header.output

    @property
    def counts(run) -> Counts:
        """The statistics of the run."""
        return run.header.counts

    def results_of(run, handler):
        """The variables that a handler may change."""
        return rows_of(Result, run.program, handler.results_at, handler.results)

    def states_set_by(run, handler):
        """The states that a handler may set, once for each witness that depends on one."""
        return rows_of(SetState, run.program, handler.sets_at, handler.sets)

    def setting(run, place):
        """The period or the offset that stands at a place of `program`."""
        return rows_of(TimeSetting, run.program, place, 1)[0]

    @property
    def chosen_values(run):
        """The values that are recorded."""
        return rows_of(ChosenValue, run.choice, CHOICE_WIDTH, run.chosen.values)

    @property
    def blocks_inside(run):
        """The blocks that compute the recorded values inside a step."""
        at = CHOICE_WIDTH + VALUE_WIDTH * run.chosen.values
        return rows_of(int, run.choice, at, run.chosen.inside)

    @property
    def blocks_outside(run):
        """The blocks that compute the recorded values where the motion is known."""
        at = CHOICE_WIDTH + VALUE_WIDTH * run.chosen.values + run.chosen.inside
        return rows_of(int, run.choice, at, run.chosen.outside)

    def history(run, number):
        """The history of a signal."""
        return history_at(run.h, run.k, run.rings[number])

    @property
    def searched_step(run) -> StepWork:
        """The step that was searched for crossings."""
        return rows_of(StepWork, run.searched_work, 0, 1)[0]

    @property
    def backup(run) -> Variables:
        """The variables before the updates of a kind."""
        return run.split(run.backup_numbers, run.backup_integers)

    @property
    def working(run) -> Variables:
        """The copy that handlers write to."""
        return run.split(run.working_numbers, run.working_integers)

    @property
    def written(run) -> Variables:
        """The variables that a handler in Python has written."""
        return run.split(run.written_numbers, run.written_integers)

    @property
    def starting(run) -> Variables:
        """The variables before all updates of an instant."""
        return run.split(run.starting_numbers, run.starting_integers)

    @property
    def failed_from(run) -> Variables:
        """The variables that a handler found that failed."""
        return run.split(run.failed_numbers, run.failed_integers)

    def split(run, reals, integers):
        """A copy of the variables, in these numbers."""
        at_p = run.y.shape[0]
        at_d = at_p + run.p.shape[0]
        return Variables(
            rows_of(float, reals, 0, at_p),
            rows_of(float, reals, at_p, run.p.shape[0]),
            rows_of(float, reals, at_d, run.d.shape[0]),
            integers,
        )


LETTERS = dict(zip(Arrays._fields, letters_of(Arrays), strict=True))
"""The letter of each array's type, as in `cosim_compiler.native`."""

ROLES = {
    **dict.fromkeys(
        ("table", "ints", "watched", "program", "slots", "held_table", "reach", "choice"), CONSTANT
    ),
    **dict.fromkeys(("numbers", "coefficients", "settings"), GIVEN),
    **dict.fromkeys(("y", "p", "d", "k", "h", "memory", "indices", "times"), STATE),
    "c": COMPUTED,
    **dict.fromkeys(("work", "scratch", "held_ints", "probe", "places", "rows", "log"), SCRATCH),
}
"""What is STATE belongs to a State and is saved; what is COMPUTED follows from it. CONSTANT and SCRATCH need
no saving. What is GIVEN follows from the accuracy of the run."""

ARRAYS = tuple((name, LETTERS[name], ROLES[name]) for name in Arrays._fields)
"""Name, letter of the type and role of each array, in the order in which the entry points take them."""


class ArrayPlace(Record):
    """The place of an array of a run; a head has one for each array."""

    address: int
    length: int


ADDRESS, LENGTH = (place_in(ArrayPlace, name) for name in ("address", "length"))
ARRAY_WIDTH = width_of(ArrayPlace)
WHOLE_HEAD = ARRAY_WIDTH * len(ARRAYS) + 4
"""Length of a head, with four spare words for compiled callers."""

ENTRY_SIGNATURE = "Af>i"
"""Of every entry point: all arrays, a time; the answer is one of `step.failures`: REACHED …"""


arrays_at = address_reader("A", Run)
