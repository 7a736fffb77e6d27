"""Reading and writing a fixed list of scalars of an FMU with as few calls as possible."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmi.binding.fmi3_instance import BYTES
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import CallLayout, Element, ValuePlace
from cosim_fmi.variables.typed_variables import CalledPython, TypedVariables


class Access:
    """A list of variables of an instance, read or written as an array of numbers by a function of C.

    The function is the FMU's own one for reals and whole arrays of reals, compiled code (`TypedVariables`)
    for other numbers, elements of arrays and aliases of the other sign, and Python for text and binary data.

    Parameters
    ----------
    instance : FmuInstance
    names : sequence of str
    elements : mapping of str to Element
    verb : str
        "Get" or "Set".

    Attributes
    ----------
    count : int
        Number of variables.
    is_direct : bool
        Whether it is the FMU's own function, and all variables are scalars.
    function, references, reference_count : int
        The address of the function, and its second and third argument.
    """

    def __init__(
        self, instance: FmuInstance, names: Sequence[str], elements: Mapping[str, Element], verb: str
    ) -> None:
        self._instance, self._verb, self.count = instance, verb, len(names)
        self._typed: TypedVariables | None = None
        self._python: CalledPython | None = None
        chosen = [elements[name] for name in names]
        references = _references_of_reals(chosen, instance.real)
        function = instance.library.address(verb + instance.real)
        self.is_direct = bool(references) and bool(function) and len(references) == len(names)
        if not names:
            self._words = [0, instance.component, 0, 0]
            return
        if references and function:
            self._references = (ctypes.c_uint32 * len(references))(*references)
            at = ctypes.addressof(self._references)
            self._words = [function, instance.component, at, len(references)]
            return
        try:
            self._typed = TypedVariables(instance, _call_layouts(chosen), verb)
        except (ValueError, cosim.ContractError):  # text, a missing function, no compiler
            pass
        else:
            self._words = [self._typed.function, instance.component, self._typed.address, self.count]
            return
        access = VariableAccess(instance, names, elements)

        def call(handle: int, references: int, count: int, values: int, size: int) -> int:
            numbers = np.ctypeslib.as_array((ctypes.c_double * size).from_address(values))
            if verb == "Set":
                access.write(numbers)
            else:
                numbers[:] = access.read()
            return 0

        self._python = CalledPython(call)
        self._words = [self._python.address, 0, 0, 0]

    @property
    def function(self) -> int:
        """Address of the function."""
        return self._words[0]

    @property
    def references(self) -> int:
        """Address of the value references, or of a control block in their place."""
        return self._words[2]

    @property
    def reference_count(self) -> int:
        """The number of value references, or of variables with a control block."""
        return self._words[3]

    def clear_misfit(self) -> bool:
        """Forget whether the last call was refused because a value did not fit its type; returns that."""
        if self._python is not None and isinstance(self._python.raised, ValueError):
            self._python.raised = None
            return True
        return self._typed is not None and self._typed.misfits

    def words(self, values: int) -> list[int]:
        """The arguments of `call_with_array`, with the values at that address."""
        return [*self._words, values, self.count]

    def check(self, status: int) -> None:
        """Raise the error of a status that is worse than a warning."""
        if self._python is not None:
            self._python.raise_kept()
        elif self._typed is not None:
            self._typed.check(status)
        self._instance.check(self._verb + self._instance.real, status)


def _references_of_reals(chosen: Sequence[Element], real: str) -> list[int]:
    """Value references of reals; none if a variable is not real, or an array incomplete or out of order."""
    references: list[int] = []
    i = 0
    while i < len(chosen):
        first = chosen[i]
        elements = chosen[i : i + first.size]
        is_array = len(elements) == first.size and all(
            (element.reference, element.type, element.index, element.sign) == (first.reference, real, j, 1)
            for j, element in enumerate(elements)
        )
        if not is_array:
            return []
        references.append(first.reference)
        i += first.size
    return references


def _call_layouts(elements: Sequence[Element]) -> dict[str, CallLayout]:
    """The calls that read or write variables, one for each type."""
    numbered: dict[str, list[tuple[int, Element]]] = {}
    for number, element in enumerate(elements):
        numbered.setdefault(element.type, []).append((number, element))
    return {kind: _call_layout(of_kind) for kind, of_kind in numbered.items()}


def _call_layout(elements: Sequence[tuple[int, Element]]) -> CallLayout:
    """The layout of one call that reads or writes numbered variables of one type."""
    if all(element.size == 1 for _, element in elements):
        references = [element.reference for _, element in elements]
        places = [ValuePlace(number, i, element.sign) for i, (number, element) in enumerate(elements)]
        return CallLayout(references, places, len(places))
    starts, size = dict[int, int](), 0
    for _, element in elements:
        if element.reference not in starts:
            starts[element.reference] = size
            size += element.size
    places = [ValuePlace(n, starts[e.reference] + e.index, e.sign) for n, e in elements]
    return CallLayout(list(starts), places, size)


REALS = ("Real", "Float64", "Float32")
WHOLE = ("Integer", "Enumeration", *(f"{sign}Int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "U")))


class VariableAccess:
    """A list of scalars of one instance; variables of one type go in one call, arrays whole.

    Parameters
    ----------
    instance : FmuInstance
        Instantiated.
    names : sequence of str
    elements : mapping of str to Element
    """

    def __init__(self, instance: FmuInstance, names: Sequence[str], elements: Mapping[str, Element]) -> None:
        self._names = list(names)
        layouts = _call_layouts([elements[name] for name in names])
        self._groups = [_Group(instance, kind, layout) for kind, layout in layouts.items()]
        self._is_real = all(kind in REALS for kind in layouts)
        self._doubles: NDArray[np.float64] | None = None
        if self._is_real and len(self._groups) == 1:
            (group,) = self._groups
            if group.is_plain and group.kind != "Float32":
                self._doubles = np.frombuffer(group.buffer, dtype=np.float64)

    def read(self) -> NDArray[np.float64] | list[Any]:
        """Values in the order of the names: an array when all are real, else a list."""
        if self._doubles is not None:
            self._groups[0].call_get()
            return self._doubles.copy()
        values: list[Any] = [None] * len(self._names)
        for group in self._groups:
            group.read(values)
        return np.array(values, dtype=np.float64) if self._is_real else values

    def write(self, values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Set all; ``ValueError`` naming the variable when a value does not fit its type."""
        if len(values) != len(self._names):
            raise ValueError(f"{len(values)} values for {len(self._names)} variables")
        if self._doubles is not None:
            try:
                self._groups[0].buffer[:] = values  # unlike numpy, ctypes takes neither text nor None
            except TypeError:
                self._groups[0].fill(values, self._names)
            self._groups[0].call_set()
            return
        for group in self._groups:
            group.fill(values, self._names)
        for group in self._groups:
            group.call_set()


