"""The time of a run, and how its steps go on: now, in this call, and in the calls to come."""

from __future__ import annotations

from cosim_compiler.record import Record

SAME_TIME = 1e-9
"""Tolerance, s: a scheduled event this close to the end of a host's step counts as at its end."""


class Clock(Record):
    """The time of a run."""

    time: float  # s
    jumped: float  # whether a variable was written since the last step (set by whatever writes)
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


class Options(Record):
    """The accuracy of a run, and how exactly it meets scheduled times."""

    accuracy: float  # of the State (NaN: none)
    meeting: float  # how far from a scheduled time a host may call the end of a step, s


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


class Passing(Record):
    """Values that last no longer than a call of a handler or a step."""

    step_start: float  # s
    duration: float  # of the last handler in Python, s
    refined_until: float  # how far the histories of this step are good


class Pace(Record):
    """The progress of a run, by stretches of steps (`advance.is_too_far`)."""

    begin_of_all: float
    begin: float  # of this stretch
    last_progress: float
    finished_stretches: float
    slower_stretches: float


class Counts(Record):
    """Statistics."""

    steps: int
    publishes: int
    discrete_updates: int
    unrestricted_updates: int
    events: int


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
