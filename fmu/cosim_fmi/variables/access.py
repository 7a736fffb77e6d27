"""Reading or writing variables of an FMU by one call by address."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np

import cosim
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.variables.by_address import CalledPython
from cosim_fmi.variables.typed_variables import TypedVariables
from cosim_fmi.variables.variable_access import VariableAccess


class Access:
    """A list of variables of an instance, as numbers that lie beside each other.

    The FMU's own function for reals takes reals, and arrays whole; compiled code of ours integers and
    booleans beside them; all else (single elements of arrays, other widths, aliases of other sign) Python.

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
        if all(element.size == 1 and element.sign > 0 for element in chosen):
            try:
                self._typed = TypedVariables(instance, chosen, verb)
            except (ValueError, cosim.ContractError):  # types for Python, no compiler
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

    def forget_misfit(self) -> bool:
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
    found: list[int] = []
    i = 0
    while i < len(chosen):
        first = chosen[i]
        row = chosen[i : i + first.size]
        whole = [(e.reference, e.type, e.index, e.sign) for e in row] == [
            (first.reference, real, j, 1) for j in range(first.size)
        ]
        if not whole:
            return []
        found.append(first.reference)
        i += first.size
    return found