class _Group:
    """The variables of one type.

    Attributes
    ----------
    buffer : ctypes array
        The values in the FMU's own type; of text and binary data the objects that own the memory.
    is_plain : bool
        Whether the buffer has exactly the values of the variables, in their order.
    """

    def __init__(self, instance: FmuInstance, kind: str, layout: CallLayout) -> None:
        self._instance, self.kind = instance, kind
        self.places, self.count = layout.places, layout.size
        self._is_whole = len({place.in_call for place in self.places}) == self.count
        self.is_plain = [(i, i, 1) for i in range(self.count)] == self.places
        self._references = (ctypes.c_uint32 * len(layout.references))(*layout.references)
        self._ctype = instance.c_types.get(kind)
        self.buffer: Any = (self._ctype * self.count)() if self._ctype is not None else None

    def read(self, values: list[Any]) -> None:
        elements = self._values()
        for place, index, sign in self.places:
            values[place] = elements[index] if sign > 0 else -elements[index]

    def fill(self, values: Any, names: Sequence[str]) -> None:
        """Copy values into the buffer; elements of an array that are not written keep the FMU's values."""
        held: list[Any] = [None] * self.count if self._is_whole else list(self._values())
        for place, index, sign in self.places:
            value = _checked(self.kind, self._ctype, values[place], names[place])
            held[index] = value if sign > 0 else -value
        if self.kind == "Binary":
            self._hold(held)
        elif self.kind == "String":
            self.buffer[:] = [text.encode() if isinstance(text, str) else text or b"" for text in held]
        else:
            self.buffer[:] = held

    def call_get(self) -> None:
        self._instance.get(self.kind, self._references, self.buffer)

    def call_set(self) -> None:
        if self.kind == "Binary":
            self._instance.set_binary(self._references, self._sizes, self._pointers)  # type: ignore[attr-defined]
        else:
            self._instance.set(self.kind, self._references, self.buffer)

    def _hold(self, held: Sequence[bytes]) -> None:
        self.buffer = [(ctypes.c_uint8 * max(1, len(data)))(*data) for data in held]
        self._sizes = (ctypes.c_size_t * self.count)(*map(len, held))
        self._pointers = (BYTES * self.count)(*(ctypes.cast(blob, BYTES) for blob in self.buffer))

    def _values(self) -> Sequence[Any]:
        """All values of the call; a missing text is empty."""
        if self.kind == "Binary":
            sizes, pointers = (ctypes.c_size_t * self.count)(), (BYTES * self.count)()
            self._instance.get_binary(self._references, sizes, pointers)  # type: ignore[attr-defined]
            pieces = zip(pointers, sizes, strict=True)
            return [ctypes.string_at(data, size) if data and size else b"" for data, size in pieces]
        self.call_get()
        if self.kind == "String":
            return [(text or b"").decode("utf-8", "replace") for text in self.buffer]
        if self.kind == "Boolean":
            return [bool(value) for value in self.buffer]
        return list(self.buffer)


def _checked(kind: str, ctype: Any, value: Any, name: str) -> Any:
    """The value as ctypes takes it; ``ValueError`` when it is none of that type."""
    try:
        if kind in REALS:
            if not isinstance(value, (str, bytes)):
                return float(value)
        elif kind in WHOLE:
            if not isinstance(value, (bool, str)) and int(value) == value == ctype(int(value)).value:
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
