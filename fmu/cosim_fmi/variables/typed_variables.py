"""Variables of several types of an FMU, for compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from cosim.kit import c_address
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.variables import typed_calls as layout

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
