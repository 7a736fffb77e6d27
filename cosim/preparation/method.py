"""An integrator prepared for a system: its numbers, its memory and the functions that the Step calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import PlacedFunction, method_settings, slot_numbers
from cosim.contracts.method_layout import TUNE_SIGNATURE, WORK_HEADER
from cosim.run_data.records.plan import MethodFunctions, Plan
from cosim.walker import DENSE_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim_compiler.record import place_in

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
SIGNATURES = {
    "step": STEP_SIGNATURE,
    "redo": REDO_SIGNATURE,
    "dense": DENSE_SIGNATURE,
    "begin": REDO_SIGNATURE,
    "restart": REDO_SIGNATURE,
    "complete": REDO_SIGNATURE,
    "tune": TUNE_SIGNATURE,
}
"""Signatures of the functions of a method, by the fields of `MethodFunctions`."""


@functools.cache
def place_of(name: str) -> int:
    """The place in the array `program` at which the address of a function of the method stands."""
    return place_in(Plan, "method") + place_in(MethodFunctions, name)


def placed_function(name: str, function: Callable[..., Any]) -> PlacedFunction:
    """A function of a method, at its place in the array `program`."""
    return PlacedFunction(place_of(name), function, SIGNATURES[name])


@dataclass(frozen=True)
class Method:
    """An integrator that is prepared for a system.

    Attributes
    ----------
    integrator : Integrator
    coefficients, settings, slots : ndarray
        See `cosim.contracts.method_layout`.
    memory : int
        Length of the array in which the method keeps numbers from step to step.
    work : ndarray
        Its working array, as it is when a run begins.
    functions : list of PlacedFunction
        Functions whose addresses stand in the array `program`; empty if the steps are Python.
    slot_functions : list of PlacedFunction
        Functions whose addresses stand in `slots`.
    """

    integrator: Integrator
    coefficients: Reals
    settings: Reals
    slots: Integers
    memory: int
    work: Reals
    functions: list[PlacedFunction]
    slot_functions: list[PlacedFunction] = field(default_factory=list)

    @property
    def order(self) -> int:
        """The order of the solution."""
        return self.integrator.order

    @property
    def capabilities(self) -> Any:
        """The abilities that the integrator declares."""
        return self.integrator.capabilities

    def while_held(self, system: Any) -> Method:
        """The method for a system in which witnesses are held: another one, with numbers of its own."""
        if not self.functions:  # Python steps have no numbers that a hold could change
            return self
        return prepared(self.integrator.with_accuracy(self.integrator.accuracy), system)


def prepared(integrator: Integrator, system: Any) -> Method:
    """Prepare an integrator for a system."""
    kernels = integrator.kernels(system)
    memory = integrator.memory_size(system.ny)
    if kernels is None:
        settings = method_settings(integrator, system, integrator.order)
        slots = slot_numbers(system, [], [], [], False)
        work = np.zeros(WORK_HEADER + 3 * system.ny)
        return Method(
            integrator,
            coefficients=np.zeros(1),
            settings=settings,
            slots=slots,
            memory=memory,
            work=work,
            functions=[],
        )
    functions = [
        placed_function(name, function)
        for name, function in kernels.functions.items()
        if function is not None
    ]
    return Method(
        integrator,
        coefficients=kernels.coefficients,
        settings=kernels.settings,
        slots=kernels.slots,
        memory=memory,
        work=kernels.work,
        functions=functions,
        slot_functions=kernels.slot_functions,
    )
