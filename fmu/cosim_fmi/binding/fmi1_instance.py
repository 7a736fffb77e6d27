"""An instance of an FMU of FMI 1.0."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from cosim_fmi.binding import fmi1_table, modes
from cosim_fmi.binding.fmi2_instance import memory_functions
from cosim_fmi.binding.fmi_error import CallOrderError, FmiError
from cosim_fmi.binding.fmu_instance import FmuInstance, Options, StepAnswer, Update, next_event_of
from cosim_fmi.binding.function_table import FunctionTable
from cosim_fmi.binding.logs import logger, with_format

LAST_SUCCESSFUL_TIME = 2
MIME_TYPE = b"application/x-fmu-sharedlibrary"
READABLE = modes.RUNNING | {modes.INITIALIZING, modes.TERMINATED, modes.FAILED}


class Fmi1Instance(FmuInstance):
    """FMI 1.0, Co-Simulation and Model Exchange.

    There is no initialization mode: one call initializes. Here it is made when initialization mode ends, or
    when the first value is read in it; so inputs that are set before belong to the initial values. Model
    Exchange has no
    event mode and no continuous-time mode: events are updated where the instance stands. What the
    initializing call has told about events is the answer to the first update.
    """

    table: ClassVar[FunctionTable] = fmi1_table.TABLE
    c_types: ClassVar[Mapping[str, Any]] = fmi1_table.C_TYPES
    same_functions: ClassVar[Mapping[str, str]] = {"Enumeration": "Integer"}
    nominals_function: ClassVar[str] = "GetNominalContinuousStates"
    allowed: ClassVar[Mapping[str, frozenset[str]]] = {
        "SetDebugLogging": modes.LIVING,
        "Get": READABLE,
        "Set": modes.INITIALIZED | {modes.INSTANTIATED},
        "InitializeSlave": frozenset((modes.INITIALIZING,)),
        "SetRealInputDerivatives": frozenset((modes.INITIALIZING, modes.STEPPING)),
        "DoStep": frozenset((modes.STEPPING,)),
        "GetRealStatus": frozenset((modes.STEPPING,)),
        "TerminateSlave": frozenset((modes.STEPPING,)),
        "ResetSlave": modes.LIVING | {modes.FAILED},
        "SetTime": modes.INITIALIZED,
        "Initialize": frozenset((modes.INITIALIZING,)),
        "EventUpdate": frozenset((modes.EVENT,)),
        "CompletedIntegratorStep": frozenset((modes.CONTINUOUS,)),
        "SetContinuousStates": frozenset((modes.EVENT, modes.CONTINUOUS)),
        "GetContinuousStates": READABLE,
        "GetDerivatives": READABLE,
        "GetEventIndicators": READABLE,
        "GetNominalContinuousStates": READABLE,
        "Terminate": modes.RUNNING,
    }

    def _instantiation(self) -> str:
        return "InstantiateSlave" if self.steps else "InstantiateModel"

    def _instantiate(self, name: str, token: str, folder: Path, options: Options) -> int | None:
        self._experiment: tuple[float, float | None, float | None] = 0.0, None, None
        self._initialized = False
        self._told: fmi1_table.EventInfo | None = None
        self._callbacks = fmi1_table.Callbacks(logger(), *memory_functions(), None)
        with_format(self._callbacks)
        function = self.library.function(self._instantiation())
        with self.receiver.waiting():
            if self.steps:
                where = (folder.as_uri().encode(), MIME_TYPE, 0.0, 0, 0)
                made = function(name.encode(), token.encode(), *where, self._callbacks, int(options.logging))
            else:
                callbacks = fmi1_table.ModelCallbacks(
                    self._callbacks.logger, self._callbacks.allocate, self._callbacks.free
                )
                made = function(name.encode(), token.encode(), callbacks, int(options.logging))
        if made:
            self.receiver.belongs_to(made)
        return made

    def _freeing(self) -> str:
        return "FreeSlaveInstance" if self.steps else "FreeModelInstance"

    def log_categories(self, categories: Sequence[str]) -> None:
        """FMI 1.0 has no categories: everything is logged."""
        self.call("SetDebugLogging", 1)

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Keep them for the initializing call."""
        self._experiment = start, stop, tolerance

    def enter_initialization_mode(self) -> None:
        """Nothing is called yet."""
        if self.mode != modes.INSTANTIATED:
            raise CallOrderError(self.name_of("Initialize"), self.mode)
        self.mode = modes.INITIALIZING
        if not self.steps:
            self.call("SetTime", self._experiment[0])

    def exit_initialization_mode(self) -> None:
        """Initialize, if no value has been read before."""
        self._initialize()
        self.mode = modes.STEPPING if self.steps else modes.EVENT

    def _initialize(self) -> None:
        if self._initialized:
            return
        self._initialized = True
        start, stop, tolerance = self._experiment
        if self.steps:
            self.call("InitializeSlave", start, int(stop is not None), stop or 0.0)
        else:
            info = fmi1_table.EventInfo()
            self.call("Initialize", int(tolerance is not None), tolerance or 0.0, ctypes.byref(info))
            self._told = info

    def get(self, kind: str, references: Any, buffer: Any) -> None:
        """Read variables; the first time it initializes."""
        if self.mode == modes.INITIALIZING:
            self._initialize()
        super().get(kind, references, buffer)

    def directional_derivative(
        self, of: Sequence[int], by: Sequence[int], seed: Sequence[float]
    ) -> Sequence[float]:
        """FMI 1.0 has none."""
        raise FmiError("FMI 1.0 has no directional derivatives", "fmiGetDirectionalDerivative")

    def _discarded(self, time: float, size: float, told: StepAnswer) -> StepAnswer:
        reached = ctypes.c_double(time)
        try:
            self.call("GetRealStatus", LAST_SUCCESSFUL_TIME, ctypes.byref(reached))
        except FmiError:
            return StepAnswer(time, discarded=True)
        return StepAnswer(reached.value if time <= reached.value <= time + size else time, discarded=True)

    def enter_event_mode(self) -> None:
        """No call."""
        if self.mode != modes.CONTINUOUS:
            raise CallOrderError(self.name_of("EventUpdate"), self.mode)
        self.mode = modes.EVENT

    def enter_continuous_time_mode(self) -> None:
        """No call."""
        if self.mode != modes.EVENT:
            raise CallOrderError(self.name_of("SetTime"), self.mode)
        self.mode = modes.CONTINUOUS

    def update_discrete_states(self) -> Update:
        """Call fmiEventUpdate, without results between iterations; first what initialization told."""
        info, self._told = self._told, None
        if info is None:
            info = fmi1_table.EventInfo()
            self.call("EventUpdate", 0, ctypes.byref(info))
        return Update(
            again=not info.converged,
            terminate=bool(info.terminate),
            # FMI 1.0 does not tell: other states than before have other nominal values
            nominals_changed=bool(info.references_changed),
            next_event=next_event_of(info.defined, info.next),
        )

    def step_arguments(self, answers: int) -> tuple[int, int, int]:
        """It has none but whether it wants event mode."""
        return answers, 0, 0

    def completed_step(self) -> tuple[bool, bool]:
        """Call fmiCompletedIntegratorStep."""
        event = ctypes.c_int8()
        self.call("CompletedIntegratorStep", ctypes.byref(event))
        return bool(event.value), False

    def terminate(self) -> None:
        """Call fmiTerminateSlave or fmiTerminate."""
        self.call("TerminateSlave" if self.steps else "Terminate")
        self.mode = modes.TERMINATED

    def reset(self) -> None:
        """Call fmiResetSlave; Model Exchange has no reset."""
        self.call("ResetSlave")
        self.mode, self._initialized, self._told = modes.INSTANTIATED, False, None
