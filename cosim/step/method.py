"""An integrator as the Step calls it: numbers and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.compiled.walker import DENSE_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim.contracts.compiled_integrator import CompiledIntegrator
from cosim.contracts.integrator import Integrator
from cosim.integration import layout as method_layout
from cosim.integration.layout import TUNE_SIGNATURE
from cosim.step import layout

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Function = tuple[int, Callable[..., Any], str]
CALLS = ("initialize", "step", "advance", "restart", "redo", "interpolate", "dense")


@dataclass(frozen=True)
class Method:
    """An integrator that is prepared for a system.

    Attributes
    ----------
    integrator : Integrator
    coefficients, settings, slots : ndarray
        As `cosim.integration.layout` explains them.
    memory, work : int
        Lengths of the arrays of these names.
    functions : list of (int, function, str)
        Places in `program`, kernel functions and their signatures; empty where the steps are Python.
    """

    integrator: Integrator
    coefficients: Reals
    settings: Reals
    slots: Integers
    memory: int
    work: int
    functions: list[Function]

    @property
    def order(self) -> int:
        """Of the solution."""
        return self.integrator.order

    @property
    def capabilities(self) -> Any:
        """What the method can do."""
        return self.integrator.capabilities

    def while_held(self, system: Any) -> Method:
        """The same method for a system in which witnesses are held."""
        if not self.functions:
            return self
        assert isinstance(self.integrator, CompiledIntegrator)
        return prepared(self.integrator.with_accuracy(self.integrator.accuracy), system)


def prepared(integrator: Integrator, system: Any) -> Method:
    """An integrator, made ready for a system."""
    if not steps_are_kernels(type(integrator)):
        return _python_method(integrator, system)
    assert isinstance(integrator, CompiledIntegrator)
    integrator._prepare(system)
    cls = type(integrator)
    listed = [
        (layout.STEP, cls.step_function, STEP_SIGNATURE),
        (layout.REDO, cls.redo_function, REDO_SIGNATURE),
        (layout.DENSE, cls.dense_function, DENSE_SIGNATURE),
        (layout.BEGIN, cls.begin_function, REDO_SIGNATURE),
        (layout.RESTART, cls.restart_function, REDO_SIGNATURE),
        (layout.COMPLETE, cls.complete_function, REDO_SIGNATURE),
        (layout.TUNE, cls.tune_function, TUNE_SIGNATURE),
    ]
    return Method(
        integrator,
        integrator._coefficients,
        integrator._settings,
        integrator._slots,
        integrator.memory_size(system.ny),
        integrator._work.size,
        [(place, function, signature) for place, function, signature in listed if function is not None],
    )


def steps_are_kernels(cls: type[Integrator]) -> bool:
    """Whether a method's steps are kernel functions, and no class in between has written one in Python."""
    return issubclass(cls, CompiledIntegrator) and all(
        getattr(cls, name) is getattr(CompiledIntegrator, name) for name in CALLS
    )


def _python_method(integrator: Integrator, system: Any) -> Method:
    """The numbers that a Step needs of a method whose steps are Python."""
    relative, absolute = integrator.tolerances(system)
    head = np.zeros(method_layout.SETTINGS_HEADER)
    head[method_layout.ACCURACY], head[method_layout.ERROR_ORDER] = integrator.accuracy, integrator.order
    head[method_layout.SMALLEST] = integrator.minimum_step
    head[method_layout.LARGEST] = integrator.maximum_step
    head[method_layout.FIXED] = integrator.fixed_step or 0.0
    head[method_layout.INITIAL] = integrator.initial_step or 0.0
    if isinstance(integrator, CompiledIntegrator):
        integrator._prepare(system)
    return Method(
        integrator,
        np.zeros(1),
        np.concatenate([head, relative, absolute]),
        np.array([*system.projection.tolist(), 0, 0], dtype=np.int64),
        integrator.memory_size(system.ny),
        method_layout.WORK_HEADER + 3 * system.ny,
        [],
    )
