"""An instance of an FMU of FMI 2.0."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmi2_functions import C_TYPES, TABLE, Callbacks, EventInfo
from cosim_fmi.binding.fmu_instance import FmuInstance, Options, StepAnswer, Update, next_event_of
from cosim_fmi.binding.fmu_library import FmiError, FunctionTable
from cosim_fmi.binding.fmu_output import logger, with_format

LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
"""``fmi2StatusKind``: what `GetRealStatus` and `GetBooleanStatus` are asked for."""
READABLE = modes.INITIALIZED | {modes.TERMINATED, modes.FAILED}
"""The modes in which variables may be read."""
SAVING = modes.INITIALIZED | {modes.INSTANTIATED, modes.TERMINATED, modes.FAILED}
"""The modes in which the FMU's state may be saved and restored."""


@functools.cache
def memory_functions() -> tuple[int, int]:
    """Addresses of the C library's ``calloc`` and ``free``."""
    libc: Any = ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)
    calloc, free = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (libc.calloc, libc.free))
    return calloc, free


class Fmi2Instance(FmuInstance):
    """An instance of FMI 2.0, for Co-Simulation or Model Exchange.

    `allowed` says in which modes each function may be called. Reading is checked by mode alone: whether a
    value is valid between the functions that make up one call of the master, is up to the algorithms.

    References
    ----------
    FMI 2.0.4, sections 3.2.3 and 4.2.4 (state machines of calling sequence).
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
        """How far a discarded step came, s; an FMU that does not say has not left its start."""
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
