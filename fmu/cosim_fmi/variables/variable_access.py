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
from cosim_fmi.description.fmu_interface import Element, grouped
from cosim_fmi.variables.typed_variables import CalledPython, TypedVariables


class Access:
    """A list of variables of an instance, as numbers that lie beside each other.

    The FMU's own function for reals takes reals, and arrays whole; compiled code of ours all numbers beside
    them, elements of arrays, and aliases of the other sign; Python text and binary data.

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
        Of the variables.
    is_direct : bool
        Whether the FMU's own function takes them one by one: scalar reals.
    function, references, reference_count : int
        Its address, and its second and third argument.
    """

    def __init__(
        self, instance: FmuInstance, names: Sequence[str], elements: Mapping[str, Element], verb: str
    ) -> None:
        self._instance, self._verb, self.count = instance, verb, len(names)
        self._typed: TypedVariables | None = None
        self._python: CalledPython | None = None
        chosen = [elements[name] for name in names]
        references = _whole(chosen, instance.real)
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
            self._typed = TypedVariables(instance, chosen, verb)
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
        """Address of what is called."""
        return self._words[0]

    @property
    def references(self) -> int:
        """Address of the value references, or of what stands for them."""
        return self._words[2]

    @property
    def reference_count(self) -> int:
        """How many there are."""
        return self._words[3]

    def clear_misfit(self) -> bool:
        """Whether a value did not fit its type in the last call, so that the FMU was not called."""
        if self._python is not None and isinstance(self._python.raised, ValueError):
            self._python.raised = None
            return True
        return self._typed is not None and self._typed.misfits

    def words(self, values: int) -> list[int]:
        """The arguments of `call_with_array`, with the values at that address."""
        return [*self._words, values, self.count]

    def check(self, status: int) -> None:
        """Raise what a status that is worse than a warning means."""
        if self._python is not None:
            self._python.raise_kept()
        elif self._typed is not None:
            self._typed.check(status)
        self._instance.check(self._verb + self._instance.real, status)


def _whole(chosen: Sequence[Element], real: str) -> list[int]:
    """Value references of reals, where arrays are complete and in order; else none."""
    references: list[int] = []
    i = 0
    while i < len(chosen):
        first = chosen[i]
        row = chosen[i : i + first.size]
        whole = [(e.reference, e.type, e.index, e.sign) for e in row] == [
            (first.reference, real, j, 1) for j in range(first.size)
        ]
        if not whole:
            return []
        references.append(first.reference)
        i += first.size
    return references


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
        kinds = dict.fromkeys(elements[name].type for name in names)
        listed = [(place, elements[name]) for place, name in enumerate(names)]
        self._groups = [_Group(instance, kind, listed) for kind in kinds]
        self._is_real = all(kind in REALS for kind in kinds)
        plain = len(self._groups) == 1 and self._groups[0].is_plain and next(iter(kinds)) != "Float32"
        self._doubles: NDArray[np.float64] | None = None
        if plain and self._is_real:
            self._doubles = np.frombuffer(self._groups[0].buffer, dtype=np.float64)

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
        The values, as the FMU has them; of text and binary data what keeps them in memory.
    is_plain : bool
        Every place of the buffer is one of the variables, in their order, and has its value.
    """

    def __init__(self, instance: FmuInstance, kind: str, elements: Sequence[tuple[int, Element]]) -> None:
        self._instance, self.kind = instance, kind
        of_kind = [(place, element) for place, element in elements if element.type == kind]
        references, self.places, self.count = grouped(of_kind)
        self._is_whole = len({index for _, index, _ in self.places}) == self.count
        self.is_plain = [(i, i, 1) for i in range(self.count)] == self.places
        self._references = (ctypes.c_uint32 * len(references))(*references)
        self._ctype = instance.c_types.get(kind)
        self.buffer: Any = (self._ctype * self.count)() if self._ctype is not None else None

    def read(self, values: list[Any]) -> None:
        elements = self._values()
        for place, index, sign in self.places:
            values[place] = elements[index] if sign > 0 else -elements[index]

    def fill(self, values: Any, names: Sequence[str]) -> None:
        """Put values into the buffer; what an array has besides the elements that are written stays."""
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
        """All of the variables; text that is not there is empty."""
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
