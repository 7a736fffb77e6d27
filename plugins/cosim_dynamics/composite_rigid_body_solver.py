"""The solver that sets up the mass matrix and factorizes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim_dynamics.composite_schedule import schedule_composite
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_dynamics.tree_solver import TreeSolver

if TYPE_CHECKING:
    from cosim.kit import Block, Slot


class CompositeRigidBodySolver(TreeSolver):
    """Accelerations of a tree of bodies from its mass matrix, which is set up and factorized.

    Law: M u_dot = T - V. Element i, j of M is what the acceleration of speed j takes at speed i when all that
    i carries is one rigid body. Of row i only the columns of the speeds between Ground and i differ from
    zero, and only these are kept; the factorization M = L^T D L makes no new ones.

    Limits
    ------
    Trees only. The effort grows with the sum of the squares of the depths.

    Stage
    -----
    Poses at POSITION, velocities at VELOCITY, u_dot and accelerations at ACCELERATION.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 6.

    Examples
    --------
    >>> import cosim
    >>> solver = cosim.registry().get("dynamics_solver", "dynamics.composite_rigid_body")
    >>> solver is CompositeRigidBodySolver
    True
    """

    method = "mass matrix of composite rigid bodies"

    def acceleration_blocks(self, parts: TreeAssembly) -> tuple[list[Block], Slot]:
        """One block that sets up the equations and one that solves them."""
        return schedule_composite(parts)
