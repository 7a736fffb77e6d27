"""Base of the methods for second-order form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import cosim
from cosim.kit import WALK_SIGNATURE, compile_function, walk, width_of
from cosim_integrators.kit import CompiledIntegrator
from cosim_integrators.kit.interpolants import hermite_dense_output
from cosim_integrators.second_order.fixed_steps import begin_second_order_steps
from cosim_integrators.second_order.second_order_method import FormMemory


class SecondOrderIntegrator(CompiledIntegrator):
    """Takes fixed steps of systems in which q' = N(q) u; others are refused when a run begins.

    Parameters
    ----------
    **options
        As `cosim.Integrator`; `fixed_step` is required.
    """

    dense_function: ClassVar[Any] = hermite_dense_output
    begin_function: ClassVar[Any] = begin_second_order_steps
    method: ClassVar[tuple[float, ...]] = ()

    def coefficients(self, system: Any) -> Any:
        """The lengths of q and u, then the numbers of the method."""
        return np.array([float(system.nq), float(system.nu), *self.method])

    def work_size(self, ny: int) -> int:
        """The derivatives at both ends of the step, and two vectors."""
        return 4 * ny

    def memory_size(self, ny: int) -> int:
        """The length of the memory: that of `FormMemory`, whether q' = u has held so far."""
        return width_of(FormMemory)

    def check(self, system: Any, state: Any) -> None:
        """Check the form of the system.

        Raises
        ------
        SimulationError
            The system is not in second-order form.
        """
        name = type(self).__name__
        if not system.nq or not system.nu:
            missing = "coordinates (cosim.position)" if not system.nq else "speeds (cosim.speed)"
            raise cosim.SimulationError(
                state.time,
                f"{name} is for systems in second-order form, q' = N(q) u and u' = f; this one has no "
                f"{missing}: choose a Runge–Kutta method.",
            )
        y, p, d, k, h, c = system.arrays(state)
        y_at_rest, cache = y.copy(), c.copy()
        y_at_rest[system.nq : system.nq + system.nu] = 0.0
        status = self._walk_at(system, state.time, y_at_rest, p, d, k, h, cache)
        moving = np.flatnonzero(cache[: system.nq]) if status == 0 else np.zeros(0)
        if moving.size:
            path = system.paths_at("y", [int(moving[0])])[0]
            raise cosim.SimulationError(
                state.time,
                f"{name} is for systems in second-order form, q' = N(q) u and u' = f; here {path} changes "
                "while all speeds are 0: declare it as cosim.auxiliary_state, or use a Runge–Kutta method.",
            )

    @staticmethod
    def _walk_at(system: Any, t: float, y: Any, *arrays: Any) -> int:
        compiled_walk = compile_function(walk, WALK_SIGNATURE)
        with np.errstate(all="ignore"):
            return int(compiled_walk(system.table, system.ints, *system.derivative_range, t, y, *arrays))
