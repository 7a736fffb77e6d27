"""FMI 3.0: types, functions, and an instance of an FMU."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping, Sequence
from ctypes import (
    POINTER,
    byref,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from fractions import Fraction
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
from cosim_fmi.binding.fmu_output import LOGGER_3, logger_3
from cosim_fmi.binding.statuses import DISCARD

# FMI 3.0: types and functions.
#
# Source: Functional Mock-up Interface 3.0.1, ``fmi3PlatformTypes.h``, ``fmi3FunctionTypes.h``.

C_TYPES: dict[str, Any] = {
    "Float64": c_double,
    "Float32": c_float,
    "Int8": c_int8,
    "UInt8": c_uint8,
    "Int16": c_int16,
    "UInt16": c_uint16,
    "Int32": c_int32,
    "UInt32": c_uint32,
    "Int64": c_int64,
    "UInt64": c_uint64,
    "Enumeration": c_int64,
    "Boolean": c_bool,
    "String": c_char_p,
}
BYTES = POINTER(c_uint8)
INTERMEDIATE_UPDATE = ctypes.CFUNCTYPE(
    None, c_void_p, c_double, c_bool, c_bool, c_bool, c_bool, POINTER(c_bool), POINTER(c_double)
)
REFERENCES, REALS, INSTANCE, COUNT = POINTER(c_uint32), POINTER(c_double), c_void_p, c_size_t
STATE, FLAG = POINTER(c_void_p), POINTER(c_bool)
NEEDED_BY_BOTH = ("FreeInstance", "EnterInitializationMode", "ExitInitializationMode")
"""Functions without which neither Co-Simulation nor Model Exchange can be run."""
BINARY = (c_int, (INSTANCE, REFERENCES, COUNT, POINTER(c_size_t), POINTER(BYTES), COUNT))
TABLE = FunctionTable(
    version="3.0",
    prefix="fmi3",
    signatures={
        "GetVersion": (c_char_p, ()),
        "SetDebugLogging": (c_int, (INSTANCE, c_bool, COUNT, POINTER(c_char_p))),
        "InstantiateCoSimulation": (
            INSTANCE,
            (
                *(c_char_p, c_char_p, c_char_p, c_bool, c_bool, c_bool, c_bool, REFERENCES, COUNT),
                *(c_void_p, LOGGER_3, INTERMEDIATE_UPDATE),
            ),
        ),
        "InstantiateModelExchange": (
            INSTANCE,
            (c_char_p, c_char_p, c_char_p, c_bool, c_bool, c_void_p, LOGGER_3),
        ),
        "FreeInstance": (None, (INSTANCE,)),
        "EnterInitializationMode": (c_int, (INSTANCE, c_bool, c_double, c_double, c_bool, c_double)),
        **instance_signatures("ExitInitializationMode", "EnterConfigurationMode", "ExitConfigurationMode"),
        **instance_signatures(
            "EnterEventMode", "EnterStepMode", "EnterContinuousTimeMode", "Terminate", "Reset"
        ),
        **access_signatures(C_TYPES, COUNT),
        "GetBinary": BINARY,
        "SetBinary": BINARY,
        "GetClock": (c_int, (INSTANCE, REFERENCES, COUNT, FLAG)),
        "SetClock": (c_int, (INSTANCE, REFERENCES, COUNT, FLAG)),
        "GetIntervalDecimal": (c_int, (INSTANCE, REFERENCES, COUNT, REALS, POINTER(c_int))),
        "GetIntervalFraction": (
            c_int,
            (INSTANCE, REFERENCES, COUNT, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_int)),
        ),
        "UpdateDiscreteStates": (c_int, (INSTANCE, FLAG, FLAG, FLAG, FLAG, FLAG, REALS)),
        "GetFMUState": (c_int, (INSTANCE, STATE)),
        "SetFMUState": (c_int, (INSTANCE, c_void_p)),
        "FreeFMUState": (c_int, (INSTANCE, STATE)),
        "SerializedFMUStateSize": (c_int, (INSTANCE, c_void_p, POINTER(c_size_t))),
        "SerializeFMUState": (c_int, (INSTANCE, c_void_p, c_char_p, c_size_t)),
        "DeserializeFMUState": (c_int, (INSTANCE, c_char_p, c_size_t, STATE)),
        "GetDirectionalDerivative": (
            c_int,
            (INSTANCE, REFERENCES, COUNT, REFERENCES, COUNT, REALS, COUNT, REALS, COUNT),
        ),
        # Co-Simulation
        "DoStep": (c_int, (INSTANCE, c_double, c_double, c_bool, FLAG, FLAG, FLAG, REALS)),
        # Model Exchange
        "CompletedIntegratorStep": (c_int, (INSTANCE, c_bool, FLAG, FLAG)),
        "SetTime": (c_int, (INSTANCE, c_double)),
        **array_signatures("SetContinuousStates", "GetContinuousStates", "GetNominalsOfContinuousStates"),
        **array_signatures("GetContinuousStateDerivatives", "GetEventIndicators"),
        "GetNumberOfContinuousStates": (c_int, (INSTANCE, POINTER(c_size_t))),
        "GetNumberOfEventIndicators": (c_int, (INSTANCE, POINTER(c_size_t))),
    },
    needed={
        "CoSimulation": ("InstantiateCoSimulation", *NEEDED_BY_BOTH, "DoStep"),
        "ModelExchange": (
            *("InstantiateModelExchange", *NEEDED_BY_BOTH),
            *("UpdateDiscreteStates", "EnterContinuousTimeMode", "SetTime"),
        ),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Int64`."""


