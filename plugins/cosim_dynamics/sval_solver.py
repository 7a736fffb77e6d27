"""The solver for trees of joints: the equations of motion from s-vals, compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cosim_dynamics.articulated_schedule import schedule_articulated
from cosim_dynamics.composite_schedule import schedule_composite
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_dynamics.tree_solver import TreeSolver

if TYPE_CHECKING:
    from cosim.kit import Block, Slot

#: Degrees of freedom between Ground and a tip from which on the recursion is faster (benchmarks/dynamics).
DEEP = 5
#: With constraints: each equation of a group that dense matrices solve needs a sweep over what carries the
#: group; while that is shallow, M is cheaper.
DEEP_CONSTRAINED = 8
DEEP_EACH = 1.5


def deep_from(equations: int) -> int:
    """Degrees of freedom between Ground and a tip from which on the recursion is taken.

    Parameters
    ----------
    equations : int
        Of the largest group of constraints that dense matrices solve.
    """
    return math.ceil(DEEP_CONSTRAINED + DEEP_EACH * equations) if equations else DEEP


class SValSolver(TreeSolver):
    """Accelerations of a tree of bodies from M u_dot + V = T.

    Law: each degree of freedom has a torque equation, an s-val: its coefficients are a row of the mass
    matrix M, its constant is V, the terms that remain at u_dot = 0 (centripetal, Coriolis, gyroscopic). T
    holds the joints' `tau` and what force elements and gravity do to the bodies. M is symmetric and positive
    definite and as sparse as the tree; it is factorized as L^T D L without new entries.

    Joints that do not override `create_equations` contribute what they transmit along their free motion,
    H_FM^T F, and this form is compiled once for all. Joints that do (a rotor's inertia, friction of their
    own) are traced: the author's equations are called once with symbols and written out as a kernel function
    for their additional terms.

    Limits
    ------
    Joints form trees on Ground; constraints close loops. Setting up and factorizing M costs more than in
    proportion to the depth of the tree. A fixed rule decides, and `System.dynamics` says what it decided:
    where five or more speeds lie between Ground and a tip (with m equations in the largest group of
    constraints that dense matrices solve, 8 + 1.5 m or more), the same equations are solved by the
    recursion of `ArticulatedBodySolver`, which never sets up M; otherwise as in `CompositeRigidBodySolver`.
    The two agree to rounding. Naming one of them in place of this solver takes the choice away.

    Stage
    -----
    Poses at POSITION, velocities at VELOCITY, u_dot and accelerations at ACCELERATION.

    References
    ----------
    Darwin2K/dyno's s-vals for the form of the equations; R. Featherstone, Rigid Body Dynamics Algorithms,
    2008, chapters 5.3 and 6 for the compiled recursion (here in Ground's axes).

    Examples
    --------
    >>> import cosim
    >>> cosim.registry().get("dynamics_solver", "dynamics.sval") is SValSolver
    True
    """

    def acceleration_blocks(self, parts: TreeAssembly) -> tuple[list[Block], Slot]:
        """M u_dot = T - V, set up and solved; by recursion where the tree is deep."""
        dense = [group.equations for group in parts.mechanism.groups if not group.fronts]
        deep, coupled = deep_from(max(dense, default=0)), parts.terms.couples
        if parts.tree.height >= deep and not coupled:
            self.method = f"recursion over articulated bodies (from {deep} speeds in a row on)"
            return schedule_articulated(parts)
        self.method = f"mass matrix of composite rigid bodies (below {deep} speeds in a row)"
        if coupled:
            self.method = f"mass matrix of composite rigid bodies (for the equations of {coupled[0]})"
        return schedule_composite(parts)
