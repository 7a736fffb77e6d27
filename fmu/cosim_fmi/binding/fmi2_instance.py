"""An instance of an FMU of FMI 2.0."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cosim_fmi.binding import fmi2_table, modes
from cosim_fmi.binding.fmi_error import FmiError
from cosim_fmi.binding.fmu_instance import FmuInstance, Options, StepAnswer, Update, next_event_of
from cosim_fmi.binding.function_table import FunctionTable
from cosim_fmi.binding.logs import logger, with_format

LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
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

    Which call is allowed when: FMI 2.0.4, sections 3.2.3 and 4.2.4, but for reading in the middle of what
    one call of the master consists of, which is left to the algorithms.
    """

    table: ClassVar[FunctionTable] = fmi2_table.TABLE
    c_types: ClassVar[Mapping[str, Any]] = fmi2_table.C_TYPES
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
        **modes.since_2(READABLE, SAVING, state_functions),
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
        self._callbacks = fmi2_table.Callbacks(logger(), *memory_functions(), None, self.receiver.number)
        with_format(self._callbacks)
        resources = (folder / "resources").as_uri()
        made: int | None = self.library.function("Instantiate")(
            *(name.encode(), int(self.steps), token.encode(), resources.encode()),
            *(ctypes.byref(self._callbacks), 0, int(options.logging)),
        )
        return made

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Call fmi2SetupExperiment."""
        known = int(tolerance is not None), tolerance or 0.0
        self.call("SetupExperiment", *known, start, int(stop is not None), stop or 0.0)

    def enter_initialization_mode(self) -> None:
        """Call fmi2EnterInitializationMode."""
        self.call("EnterInitializationMode")
        self.mode = modes.INITIALIZING

    def exit_initialization_mode(self) -> None:
        """Call fmi2ExitInitializationMode."""
        self.call("ExitInitializationMode")
        self.mode = modes.STEPPING if self.steps else modes.EVENT

    def _discarded(self, time: float, size: float, told: StepAnswer) -> StepAnswer:
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
        info = fmi2_table.EventInfo()
        self.call("NewDiscreteStates", ctypes.byref(info))
        return Update(
            bool(info.again),
            bool(info.terminate),
            bool(info.nominals_changed),
            next_event_of(info.defined, info.next),
        )
