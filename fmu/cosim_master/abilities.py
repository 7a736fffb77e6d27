"""Optional abilities of participants beyond the contract, each one a protocol.

A participant has an ability if it has the members of the protocol; it need not derive from it. A master
checks this with ``isinstance``.
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
    """A participant that is notified when the values at the start are consistent.

    The master calls `exit_initialization` once, after the initial exchange and before the first step. Outputs
    may change by it and are exchanged once more.
    """

    def exit_initialization(self) -> None:
        """Initialize from the inputs, which are all set."""


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
    """A participant that reports values between the communication points: at events, and at inner steps."""

    def inside(self) -> Sequence[InnerPoint]:
        """The instants since the last call, in order: both sides of events, values inside steps."""


@runtime_checkable
class Repeats(Ability, Protocol):
    """A participant that can be copied for another run without effects outside."""

    def repeated(self) -> cosim.Participant | None:
        """A copy of the participant; None if its run may have effects outside, through foreign code."""


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
        In s, ascending; every output is constant between them. None if they are not known.
    """

    @property
    def change_times(self) -> NDArray[np.float64] | None:
        """Times at which outputs change, s."""


@runtime_checkable
class HoldsStarts(Ability, Protocol):
    """A participant whose outputs begin with the start values of the variables that they feed."""

    def hold_starts(self, starts: Mapping[str, Any]) -> None:
        """Receive the start values of all participants, by path, before `initialize`."""


@runtime_checkable
class Watches(Ability, Protocol):
    """A participant that reports only requested variables from inside its steps (`TellsInside`)."""

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Receive the names of variables to report from inside steps, before `initialize`.

        Parameters
        ----------
        names : sequence of str
        where : str
            "events": on both sides of events; "steps": also at the ends of inner steps.
        """


@runtime_checkable
class RecordsEvents(Ability, Protocol):
    """A participant that records its events; the result of the run has them, too.

    Attributes
    ----------
    events : sequence of EventRecord
        Since `initialize`, in order, without those that were rolled back. Names of handlers and variables are
        those of the participant. Read once, at the end of a run.
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
            All integer start values that are not negative, by variable; those of other variables are ignored.
        """


@runtime_checkable
class SharesProcess(Ability, Protocol):
    """A participant that may run in one process with others of its co-simulation."""

    def share_process(self, places: dict[Any, Any]) -> None:
        """Share the process of the participants with the same host.

        Parameters
        ----------
        places : dict
            The processes by host; the first participant of a host adds its process.
        """


@runtime_checkable
class Ticks(Ability, Protocol):
    """A participant with clocks that tick by themselves: all participants step to the time of a tick.

    Attributes
    ----------
    ticks_by_time : bool
        Whether there are such clocks; constant from `describe` on.
    next_tick : float
        The time of the next tick, s; infinite if there is none. Read before each step.
    """

    @property
    def ticks_by_time(self) -> bool:
        """Whether it has such clocks."""

    @property
    def next_tick(self) -> float:
        """The time of the next tick, s."""


@runtime_checkable
class WaitsForInputs(Ability, Protocol):
    """A participant whose next tick (`Ticks`) may depend on inputs that are set at the same instant.

    Attributes
    ----------
    ticks_follow_inputs : bool
        Whether it does; constant from `describe` on.
    """

    @property
    def ticks_follow_inputs(self) -> bool:
        """Whether a clock of it has a new interval in event mode."""


@runtime_checkable
class ReusesInstance(Ability, Protocol):
    """A participant whose instance can be kept after `close`, and is reset by `initialize`."""

    def reuse_instance(self, keep: bool = True) -> None:
        """Let `close` keep the instance from now on; False discards a kept one."""


@runtime_checkable
class ReportsCloseError(Ability, Protocol):
    """A participant that reports the error of its `close`, which never raises."""

    def close_error(self) -> str:
        """The error of the last `close`, "" if there was none. A result has it as a warning."""


@runtime_checkable
class ReportsWarnings(Ability, Protocol):
    """A participant that deviated from its description or from what the user asked for.

    Attributes
    ----------
    warnings : sequence of str
        Sentences about the run for its user; read once, before `close`. A result has them.
    """

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings since `initialize`."""


@runtime_checkable
class BeginsSteps(Ability, Protocol):
    """A participant that steps in another process, while others step in this thread.

    Attributes
    ----------
    process_key : object
        Participants with equal keys run in one process: they step with one message, and in one thread.
    """

    @property
    def process_key(self) -> object:
        """The key of its process; hashable."""

    def begin_step(self, time: float, size: float) -> Callable[[], None]:
        """Begin a step; `step` is called later with the same numbers (s), and finishes it.

        Returns
        -------
        callable
            Sends the step; called when all participants that step at the same time have begun.
        """


@runtime_checkable
class CanAbort(Ability, Protocol):
    """A participant whose calls can be ended from outside, at a time limit."""

    def abort(self, why: str) -> None:
        """Called from another thread: the present call raises an error with this reason."""


@runtime_checkable
class LogsPrinted(Ability, Protocol):
    """A participant whose code prints to the standard output of its process, as C code does."""

    def log_printed(self, text: str, by: Sequence[str] = ()) -> None:
        """Receive text that was printed during its calls, for its log.

        Parameters
        ----------
        text : str
        by : sequence of str
            The participants one of which has printed it, if it is not known which.
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
            The lowest level that is written: one of `LOG_LEVELS`; "all" for all messages of the participant.
        """


@runtime_checkable
class HasFile(Ability, Protocol):
    """A participant that is made of a file, which is shown in summaries, and copied into an SSP.

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
        """Write an FMU that behaves as this participant does, and return its path.

        Parameters
        ----------
        path : Path
        also : sequence of str
            Connected variables that become outputs of the FMU, besides the declared ones.
        **options
            Options of the export.
        """


def check_log_level(level: object) -> None:
    """Refuse an unknown level.

    Raises
    ------
    ModelError
    """
    if level not in LOG_LEVELS:
        raise cosim.ModelError.of(
            "log_level", f"is {level!r}, needs one of {', '.join(map(repr, LOG_LEVELS))}"
        )
