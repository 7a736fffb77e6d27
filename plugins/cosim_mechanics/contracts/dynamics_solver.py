"""The contract of solvers for the accelerations of a tree of joints."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cosim import ContractError, State, plugin_kind
from cosim.kit import Solver
from cosim_mechanics.contracts.constraint import Constraint


@plugin_kind("dynamics_solver")
class DynamicsSolver(Solver):
    """Fills the bodies' poses, velocities and accelerations and the joints' ``u_dot``.

    The solver is asked once, when a system is assembled, for the blocks that do this. They read the
    joints' slots (``X_FM``, ``H_FM``, ``HDotU_FM``, ``tau``) and the bodies' (``mass`` …, ``F_GB``).

    A model names it with ``dynamics="dynamics.sval"``.
    """

    setting: ClassVar[str] = "dynamics"
    default: ClassVar[str] = "dynamics.sval"

    def constraint_equations(self, constraint: Constraint, state: State) -> list[Any]:
        """The equations of a constraint with the numbers of a State, for `Constraint.calc_equations`.

        A solver that does not support constraints raises `ContractError`.
        """
        raise ContractError(f"{type(self).__name__} does not know the equations of constraints")

    def unmet(self, state: State, tolerance: float) -> list[str]:
        """The constraints whose position or velocity errors exceed a tolerance, with these errors."""
        violated = []
        for name, part in state.system.parts.items():
            if isinstance(part, Constraint):
                for quantity in ("position_error", "velocity_error"):
                    error = float(abs(np.atleast_1d(state[f"{name}.{quantity}"])).max())
                    if not error <= tolerance:
                        violated.append(f"{name} ({quantity} {error:.3g})")
                        break
        return violated
