"""Instances of FMUs for FMI 2.0 that are looked at."""

from __future__ import annotations

import ctypes
import os
from typing import Any, ClassVar

from cosim_fmu.validate.foreign_instance import DOUBLE, POINTER, REFERENCE, SIZE, ForeignInstance
from cosim_fmu.validate.model_exchange import ModelExchange

LOGGER = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class _Callbacks(ctypes.Structure):
    """The functions that an environment gives to an FMU."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocateMemory", ctypes.CFUNCTYPE(POINTER, SIZE, SIZE)),
        ("freeMemory", ctypes.CFUNCTYPE(None, POINTER)),
        ("stepFinished", ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int)),
        ("componentEnvironment", POINTER),
    )


class _EventInfo(ctypes.Structure):
    """What an FMU tells after an update of its discrete states."""

    _fields_ = (
        ("again", ctypes.c_int),
        ("terminate", ctypes.c_int),
        ("nominals", ctypes.c_int),
        ("values", ctypes.c_int),
        ("defined", ctypes.c_int),
        ("next", DOUBLE),
    )


class ForeignSlave2(ForeignInstance):
    """Co-Simulation, FMI 2.0."""

    version: ClassVar[int] = 2
    kind: ClassVar[int] = 1
    c_types: ClassVar[dict[str, Any]] = {
        "Real": DOUBLE,
        "Integer": ctypes.c_int32,
        "Boolean": ctypes.c_int32,
    }
    state_functions: ClassVar[dict[str, str]] = {
        "get": "GetFMUstate",
        "set": "SetFMUstate",
        "free": "FreeFMUstate",
        "size": "SerializedFMUstateSize",
        "serialize": "SerializeFMUstate",
        "deserialize": "DeSerializeFMUstate",
    }

    def instantiate(self, name: bytes) -> int | None:
        """Call fmi2Instantiate."""
        libc = ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)
        libc.calloc.restype, libc.calloc.argtypes = POINTER, (SIZE, SIZE)
        libc.free.restype, libc.free.argtypes = None, (POINTER,)
        fields: dict[str, Any] = dict(_Callbacks._fields_)
        self._callbacks = _Callbacks(
            LOGGER(self._log),
            fields["allocateMemory"](lambda count, size: libc.calloc(max(count, 1), max(size, 1))),
            fields["freeMemory"](lambda memory: libc.free(memory)),
            fields["stepFinished"](),
            None,
        )
        instantiate = self.fmu.library.fmi2Instantiate
        instantiate.restype = POINTER
        text = ctypes.c_char_p
        instantiate.argtypes = (text, ctypes.c_int, text, text, POINTER, ctypes.c_int, ctypes.c_int)
        texts = (self.fmu.job["guid"].encode(), self.fmu.job["resources"].encode())
        made: int | None = instantiate(name, self.kind, *texts, ctypes.addressof(self._callbacks), 0, 1)
        return made

    def initialize(self) -> None:
        """Set up, enter and leave initialization mode."""
        tolerance = self.fmu.job["tolerance"]
        known, none = int(tolerance is not None), DOUBLE(0.0)
        start = DOUBLE(self.fmu.start)
        self.need("SetupExperiment", known, DOUBLE(tolerance or 0.0), start, 0, none)
        self.need("EnterInitializationMode")
        self.need("ExitInitializationMode")

    def do_step(self, time: float, size: float) -> int:
        """Status of fmi2DoStep."""
        return self.call("DoStep", DOUBLE(time), DOUBLE(size), 1)

    def exchange(self, function: str, references: list[int], data: Any) -> int:
        """Call a function that gets or sets variables."""
        return self.call(function, (REFERENCE * len(references))(*references), SIZE(len(references)), data)


class ForeignModel2(ModelExchange, ForeignSlave2):
    """Model Exchange, FMI 2.0."""

    kind: ClassVar[int] = 0
    rates_function: ClassVar[str] = "GetDerivatives"

    def update(self) -> tuple[bool, bool, float]:
        """One update of the discrete states."""
        info = _EventInfo()
        self.need("NewDiscreteStates", ctypes.byref(info))
        return bool(info.again), bool(info.terminate), info.next if info.defined else float("inf")

    def completed_step(self) -> bool:
        """Tell that an integrator step has ended; whether it wants an event."""
        event, stop = ctypes.c_int(), ctypes.c_int()
        self.need("CompletedIntegratorStep", 1, ctypes.byref(event), ctypes.byref(stop))
        return bool(event.value)
