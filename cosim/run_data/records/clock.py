"""The time of a run, and how its steps go on: now, in this call, and in the calls to come."""

from __future__ import annotations

from cosim_compiler.record import Record

SAME_TIME = 1e-9
"""Tolerance, s: a scheduled event this close to the end of a host's step counts as at its end."""


class Clock(Record):
    """The time of a run."""

    time: float  # s
    jumped: float  # 1.0: a State's setter or a host wrote a variable since the last step; see `handle_jump`
    stamp: float  # time at the end of the last step, s; another time now was written
    next_event: float  # time of the next scheduled event or kink, s; for hosts
    completed: float  # Model Exchange: time of the last completed step, s
    states_changed: float  # 1.0: handlers have changed a variable in the last step or event; for hosts


UPDATES_WAIT, UPDATES_DONE, JUMP_WAITS = range(3)
"""Agenda.next_start: the updates at the start of the next step wait, have run, wait behind a delayed jump."""


class Agenda(Record):
    """The work that is left for the next call."""

    initialized: int  # whether `initialize` has run
    next_start: int  # how the next step starts: UPDATES_WAIT, UPDATES_DONE, JUMP_WAITS
    time_advanced: int  # kinds of TimeAdvanced handlers (bits) that have not run since the last step ended
    finished: int  # whether Termination handlers have run at this time


class Options(Record):
    """The accuracy of a run, and how exactly it meets scheduled times."""

    accuracy: float  # relative error, and the size of isolation windows; NaN: fixed steps without isolation
    meeting: float  # a host's end of a step this close to a scheduled time, s, means that time


class Course(Record):
    """How the steps of a call go on; the caller writes `most_steps`, `suppressed` and `halts`."""

    most_steps: int  # steps that this call may take
    counted_steps: int  # steps of the present stretch, see `Pace`
    suppressed: int  # whether `initialize` runs no Initialization handlers
    continues: int  # whether another step follows at once: then blocks of a `PastRow` may wait for its end
    arrived: int  # whether a delayed break that the method feels has arrived at the end of the step
    halts: int  # whether a step ends just before a delayed jump, as the host has an event mode
    has_bands: int  # whether some `Level.band` is positive in this step
    hold_known: int  # whether the cache has derivatives with the present holds at the start of this step
    ends_known: int  # whether the search may copy the witnesses at both ends of the step (`copy_end`)


class Transient(Record):
    """Values that last no longer than a call of a handler or a step."""

    step_start: float  # s
    duration: float  # wall time of the last handler in Python, s
    refined_until: float  # end of the step whose histories `refine_step` has completed, s; NaN: of none
    largest_state: float  # of the present states, see `zeros.rounding_near_zero`; -1.0: not computed
    has_roundings: float  # 1.0: the roundings of witnesses were measured at the present state


class Pace(Record):
    """The progress of a run, by stretches of steps (`advance.is_too_far`)."""

    begin_of_all: float  # time at the start of the call, s
    begin: float  # time at the start of this stretch, s
    last_progress: float  # time that the stretch before has advanced, s
    finished_stretches: float  # stretches that this call has finished
    slower_stretches: float  # stretches in a row that advanced less than the one before


class Counts(Record):
    """Statistics: how often something was done since the run began."""

    steps: int
    publishes: int
    discrete_updates: int
    unrestricted_updates: int
    events: int


class FailureNotes(Record):
    """The place of a failure; each kind of failure writes some of these before it is raised."""

    block: int  # of the schedule
    handler: int  # its number
    witness: int  # its number
    step_code: int  # the integrator's answer, see `cosim.contracts.method_layout`
    array: int  # the array of a variable: IN_Y, IN_P …
    index: int  # its place there
    fastest: int  # place in y of the state that changes fastest
    needed: int  # numbers that `h` needs
