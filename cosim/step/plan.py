"""What a run is by its system and its method: `program` begins with it."""

from __future__ import annotations

from cosim.step.records import RowRange
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
    """How much of the method's arrays belongs to it where no witness is held, and where the rest begins."""

    coefficients: int
    held_coefficients: int  # where those begin that it has while witnesses are held; 0: they are the same
    slots: int
    held_slots: int
    memory: int
    held_memory: int  # length of the memory while witnesses are held


class Plan(Record):
    """What a run is by its system and its method."""

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
    side: int  # where in the cache the side of an instant is told
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
    looked_rows: int  # how many for the values alone
    first_looked: int
    # witnesses
    policy: int  # HOLD, REPORT_ALONE, STOP_RUN
    held: RowRange
    held_row: int
    hold_width: int
    candidate_width: int


HOLD, REPORT_ALONE, STOP_RUN = 0, 1, 2
"""Plan.policy: what is done about witnesses whose events do not end."""
