"""An integrator that is prepared for a system, as the Step calls it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts import method_layout as method_layout
from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import PlacedFunction, method_settings, slot_numbers
from cosim.contracts.method_layout import TUNE_SIGNATURE
from cosim.run_data.records.plan import MethodFunctions, Plan
from cosim.walker import DENSE_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim_compiler.record import place_in

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
SIGNATURES = {
    **{"step": STEP_SIGNATURE, "redo": REDO_SIGNATURE, "dense": DENSE_SIGNATURE, "begin": REDO_SIGNATURE},
    **{"restart": REDO_SIGNATURE, "complete": REDO_SIGNATURE, "tune": TUNE_SIGNATURE},
}


@functools.cache
def place_of(name: str) -> int:
    """The place in `program` of the address of a function of the method."""
    return place_in(Plan, "method") + place_in(MethodFunctions, name)


@dataclass(frozen=True)
class Method:
    """An integrator that is prepared for a system.

    Attributes
    ----------
    integrator : Integrator
    coefficients, settings, slots : ndarray
        See `cosim.contracts.method_layout`.
    memory : int
        Length of the array of this name.
    work : ndarray
        The array at the beginning of a run.
    functions : list of PlacedFunction
        Functions whose addresses stand in `program`; empty if the steps are Python.
    slot_functions : list of PlacedFunction
        Functions whose addresses stand in ``slots``.
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
        """The method for a system in which witnesses are held."""
        if not self.functions:
            return self
        return prepared(self.integrator.with_accuracy(self.integrator.accuracy), system)


def prepared(integrator: Integrator, system: Any) -> Method:
    """Prepare an integrator for a system."""
    kernels = integrator.kernels(system)
    memory = integrator.memory_size(system.ny)
    if kernels is None:
        settings = method_settings(integrator, system, integrator.order)
        slots = slot_numbers(system, [], [], [], False)
        work = np.zeros(method_layout.WORK_HEADER + 3 * system.ny)
        return Method(integrator, np.zeros(1), settings, slots, memory, work, [])
    return Method(
        integrator,
        kernels.coefficients,
        kernels.settings,
        kernels.slots,
        memory,
        kernels.work,
        [
            PlacedFunction(place_of(name), function, SIGNATURES[name])
            for name, function in kernels.functions.items()
            if function is not None
        ],
        kernels.slot_functions,
    )
