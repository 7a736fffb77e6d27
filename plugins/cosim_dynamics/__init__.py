"""Dynamics of trees of bodies: s-vals, the solvers, and the same equations with numbers in them."""

from cosim_dynamics.articulated_body_solver import ArticulatedBodySolver as ArticulatedBodySolver
from cosim_dynamics.composite_rigid_body_solver import CompositeRigidBodySolver as CompositeRigidBodySolver
from cosim_dynamics.equations import bias as bias
from cosim_dynamics.equations import inverse_dynamics as inverse_dynamics
from cosim_dynamics.equations import mass_matrix as mass_matrix
from cosim_dynamics.equations import torque_equations as torque_equations
from cosim_dynamics.sval import SVal as SVal
from cosim_dynamics.sval_solver import SValSolver as SValSolver
from cosim_dynamics.sval_triple import SValTriple as SValTriple
from cosim_dynamics.symbol import Symbol as Symbol
from cosim_dynamics.symbol import cos as cos
from cosim_dynamics.symbol import sin as sin
from cosim_dynamics.symbol import sqrt as sqrt
