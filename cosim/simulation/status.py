"""The results of event handlers and simulations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum

from cosim.errors import SimulationError


class Severity(IntEnum):
    """The result of an event handler; of several, the worst one counts."""

    DID_NOTHING = 0
    SUCCEEDED = 1
    REACHED_TERMINATION = 2
    FAILED = 3


@dataclass(frozen=True)
class EventStatus:
    """Answer of an event handler or monitor; answering nothing means succeeded.

    Attributes
    ----------
    severity : Severity
    message : str
    source : str
        Path of who answered, filled in by the simulator.
    exception : BaseException or None
        What a publish raised instead of answering.
    """

    severity: Severity = Severity.SUCCEEDED
    message: str = ""
    source: str = ""
    exception: BaseException | None = None

    @classmethod
    def did_nothing(cls) -> EventStatus:
        """The handler changed nothing; what it may have written is dropped."""
        return DID_NOTHING

    @classmethod
    def succeeded(cls) -> EventStatus:
        """The handler did what it is for."""
        return SUCCEEDED

    @classmethod
    def reached_termination(cls, message: str = "") -> EventStatus:
        """The simulation is to stop here; events of this instant are still handled."""
        return cls(Severity.REACHED_TERMINATION, message)

    @classmethod
    def failed(cls, message: str = "") -> EventStatus:
        """The simulation cannot go on."""
        return cls(Severity.FAILED, message)

    @classmethod
    def of_exception(cls, error: BaseException, source: str) -> EventStatus:
        """The answer of a handler or monitor that has raised."""
        text = error.reason if isinstance(error, SimulationError) else f"{type(error).__name__}: {error}"
        return cls(Severity.FAILED, text.removeprefix(f"{source}: "), source, error)


DID_NOTHING, SUCCEEDED = EventStatus(Severity.DID_NOTHING), EventStatus()


def worst(statuses: Iterable[EventStatus]) -> EventStatus:
    """The most severe of several, the earlier one among equals.

    Examples
    --------
    >>> worst([EventStatus.succeeded(), EventStatus.failed("no"), EventStatus.failed("later")]).message
    'no'
    """
    result = DID_NOTHING
    for status in statuses:
        if status.severity > result.severity:
            result = status
    return result


class Reason(Enum):
    """Why a call to the simulator came back."""

    REACHED_BOUNDARY_TIME = "reached the boundary time"
    REACHED_TERMINATION = "a handler asked to stop"
    EVENT_HANDLER_FAILED = "an event handler failed"
    INTEGRATION_FAILED = "the simulation cannot go on"
    INTERRUPTED = "interrupted by the user"


@dataclass(frozen=True)
class SimulatorStatus:
    """The result of a call to the simulator.

    Attributes
    ----------
    reason : Reason
    boundary_time : float
        Where the call was to go, s.
    return_time : float
        Where it got, s.
    source : str
        Path of the handler that decided it.
    message : str
    """

    reason: Reason
    boundary_time: float
    return_time: float
    source: str = ""
    message: str = ""

    @classmethod
    def of_answer(cls, answer: EventStatus, boundary_time: float, return_time: float) -> SimulatorStatus:
        """The status of a call that has come back, whose worst answer is `answer`."""
        if answer.severity is Severity.REACHED_TERMINATION:
            reason = Reason.REACHED_TERMINATION
            return cls(reason, boundary_time, return_time, answer.source, answer.message)
        return cls(Reason.REACHED_BOUNDARY_TIME, boundary_time, return_time)

    @classmethod
    def of_error(
        cls, error: SimulationError | KeyboardInterrupt, boundary_time: float, return_time: float
    ) -> SimulatorStatus:
        """The status of a call that has failed, or that Ctrl-C has ended."""
        if isinstance(error, KeyboardInterrupt):
            return cls(Reason.INTERRUPTED, boundary_time, return_time)
        event_status = error.status
        if event_status is None:
            return cls(Reason.INTEGRATION_FAILED, boundary_time, return_time, "", error.reason)
        reason = Reason.EVENT_HANDLER_FAILED
        return cls(reason, boundary_time, return_time, event_status.source, event_status.message)

    @property
    def succeeded(self) -> bool:
        """Whether the boundary time was reached."""
        return self.reason is Reason.REACHED_BOUNDARY_TIME

    def format_message(self) -> str:
        """A sentence for people."""
        text = f"{self.reason.value} at t = {self.return_time:.9g} s"
        if self.return_time != self.boundary_time:
            text += f" (wanted {self.boundary_time:.9g} s)"
        if self.source:
            text += f", {self.source}"
        return f"{text}: {self.message}" if self.message else text
