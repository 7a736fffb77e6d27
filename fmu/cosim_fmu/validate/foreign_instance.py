"""An instance of an FMU that is looked at, bound with ctypes alone."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from cosim_fmu.validate.failed_call_error import FailedCallError
from cosim_fmu.validate.foreign_fmu import ForeignFmu

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
OK, WARNING = 0, 1
POINTER, DOUBLE, SIZE, REFERENCE = ctypes.c_void_p, ctypes.c_double, ctypes.c_size_t, ctypes.c_uint32
INTEGER = ctypes.c_int32
C_TYPES: dict[str, Any] = {"Real": DOUBLE, "Integer": INTEGER, "Enumeration": INTEGER, "Boolean": INTEGER}
LOGGER = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
Row = list[float]


class _Callbacks(ctypes.Structure):
    """The functions that an environment gives to an FMU."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocateMemory", ctypes.CFUNCTYPE(POINTER, SIZE, SIZE)),
        ("freeMemory", ctypes.CFUNCTYPE(None, POINTER)),
        ("stepFinished", ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int)),
        ("componentEnvironment", POINTER),
    )


class ForeignInstance:
    """An instance of it; `call` answers a status, everything else raises where that is worse than a warning.

    Parameters
    ----------
    fmu : ForeignFmu
    name : str

    Raises
    ------
    FailedCallError
        With what the FMU logged, when there is no instance.
    """

    def __init__(self, fmu: ForeignFmu, name: str = "instance") -> None:
        self.fmu, self.messages = fmu, list[str]()
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
        instantiate = fmu.library.fmi2Instantiate
        instantiate.restype = POINTER
        text = ctypes.c_char_p
        instantiate.argtypes = (text, ctypes.c_int, text, text, POINTER, ctypes.c_int, ctypes.c_int)
        job = fmu.job
        texts = (job["guid"].encode(), job["resources"].encode())
        self.component = instantiate(name.encode(), 1, *texts, ctypes.addressof(self._callbacks), 0, 1)
        if not self.component:
            raise FailedCallError(f"fmi2Instantiate gives no instance{self.said()}")

    def _log(self, environment: int, name: bytes, status: int, category: bytes, message: bytes) -> None:
        if status != OK:
            self.messages.append((message or b"").decode("utf-8", "replace").strip())

    def said(self) -> str:
        """What it logged last, as the end of a sentence."""
        lines = [line for message in self.messages[-1:] for line in message.splitlines()]
        return f'. It logged: "{" ".join(lines)[:300]}"' if lines else ""

    def call(self, function: str, *arguments: Any) -> int:
        """Status of a call; integers among the arguments are C ints unless wrapped."""
        bound = getattr(self.fmu.library, function)
        bound.restype = ctypes.c_int
        self.messages.clear()
        return int(bound(POINTER(self.component), *arguments))

    def need(self, function: str, *arguments: Any, what: str = "") -> None:
        """A call that has to go well."""
        status = self.call(function, *arguments)
        if status > WARNING:
            raise FailedCallError(f"{function}{what}: {_status(status)}{self.said()}")

    def begin(self, start: float | None = None) -> ForeignInstance:
        """Up to the first step."""
        fmu = self.fmu
        tolerance = fmu.job["tolerance"]
        begin = fmu.start if start is None else start
        known, none = int(tolerance is not None), DOUBLE(0.0)
        self.need("fmi2SetupExperiment", known, DOUBLE(tolerance or 0.0), DOUBLE(begin), 0, none)
        self.need("fmi2EnterInitializationMode")
        self.need("fmi2ExitInitializationMode")
        return self

    def do_step(self, time: float, size: float) -> int:
        """Status of fmi2DoStep."""
        return self.call("fmi2DoStep", DOUBLE(time), DOUBLE(size), 1)

    def steps(self, first: int, last: int, parts: int = 1, drive: bool = True) -> list[Row]:
        """Communication steps from point `first` to `last`, each in `parts`; the values at each point."""
        rows = []
        for i in range(first, last):
            if drive:
                self.drive(i)
            for k in range(parts):
                begin = self.fmu.start + (i + k / parts) * self.fmu.step
                end = self.fmu.start + (i + (k + 1) / parts) * self.fmu.step
                status = self.do_step(begin, end - begin)
                if status > WARNING:
                    raise FailedCallError(f"fmi2DoStep at t = {begin:.9g}: {_status(status)}{self.said()}")
            rows.append(self.read())
        return rows

    def drive(self, i: int) -> None:
        """Inputs that change a little from step to step, inside their bounds."""
        for variable in self.fmu.of("input", kind="Real"):
            start = float(variable["start"] or 0.0)
            value = start * (1.0 + 0.01 * (i % 3)) if start else 1e-3 * (i % 3)
            if _inside(variable, value):
                self.set([variable], [value])

    def set(self, variables: list[dict[str, Any]], values: list[Any]) -> None:
        """Write variables of one type."""
        status = self.try_set(variables, values)
        if status > WARNING:
            names = ", ".join(f"{v['name']} = {x!r}" for v, x in zip(variables, values, strict=True))
            raise FailedCallError(f"fmi2Set{variables[0]['type']}({names}): {_status(status)}{self.said()}")

    def try_set(self, variables: list[dict[str, Any]], values: list[Any]) -> int:
        """Write variables of one type; the status."""
        kind, count = variables[0]["type"], len(variables)
        references = (REFERENCE * count)(*(v["reference"] for v in variables))
        data = (C_TYPES[kind] * count)(*values)
        return self.call(f"fmi2Set{kind.replace('Enumeration', 'Integer')}", references, SIZE(count), data)

    def get(self, variables: list[dict[str, Any]]) -> Row:
        """Read variables of one type."""
        if not variables:
            return []
        kind, count = variables[0]["type"], len(variables)
        references = (REFERENCE * count)(*(v["reference"] for v in variables))
        data = (C_TYPES[kind] * count)()
        function = f"fmi2Get{kind.replace('Enumeration', 'Integer')}"
        status = self.call(function, references, SIZE(count), data)
        if status > WARNING:
            raise FailedCallError(f"{function} of {variables[0]['name']} …: {_status(status)}{self.said()}")
        return list(data)

    def read(self) -> Row:
        """All numbers that can be seen, in the order of `seen`."""
        return [x for kind in C_TYPES for x in self.get([v for v in self.fmu.seen if v["type"] == kind])]

    def save(self) -> Any:
        """A saved state."""
        state = POINTER()
        self.need("fmi2GetFMUstate", ctypes.byref(state))
        return state

    def restore(self, state: Any) -> None:
        """Go back to a saved state."""
        self.need("fmi2SetFMUstate", state)

    def drop(self, state: Any) -> None:
        """Free a saved state."""
        self.need("fmi2FreeFMUstate", ctypes.byref(state))

    def to_bytes(self, state: Any) -> bytes:
        """A saved state, serialized."""
        size = SIZE()
        self.need("fmi2SerializedFMUstateSize", state, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.need("fmi2SerializeFMUstate", state, data, size)
        return data.raw

    def from_bytes(self, data: bytes) -> Any:
        """A saved state of serialized bytes."""
        state = POINTER()
        self.need("fmi2DeSerializeFMUstate", data, SIZE(len(data)), ctypes.byref(state))
        return state

    def free(self) -> None:
        """Free the instance."""
        free = self.fmu.library.fmi2FreeInstance
        free.restype = None
        free(POINTER(self.component))


def _status(status: int) -> str:
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


def _inside(variable: dict[str, Any], value: float) -> bool:
    low, high = variable["min"], variable["max"]
    return (low is None or value >= float(low)) and (high is None or value <= float(high))
