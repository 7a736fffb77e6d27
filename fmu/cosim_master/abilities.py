"""Abilities of participants beside the contract, each one a protocol.

A participant has an ability when it has the members of its protocol; it need not derive from it. A master
asks with ``isinstance``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.ability import Ability

LOG_LEVELS = ("all", "warning", "error")


@runtime_checkable
class InitializationMode(Ability, Protocol):
    """A participant that wants to know when the values at the start are consistent.

    The master calls `exit_initialization` once, after the initial exchange and before the first step;
    outputs may change by it and are exchanged once more. A participant without it is ready at once.
    """

    def exit_initialization(self) -> None:
        """The inputs at the start are set: initialize from them."""


class InnerPoint(NamedTuple):
    """Values of a participant at an instant inside a step.

    A jump is two points at one time: before and after.

    Attributes
    ----------
    time : float
        s
    names : sequence of str
    values : sequence of object
    """

    time: float
    names: Sequence[str]
    values: Sequence[Any]


@runtime_checkable
class TellsInside(Ability, Protocol):
    """A participant that can tell values between the communication points: at events, in steps of its own."""

    def inside(self) -> Sequence[InnerPoint]:
        """The instants since the last call, in order: both sides of events, values inside steps."""


@runtime_checkable
class Repeats(Ability, Protocol):
    """A participant of which another one may run in its place without an effect outside."""

    def repeated(self) -> cosim.Participant | None:
        """A copy of the participant; None if its run may have effects outside, by code of others."""


@runtime_checkable
class IntegratesInside(Ability, Protocol):
    """A participant that integrates with a method and an accuracy of cosim.

    Half the communication step shows no error of the integration: a run that another one is compared with
    integrates more accurately as well.
    """

    def refine(self, refined: bool) -> None:
        """From the next `initialize` on, integrate with a tenth of the accuracy, or as given.

        Parameters
        ----------
        refined : bool
            Whether to take a tenth of the accuracy and of all tolerances, and half of a fixed step.
        """


@runtime_checkable
class ChangesAtTimes(Ability, Protocol):
    """A participant that knows when its outputs change.

    Attributes
    ----------
    change_times : ndarray or None
        In s, in order: between them every output is constant. None where that is not known.
    """

    @property
    def change_times(self) -> NDArray[np.float64] | None:
        """Times at which outputs change, s."""


@runtime_checkable
class HoldsStarts(Ability, Protocol):
    """A participant whose values begin as the start values of the variables that they set."""

    def hold_starts(self, starts: Mapping[str, Any]) -> None:
        """Receive the start values of all participants, by path, before `initialize`."""


@runtime_checkable
class Watches(Ability, Protocol):
    """A participant that tells no more from inside its steps than what is wanted (`TellsInside`)."""

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Receive the names of variables that are wanted inside steps, before `initialize`.

        Parameters
        ----------
        names : sequence of str
            The variables whose values are wanted.
        where : str
            "events": at both sides of events; "steps": also where steps of the participant's own end.
        """


@runtime_checkable
class RecordsEvents(Ability, Protocol):
    """A participant that tells what has happened inside it; the result of the run has these events, too.

    Attributes
    ----------
    events : sequence of EventRecord
        Since `initialize`, in order; what was rolled back is not among them. Names of handlers and variables
        are its own. Asked once, at the end of a run.
    """

    @property
    def events(self) -> Sequence[Any]:
        """Records of the events."""


@runtime_checkable
class Resizes(Ability, Protocol):
    """A participant whose arrays have sizes that the user chooses."""

    def configure(self, sizes: Mapping[str, int]) -> None:
        """Receive start values that may decide sizes, before `describe`.

        Parameters
        ----------
        sizes : mapping of str to int
            All whole start values that are not negative, by variable; those that decide no size are ignored.
        """


@runtime_checkable
class SharesProcess(Ability, Protocol):
    """A participant that may run in one process with others of its co-simulation."""

    def share_process(self, places: dict[Any, Any]) -> None:
        """Join the others with the same host, or be the first of them.

        Parameters
        ----------
        places : dict
            The places that participants before have stored, by host.
        """


