"""Dynamics of trees of bodies: s-vals, the solvers, and the same equations with numbers in them."""

from cosim_dynamics.articulated_body_solver import ArticulatedBodySolver as ArticulatedBodySolver
from cosim_dynamics.composite_rigid_body_solver import CompositeRigidBodySolver as CompositeRigidBodySolver
from cosim_dynamics.equations import torque_equations as torque_equations
from cosim_dynamics.operators import bias as bias
from cosim_dynamics.operators import center_of_mass as center_of_mass
from cosim_dynamics.operators import frame_bias as frame_bias
from cosim_dynamics.operators import frame_jacobian as frame_jacobian
from cosim_dynamics.operators import generalized_forces as generalized_forces
from cosim_dynamics.operators import inverse_dynamics as inverse_dynamics
from cosim_dynamics.operators import kinetic_energy as kinetic_energy
from cosim_dynamics.operators import mass_matrix as mass_matrix
from cosim_dynamics.operators import mass_solve as mass_solve
from cosim_dynamics.operators import mass_times as mass_times
from cosim_dynamics.operators import momentum as momentum
from cosim_dynamics.operators import point_bias as point_bias
from cosim_dynamics.operators import point_jacobian as point_jacobian
from cosim_dynamics.operators import potential_energy as potential_energy
from cosim_dynamics.spatial_sval import SpatialSVal as SpatialSVal
from cosim_dynamics.sval import SVal as SVal
from cosim_dynamics.sval_solver import SValSolver as SValSolver
from cosim_dynamics.sval_triple import SValTriple as SValTriple
from cosim_dynamics.symbol import Symbol as Symbol
from cosim_dynamics.symbol import cos as cos
from cosim_dynamics.symbol import sin as sin
from cosim_dynamics.symbol import sqrt as sqrt
