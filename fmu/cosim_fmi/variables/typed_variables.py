"""Variables of several types of an FMU, for compiled code; functions that it calls by address."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim.kit import c_address, compile_function
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.variables import typed_calls as layout

SIGNATURE = "iiiii>i"
PROTOTYPE: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 5)
RAISED = 3
"""What a function of Python answers that has raised an exception; FMI's *error*."""


class CalledPython:
    """A function of Python behind an address.

    Parameters
    ----------
    function : callable
        Of five integers; answers with one.

    Attributes
    ----------
    address : int
    raised : BaseException or None
        What it has raised, where it has answered `RAISED`.
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
        """Raise what is kept, once."""
        error, self.raised = self.raised, None
        if error is not None:
            raise error


class KernelAddress:
    """Where compiled code finds a kernel function; without a compiler it calls Python there.

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
        """Call it from Python; what plain Python raises is raised."""
        answer = int(self._bound(first, 0, 0, 0, 0))
        self.raise_kept()
        return answer

    def raise_kept(self) -> None:
        """Raise, once, what plain Python has raised there."""
        if self._plain is not None:
            self._plain.raise_kept()


@functools.cache
def kernel_address(function: Callable[..., Any]) -> KernelAddress:
    """The address of a kernel function, for ever the same."""
    return KernelAddress(function)


WIDTHS = (8, 32)
"""Bits of integers and booleans that compiled code takes."""


class TypedVariables:
    """The control block of a list of variables (`typed_calls`).

    Parameters
    ----------
    instance : FmuInstance
    elements : sequence of Element
        Scalars, none of which stands for another one with the other sign.
    verb : str
        "Get" or "Set".

    Attributes
    ----------
    address : int
        Of the control block, in place of value references.
    function : int
        Address of the function that takes it.

    Raises
    ------
    ValueError
        A type that is called from Python alone, or a function that the library lacks.
    """

    def __init__(self, instance: FmuInstance, elements: Sequence[Element], verb: str) -> None:
        self._instance, self._verb = instance, verb
        self._kinds = list(dict.fromkeys(element.type for element in elements))
        self._kept: list[Any] = []
        words = [0, len(self._kinds)]
        for kind in self._kinds:
            words += self._group(kind, elements)
        self._block = np.array(words, dtype=np.int64)
        self.address = int(self._block.ctypes.data)
        called = layout.write_typed if verb == "Set" else layout.read_typed
        self.function = c_address(called, layout.ARRAY_CALL)

    def _group(self, kind: str, elements: Sequence[Element]) -> list[int]:
        places = [i for i, element in enumerate(elements) if element.type == kind]
        ctype = self._instance.c_types.get(kind)
        function = self._instance.library.address(self._named(kind))
        is_real = kind == self._instance.real
        is_boolean, is_whole = kind == "Boolean", kind in ("Integer", "Int8", "Int32", "Enumeration")
        bits = 0 if ctype is None or is_real else 8 * ctypes.sizeof(ctype)
        if not function or not (is_real or ((is_boolean or is_whole) and bits in WIDTHS)):
            raise ValueError(f"variables of type {kind} are called from Python")
        references = (ctypes.c_uint32 * len(places))(*(elements[i].reference for i in places))
        buffer = (ctypes.c_int64 * len(places))()
        at = (ctypes.c_int64 * len(places))(*places)
        self._kept += [references, buffer, at]
        low, high = (0, 1) if is_boolean else (-(1 << max(0, bits - 1)), (1 << max(0, bits - 1)) - 1)
        return [
            *(function, ctypes.addressof(references), len(places), ctypes.addressof(buffer), bits),
            *(low, high, ctypes.addressof(at)),
        ]

    def _named(self, kind: str) -> str:
        return self._verb + self._instance.same_functions.get(kind, kind)

    @property
    def misfits(self) -> bool:
        """Whether a value did not fit its type in the last call, so that the FMU was not called."""
        return int(self._block[layout.FAULT]) > 0

    def check(self, status: int) -> None:
        """Raise what the FMU's status means; nothing where a value does not fit its type."""
        fault = int(self._block[layout.FAULT])
        if fault < 0:
            self._instance.check(self._named(self._kinds[-1 - fault]), status)
