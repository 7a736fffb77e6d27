"""The solver that never sets up a mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim_dynamics.articulated_schedule import schedule_articulated
from cosim_dynamics.connectivity import Report
from cosim_dynamics.joint_terms import JointTerms
from cosim_dynamics.tree import Tree
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_dynamics.tree_solver import TreeSolver

if TYPE_CHECKING:
    from cosim.kit import Block, Slot


class ArticulatedBodySolver(TreeSolver):
    """Accelerations of a tree of bodies by recursion, in proportion to the number of bodies.

    Law: M u_dot + V = T, as for `SValSolver`. From the tips toward Ground each degree of freedom is
    eliminated, which leaves the inertia that an articulated body puts up against its carrier; from Ground
    outward the accelerations follow.

    Limits
    ------
    Trees only. A joint with equations of its own has one speed: an inertia that couples two speeds of one
    joint needs M.

    Stage
    -----
    Poses at POSITION, velocities at VELOCITY, u_dot and accelerations at ACCELERATION.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7.

    Examples
    --------
    >>> import cosim
    >>> cosim.registry().get("dynamics_solver", "dynamics.articulated_body") is ArticulatedBodySolver
    True
    """

    method = "recursion over articulated bodies"

    def check(self, tree: Tree, terms: JointTerms, problem: Report) -> None:
        """Report joints whose own equations couple their speeds."""
        for name in terms.couples:
            problem(
                name,
                "has several speeds and equations of its own, which 'dynamics.articulated_body' cannot take; "
                "choose dynamics='dynamics.sval' in the settings of the model",
            )

    def acceleration_blocks(self, parts: TreeAssembly) -> tuple[list[Block], Slot]:
        """One block for the three sweeps over the tree, and one for the accelerations of the bodies."""
        return schedule_articulated(parts)