READABLE = modes.INITIALIZED | {modes.CONFIGURING, modes.INSTANTIATED, modes.TERMINATED, modes.FAILED}
SAVING = modes.LIVE | {modes.FAILED}
SETTABLE = modes.INITIALIZED | {modes.INSTANTIATED, modes.CONFIGURING}


class Fmi3Instance(FmuInstance):
    """FMI 3.0, Co-Simulation and Model Exchange.

    Which call is allowed when: FMI 3.0.1, sections 2.3, 3.2 and 4.2.
    """

    table: ClassVar[FunctionTable] = TABLE
    c_types: ClassVar[Mapping[str, Any]] = C_TYPES
    same_functions: ClassVar[Mapping[str, str]] = {"Enumeration": "Int64"}
    real: ClassVar[str] = "Float64"
    flag: ClassVar[Any] = c_bool
    rates_function: ClassVar[str] = "GetContinuousStateDerivatives"
    state_functions: ClassVar[Mapping[str, str]] = {
        "get": "GetFMUState",
        "set": "SetFMUState",
        "free": "FreeFMUState",
        "size": "SerializedFMUStateSize",
        "serialize": "SerializeFMUState",
        "deserialize": "DeserializeFMUState",
    }
    allowed: ClassVar[Mapping[str, frozenset[str]]] = {
        **modes.allowed_modes_since_fmi2(READABLE, SAVING, state_functions),
        "EnterConfigurationMode": frozenset((modes.INSTANTIATED, modes.STEPPING, modes.EVENT)),
        "ExitConfigurationMode": frozenset((modes.CONFIGURING,)),
        "EnterEventMode": frozenset((modes.CONTINUOUS, modes.STEPPING)),
        "Set": SETTABLE,
        "GetClock": frozenset((modes.INITIALIZING, modes.EVENT)),
        "SetClock": frozenset((modes.EVENT,)),
        "GetIntervalDecimal": frozenset((modes.INITIALIZING, modes.EVENT)),
        "GetIntervalFraction": frozenset((modes.INITIALIZING, modes.EVENT)),
        "UpdateDiscreteStates": frozenset((modes.EVENT,)),
        "EnterStepMode": frozenset((modes.EVENT,)),
        "GetContinuousStateDerivatives": READABLE,
        "GetNumberOfContinuousStates": READABLE,
        "GetNumberOfEventIndicators": READABLE,
    }

    def _instantiation(self) -> str:
        return "InstantiateCoSimulation" if self.steps else "InstantiateModelExchange"

    def _instantiate(self, name: str, token: str, folder: Path, options: Options) -> int | None:
        self._experiment: tuple[float, float | None, float | None] = 0.0, None, None
        self._event_mode = options.event_mode
        resources = f"{folder / 'resources'}{os.sep}".encode()
        function = self.library.function(self._instantiation())
        identity = name.encode(), token.encode(), resources, False, options.logging
        if not self.steps:
            return function(*identity, self.receiver.number, logger_3())
        update, wanted = options.update, options.intermediate
        self._update = INTERMEDIATE_UPDATE(update) if update else INTERMEDIATE_UPDATE()
        # kept as long as the instance: the standard does not say that the FMU copies them
        self._intermediate = (ctypes.c_uint32 * len(wanted))(*wanted) if wanted else None
        return function(
            *(*identity, options.event_mode, options.early_return, self._intermediate, len(wanted)),
            *(self.receiver.number, logger_3(), self._update),
        )

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Store the settings for fmi3EnterInitializationMode."""
        self._experiment = start, stop, tolerance

    def enter_initialization_mode(self) -> None:
        """Call fmi3EnterInitializationMode."""
        start, stop, tolerance = self._experiment
        tolerance_arguments = tolerance is not None, tolerance or 0.0
        self.call("EnterInitializationMode", *tolerance_arguments, start, stop is not None, stop or 0.0)
        self.mode = modes.INITIALIZING

    def exit_initialization_mode(self) -> None:
        """Call fmi3ExitInitializationMode; what has an event mode is in it then."""
        self.call("ExitInitializationMode")
        self.mode = modes.STEPPING if self.steps and not self._event_mode else modes.EVENT

    def _given(self, references: Any, buffer: Any) -> tuple[Any, ...]:
        return references, len(references), buffer, len(buffer)

    def _direction(self, of: Any, by: Any, seeds: Any, derivatives: Any) -> tuple[Any, ...]:
        return of, len(of), by, len(by), seeds, len(seeds), derivatives, len(derivatives)

    def get_binary(self, references: Any, sizes: Any, pointers: Any) -> None:
        """Read binary variables: sizes in bytes, and where they are."""
        self.call("GetBinary", references, len(references), sizes, pointers, len(sizes), group="Get")

    def set_binary(self, references: Any, sizes: Any, pointers: Any) -> None:
        """Write binary variables."""
        self.call("SetBinary", references, len(references), sizes, pointers, len(sizes), group="Set")

    def activate_clocks(self, references: Sequence[int]) -> None:
        """Activate clocks, in event mode."""
        count = len(references)
        values = (c_bool * count)(*[True] * count)
        self.call("SetClock", (ctypes.c_uint32 * count)(*references), count, values)

    def active_clocks(self, references: Sequence[int]) -> list[bool]:
        """Whether each of the clocks ticks, in event mode."""
        count = len(references)
        values = (c_bool * count)()
        self.call("GetClock", (ctypes.c_uint32 * count)(*references), count, values)
        return list(values)

    def interval(self, reference: int, as_fraction: bool = False) -> tuple[Fraction | float, int]:
        """The interval of a clock, s, and fmi3IntervalQualifier (0 not yet known, 1 unchanged, 2 changed)."""
        references, qualifier = (ctypes.c_uint32 * 1)(reference), (ctypes.c_int * 1)()
        if as_fraction:
            counter, resolution = (ctypes.c_uint64 * 1)(), (ctypes.c_uint64 * 1)()
            self.call("GetIntervalFraction", references, 1, counter, resolution, qualifier)
            return Fraction(counter[0], resolution[0]) if resolution[0] else math.nan, qualifier[0]
        intervals = (c_double * 1)()
        self.call("GetIntervalDecimal", references, 1, intervals, qualifier)
        return intervals[0], qualifier[0]

    def set_input_slopes(self, references: Sequence[int], slopes: Sequence[float]) -> None:
        """FMI 3.0 has none: inputs are written inside the step, where the FMU asks for them."""
        raise FmiError("FMI 3.0 has no derivatives of inputs", "fmi3SetRealInputDerivatives")

    def do_step(self, time: float, size: float, never_back: bool = True) -> StepAnswer:
        """Call fmi3DoStep."""
        event, terminate, early, reached = c_bool(), c_bool(), c_bool(), c_double(time)
        try:
            self.call(
                "DoStep", time, size, never_back, byref(event), byref(terminate), byref(early), byref(reached)
            )
        except FmiError as error:
            if error.status != DISCARD:
                raise
            return self._discarded(time, size, StepAnswer(reached.value, terminate=terminate.value))
        return StepAnswer(reached.value, False, event.value, terminate.value, early.value)

    def _discarded(self, time: float, size: float, reported: StepAnswer) -> StepAnswer:
        until = reported.reached if time <= reported.reached <= time + size else time
        return StepAnswer(until, discarded=True, terminate=reported.terminate)

    def update_discrete_states(self) -> Update:
        """Call fmi3UpdateDiscreteStates."""
        again, terminate, nominals, values, defined = (c_bool() for _ in range(5))
        following = c_double()
        flags = (byref(flag) for flag in (again, terminate, nominals, values, defined))
        self.call("UpdateDiscreteStates", *flags, byref(following))
        next_event = next_event_of(defined.value, following.value)
        return Update(again.value, terminate.value, nominals.value, next_event)

    def sizes(self) -> tuple[int, int] | None:
        """The numbers of states and indicators now; None where the library lacks the functions."""
        counts = []
        for function in ("GetNumberOfContinuousStates", "GetNumberOfEventIndicators"):
            count = c_size_t()
            try:
                self.call(function, byref(count))
            except FmiError:
                return None
            counts.append(count.value)
        return counts[0], counts[1]
