"""Compiled code and Python read and write numbers of every FMI type, array elements and aliases alike."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosim.kit import is_plain
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.variables import typed_calls
from cosim_fmi.variables.variable_access import Access, VariableAccess

TYPES: dict[str, Any] = {
    **{"Float64": ctypes.c_double, "Float32": ctypes.c_float, "Boolean": ctypes.c_bool},
    **{"Int8": ctypes.c_int8, "UInt8": ctypes.c_uint8, "Int16": ctypes.c_int16, "UInt16": ctypes.c_uint16},
    **{"Int32": ctypes.c_int32, "UInt32": ctypes.c_uint32, "Enumeration": ctypes.c_int64},
    **{"Int64": ctypes.c_int64, "UInt64": ctypes.c_uint64},
}
CALL = ctypes.CFUNCTYPE(
    ctypes.c_int32, *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)
)


class FakeInstance:
    """Has the functions of an FMU that read and write variables; the variables are in a dictionary."""

    real, component, c_types = "Float64", 0, TYPES
    same_functions: dict[str, str] = {}

    def __init__(self, sizes: dict[int, int], status: int = 0) -> None:
        self.library, self.sizes, self.calls = self, sizes, list[str]()
        self.values: dict[tuple[str, int], list[Any]] = {}
        self._functions: dict[str, Any] = {}
        self._status = status

    def address(self, name: str) -> int:
        kind = name[3:]

        def call(_: int, references: int, count: int, values: int, size: int) -> int:
            self.calls.append(name)
            keys = np.ctypeslib.as_array((ctypes.c_uint32 * count).from_address(references))
            self._pass(name[:3], kind, keys.tolist(), (TYPES[kind] * size).from_address(values))
            return self._status

        self._functions[name] = CALL(call)
        address = ctypes.cast(self._functions[name], ctypes.c_void_p).value
        assert address is not None
        return address

    def _pass(self, verb: str, kind: str, references: Sequence[int], buffer: Any) -> None:
        start = 0
        for reference in references:
            size = self.sizes.get(reference, 1)
            elements = self.values.setdefault((kind, reference), [TYPES[kind](0).value] * size)
            if verb == "Set":
                elements[:] = buffer[start : start + size]
            else:
                buffer[start : start + size] = elements
            start += size
        assert start == len(buffer)

    def get(self, kind: str, references: Any, buffer: Any) -> None:
        self._pass("Get", kind, list(references), buffer)

    def set(self, kind: str, references: Any, buffer: Any) -> None:
        self._pass("Set", kind, list(references), buffer)

    def check(self, name: str, status: int) -> None:
        if status > 1:
            raise RuntimeError(name)


ELEMENTS = {
    **{kind: Element(i, kind, 0, 1, 1) for i, kind in enumerate(TYPES)},
    **{f"{kind}.alias": Element(i, kind, 0, 1, -1) for i, kind in enumerate(TYPES) if kind[0] in "FI"},
    **{f"{kind}[{k}]": Element(20 + i, kind, k, 3, 1) for i, kind in enumerate(TYPES) for k in range(3)},
}
SIZES = {20 + i: 3 for i in range(len(TYPES))}


def call_access(access: Access, values: list[float]) -> tuple[int, list[float]]:
    """The status of a call by address, and the numbers after it."""
    numbers = (ctypes.c_double * len(values))(*values)
    function, *arguments = access.words(ctypes.addressof(numbers))
    return CALL(function)(*arguments), list(numbers)


def numbers_of_type(kind: str) -> st.SearchStrategy[float]:
    """Real numbers that a type represents exactly."""
    if kind.startswith("Float"):
        return st.floats(allow_nan=False)
    if kind == "Boolean":
        return st.sampled_from([0.0, 1.0])
    bits = 8 * ctypes.sizeof(TYPES[kind])
    if bits == 64:
        return st.integers(0 if kind.startswith("U") else -(2**53), 2**53).map(float)
    low = 0 if kind.startswith("U") else -(1 << (bits - 1))
    return st.integers(low, (1 << bits) - 1 + low).map(float)


@pytest.mark.skipif(is_plain(), reason="compiled code")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_compiled_code_writes_and_reads_as_python_does(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(list(ELEMENTS)), min_size=1, max_size=8, unique=True))
    values = [data.draw(numbers_of_type(ELEMENTS[name].type)) for name in names]
    compiled, in_python = FakeInstance(SIZES), FakeInstance(SIZES)
    access = Access(compiled, names, ELEMENTS, "Set")  # type: ignore[arg-type]
    assert access._python is None
    # not all integers have a negative of the same type: those of aliases are small
    if any(name.endswith(".alias") and not -127 <= v <= 127 for name, v in zip(names, values, strict=True)):
        values = [math.copysign(1.0, value) for value in values]
        values = [abs(v) if ELEMENTS[n].type[0] in "UB" else v for n, v in zip(names, values, strict=True)]
    assert call_access(access, values)[0] == 0
    VariableAccess(in_python, names, ELEMENTS).write(values)  # type: ignore[arg-type]
    assert repr(compiled.values) == repr(in_python.values)
    status, numbers = call_access(Access(compiled, names, ELEMENTS, "Get"), [0.0] * len(names))  # type: ignore[arg-type]
    assert status == 0
    assert numbers == [float(v) for v in VariableAccess(in_python, names, ELEMENTS).read()]  # type: ignore[arg-type]


@pytest.mark.skipif(is_plain(), reason="compiled code")
def test_numbers_that_a_type_cannot_hold_are_not_written() -> None:
    for kind, number in (
        ("UInt8", -1.0),
        ("UInt8", 256.0),
        ("Int16", 32768.0),
        ("Boolean", 2.0),
        ("Int8", 0.5),
        ("Int32", math.nan),
        ("Int64", 2.0**53 + 2.0),
        ("Int64", -(2.0**53) - 2.0),
        ("UInt64", -1.0),
        ("UInt64", 2.0**53 + 2.0),
    ):
        instance = FakeInstance(SIZES)
        access = Access(instance, [kind], ELEMENTS, "Set")  # type: ignore[arg-type]
        assert call_access(access, [number])[0] == typed_calls.NOT_TAKEN
        assert access.clear_misfit() and instance.calls == []
        assert call_access(access, [1.0])[0] == 0 and not access.clear_misfit()


@pytest.mark.skipif(is_plain(), reason="compiled code")
@pytest.mark.parametrize("sign", ["", "U"])
@pytest.mark.parametrize("size", [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 3, 2**62 + 257, 2**63 - 1])
@pytest.mark.parametrize("part", ["", ".alias", "[2]"])
def test_integers_of_64_bits_are_read_as_the_nearest_real(size: int, sign: str, part: str) -> None:
    kind = f"{sign}Int64"
    if (name := kind + part) not in ELEMENTS:
        pytest.skip("an unsigned integer has no alias of the other sign")
    for value in (size, 2**64 - 1 - size if sign else -1 - size):
        instance = FakeInstance(SIZES)
        element = ELEMENTS[name]
        instance.values[kind, element.reference] = [0] * (element.size - 1) + [value]
        status, numbers = call_access(Access(instance, [name], ELEMENTS, "Get"), [0.5])  # type: ignore[arg-type]
        assert (status, numbers) == (0, [float(value * element.sign)])


@pytest.mark.skipif(is_plain(), reason="compiled code")
def test_a_failed_call_is_named() -> None:
    access = Access(FakeInstance(SIZES, status=3), ["Int8[1]"], ELEMENTS, "Set")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="GetInt8"):  # the other elements are read first
        access.check(call_access(access, [1.0])[0])
    access = Access(FakeInstance(SIZES, status=3), ["Int8"], ELEMENTS, "Set")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="SetInt8"):
        access.check(call_access(access, [1.0])[0])


@given(st.one_of(st.floats(), st.floats(width=32), st.floats(-1e-37, 1e-37)))
def test_single_precision_is_that_of_c(value: float) -> None:
    bits = struct.unpack("<I", bytes(ctypes.c_float(value)))[0]
    if math.isnan(value):
        assert math.isnan(typed_calls.real_of(typed_calls.single_of(value)))
        return
    assert typed_calls.single_of(value) == bits
    assert struct.pack("<d", typed_calls.real_of(bits)) == struct.pack("<d", ctypes.c_float(value).value)


LEAST_SINGLE, SINGLE_OVERFLOW = 2.0**-149, 2.0**128


@pytest.mark.parametrize(
    "value",
    [
        *(0.0, -0.0, math.inf, -math.inf),
        *(LEAST_SINGLE, 0.5 * LEAST_SINGLE, 1.5 * LEAST_SINGLE),
        *(SINGLE_OVERFLOW, SINGLE_OVERFLOW - 2.0**103),
    ],
)
def test_limits_of_single_precision(value: float) -> None:
    assert typed_calls.single_of(value) == struct.unpack("<I", bytes(ctypes.c_float(value)))[0]
