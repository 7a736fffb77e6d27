"""An instance of an FMU, whichever version of FMI it is of."""

from __future__ import annotations

import ctypes
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from cosim.kit import black_box
from cosim_fmi.binding import modes, process_guard
from cosim_fmi.binding.fmu_library import (
    CallOrderError,
    FmiError,
    FmuLibrary,
    FunctionTable,
)
from cosim_fmi.binding.fmu_output import LogReceiver
from cosim_fmi.binding.statuses import DISCARD, FATAL, OK, WARNING


class StepAnswer(NamedTuple):
    """The outcome of a communication step.

    Attributes
    ----------
    reached : float
        Time, s.
    discarded : bool
        The step was refused, or given up at `reached`.
    event, terminate : bool
        Whether the FMU asks for event mode, and for the end of the simulation.
    early : bool
        Whether it has returned before the end of the step.
    """

    reached: float
    discarded: bool = False
    event: bool = False
    terminate: bool = False
    early: bool = False


class Update(NamedTuple):
    """The outcome of an update of the discrete states.

    Attributes
    ----------
    again, terminate : bool
        Whether the FMU asks for one more update, and for the end of the simulation.
    nominals_changed : bool
        Whether nominal values of continuous states have changed.
    next_event : float or None
        Time, s; None when there is none.
    """

    again: bool
    terminate: bool
    nominals_changed: bool
    next_event: float | None


class SavedState(NamedTuple):
    """A state in the memory of its instance.

    Attributes
    ----------
    pointer : ctypes.c_void_p
    mode : str
        In which the instance was.
    """

    pointer: Any
    mode: str


class Options(NamedTuple):
    """Options of an instance; see `FmuInstance.instantiate`."""

    logging: bool
    event_mode: bool
    early_return: bool
    intermediate: tuple[int, ...]
    update: Any


