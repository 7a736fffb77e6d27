"""What the arrays `program` and `places` begin with."""

from __future__ import annotations

from cosim.run_data.records.clock import Counts, Course, FailureNotes
from cosim.run_data.records.evaluation import Evaluation, RowRange
from cosim.run_data.records.handlers import Answers
from cosim.run_data.records.recording import Output
from cosim_compiler.record import Record


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


class PlacesHeader(Record):
    """The beginning of `places`."""

    evaluation: Evaluation
    answers: Answers
    failure: FailureNotes
    course: Course
    output: Output
    counts: Counts
