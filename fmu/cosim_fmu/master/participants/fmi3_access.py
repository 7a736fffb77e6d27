"""Reading and writing a fixed list of scalars of an FMU for FMI 3.0."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_fmu.master.participants.fmu_interface import Element

CTYPES: dict[str, Any] = {
    "Float64": ctypes.c_double,
    "Float32": ctypes.c_float,
    "Int8": ctypes.c_int8,
    "UInt8": ctypes.c_uint8,
    "Int16": ctypes.c_int16,
    "UInt16": ctypes.c_uint16,
    "Int32": ctypes.c_int32,
    "UInt32": ctypes.c_uint32,
    "Int64": ctypes.c_int64,
    "UInt64": ctypes.c_uint64,
    "Enumeration": ctypes.c_int64,
    "Boolean": ctypes.c_bool,
}
BYTES = ctypes.POINTER(ctypes.c_uint8)
RANGES = {
    name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if sign else (0, 2**bits - 1)
    for bits in (8, 16, 32, 64)
    for name, sign in ((f"Int{bits}", True), (f"UInt{bits}", False))
}
RANGES["Enumeration"] = RANGES["Int64"]


class Fmi3Access:
    """A list of scalars of one instance; variables of one type go in one call, arrays whole.

    Parameters
    ----------
    slave : fmpy.fmi3.FMU3Slave
        Instantiated.
    names : sequence of str
    elements : mapping of str to Element
    """

    def __init__(self, slave: Any, names: Sequence[str], elements: Mapping[str, Element]) -> None:
        self._slave, self._names = slave, list(names)
        self._groups: list[_Group] = []
        for kind in dict.fromkeys(elements[name].type for name in names):
            self._groups.append(_Group(slave, kind, [(i, elements[n]) for i, n in enumerate(names)]))
        self._real = all(elements[name].type in ("Float64", "Float32") for name in names)

    def read(self) -> NDArray[np.float64] | list[Any]:
        """Values in the order of the names: an array when all are real, else a list."""
        values: list[Any] = [None] * len(self._names)
        for group in self._groups:
            group.read(values)
        return np.array(values, dtype=np.float64) if self._real else values

    def write(self, values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Set all; ``ValueError`` naming the variable when a value does not fit its type."""
        if len(values) != len(self._names):
            raise ValueError(f"{len(values)} values for {len(self._names)} variables")
        for group in self._groups:
            group.write(values, self._names)


class _Group:
    """The variables of one type."""

    def __init__(self, slave: Any, kind: str, elements: Sequence[tuple[int, Element]]) -> None:
        self._slave, self.kind = slave, kind
        mine = [(place, element) for place, element in elements if element.type == kind]
        sizes = {element.reference: element.size for _, element in mine}
        starts, total = {}, 0
        for reference, size in sizes.items():
            starts[reference] = total
            total += size
        self.references, self.total = list(sizes), total
        self.places = [(place, starts[element.reference] + element.index) for place, element in mine]
        self.whole = len(mine) == total
        self.function = "Int64" if kind == "Enumeration" else kind
        self._vr = (ctypes.c_uint32 * len(self.references))(*self.references)
        self._buffer: Any = (CTYPES[kind] * total)() if kind in CTYPES else None

    def read(self, values: list[Any]) -> None:
        found = self._values()
        for place, index in self.places:
            values[place] = found[index]

    def write(self, values: Any, names: Sequence[str]) -> None:
        # What an array has besides the elements that are written stays as it is.
        held: list[Any] = [None] * self.total if self.whole else list(self._values())
        for place, index in self.places:
            held[index] = _checked(self.kind, values[place], names[place])
        if self.kind == "String":
            texts = (ctypes.c_char_p * self.total)(*((text or "").encode() for text in held))
            self._call("Set", texts, self.total)
        elif self.kind == "Binary":
            blobs = [(ctypes.c_uint8 * max(1, len(data)))(*data) for data in held]
            sizes = (ctypes.c_size_t * self.total)(*map(len, held))
            pointers = (BYTES * self.total)(*(ctypes.cast(blob, BYTES) for blob in blobs))
            self._call("Set", sizes, pointers, self.total)
        else:
            self._buffer[:] = held
            self._call("Set", self._buffer, self.total)

    def _values(self) -> Sequence[Any]:
        """All of the variables; text that is not there is empty."""
        if self.kind == "String":
            texts = (ctypes.c_char_p * self.total)()
            self._call("Get", texts, self.total)
            return [(text or b"").decode("utf-8", "replace") for text in texts]
        if self.kind == "Binary":
            sizes, pointers = (ctypes.c_size_t * self.total)(), (BYTES * self.total)()
            self._call("Get", sizes, pointers, self.total)
            found = zip(pointers, sizes, strict=True)
            return [ctypes.string_at(data, size) if data and size else b"" for data, size in found]
        self._call("Get", self._buffer, self.total)
        return list(self._buffer)

    def _call(self, verb: str, *arguments: Any) -> None:
        function = getattr(self._slave, f"fmi3{verb}{self.function}")
        function(self._slave.component, self._vr, len(self._vr), *arguments)


def _checked(kind: str, value: Any, name: str) -> Any:
    """The value as ctypes takes it; ``ValueError`` when it is none of that type."""
    try:
        if kind in ("Float64", "Float32"):
            if not isinstance(value, (str, bytes)):
                return float(value)
        elif kind in RANGES:
            low, high = RANGES[kind]
            if not isinstance(value, (bool, str)) and int(value) == value and low <= value <= high:
                return int(value)
        elif kind == "Boolean":
            if value in (0, 1):
                return bool(value)
        elif kind == "String":
            if isinstance(value, str) and "\0" not in value:
                return value
        elif isinstance(value, (bytes, bytearray)):
            return bytes(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} is {repr(value)[:80]}, needs a value of type {kind}")
