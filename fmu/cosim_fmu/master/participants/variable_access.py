"""Reading and writing a fixed list of variables of an FMU with as few calls as possible."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CTYPES: dict[str, Any] = {
    "real": ctypes.c_double,
    "integer": ctypes.c_int,
    "boolean": ctypes.c_int,
    "string": ctypes.c_char_p,
}
FUNCTION = {"real": "Real", "integer": "Integer", "boolean": "Boolean", "string": "String"}


@dataclass
class _Group:
    """The variables of one type."""

    type: str
    places: list[int]
    references: Any
    buffer: Any


class VariableAccess:
    """A list of variables of one instance, grouped by type.

    Parameters
    ----------
    slave : fmpy.fmi2.FMU2Slave
        Instantiated.
    names : sequence of str
    types : mapping of str to str
        "real", "integer", "boolean" or "string".
    references : mapping of str to int
    """

    def __init__(
        self, slave: Any, names: Sequence[str], types: Mapping[str, str], references: Mapping[str, int]
    ) -> None:
        self._slave, self._names = slave, list(names)
        self._groups: list[_Group] = []
        for kind, ctype in CTYPES.items():
            places = [i for i, name in enumerate(names) if types[name] == kind]
            if places:
                array = (ctypes.c_uint * len(places))(*[references[names[i]] for i in places])
                self._groups.append(_Group(kind, places, array, (ctype * len(places))()))
        self._real: NDArray[np.float64] | None = None
        if len(self._groups) == 1 and self._groups[0].type == "real":
            self._real = np.frombuffer(self._groups[0].buffer, dtype=np.float64)

    def read(self) -> NDArray[np.float64] | list[Any]:
        """Values in the order of the names: an array when all are real, else a list."""
        for group in self._groups:
            self._call("fmi2Get", group)
        if self._real is not None:
            return self._real.copy()
        values: list[Any] = [None] * len(self._names)
        for group in self._groups:
            for place, raw in zip(group.places, group.buffer, strict=True):
                values[place] = _from_c(group.type, raw)
        return values

    def write(self, values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Set all; ``ValueError`` naming the variable when a value does not fit its type."""
        if len(values) != len(self._names):
            raise ValueError(f"{len(values)} values for {len(self._names)} variables")
        if self._real is not None:
            try:
                self._groups[0].buffer[:] = values  # unlike numpy, ctypes takes neither text nor None
            except TypeError:
                self._fill(self._groups[0], values)
            self._call("fmi2Set", self._groups[0])
            return
        for group in self._groups:
            self._fill(group, values)
        for group in self._groups:
            self._call("fmi2Set", group)

    def _call(self, verb: str, group: _Group) -> None:
        function = getattr(self._slave, verb + FUNCTION[group.type])
        function(self._slave.component, group.references, len(group.places), group.buffer)

    def _fill(self, group: _Group, values: Any) -> None:
        for i, place in enumerate(group.places):
            try:
                group.buffer[i] = _to_c(group.type, values[place])
            except (TypeError, ValueError, OverflowError):
                shown = repr(values[place])[:80]
                raise ValueError(
                    f"{self._names[place]} is {shown}, needs a value of type {group.type}"
                ) from None


def _to_c(kind: str, value: Any) -> Any:
    if kind == "real":
        if isinstance(value, str):
            raise ValueError("text")
        return float(value)
    if kind == "integer":
        number = operator.index(value)
        if isinstance(value, bool) or not -(2**31) <= number < 2**31:
            raise ValueError("needs 32 bits")
        return number
    if kind == "boolean":
        if not isinstance(value, (bool, np.bool_)) and value not in (0, 1):
            raise ValueError("neither true nor false")
        return int(bool(value))
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("no text")
    return value.encode("utf-8")


def _from_c(kind: str, raw: Any) -> Any:
    if kind == "boolean":
        return raw != 0
    if kind == "string":
        return (raw or b"").decode("utf-8", "replace")
    return raw
