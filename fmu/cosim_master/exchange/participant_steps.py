"""Steps of participants in Python: early returns are continued, and outcomes are recorded afterwards.

Participants may step in threads: `take_step` uses only its participant, and `record_step` follows later.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import cosim
from cosim_master.coupling.errors import CoSimulationError, StopRequested
from cosim_master.exchange.coupled_participants import SHORT, CoupledParticipants

MOST_EARLY_RETURNS = 10_000
Attempt = Callable[[float, float], float]
"""Steps from a time by a size (s); returns the time reached."""


@dataclass
class StepOutcome:
    """The outcome of a step of one participant.

    Attributes
    ----------
    returns : list of float
        Times of early returns, s.
    request : StopRequested or None
        Its request to stop.
    error : BaseException or None
    seconds : float
        Wall time of the step.
    """

    returns: list[float] = field(default_factory=list)
    request: StopRequested | None = None
    error: BaseException | None = None
    seconds: float = 0.0


def finish_step(coupled: CoupledParticipants, name: str, time: float, size: float, attempt: Attempt) -> None:
    """Finish a participant's step to ``time + size``, whose first attempt was made elsewhere.

    Parameters
    ----------
    coupled : CoupledParticipants
    name : str
    time, size : float
        Of the step, s.
    attempt : callable
        Returns the time that the first attempt has reached, s.
    """
    record_step(coupled, name, take_step(coupled, name, time, size, attempt))


def take_step(
    coupled: CoupledParticipants, name: str, time: float, size: float, attempt: Attempt | None = None
) -> StepOutcome:
    """Step a participant to ``time + size``, and use no other participant."""
    wall_start, outcome = perf_counter(), StepOutcome()
    coupled.start_courses(name, time)
    if coupled.has_ended(name):
        return outcome  # an algorithm that makes further exchanges continues without it
    step = coupled.participants[name].step
    end = time + size
    rounding = SHORT * size + 4.0 * math.ulp(end)
    try:
        reached = _reached(coupled, name, attempt or step, time, size, end + rounding)
        while reached < end - rounding:
            if not reached > time or len(outcome.returns) == MOST_EARLY_RETURNS:
                raise CoSimulationError(
                    coupled.time, f"came from {time:.9g} s only to {reached:.9g} s of {end:.9g} s", name
                )
            outcome.returns.append(reached)
            time = reached
            reached = _reached(coupled, name, step, time, end - time, end + rounding)
    except StopRequested as request:
        outcome.request = request
    except BaseException as error:
        outcome.error = error
    outcome.seconds = perf_counter() - wall_start
    return outcome


def record_step(coupled: CoupledParticipants, name: str, outcome: StepOutcome) -> None:
    """Record the outcome of a step; its error is raised."""
    for member in coupled.units[name]:
        coupled.collect_of(member)
    coupled.statistics.participant_time[name] += outcome.seconds
    coupled.statistics.retries += len(outcome.returns)
    for time in outcome.returns:
        coupled.record_event(cosim.EventCause.TRIGGERED, time, name, "returned early, went on")
    if outcome.request is not None:
        coupled.stop(name, outcome.request)
    if outcome.error is not None:
        raise outcome.error


def _reached(
    coupled: CoupledParticipants, name: str, step: Attempt, time: float, size: float, latest: float
) -> float:
    """Step a participant; the time that it returns, checked."""
    reached = coupled.guarded(name, step, time, size)
    if not isinstance(reached, (int, float)) or not reached <= latest:
        raise CoSimulationError(
            coupled.time, f"step({time:.9g}, {size:.9g}) returned {reached!r}, needs the time reached", name
        )
    return float(reached)
