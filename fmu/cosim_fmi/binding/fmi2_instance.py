"""FMI 2.0: types, functions, and an instance of an FMU."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any, ClassVar

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance, Options, StepAnswer, Update, next_event_of
from cosim_fmi.binding.fmu_library import (
    FmiError,
    FunctionTable,
    access_signatures,
    array_signatures,
    instance_signatures,
)
from cosim_fmi.binding.fmu_output import LOGGER, logger, with_format

# FMI 2.0: types and functions.
#
# Source: Functional Mock-up Interface 2.0.4, ``fmi2TypesPlatform.h``, ``fmi2FunctionTypes.h``.

C_TYPES: dict[str, Any] = {
    "Real": c_double,
    "Integer": c_int,
    "Enumeration": c_int,
    "Boolean": c_int,
    "String": c_char_p,
}


class Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("step_finished", c_void_p),
        ("environment", c_void_p),
    )


class EventInfo(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = (
        ("again", c_int),
        ("terminate", c_int),
        ("nominals_changed", c_int),
        ("values_changed", c_int),
        ("defined", c_int),
        ("next", c_double),
    )


REFERENCES, REALS, INSTANCE = POINTER(c_uint), POINTER(c_double), c_void_p
STATE = POINTER(c_void_p)
NEEDED_BY_BOTH = (
    "Instantiate",
    "FreeInstance",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "SetupExperiment",
)
"""Functions without which neither Co-Simulation nor Model Exchange can be run."""
TABLE = FunctionTable(
    version="2.0",
    prefix="fmi2",
    signatures={
        "GetVersion": (c_char_p, ()),
        "GetTypesPlatform": (c_char_p, ()),
        "SetDebugLogging": (c_int, (INSTANCE, c_int, c_size_t, POINTER(c_char_p))),
        "Instantiate": (
            INSTANCE,
            (c_char_p, c_int, c_char_p, c_char_p, POINTER(Callbacks), c_int, c_int),
        ),
        "FreeInstance": (None, (INSTANCE,)),
        "SetupExperiment": (c_int, (INSTANCE, c_int, c_double, c_double, c_int, c_double)),
        **instance_signatures("EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset"),
        **access_signatures(C_TYPES),
        "GetFMUstate": (c_int, (INSTANCE, STATE)),
        "SetFMUstate": (c_int, (INSTANCE, c_void_p)),
        "FreeFMUstate": (c_int, (INSTANCE, STATE)),
        "SerializedFMUstateSize": (c_int, (INSTANCE, c_void_p, POINTER(c_size_t))),
        "SerializeFMUstate": (c_int, (INSTANCE, c_void_p, c_char_p, c_size_t)),
        "DeSerializeFMUstate": (c_int, (INSTANCE, c_char_p, c_size_t, STATE)),
        "GetDirectionalDerivative": (
            c_int,
            (INSTANCE, REFERENCES, c_size_t, REFERENCES, c_size_t, REALS, REALS),
        ),
        # Co-Simulation
        "SetRealInputDerivatives": (c_int, (INSTANCE, REFERENCES, c_size_t, POINTER(c_int), REALS)),
        "DoStep": (c_int, (INSTANCE, c_double, c_double, c_int)),
        "GetRealStatus": (c_int, (INSTANCE, c_int, REALS)),
        "GetBooleanStatus": (c_int, (INSTANCE, c_int, POINTER(c_int))),
        # Model Exchange
        **instance_signatures("EnterEventMode", "EnterContinuousTimeMode"),
        "NewDiscreteStates": (c_int, (INSTANCE, POINTER(EventInfo))),
        "CompletedIntegratorStep": (c_int, (INSTANCE, c_int, POINTER(c_int), POINTER(c_int))),
        "SetTime": (c_int, (INSTANCE, c_double)),
        **array_signatures("SetContinuousStates", "GetContinuousStates", "GetNominalsOfContinuousStates"),
        **array_signatures("GetDerivatives", "GetEventIndicators"),
    },
    needed={
        "CoSimulation": (*NEEDED_BY_BOTH, "DoStep"),
        "ModelExchange": (*NEEDED_BY_BOTH, "NewDiscreteStates", "EnterContinuousTimeMode", "SetTime"),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Integer`."""


LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
"""Two values of fmi2StatusKind."""
READABLE = modes.INITIALIZED | {modes.TERMINATED, modes.FAILED}
SAVING = modes.INITIALIZED | {modes.INSTANTIATED, modes.TERMINATED, modes.FAILED}


@functools.cache
def memory_functions() -> tuple[int, int]:
    """Addresses of the C library's ``calloc`` and ``free``."""
    libc: Any = ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)
    calloc, free = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (libc.calloc, libc.free))
    return calloc, free


class Fmi2Instance(FmuInstance):
    """FMI 2.0, Co-Simulation and Model Exchange.

    Which call is allowed when: FMI 2.0.4, sections 3.2.3 and 4.2.4. When variables may be read in the middle
    of a step of the master is not checked here: its algorithm has to know.
    """

    table: ClassVar[FunctionTable] = TABLE
    c_types: ClassVar[Mapping[str, Any]] = C_TYPES
    same_functions: ClassVar[Mapping[str, str]] = {"Enumeration": "Integer"}
    state_functions: ClassVar[Mapping[str, str]] = {
        "get": "GetFMUstate",
        "set": "SetFMUstate",
        "free": "FreeFMUstate",
        "size": "SerializedFMUstateSize",
        "serialize": "SerializeFMUstate",
        "deserialize": "DeSerializeFMUstate",
    }
    allowed: ClassVar[Mapping[str, frozenset[str]]] = {
        **modes.allowed_modes_since_fmi2(READABLE, SAVING, state_functions),
        "SetupExperiment": frozenset((modes.INSTANTIATED,)),
        "Set": modes.INITIALIZED | {modes.INSTANTIATED},
        "SetRealInputDerivatives": frozenset((modes.INITIALIZING, modes.STEPPING)),
        "GetRealStatus": frozenset((modes.STEPPING, modes.FAILED, modes.TERMINATED)),
        "GetBooleanStatus": frozenset((modes.STEPPING, modes.FAILED, modes.TERMINATED)),
        "EnterEventMode": frozenset((modes.CONTINUOUS,)),
        "NewDiscreteStates": frozenset((modes.EVENT,)),
        "GetDerivatives": READABLE,
    }

    def _instantiation(self) -> str:
        return "Instantiate"

    def _instantiate(self, name: str, token: str, folder: Path, options: Options) -> int | None:
        self._callbacks = Callbacks(logger(), *memory_functions(), None, self.receiver.number)
        with_format(self._callbacks)
        resources = (folder / "resources").as_uri()
        handle: int | None = self.library.function("Instantiate")(
            *(name.encode(), int(self.steps), token.encode(), resources.encode()),
            *(ctypes.byref(self._callbacks), 0, int(options.logging)),
        )
        return handle

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Call fmi2SetupExperiment."""
        tolerance_arguments = int(tolerance is not None), tolerance or 0.0
        self.call("SetupExperiment", *tolerance_arguments, start, int(stop is not None), stop or 0.0)

    def enter_initialization_mode(self) -> None:
        """Call fmi2EnterInitializationMode."""
        self.call("EnterInitializationMode")
        self.mode = modes.INITIALIZING

    def exit_initialization_mode(self) -> None:
        """Call fmi2ExitInitializationMode."""
        self.call("ExitInitializationMode")
        self.mode = modes.STEPPING if self.steps else modes.EVENT

    def _discarded(self, time: float, size: float, reported: StepAnswer) -> StepAnswer:
        stopped, reached = ctypes.c_int(0), ctypes.c_double(time)
        for function, kind, answer in (
            ("GetBooleanStatus", TERMINATED, stopped),
            ("GetRealStatus", LAST_SUCCESSFUL_TIME, reached),
        ):
            try:
                self.call(function, kind, ctypes.byref(answer))
            except FmiError:
                answer.value = time if answer is reached else 0
        until = reached.value if time <= reached.value <= time + size else time
        return StepAnswer(until, discarded=True, terminate=bool(stopped.value))

    def update_discrete_states(self) -> Update:
        """Call fmi2NewDiscreteStates."""
        info = EventInfo()
        self.call("NewDiscreteStates", ctypes.byref(info))
        return Update(
            bool(info.again),
            bool(info.terminate),
            bool(info.nominals_changed),
            next_event_of(info.defined, info.next),
        )
