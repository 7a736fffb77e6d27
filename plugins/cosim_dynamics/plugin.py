"""The registration of this package."""

from __future__ import annotations

import cosim

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    from cosim_dynamics.articulated_body_solver import ArticulatedBodySolver
    from cosim_dynamics.composite_rigid_body_solver import CompositeRigidBodySolver
    from cosim_dynamics.equilibrium_command import EquilibriumCommand
    from cosim_dynamics.linearize_command import LinearizeCommand
    from cosim_dynamics.sval_solver import SValSolver

    register("dynamics.sval", SValSolver)
    register("dynamics.composite_rigid_body", CompositeRigidBodySolver)
    register("dynamics.articulated_body", ArticulatedBodySolver)
    register("dynamics.equilibrium", EquilibriumCommand)
    register("dynamics.linearize", LinearizeCommand)
