"""FMI 1.0: types, functions, and an instance of an FMU."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_char_p, c_double, c_int, c_int8, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any, ClassVar

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmi2_instance import memory_functions
from cosim_fmi.binding.fmu_instance import FmuInstance, Options, StepAnswer, Update, next_event_of
from cosim_fmi.binding.fmu_library import (
    CallOrderError,
    FmiError,
    FunctionTable,
    access_signatures,
    array_signatures,
    instance_signatures,
)
from cosim_fmi.binding.fmu_output import LOGGER, logger, with_format

# FMI 1.0: types and functions.
#
# Source: Functional Mock-up Interface for Model Exchange 1.0 and for Co-Simulation 1.0,
# ``fmiModelFunctions.h``, ``fmiFunctions.h``.

C_TYPES: dict[str, Any] = {
    "Real": c_double,
    "Integer": c_int,
    "Enumeration": c_int,
    "Boolean": c_int8,
    "String": c_char_p,
}


class Callbacks(ctypes.Structure):
    """fmiCallbackFunctions; of Model Exchange the first three only."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("step_finished", c_void_p),
    )


class ModelCallbacks(ctypes.Structure):
    """fmiCallbackFunctions of Model Exchange."""

    _fields_ = Callbacks._fields_[:3]


class EventInfo(ctypes.Structure):
    """fmiEventInfo."""

    _fields_ = (
        ("converged", c_int8),
        ("references_changed", c_int8),
        ("values_changed", c_int8),
        ("terminate", c_int8),
        ("defined", c_int8),
        ("next", c_double),
    )


