"""Explicit Runge–Kutta methods: everything but the tableau."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import cosim
from cosim import ContractError, SimulationError
from cosim.kit import (
    REDO_SIGNATURE,
    Capabilities,
    ErrorEstimate,
    StepCode,
    Vector,
    compiled,
    slots_named,
)
from cosim_integrators.kit.butcher_tableau import ButcherTableau
from cosim_integrators.kit.compiled_integrator import CompiledIntegrator
from cosim_integrators.kit.explicit_dense_output import explicit_dense_output
from cosim_integrators.kit.explicit_error import SECOND_WEIGHT
from cosim_integrators.kit.explicit_method import STAGES_AT, ExplicitMethod, PastSlots
from cosim_integrators.kit.explicit_stages import complete_explicit_step
from cosim_integrators.kit.explicit_step import explicit_step, redo_explicit_step
from cosim_integrators.kit.size_memory import sizes_size
from cosim_integrators.kit.start_of_run import initialize_explicit_steps
from cosim_integrators.kit.stiffness import HITS

if TYPE_CHECKING:
    State = Any
    System = Any

__all__ = ["ButcherTableau", "ExplicitRungeKutta"]


OVERLAP = "overlap"  # name of the cache slots that say how far a step reads its own past


class ExplicitRungeKutta(CompiledIntegrator):
    """Base of explicit Runge–Kutta methods: a subclass gives its `tableau` and a docstring.

    The step is compiled once for all methods. The derivative at the end of a step serves as the first
    stage of the next one, and the first stage is kept when a step is rejected. The error of a step is
    its largest component relative to the tolerance; a proportional-integral controller sets the step:
    at most 5 times longer, at least 0.1 times as long after a rejection, and no growth below 1.1.
    A step that a target or a `limit` made short does not change the length that is remembered.

    Parameters
    ----------
    **options
        As `Integrator`.

    Examples
    --------
    >>> class Ralston(ExplicitRungeKutta):
    ...     '''Ralston's second-order method.'''
    ...     tableau = ButcherTableau(order=2, a=[[], [2 / 3]], b=[1 / 4, 3 / 4], c=[0, 2 / 3])
    >>> Ralston(fixed_step=0.01).order
    2
    """

    tableau: ClassVar[ButcherTableau]
    begin_function = initialize_explicit_steps
    step_function = explicit_step
    redo_function = redo_explicit_step
    dense_function = explicit_dense_output
    complete_function: ClassVar[Callable[..., Any] | None] = complete_explicit_step

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        tableau = getattr(cls, "tableau", None)
        if tableau is None:
            return
        if not isinstance(tableau, ButcherTableau):
            raise ContractError(f"{cls.__name__}: tableau is {tableau!r}, must be a ButcherTableau(...)")
        cls.order = tableau.order
        if "complete_function" not in cls.__dict__:
            cls.complete_function = complete_explicit_step if tableau.extra else None
        cls.capabilities = replace(
            Capabilities(),
            adaptive=tableau.error is not None,
            dense_order=tableau.dense_order,
            cubic_until_completed=tableau.lift is not None,
            locates_kinks=tableau.error is not None,
            supports_constraints=True,
        )

    def __init__(self, **options: Any) -> None:
        if getattr(self, "tableau", None) is None:
            raise ContractError(f"{type(self).__name__}: no tableau; write tableau = ButcherTableau(...)")
        super().__init__(**options)
        self._attached: tuple[Any, Any] = None, None  # system and State of the last step
        self._scratch = (np.zeros(0), np.zeros(0))

    @property
    def error_order(self) -> int:
        """One more than the order of the embedded method; of two estimates, that of their mixture."""
        return self.tableau.control_order

    def coefficients(self, system: System) -> Vector:
        """The tableau as one flat array."""
        return self.tableau.coefficients

    def work_size(self, ny: int) -> int:
        """Derivatives of the stages and at the end of the step, what dense output keeps, sizes of states."""
        is_cubic = self.tableau.dense is None or self.tableau.lift is not None
        dense_vectors = 4 if is_cubic else 1
        return (self.tableau.stages + 1 + self.tableau.extra + dense_vectors) * ny + sizes_size(ny)

    def memory_size(self, ny: int) -> int:
        """The length of the memory; with error control it includes the sizes of the states."""
        return super().memory_size(ny) + (sizes_size(ny) if self.fixed_step is None else 0)

    def floors_at(self, ny: int) -> int:
        """Behind the header, with error control."""
        return super().memory_size(ny) if self.fixed_step is None else 0

    def extra_slots(self, system: System) -> list[int]:
        """The places of histories, for steps that read their own past; see `step_in_own_past`."""
        overlaps = slots_named(system, OVERLAP)
        if not overlaps:
            return []
        ranges, rings = system.update_ranges, [ring.offset for ring in system.rings]
        past = PastSlots(
            overlaps=len(overlaps),
            rings=len(rings),
            side=system.side,
            inside_first=ranges["inside"].start,
            inside_last=ranges["inside"].stop,
            ahead_first=ranges["ahead"].start,
            ahead_last=ranges["ahead"].stop,
            points=self.capabilities.points_inside,
        )
        return [*np.frombuffer(past, dtype=np.int64).tolist(), *overlaps, *rings]

    def followed_error(self) -> ErrorEstimate:
        """The sum of the derivatives of the stages, times the step."""
        tableau = self.tableau
        if tableau.error is None:
            return ErrorEstimate()
        second = [] if tableau.second_error is None else tableau.second_error.tolist()
        second = [math.sqrt(SECOND_WEIGHT) * weight for weight in second]
        jump_weights = tableau.jump_weights.tolist()
        return ErrorEstimate(
            STAGES_AT, tableau.error.tolist(), second, is_rate=True, jump_weights=jump_weights
        )

    @property
    def warnings(self) -> list[str]:
        """A warning that the system is stiff, if that was detected, with a method to use instead."""
        if self._last.stiff_hits < HITS:
            return []
        methods = [e for e in cosim.registry().entries("integrator") if issubclass(e.cls, CompiledIntegrator)]
        methods = [e for e in methods if e.cls.capabilities.implicit and e.cls.capabilities.adaptive]
        methods.sort(key=lambda entry: -entry.cls.order)
        implicit_ids = ", ".join(entry.id for entry in methods[:3])
        return [
            f"The system is stiff (noticed at t = {self._last.stiff_time:.6g} s): the steps of "
            f"{type(self).__name__} follow stability instead of accuracy. An implicit method takes longer "
            + (f"ones: {implicit_ids}." if implicit_ids else "ones.")
        ]

    def attach(self, system: System, state: State) -> None:
        attached_system, attached_state = self._attached
        if attached_state is not state or attached_system is not system:
            self._attached = system, state

    def _stepped(self, system: System, state: State) -> None:
        if self.tableau.extra:
            self.attach(system, state)
            # Updates at the end of a step change what the extra stages read: these are computed before.
            if system.has_updates:
                self._compute_extra_stages()

    def _complete(self) -> None:
        # Updates that have run since the step change what the extra stage reads: then the cubic remains. The
        # Step itself computes the extra stage before updates, where it reads values inside the step.
        if not (self.capabilities.cubic_until_completed and self._system.has_updates):
            self._compute_extra_stages()

    def _compute_extra_stages(self) -> None:
        """The extra stages of the last step, in arrays of their own; the State is not touched."""
        work = self._last
        if not self.tableau.extra or work.dense_ready or not work.start < math.inf:
            return
        system, state = self._attached
        y, p, d, k, h, c = system.arrays(state)
        if self._scratch[0].shape != y.shape or self._scratch[1].shape != c.shape:
            self._scratch = np.empty_like(y), np.empty_like(c)
        self._scratch[1][:] = c
        status = compiled(complete_explicit_step, REDO_SIGNATURE)(
            *(system.table, system.ints, *system.derivative_range, self.previous_time, self._scratch[0]),
            *(p, d, k, h, self._scratch[1]),
            *(self._coefficients, self._settings, self._work, self._work, self._slots),
        )
        if status != 0:
            raise SimulationError(self.previous_time, StepCode.BLOCK_FAILED.sentence)

    @property
    def worst_state(self) -> int:
        """Index in y of the state with the largest error in the last attempt (-1: no error estimate)."""
        if self.tableau.error is None or self._ny == 0:
            return -1
        method = ExplicitMethod(*self._method)
        relative, absolute = method.relative_tolerances, method.absolute_tolerances
        stages = method.derivatives[: self.tableau.stages * method.n].reshape(-1, method.n)
        error = np.abs(self.tableau.error @ stages) / np.maximum(absolute, relative * np.abs(method.start))
        return int(np.argmax(np.where(np.isnan(error), np.inf, error)))
