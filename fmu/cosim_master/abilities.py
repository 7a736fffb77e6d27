"""Abilities of participants beside the contract, each one a protocol.

A participant has an ability when it has the members of its protocol; it need not derive from it. A master
asks with ``isinstance``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class NativeCalls:
    """Addresses of C functions that set, step and get an instance whose variables are all real.

    Status: 0 is OK, 1 a warning; any other number stops the compiled loop, and the participant is asked what
    to do about it (`StepsNatively`). All may be called without the GIL and from several threads one after the
    other.

    Attributes
    ----------
    instance : int
        First argument of each function.
    set, get : int
        ``int f(void *instance, const uint32_t references[], size_t n, double values[], size_t n)``; functions
        of FMI 2.0, without the last argument, will do.
    step : int
        ``int f(void *instance, double time, double size, int keeps_no_state, bool *event, bool *terminate,
        bool *early, double *reached)``; functions of FMI 2.0, without the last four, will do. An event, an
        end or a requested early return stops the compiled loop, too.
    begin : int
        Of a function with the same arguments as `step`, which is called before it with the same numbers and
        returns at once, where the step takes place elsewhere; 0 where there is none. In place of the integer
        behind `size` it gets 0 where others of the same process follow (`BeginsSteps`), else 1.
    input_references, output_references : int
        Addresses of the arrays `references` for the variables that were asked for.
    input_count, output_count : int, optional
        How many references these are; one for each variable unless given (a whole array has one).
    same_size : bool
        Whether every step but the last has to have the very same length.
    keep : object
        An object that has to live while the addresses are in use.
    access : int
        First argument of `set` and `get`, where it is another one than `instance`.
    set_slopes : int
        ``int f(void *instance, const uint32_t references[], size_t n, const int orders[], const double
        slopes[])``: slopes of all inputs over the next step, per s, all orders 1; 0 where there is none.
    save, restore, free : int
        ``int f(void *instance, void **state)``, ``int f(void *instance, void *state)`` and, where a state has
        to be freed before the next one is saved, ``int f(void *instance, void **state)``; 0 where there is
        none.
    state : int
        Address of the state that `save` writes.
    remember : callable, optional
        What Python knows of the participant besides, as it is now; for `forget`.
    remember_saved : callable, optional
        The same as it was when a state was saved last, where functions of C have changed it since; asked in
        place of `remember` after that.
    forget : callable, optional
        Called with what `remember` gave, before `restore`, where Python had to do something in between.
    always_remembered : bool
        Whether both are called whenever a state is saved or restored.
    after_state : callable, optional
        Called with "save" or "restore" and a status that is not OK: raises what that means; True where it is
        done after all: then the function is called once more, and says so.
    leave : callable, optional
        Called when the functions are not used after all.
    names : mapping of str to str
        What these functions are called, by attribute: ``{"step": "fmi2DoStep"}``; for words about a process
        that one of them has ended.
    """

    instance: int
    set: int
    step: int
    get: int
    input_references: int
    output_references: int
    same_size: bool
    keep: object
    begin: int = 0
    access: int = 0
    input_count: int | None = None
    output_count: int | None = None
    set_slopes: int = 0
    save: int = 0
    restore: int = 0
    free: int = 0
    state: int = 0
    remember: Callable[[], Any] | None = None
    remember_saved: Callable[[], Any] | None = None
    forget: Callable[[Any], None] | None = None
    always_remembered: bool = False
    after_state: Callable[[str, int], bool | None] | None = None
    leave: Callable[[], None] | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class StepsNatively(Ability, Protocol):
    """A participant that can be set, stepped and read by C functions, without Python.

    Where all participants can, and the algorithm always makes the same calls
    (`MasterAlgorithm.fixed_sequence`), a master may run its loop in compiled code. What happens there has to
    be the same as in `set`, `step` and `get`, to the last bit.

    Attributes
    ----------
    least_native_steps : int
        For fewer steps than that it is not worth the preparation.
    """

    @property
    def least_native_steps(self) -> int:
        """Number of steps from which on it pays."""

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write `inputs`, advance, and read `reads`; None if there are none.

        Called after `exit_initialization`, with real variables alone unless others are taken
        (`StepsTypesNatively`).

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            The first four are what `step` answers (bytes, and a time in s); the participant writes to the
            last one the time (s) beyond which the compiled loop shall call `step` of Python instead.

        Raises
        ------
        ModelError
            Why it cannot run so; the loop then runs in Python.
        """

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """React to a status and flags as `step` does: return the time reached, or raise an error."""

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise the error of `set` ("Set") or `get` ("Get"); Python calls it again if none is raised."""

    def resume_native(self) -> None:
        """Let the compiled loop continue after calls of step, set or get by Python."""


@runtime_checkable
class StepsTypesNatively(StepsNatively, Protocol):
    """A participant whose C functions take more than real variables.

    Attributes
    ----------
    native_types : tuple of str
        Types of variables that `native_calls` takes beside real ones: "integer", "boolean". They are handed
        over as reals that are whole.
    """

    @property
    def native_types(self) -> tuple[str, ...]:
        """Types besides "real"."""


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