class FmuInstance(ABC):
    """An instance; one class for each version of FMI knows its calls, and which is allowed when.

    Every method makes the calls that the version needs for what its name says; where the version has no such
    thing, it makes none. A call that is not allowed in the present mode is not made (`CallOrderError`); one
    that answers worse than a warning raises `FmiError`. After *error* the instance can only be freed, after
    *fatal* nothing of it is called.

    Parameters
    ----------
    library : FmuLibrary
    log : callable
        Called with status and text of each message.

    Attributes
    ----------
    mode : str
        One of `modes`.
    name : str
        The name that the user gave.
    component : int
        Address of the instance; 0 where there is none.
    failure : FmiError or None
        The last one after which nothing is allowed; a further call raises it again.
    steps : bool
        Whether it is for Co-Simulation: then it makes steps itself.
    untold : FmiError or None
        A failure in freeing a state, which could not be raised there; None once it has been reported.
    """

    table: ClassVar[FunctionTable]
    c_types: ClassVar[Mapping[str, Any]]
    same_functions: ClassVar[Mapping[str, str]]
    """Types that are read and written by the functions of another one."""
    allowed: ClassVar[Mapping[str, frozenset[str]]]
    """For each function the modes in which it may be called; variables: ``Get``, ``Set``."""
    rates_function: ClassVar[str] = "GetDerivatives"
    nominals_function: ClassVar[str] = "GetNominalsOfContinuousStates"
    real: ClassVar[str] = "Real"
    """The type of doubles."""
    flag: ClassVar[Any] = ctypes.c_int
    """The C type of truths."""

    def __init__(self, library: FmuLibrary, log: Callable[[int, str], None]) -> None:
        self.library, self.receiver = library, LogReceiver(log)
        self.mode, self.component, self.name = modes.NEW, 0, ""
        self.failure: FmiError | None = None
        self.untold: FmiError | None = None
        self._before_configuration = modes.INSTANTIATED
        self.steps = library.interface == "CoSimulation"
        self._function = library.function
        self._call_numbers: Mapping[str, int] = {}

    @property
    def version(self) -> str:
        """The version of FMI."""
        return self.table.version

    def name_of(self, function: str) -> str:
        """A function as the standard names it."""
        return self.table.prefix + function

    def call(self, function: str, *arguments: Any, group: str = "") -> int:
        """Status of a call, OK or warning, of a function that is named without its prefix.

        Parameters
        ----------
        function : str
        *arguments
            Those behind the instance.
        group : str, optional
            Which entry of `allowed` holds for it: its own unless given.

        Raises
        ------
        FmiError
        """
        if self.mode not in self.allowed[group or function]:
            self.check_allowed(function, group)
        bound = self._function(function)
        process_guard.calling[0] = self, function
        black_box.status_words[black_box.CALL] = self._call_numbers[function]
        status: int = bound(self.component, *arguments)
        process_guard.round_as_before()
        black_box.status_words[black_box.CALL] = 0
        process_guard.calling[0] = None
        if status > WARNING or status < OK:  # as `is_bad`, without the cost of a call
            self.check(function, status)
        return status

    def call_number(self, function: str) -> int:
        """The number in the black box while a function is called, by its name without the prefix."""
        return self._call_numbers[function]

    def check_allowed(self, function: str, group: str = "") -> None:
        """Raise an error where a function may not be called now; see `call`."""
        if self.mode not in self.allowed[group or function]:
            if self.failure is not None and self.mode in (modes.FAILED, modes.FATAL):
                self.untold = None
                raise self.failure  # what explains why nothing is allowed any more
            raise CallOrderError(self.name_of(function), self.mode)

    def check(self, function: str, status: int) -> None:
        """Raise `FmiError` for a status that is worse than a warning; it may end the use of the instance."""
        if OK <= status <= WARNING:
            return
        if status == FATAL:
            self.mode = modes.FATAL
        elif status != DISCARD:
            self.mode = modes.FAILED
        failure = FmiError.of_status(self.name_of(function), status)
        if status != DISCARD:
            self.failure = failure
        raise failure

    # From its instantiation to its end

    def instantiate(
        self,
        name: str,
        token: str,
        folder: Path,
        *,
        logging: bool = True,
        event_mode: bool = False,
        early_return: bool = True,
        intermediate: Sequence[int] = (),
        intermediate_update: Any = None,
    ) -> None:
        """Make the instance.

        Parameters
        ----------
        name, token : str
            The instantiation token: in FMI 1.0 and 2.0 the GUID.
        folder : Path
            The folder of the unpacked FMU.
        logging : bool
            Whether it logs everything, whatever the category.
        event_mode : bool
            Whether Co-Simulation of FMI 3.0 is run with its event mode.
        early_return : bool
            Whether a communication step of FMI 3.0 may end early.
        intermediate : sequence of int
            Value references of what is accessed inside a communication step (FMI 3.0).
        intermediate_update : callable, optional
            Called inside a communication step with the arguments of fmi3IntermediateUpdateCallback.

        Raises
        ------
        FmiError
            The FMU refused.
        """
        if self.mode != modes.NEW:
            raise CallOrderError(self.name_of("Instantiate"), self.mode)
        function = self._instantiation()
        self.name = name
        self._call_numbers = process_guard.call_numbers(self)
        process_guard.calling[0] = self, function
        black_box.status_words[black_box.CALL] = self._call_numbers[function]
        inside = tuple(intermediate), intermediate_update
        component = self._instantiate(
            name, token, folder, Options(logging, event_mode, early_return, *inside)
        )
        black_box.status_words[black_box.CALL] = 0
        process_guard.calling[0] = None
        if not component:
            raise FmiError("the FMU refused to be instantiated", self.name_of(function))
        self.component, self.mode = int(component), modes.INSTANTIATED
        process_guard.living.add(self)

    @abstractmethod
    def _instantiation(self) -> str:
        """The function that makes an instance."""

    @abstractmethod
    def _instantiate(self, name: str, token: str, folder: Path, options: Options) -> int | None:
        """Call it; the address of the instance."""

    def log_categories(self, categories: Sequence[str]) -> None:
        """Switch categories of log messages on; all of them when none is given."""
        texts = (ctypes.c_char_p * max(1, len(categories)))(*(c.encode() for c in categories))
        self.call("SetDebugLogging", 1, len(categories), texts)

    def terminate(self) -> None:
        """End the simulation; values can still be read."""
        self.call("Terminate")
        self.mode = modes.TERMINATED

    def reset(self) -> None:
        """Reset the instance to its state after `instantiate`."""
        self.call("Reset")
        self.mode = modes.INSTANTIATED

    def free(self) -> None:
        """Free the instance, also after an error; nothing happens without one, or after *fatal*."""
        component, mode = self.component, self.mode
        self.component, self.mode = 0, modes.FREED
        process_guard.living.discard(self)
        if component and mode in modes.FREEABLE:
            free = self._function(self._freeing())
            process_guard.calling[0] = self, self._freeing()
            black_box.status_words[black_box.CALL] = self._call_numbers[self._freeing()]
            free(component)
            black_box.status_words[black_box.CALL] = 0
            process_guard.calling[0] = None

    def _freeing(self) -> str:
        return "FreeInstance"

    # Initialization

    @abstractmethod
    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Pass on the times (s) and the relative tolerance of the simulation, before anything is set."""

    @abstractmethod
    def enter_initialization_mode(self) -> None:
        """Start values are set: begin to initialize."""

    @abstractmethod
    def exit_initialization_mode(self) -> None:
        """End initialization: in event mode, or ready for the first step."""

    def enter_configuration_mode(self) -> None:
        """Structural parameters may be set, those that are tunable also between steps (FMI 3.0)."""
        before = self.mode
        self.call("EnterConfigurationMode")
        self.mode, self._before_configuration = modes.CONFIGURING, before

    def exit_configuration_mode(self) -> None:
        """Back to where the instance was."""
        self.call("ExitConfigurationMode")
        self.mode = self._before_configuration

    # Variables

    def get(self, kind: str, references: Any, buffer: Any) -> None:
        """Read variables of one type.

        Parameters
        ----------
        kind : str
            As the version calls the type: "Real", "Float64".
        references, buffer : ctypes arrays
            Value references, and room for as many values as these variables have.
        """
        self.call("Get" + self.same_functions.get(kind, kind), *self._given(references, buffer), group="Get")

    def set(self, kind: str, references: Any, buffer: Any) -> None:
        """Write variables of one type; as `get`."""
        self.call("Set" + self.same_functions.get(kind, kind), *self._given(references, buffer), group="Set")

    def _given(self, references: Any, buffer: Any) -> tuple[Any, ...]:
        """Arguments of functions that read and write variables, behind the instance."""
        return references, len(references), buffer

    def set_input_slopes(self, references: Sequence[int], slopes: Sequence[float]) -> None:
        """First derivatives of real inputs over the next step, per s."""
        count = len(references)
        self.call(
            "SetRealInputDerivatives",
            (ctypes.c_uint * count)(*references),
            count,
            (ctypes.c_int * count)(*[1] * count),
            (ctypes.c_double * count)(*slopes),
        )

    def directional_derivative(
        self, of: Sequence[int], by: Sequence[int], seed: Sequence[float]
    ) -> Sequence[float]:
        """Derivatives of real variables along a direction.

        Parameters
        ----------
        of, by : sequence of int
            Value references of the unknowns, and of the knowns.
        seed : sequence of float
            The direction: a number for each known.
        """
        unknown, known = ((ctypes.c_uint32 * len(given))(*given) for given in (of, by))
        seeds, derivatives = (ctypes.c_double * len(by))(*seed), (ctypes.c_double * len(of))()
        self.call("GetDirectionalDerivative", *self._direction(unknown, known, seeds, derivatives))
        return list(derivatives)

    def _direction(self, of: Any, by: Any, seeds: Any, derivatives: Any) -> tuple[Any, ...]:
        """Arguments of *GetDirectionalDerivative* behind the instance."""
        return of, len(of), by, len(by), seeds, derivatives

    # Co-Simulation

    def do_step(self, time: float, size: float, never_back: bool = True) -> StepAnswer:
        """A communication step; in FMI 1.0 and 2.0 always as if no older state were restored.

        Some FMUs take "may be restored" for a step that is repeated.

        Parameters
        ----------
        time, size : float
            s.
        never_back : bool
            No state from before `time` will be restored.
        """
        try:
            self.call("DoStep", time, size, 1)
        except FmiError as error:
            if error.status != DISCARD:
                raise
            return self._discarded(time, size, StepAnswer(time))
        return StepAnswer(time + size)

    def after_step(self, status: int, time: float, size: float, reported: StepAnswer) -> StepAnswer:
        """The outcome of a step that compiled code has made.

        Parameters
        ----------
        status : int
            The returned status.
        time, size : float
            s.
        reported : StepAnswer
            The further return values, in FMI 3.0.
        """
        if status == DISCARD:
            return self._discarded(time, size, reported)
        self.check("DoStep", status)
        return reported if self.version == "3.0" else StepAnswer(time + size)

    @abstractmethod
    def _discarded(self, time: float, size: float, reported: StepAnswer) -> StepAnswer:
        """The time that a discarded step has reached, and whether the FMU asks for the end of the run."""

    # Events

    def enter_event_mode(self) -> None:
        """Enter event mode from continuous-time or step mode."""
        self.call("EnterEventMode")
        self.mode = modes.EVENT

    def enter_continuous_time_mode(self) -> None:
        """Enter continuous-time mode from event mode."""
        self.call("EnterContinuousTimeMode")
        self.mode = modes.CONTINUOUS

    def enter_step_mode(self) -> None:
        """Enter step mode from event mode (FMI 3.0)."""
        self.call("EnterStepMode")
        self.mode = modes.STEPPING

    @abstractmethod
    def update_discrete_states(self) -> Update:
        """Update the discrete states, in event mode."""

    # Model Exchange

    def set_time(self, time: float) -> None:
        """Set the time, s."""
        self.call("SetTime", time)

    def set_continuous_states(self, states: Any) -> None:
        """Write the continuous states, an array of doubles."""
        self.call("SetContinuousStates", states, len(states))

    def get_continuous_states(self, states: Any) -> None:
        """Read the continuous states into an array of doubles."""
        self.call("GetContinuousStates", states, len(states))

    def get_derivatives(self, rates: Any) -> None:
        """Read the derivatives of the continuous states, per s, into an array of doubles."""
        self.call(self.rates_function, rates, len(rates))

    def get_event_indicators(self, indicators: Any) -> None:
        """Read the event indicators into an array of doubles."""
        self.call("GetEventIndicators", indicators, len(indicators))

    def get_nominals(self, nominals: Any) -> None:
        """Read the nominal values of the continuous states into an array of doubles."""
        self.call(self.nominals_function, nominals, len(nominals))

    def completed_step(self) -> tuple[bool, bool]:
        """Report the end of an integrator step; whether the FMU asks for event mode, and for the end."""
        event, stop = self.flag(), self.flag()
        self.call("CompletedIntegratorStep", 1, ctypes.byref(event), ctypes.byref(stop))
        return bool(event.value), bool(stop.value)

    def step_arguments(self, answers: int) -> tuple[int, int, int]:
        """Arguments of *CompletedIntegratorStep* behind the instance, by address.

        Parameters
        ----------
        answers : int
            Address of two words: for whether it wants event mode, and to end the run.
        """
        return 1, answers, answers + 8

    def sizes(self) -> tuple[int, int] | None:
        """The numbers of continuous states and event indicators; None where the instance does not tell."""
        return None

    # States

    state_functions: ClassVar[Mapping[str, str]] = {}
    """Functions of saved states, by "get", "set", "free", "size", "serialize" and "deserialize"."""

    def save(self) -> SavedState:
        """The whole state, in memory of the instance."""
        pointer = ctypes.c_void_p()
        self.call(self.state_functions["get"], ctypes.byref(pointer))
        return SavedState(pointer, self.mode)

    def restore(self, state: SavedState) -> None:
        """Restore a saved state."""
        self.call(self.state_functions["set"], state.pointer)
        self.mode = state.mode

    def free_state(self, state: SavedState) -> None:
        """Free the memory of a saved state."""
        self.call(self.state_functions["free"], ctypes.byref(state.pointer))

    def serialize(self, state: SavedState) -> bytes:
        """A saved state in the FMU's own format."""
        size = ctypes.c_size_t()
        self.call(self.state_functions["size"], state.pointer, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(self.state_functions["serialize"], state.pointer, data, size)
        return data.raw

    def deserialize(self, data: bytes, mode: str) -> SavedState:
        """A saved state again.

        Parameters
        ----------
        data : bytes
            From `serialize`.
        mode : str
            In which the instance was.
        """
        pointer = ctypes.c_void_p()
        self.call(self.state_functions["deserialize"], data, len(data), ctypes.byref(pointer))
        return SavedState(pointer, mode)


def next_event_of(defined: Any, time: float) -> float | None:
    """The time of the next event, None when there is none."""
    return time if defined and not math.isinf(time) else None
