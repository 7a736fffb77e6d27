"""Dynamics of trees of bodies: s-vals, the solvers, and the same equations with numbers in them."""

from typing import TYPE_CHECKING

import cosim.kit

if TYPE_CHECKING:
    from cosim_dynamics.articulated_body_solver import ArticulatedBodySolver as ArticulatedBodySolver
    from cosim_dynamics.balances import center_of_mass as center_of_mass
    from cosim_dynamics.balances import joint_reactions as joint_reactions
    from cosim_dynamics.balances import momentum as momentum
    from cosim_dynamics.balances import potential_energy as potential_energy
    from cosim_dynamics.balances import reactions_on_parents as reactions_on_parents
    from cosim_dynamics.composite_rigid_body_solver import (
        CompositeRigidBodySolver as CompositeRigidBodySolver,
    )
    from cosim_dynamics.constraint_operators import constraint_bias as constraint_bias
    from cosim_dynamics.constraint_operators import constraint_equations as constraint_equations
    from cosim_dynamics.constraint_operators import constraint_jacobian as constraint_jacobian
    from cosim_dynamics.equations_of_motion import torque_equations as torque_equations
    from cosim_dynamics.find_equilibrium import equilibrium as equilibrium
    from cosim_dynamics.find_equilibrium import start_values as start_values
    from cosim_dynamics.find_placement import inverse_kinematics as inverse_kinematics
    from cosim_dynamics.jacobians import frame_bias as frame_bias
    from cosim_dynamics.jacobians import frame_jacobian as frame_jacobian
    from cosim_dynamics.jacobians import point_bias as point_bias
    from cosim_dynamics.jacobians import point_jacobian as point_jacobian
    from cosim_dynamics.linear_model import linearize as linearize
    from cosim_dynamics.linearization import Linearization as Linearization
    from cosim_dynamics.mode import Mode as Mode
    from cosim_dynamics.operators import bias as bias
    from cosim_dynamics.operators import generalized_forces as generalized_forces
    from cosim_dynamics.operators import inverse_dynamics as inverse_dynamics
    from cosim_dynamics.operators import kinetic_energy as kinetic_energy
    from cosim_dynamics.operators import mass_matrix as mass_matrix
    from cosim_dynamics.operators import mass_solve as mass_solve
    from cosim_dynamics.operators import mass_times as mass_times
    from cosim_dynamics.placement import Placement as Placement
    from cosim_dynamics.spatial_sval import SpatialSVal as SpatialSVal
    from cosim_dynamics.sval import SVal as SVal
    from cosim_dynamics.sval_solver import SValSolver as SValSolver
    from cosim_dynamics.sval_triple import SValTriple as SValTriple
    from cosim_dynamics.symbol import Symbol as Symbol
    from cosim_dynamics.symbol import cos as cos
    from cosim_dynamics.symbol import sin as sin
    from cosim_dynamics.symbol import sqrt as sqrt
    from cosim_dynamics.tangent import Tangent as Tangent
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
