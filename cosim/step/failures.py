"""Why a run cannot go on: each failure is a class with its sentence.

Functions of the Step raise them, in plain Python and in machine code alike. The entry points (`entries`)
return their numbers; ``run.failure`` names the block, handler, witness or state that a failure concerns.
`followed_by` is for functions that also have work to do after a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from cosim_compiler.errors import NumberedError

REACHED, TERMINATED, GROW, STEPPED, EVENT = range(5)
"""What an entry point returns while the run can go on: after GROW with a longer array of histories."""
FAILED = 10
"""This number and larger ones: the run cannot go on; the state is the last good one."""


class StepFailure(NumberedError):  # noqa: N818
    """A step cannot go on.

    Attributes
    ----------
    about : str
        The field of ``run.failure`` with the number of what the failure concerns; empty if it has none.
    """

    about: ClassVar[str] = ""


class HistoryFull(StepFailure):
    """A history has no room for the next step.

    Lengthen the array `h` to ``failure.needed``, keep its values, and call again.
    """

    number = GROW


class BlockFailed(StepFailure):
    """A component could not be evaluated."""

    number = 10
    about = "block"


class IntegrationFailed(StepFailure):
    """The integration cannot go on."""

    number = 11
    about = "step_code"


class ConstraintsNotMet(StepFailure):
    """No state near this one meets the constraints."""

    number = 12


class HandlerFailed(StepFailure):
    """An event handler failed."""

    number = 13
    about = "handler"


class NoAnswer(StepFailure):
    """An event handler answered no status."""

    number = 14
    about = "handler"


class EndlessSignals(StepFailure):
    """Signals raise each other without end."""

    number = 15


class TimerInPast(StepFailure):
    """A timer was set to the past."""

    number = 16
    about = "handler"


class PeriodLost(StepFailure):
    """A period is not more than 0, or so short that the time stays the same when it is added."""

    number = 17
    about = "handler"


class HistoryOverrun(StepFailure):
    """A step stored more in a history than there was room for."""

    number = 18


class EndlessEvents(StepFailure):
    """The events of a witness do not end."""

    number = 19
    about = "witness"


class WrongSide(StepFailure):
    """A witness is on the wrong side at the start."""

    number = 20
    about = "witness"


class NothingTakesTime(StepFailure):
    """Nothing here takes time: no states and no scheduled event; a finite time is needed."""

    number = 21


class TimeInPast(StepFailure):
    """The requested time is in the past."""

    number = 22


class ForeignState(StepFailure):
    """The restored state belongs to another program."""

    number = 23


class NothingToHoldBy(StepFailure):
    """The events of a witness do not end, and its handlers change nothing to hold it by."""

    number = 24
    about = "witness"


class Stalled(StepFailure):
    """The run would take more than a thousand million steps.

    The system is extremely stiff, runs toward a singularity, or its events do not end.
    """

    number = 25
    about = "fastest"


class NoInteger(StepFailure):
    """An event handler wrote a fraction, NaN or infinity to an integer."""

    number = 26
    about = "handler"


class InfiniteState(StepFailure):
    """An event handler wrote NaN or infinity to a state."""

    number = 27
    about = "handler"


class ForbiddenChange(StepFailure):
    """An event handler changed what its kind may not change."""

    number = 28
    about = "handler"


class NoAccuracy(StepFailure):
    """Events cannot be located without an accuracy."""

    number = 29


class ResolutionLost(StepFailure):
    """A period or an offset cannot be counted in 64 bits."""

    number = 30
    about = "handler"


def followed_by(act: Callable[..., None], follow: Callable[..., None]) -> Callable[..., None]:
    """A function that calls ``act(run, value)`` and then ``follow(run)``, even if `act` fails.

    If both fail, the failure of `act` is raised.
    """

    def act_and_follow(run, value):
        try:
            act(run, value)
        except StepFailure:
            try:
                follow(run)
            except StepFailure:
                pass  # the failure of `act` is raised
            raise
        follow(run)

    return act_and_follow


SENTENCES = {
    REACHED: "The time was reached.",
    TERMINATED: "An event handler asked to stop.",
    STEPPED: "A step was taken, and the time is not reached yet.",
    EVENT: "An event has to be handled before the integration goes on.",
    **{cls.number: " ".join((cls.__doc__ or "").split()) for cls in StepFailure.__subclasses__()},
}
"""The meaning of each number that an entry point returns."""
