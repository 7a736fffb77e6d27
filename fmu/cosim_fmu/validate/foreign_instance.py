"""An instance of an FMU that is looked at, bound with ctypes alone."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import Any, ClassVar, Self

from cosim_fmu.validate.failed_call_error import FailedCallError
from cosim_fmu.validate.foreign_fmu import ForeignFmu

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
OK, WARNING = 0, 1
POINTER, DOUBLE, SIZE, REFERENCE = ctypes.c_void_p, ctypes.c_double, ctypes.c_size_t, ctypes.c_uint32
Row = list[float]


class ForeignInstance(ABC):
    """An instance of it; `call` answers a status, everything else raises where that is worse than a warning.

    What depends on the version of FMI and on the interface is left to subclasses.

    Parameters
    ----------
    fmu : ForeignFmu
    name : str

    Raises
    ------
    FailedCallError
        With what the FMU logged, when there is no instance.
    """

    version: ClassVar[int]
    c_types: ClassVar[dict[str, Any]]
    state_functions: ClassVar[dict[str, str]]

    def __init__(self, fmu: ForeignFmu, name: str = "instance") -> None:
        self.fmu, self.messages = fmu, list[str]()
        self.time = fmu.start
        self.component = self.instantiate(name.encode())
        if not self.component:
            raise FailedCallError(f"fmi{self.version}Instantiate gives no instance{self.said()}")

    @abstractmethod
    def instantiate(self, name: bytes) -> int | None:
        """The address of a new instance."""

    @abstractmethod
    def initialize(self) -> None:
        """From a new instance to the end of initialization mode."""

    def enter_run(self) -> None:  # noqa: B027 - most can be stepped at once
        """From the end of initialization mode to where it can be stepped."""

    def begin(self) -> Self:
        """Up to the first step."""
        self.initialize()
        self.time = self.fmu.start
        self.enter_run()
        return self

    @abstractmethod
    def do_step(self, time: float, size: float) -> int:
        """Status of a communication step."""

    def _log(self, environment: int, name: bytes, status: int, category: bytes, message: bytes) -> None:
        if status != OK:
            self.messages.append((message or b"").decode("utf-8", "replace").strip())

    def said(self) -> str:
        """What it logged last, as the end of a sentence."""
        lines = [line for message in self.messages[-1:] for line in message.splitlines()]
        return f'. It logged: "{" ".join(lines)[:300]}"' if lines else ""

    def call(self, function: str, *arguments: Any) -> int:
        """Status of a call, named without its prefix; integers are C ints unless wrapped."""
        bound = getattr(self.fmu.library, f"fmi{self.version}{function}")
        bound.restype = ctypes.c_int
        self.messages.clear()
        return int(bound(POINTER(self.component), *arguments))

    def need(self, function: str, *arguments: Any, what: str = "") -> None:
        """A call that has to go well."""
        status = self.call(function, *arguments)
        if status > WARNING:
            raise FailedCallError(f"fmi{self.version}{function}{what}: {status_text(status)}{self.said()}")

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
                    what = "fmi2DoStep" if self.version == 2 else "fmi3DoStep"
                    raise FailedCallError(f"{what} at t = {begin:.9g}: {status_text(status)}{self.said()}")
            rows.append(self.read())
        return rows

    def drive(self, i: int) -> None:
        """Inputs that change a little from step to step, inside their bounds."""
        for variable in self.fmu.driven:
            start = float(variable["start"] or 0.0)
            value = start * (1.0 + 0.01 * (i % 3)) if start else 1e-3 * (i % 3)
            if _inside(variable, value):
                self.set([variable], [value])

    def set(self, variables: list[dict[str, Any]], values: list[Any]) -> None:
        """Write variables of one type."""
        status = self.try_set(variables, values)
        if status > WARNING:
            names = ", ".join(f"{v['name']} = {x!r}" for v, x in zip(variables, values, strict=True))
            function = f"fmi{self.version}Set{variables[0]['access']}"
            raise FailedCallError(f"{function}({names}): {status_text(status)}{self.said()}")

    def try_set(self, variables: list[dict[str, Any]], values: list[Any]) -> int:
        """Write variables of one type; the status."""
        access = variables[0]["access"]
        data = (self.c_types[access] * len(values))(*values)
        return self.exchange(f"Set{access}", [v["reference"] for v in variables], data)

    def get(self, variables: list[dict[str, Any]]) -> Row:
        """Read variables of one type; all elements of an array or none."""
        if not variables:
            return []
        access = variables[0]["access"]
        references = list(dict.fromkeys(v["reference"] for v in variables))
        if len(references) < len(variables) and not any(v["size"] > 1 for v in variables):
            references = [v["reference"] for v in variables]  # aliases
        data = (self.c_types[access] * len(variables))()
        status = self.exchange(f"Get{access}", references, data)
        if status > WARNING:
            function = f"fmi{self.version}Get{access} of {variables[0]['name']} …"
            raise FailedCallError(f"{function}: {status_text(status)}{self.said()}")
        return list(data)

    @abstractmethod
    def exchange(self, function: str, references: list[int], data: Any) -> int:
        """Call a function that gets or sets variables."""

    def read(self) -> Row:
        """All numbers that can be seen, in the order of `seen`."""
        groups = groupby(self.fmu.seen, key=lambda v: (v["access"], v["size"] > 1 and v["reference"]))
        return [x for _, group in groups for x in self.get(list(group))]

    def save(self) -> Any:
        """A saved state."""
        state = POINTER()
        self.need(self.state_functions["get"], ctypes.byref(state))
        return state, self.time

    def restore(self, state: Any) -> None:
        """Go back to a saved state."""
        self.need(self.state_functions["set"], state[0])
        self.time = state[1]

    def drop(self, state: Any) -> None:
        """Free a saved state."""
        self.need(self.state_functions["free"], ctypes.byref(state[0]))

    def to_bytes(self, state: Any) -> bytes:
        """A saved state, serialized."""
        size = SIZE()
        self.need(self.state_functions["size"], state[0], ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.need(self.state_functions["serialize"], state[0], data, size)
        return data.raw

    def from_bytes(self, data: bytes, known: Sequence[Any]) -> Any:
        """A saved state of serialized bytes; `known`: what stood behind the FMU's part in the saved one."""
        state = POINTER()
        self.need(self.state_functions["deserialize"], data, SIZE(len(data)), ctypes.byref(state))
        return state, *known

    def free(self) -> None:
        """Free the instance."""
        free = getattr(self.fmu.library, f"fmi{self.version}FreeInstance")
        free.restype = None
        free(POINTER(self.component))


def status_text(status: int) -> str:
    """The status in a word."""
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


def _inside(variable: dict[str, Any], value: float) -> bool:
    low, high = variable["min"], variable["max"]
    return (low is None or value >= float(low)) and (high is None or value <= float(high))