REFERENCES, REALS, INSTANCE = POINTER(c_uint), POINTER(c_double), c_void_p
INFO = POINTER(EventInfo)
TABLE = FunctionTable(
    version="1.0",
    prefix="fmi",
    with_identifier=True,
    signatures={
        "GetVersion": (c_char_p, ()),
        "GetTypesPlatform": (c_char_p, ()),
        "GetModelTypesPlatform": (c_char_p, ()),
        "SetDebugLogging": (c_int, (INSTANCE, c_int8)),
        **access_signatures(C_TYPES),
        # Co-Simulation
        "InstantiateSlave": (
            INSTANCE,
            (c_char_p, c_char_p, c_char_p, c_char_p, c_double, c_int8, c_int8, Callbacks, c_int8),
        ),
        "InitializeSlave": (c_int, (INSTANCE, c_double, c_int8, c_double)),
        **instance_signatures("TerminateSlave", "ResetSlave", "Terminate"),
        "FreeSlaveInstance": (None, (INSTANCE,)),
        "SetRealInputDerivatives": (c_int, (INSTANCE, REFERENCES, c_size_t, POINTER(c_int), REALS)),
        "DoStep": (c_int, (INSTANCE, c_double, c_double, c_int8)),
        "GetRealStatus": (c_int, (INSTANCE, c_int, REALS)),
        # Model Exchange
        "InstantiateModel": (INSTANCE, (c_char_p, c_char_p, ModelCallbacks, c_int8)),
        "FreeModelInstance": (None, (INSTANCE,)),
        "SetTime": (c_int, (INSTANCE, c_double)),
        "Initialize": (c_int, (INSTANCE, c_int8, c_double, INFO)),
        "EventUpdate": (c_int, (INSTANCE, c_int8, INFO)),
        "CompletedIntegratorStep": (c_int, (INSTANCE, POINTER(c_int8))),
        **array_signatures("SetContinuousStates", "GetContinuousStates", "GetNominalContinuousStates"),
        **array_signatures("GetDerivatives", "GetEventIndicators"),
    },
    needed={
        "CoSimulation": ("InstantiateSlave", "InitializeSlave", "FreeSlaveInstance", "DoStep"),
        "ModelExchange": (
            *("InstantiateModel", "Initialize", "FreeModelInstance"),
            *("EventUpdate", "SetTime", "GetDerivatives"),
        ),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Integer`."""


LAST_SUCCESSFUL_TIME = 2
MIME_TYPE = b"application/x-fmu-sharedlibrary"
READABLE = modes.RUNNING | {modes.INITIALIZING, modes.TERMINATED, modes.FAILED}


class Fmi1Instance(FmuInstance):
    """FMI 1.0, Co-Simulation and Model Exchange.

    There is no initialization mode: one call initializes. Here it is made when initialization mode ends, or
    when the first value is read in it; so inputs that are set before belong to the initial values. Model
    Exchange has no event mode and no continuous-time mode: events are updated where the instance stands. What
    the initializing call has answered about events is the answer to the first update (`_initial_events`).
    """

    table: ClassVar[FunctionTable] = TABLE
    c_types: ClassVar[Mapping[str, Any]] = C_TYPES
    same_functions: ClassVar[Mapping[str, str]] = {"Enumeration": "Integer"}
    nominals_function: ClassVar[str] = "GetNominalContinuousStates"
    allowed: ClassVar[Mapping[str, frozenset[str]]] = {
        "SetDebugLogging": modes.LIVE,
        "Get": READABLE,
        "Set": modes.INITIALIZED | {modes.INSTANTIATED},
        "InitializeSlave": frozenset((modes.INITIALIZING,)),
        "SetRealInputDerivatives": frozenset((modes.INITIALIZING, modes.STEPPING)),
        "DoStep": frozenset((modes.STEPPING,)),
        "GetRealStatus": frozenset((modes.STEPPING,)),
        "TerminateSlave": frozenset((modes.STEPPING,)),
        "ResetSlave": modes.LIVE | {modes.FAILED},
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
        self._initial_events: EventInfo | None = None
        self._callbacks = Callbacks(logger(), *memory_functions(), None)
        with_format(self._callbacks)
        function = self.library.function(self._instantiation())
        with self.receiver.waiting():
            if self.steps:
                where = (folder.as_uri().encode(), MIME_TYPE, 0.0, 0, 0)
                handle = function(
                    name.encode(), token.encode(), *where, self._callbacks, int(options.logging)
                )
            else:
                callbacks = ModelCallbacks(
                    self._callbacks.logger, self._callbacks.allocate, self._callbacks.free
                )
                handle = function(name.encode(), token.encode(), callbacks, int(options.logging))
        if handle:
            self.receiver.belongs_to(handle)
        return handle

    def _freeing(self) -> str:
        return "FreeSlaveInstance" if self.steps else "FreeModelInstance"

    def log_categories(self, categories: Sequence[str]) -> None:
        """FMI 1.0 has no categories: everything is logged."""
        self.call("SetDebugLogging", 1)

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Store the settings for the initializing call."""
        self._experiment = start, stop, tolerance

    def enter_initialization_mode(self) -> None:
        """Call nothing yet."""
        if self.mode != modes.INSTANTIATED:
            raise CallOrderError(self.name_of("Initialize"), self.mode)
        self.mode = modes.INITIALIZING
        if not self.steps:
            self.call("SetTime", self._experiment[0])

    def exit_initialization_mode(self) -> None:
        """Initialize, unless a value has been read before."""
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
            info = EventInfo()
            self.call("Initialize", int(tolerance is not None), tolerance or 0.0, ctypes.byref(info))
            self._initial_events = info

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

    def _discarded(self, time: float, size: float, reported: StepAnswer) -> StepAnswer:
        reached = ctypes.c_double(time)
        try:
            self.call("GetRealStatus", LAST_SUCCESSFUL_TIME, ctypes.byref(reached))
        except FmiError:
            return StepAnswer(time, discarded=True)
        return StepAnswer(reached.value if time <= reached.value <= time + size else time, discarded=True)

    def enter_event_mode(self) -> None:
        """Call nothing: FMI 1.0 has no such mode."""
        if self.mode != modes.CONTINUOUS:
            raise CallOrderError(self.name_of("EventUpdate"), self.mode)
        self.mode = modes.EVENT

    def enter_continuous_time_mode(self) -> None:
        """Call nothing: FMI 1.0 has no such mode."""
        if self.mode != modes.EVENT:
            raise CallOrderError(self.name_of("SetTime"), self.mode)
        self.mode = modes.CONTINUOUS

    def update_discrete_states(self) -> Update:
        """Call fmiEventUpdate, without results between iterations; first return those of initialization."""
        info, self._initial_events = self._initial_events, None
        if info is None:
            info = EventInfo()
            self.call("EventUpdate", 0, ctypes.byref(info))
        return Update(
            again=not info.converged,
            terminate=bool(info.terminate),
            # FMI 1.0 does not tell: other states than before have other nominal values
            nominals_changed=bool(info.references_changed),
            next_event=next_event_of(info.defined, info.next),
        )

    def step_arguments(self, answers: int) -> tuple[int, int, int]:
        """The only further argument: whether the FMU may ask for event mode."""
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
        self.mode, self._initialized, self._initial_events = modes.INSTANTIATED, False, None