@runtime_checkable
class Ticks(Ability, Protocol):
    """A participant with clocks that tick at times of their own: all participants step to such a time.

    Attributes
    ----------
    ticks_by_time : bool
        Whether there are any; constant from `describe` on.
    next_tick : float
        The time of the next one, s; infinite when there is none. Asked before each step.
    """

    @property
    def ticks_by_time(self) -> bool:
        """Whether it has such clocks."""

    @property
    def next_tick(self) -> float:
        """The time of the next tick, s."""


@runtime_checkable
class WaitsForInputs(Ability, Protocol):
    """A participant whose next tick (`Ticks`) may follow from inputs that are set at the same instant.

    Attributes
    ----------
    ticks_follow_inputs : bool
        Whether it is so; constant from `describe` on.
    """

    @property
    def ticks_follow_inputs(self) -> bool:
        """Whether a clock of it has a new interval in event mode."""


@runtime_checkable
class ReusesInstance(Ability, Protocol):
    """A participant that `close` need not end for good: `initialize` sets it back to its beginning."""

    def reuse_instance(self, keep: bool = True) -> None:
        """Whether it is kept from now on; False gives up what is kept."""


@runtime_checkable
class ReportsCloseError(Ability, Protocol):
    """A participant whose `close`, which never raises, can say what went wrong in it."""

    def close_error(self) -> str:
        """Why the last `close` did not end it as it should; "" when it did. A result has it as a warning."""


@runtime_checkable
class ReportsWarnings(Ability, Protocol):
    """A participant that deviated from its description or from what the user asked for.

    Attributes
    ----------
    warnings : sequence of str
        What a user has to know about the run, in sentences; asked once, before `close`. A result has them.
    """

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings since `initialize`."""


@runtime_checkable
class BeginsSteps(Ability, Protocol):
    """A participant whose step takes place elsewhere: others may step meanwhile, in this thread, too.

    Attributes
    ----------
    process_key : object
        Participants with equal ones run in one process: they step with one message, and in one thread.
    """

    @property
    def process_key(self) -> object:
        """The key of its process; hashable."""

    def begin_step(self, time: float, size: float) -> Callable[[], None]:
        """Begin what `step`, which is called with the same numbers (s) after that, comes back from.

        Returns
        -------
        callable
            Lets it go; called when all that step at the same time have begun.
        """


@runtime_checkable
class CanAbort(Ability, Protocol):
    """A participant whose calls can be ended from outside: at a time limit."""

    def abort(self, why: str) -> None:
        """Called from another thread: a call that is under way raises an error that says why."""


@runtime_checkable
class LogsPrinted(Ability, Protocol):
    """A participant whose code prints to the standard output of its process, as C code does."""

    def log_printed(self, text: str, by: Sequence[str] = ()) -> None:
        """Receive text that was printed during its calls, for its log.

        Parameters
        ----------
        text : str
        by : sequence of str
            Participants of which one has printed it, where that is not known.
        """


@runtime_checkable
class WritesLog(Ability, Protocol):
    """A participant that logs: its messages can be written to a file."""

    def write_log(self, file: Path | None, level: str) -> None:
        """Receive the file for messages that explain errors, before `initialize`.

        Parameters
        ----------
        file : Path or None
            Written anew at `initialize`; None for no file.
        level : str
            From which level on: one of `LOG_LEVELS`, "all" with whatever the participant can tell.
        """


@runtime_checkable
class HasFile(Ability, Protocol):
    """A participant that is made of a file: shown in summaries, kept with results, put into an SSP.

    Attributes
    ----------
    path : Path or None
    """

    @property
    def path(self) -> Path | None:
        """The file."""


@runtime_checkable
class ExportsFmu(Ability, Protocol):
    """A participant that can be written as an FMU: for the SSP of a co-simulation."""

    def export_fmu(self, path: Path, also: Sequence[str] = (), **options: Any) -> Path:
        """Write an FMU that behaves as this participant does, and give its path.

        Parameters
        ----------
        path : Path
        also : sequence of str
            Variables that are outputs of the FMU beside the declared ones: the connected ones.
        **options
            Options of the export.
        """


def check_log_level(level: object) -> None:
    """Refuse what is not a level.

    Raises
    ------
    ModelError
    """
    if level not in LOG_LEVELS:
        raise cosim.ModelError.of(
            "log_level", f"is {level!r}, needs one of {', '.join(map(repr, LOG_LEVELS))}"
        )
