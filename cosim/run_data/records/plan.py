"""What the arrays `program` and `places` begin with."""

from __future__ import annotations

from cosim.run_data.records.clock import Counts, Course, FailureNotes
from cosim.run_data.records.evaluation import Evaluation, RowRange
from cosim.run_data.records.handlers import Answers
from cosim.run_data.records.recording import Output
from cosim_compiler.record import Record


class MethodFunctions(Record):
    """Addresses of the functions of the method; 0: it has none."""

    step: int  # takes a step
    redo: int  # repeats the last step with another end
    dense: int  # interpolates the states inside the last step
    begin: int  # sets up its memory at the start of a run
    restart: int  # drops what it remembers of earlier steps, after a jump
    complete: int  # makes the dense output of the last step as exact as it can be
    tune: int  # chooses tolerances and the first step


class MethodSizes(Record):
    """The lengths of the method's arrays without held witnesses, and where the rest begins."""

    coefficients: int  # numbers in the coefficients
    held_coefficients: int  # place of those that it has while witnesses are held; 0: they are the same
    slots: int  # numbers in the slots
    held_slots: int  # place of those that it has while witnesses are held
    memory: int  # numbers in the memory
    held_memory: int  # numbers in the memory while witnesses are held


HOLD, REPORT_ALONE, STOP_RUN = 0, 1, 2
"""Plan.policy: what is done about witnesses whose events do not end."""


class Plan(Record):
    """The constants of a run that follow from its system and its method."""

    # the schedule
    derivatives: RowRange  # that an integrator calls: what changes with time and states
    first_row: (
        int  # the first row that is evaluated at all: before `derivatives` lies what parameters determine
    )
    report_end: int  # the row behind the last of the REPORT stage
    nq: int  # number of generalized coordinates
    nu: int  # number of generalized speeds
    cache_size: int  # slots of the cache without working space behind it
    # updates of histories and auto-update variables: at ends of steps, at points inside, between these
    end_updates: RowRange
    inside_updates: RowRange
    between_updates: RowRange
    remembers: int  # whether one of these ranges has rows
    points_inside: int  # points at which `inside_updates` are called in each step
    room: int  # entries that a step can append to a history at most
    side: int  # slot of the cache that tells updates on which side of an instant they are: BEFORE, INSIDE …
    # the method
    method: MethodFunctions
    sizes: MethodSizes
    order: int  # of the method: breaks in this derivative or a higher one do not matter to it
    restarts_cheaply: int  # whether it remembers no earlier steps: a restart costs nothing, breaks need none
    integrates_only: (
        int  # whether the system has no handlers, witnesses and memory: a step is integration alone
    )
    # addresses of functions of Python
    call_handler: int  # calls a handler
    call_drain: int  # empties a buffer that is full
    # handlers
    handled_in_steps: int  # number of handlers of updates and of signals
    kinds: int  # the kinds of handlers that there are, as bits
    has_schedule: int  # whether a handler has times
    has_timers: int  # whether a handler has a timer
    has_grids: int  # whether a handler has a period
    shares_variables: int  # whether two handlers of one instant may write one variable
    first_checked: int  # row in `watched` of the first block that checks histories, see `histories.compare`
    checked_values: int  # blocks that check values alone; they come before those that check derivatives
    # witnesses
    show_states: int  # whether each witness is a state itself, so that no block has to be called for them
    policy: int  # what is done about witnesses whose events do not end: HOLD, REPORT_ALONE, STOP_RUN
    held: RowRange  # rows of `held_table` that are the derivatives while witnesses are held
    held_row: int  # place in `held_ints` of the `SlidingRow`
    switchable: int  # how many variables the handlers of one witness may switch at most


class PlacesHeader(Record):
    """The beginning of `places`."""

    evaluation: Evaluation
    answers: Answers
    failure: FailureNotes
    course: Course
    output: Output
    counts: Counts
