"""Variables of several types of an FMU for compiled code, and functions that it calls by address."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cosim.kit import c_address, compile_function
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import CallLayout
from cosim_fmi.variables import typed_calls as layout

SIGNATURE = "iiiii>i"
PROTOTYPE: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 5)
RAISED = 3
"""Returned where the function of Python has raised an exception; FMI's *error*."""


class CalledPython:
    """A function of Python behind an address.

    Parameters
    ----------
    function : callable
        Takes five integers and returns one.

    Attributes
    ----------
    address : int
        For compiled code.
    raised : BaseException or None
        The exception of the last call that returned `RAISED`.
    """

    def __init__(self, function: Callable[..., int]) -> None:
        self._function = function
        self.raised: BaseException | None = None
        self._callback = PROTOTYPE(self._call)
        self.address = int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def _call(self, *words: int) -> int:
        try:
            return self._function(*words)
        except BaseException as error:  # nothing may pass through foreign code
            self.raised = error
            return RAISED

    def raise_kept(self) -> None:
        """Raise the stored exception, once."""
        error, self.raised = self.raised, None
        if error is not None:
            raise error


class KernelAddress:
    """The address of a kernel function for compiled code; without a compiler it leads to plain Python.

    Attributes
    ----------
    address : int
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._plain: CalledPython | None = None
        if compile_function(function, SIGNATURE) is function:  # nothing is compiled here
            self._plain = CalledPython(function)
            self.address = self._plain.address
        else:
            self.address = c_address(function, SIGNATURE)
        self._bound = PROTOTYPE(self.address)

    def __call__(self, first: int) -> int:
        """Call the function from Python; exceptions of plain Python are raised."""
        answer = int(self._bound(first, 0, 0, 0, 0))
        self.raise_kept()
        return answer

    def raise_kept(self) -> None:
        """Raise the stored exception of plain Python, once."""
        if self._plain is not None:
            self._plain.raise_kept()


@functools.cache
def kernel_address(function: Callable[..., Any]) -> KernelAddress:
    """The address of a kernel function: the same in every call."""
    return KernelAddress(function)


WIDTHS = {
    **{"Integer": (32,), "Boolean": (8, 32), "Enumeration": (32, 64)},
    **{f"{sign}Int{bits}": (bits,) for bits in (8, 16, 32, 64) for sign in ("", "U")},
}
"""Bits of integers and booleans that compiled code takes."""
EXACT = 2**53
"""Larger integers are no exact reals: they are refused when written, and read as the nearest real."""


class TypedVariables:
    """The control block of a list of variables (`typed_calls`).

    Parameters
    ----------
    instance : FmuInstance
    layouts : mapping of str to CallLayout
        A call for each type.
    verb : str
        "Get" or "Set".

    Attributes
    ----------
    address : int
        Address of the control block, in place of value references.
    function : int
        Address of the function that takes it.

    Raises
    ------
    ValueError
        A type that only Python reads and writes, or a function that the library lacks.
    """

    def __init__(self, instance: FmuInstance, layouts: Mapping[str, CallLayout], verb: str) -> None:
        self._instance, self._verb = instance, verb
        self._kinds = list(layouts)
        self._kept: list[Any] = []  # memory to which the control block has addresses
        head = layout.BlockHead(fault=0, group_count=len(self._kinds))
        groups = [self._group(kind, call) for kind, call in layouts.items()]
        self._block = np.concatenate([np.frombuffer(record, dtype=np.int64) for record in (head, *groups)])
        self.address = int(self._block.ctypes.data)
        self._head = layout.BlockHead.from_buffer(self._block)
        called = layout.write_typed if verb == "Set" else layout.read_typed
        self.function = c_address(called, layout.ARRAY_CALL)

    def _group(self, kind: str, call: CallLayout) -> layout.Group:
        """The variables of one type; arrays are read and written whole."""
        bits, lowest, highest = self._width(kind)
        is_whole = len({place.in_call for place in call.places}) == call.size
        address_of = self._instance.library.address
        function = address_of(self._named(kind, self._verb))
        reads_first = self._verb == "Set" and not is_whole
        getter = address_of(self._named(kind, "Get")) if reads_first else 0
        if not function or (reads_first and not getter):
            raise ValueError(f"variables of type {kind} are read and written in Python")
        reference_array = (ctypes.c_uint32 * len(call.references))(*call.references)
        buffer = (ctypes.c_int64 * call.size)()
        place_type: Any = layout.Place
        place_array = (place_type * len(call.places))(*call.places)
        self._kept += [reference_array, buffer, place_array]
        return layout.Group(
            function=function,
            getter=getter,
            references=ctypes.addressof(reference_array),
            reference_count=len(call.references),
            buffer=ctypes.addressof(buffer),
            buffer_size=call.size,
            bits=bits,
            lowest=lowest,
            highest=highest,
            places=ctypes.addressof(place_array),
            place_count=len(call.places),
        )

    def _width(self, kind: str) -> tuple[int, int, int]:
        """The bits of a value, the lowest and the highest value."""
        if kind == self._instance.real:
            return layout.DOUBLE, 0, 0
        if kind == "Float32":
            return layout.SINGLE, 0, 0
        ctype = self._instance.c_types.get(kind)
        bits = 0 if ctype is None else 8 * ctypes.sizeof(ctype)
        if bits not in WIDTHS.get(kind, ()):
            raise ValueError(f"variables of type {kind} are read and written in Python")
        if kind == "Boolean":
            return bits, 0, 1
        if kind.startswith("U"):
            return bits, 0, min(EXACT, (1 << bits) - 1)
        return bits, max(-EXACT, -(1 << (bits - 1))), min(EXACT, (1 << (bits - 1)) - 1)

    def _named(self, kind: str, verb: str) -> str:
        return verb + self._instance.same_functions.get(kind, kind)

    @property
    def misfits(self) -> bool:
        """Whether a value did not fit its type in the last call, so that the FMU was not called."""
        return int(self._head.fault) == layout.MISFIT

    def check(self, status: int) -> None:
        """Raise the error of the FMU's status, unless a value does not fit its type."""
        fault = int(self._head.fault)
        if fault < 0:
            group, verb = -1 - fault, self._verb  # as `typed_calls.failed_call` counts
            if group >= len(self._kinds):  # the getter of elements that are not written
                group, verb = group - len(self._kinds), "Get"
            self._instance.check(self._named(self._kinds[group], verb), status)
