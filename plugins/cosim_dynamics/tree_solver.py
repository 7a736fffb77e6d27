"""What the solvers for trees of bodies share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.constraint_operators import constraint_equations
from cosim_dynamics.constraint_rows import Constraints, constrained, projection_of
from cosim_dynamics.hanging import Report
from cosim_dynamics.joint_slots import reversed_of
from cosim_dynamics.matrix_rows import Factor, Targets
from cosim_dynamics.motion_rows import body_velocity_of, frames_of, pose_of, velocity_of
from cosim_dynamics.own_terms import OwnTerms
from cosim_dynamics.singular import check_leaves, unresisted
from cosim_dynamics.singular_ahead import singular_ahead
from cosim_dynamics.singular_start import SingularStart
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block

MOTION = (frames_of, pose_of, velocity_of, body_velocity_of)


class TreeSolver(contracts.DynamicsSolver):
    """Poses and velocities of a tree of bodies, and its checks; a subclass solves for the accelerations.

    Attributes
    ----------
    method : str
        How the accelerations are found, for people; set at the latest by `acceleration_blocks`.
    """

    method: str
    _constraint_rows: NDArray[np.int64] | None = None

    @abstractmethod
    def acceleration_blocks(
        self, assembly: Assembly, tree: Tree, work: Work, own: OwnTerms, targets: Targets, equations: int
    ) -> tuple[list[Block], Factor]:
        """The blocks that write u_dot and A_GB of everything in a sound tree, and what they leave behind.

        Parameters
        ----------
        targets : Targets
            Where they write them.
        equations : int
            Of constraints, that are solved with what they leave behind.
        """

    def check(self, tree: Tree, own: OwnTerms, problem: Report) -> None:
        """Report what this solver cannot do."""

    def constraint_equations(self, constraint: contracts.Constraint, state: cosim.State) -> list[Any]:
        """As `cosim_dynamics.constraint_equations`."""
        return constraint_equations(state.system, state, constraint)

    def explain(self, state: cosim.State, failure: str) -> str:
        """Names the joints whose speeds meet no inertia, where the mass matrix is singular."""
        return unresisted(state) if "mass matrix is singular" in failure else ""

    def look_at_start(self, state: cosim.State) -> list[tuple[str, str]]:
        """The constraints of closed loops that are in a singular position, and where the motion goes on.

        Raises
        ------
        SimulationError
            There is no motion with the speeds of the State, or with the accelerations that are asked for.
        """
        if self._constraint_rows is None:
            return []
        found = SingularStart(state, self._constraint_rows)
        if found.contradicting and not found.constraints:
            names = ", ".join(found.contradicting)
            raise cosim.SimulationError(
                state.time, f"{names}: their accelerations contradict each other: no motion meets them all"
            )
        if not found.is_possible:
            raise cosim.SimulationError(state.time, f"{', '.join(found.constraints)}: {found.message}")
        return [(f"{name}.singular", found.message) for name in found.constraints]

    def look_ahead(self, state: cosim.State, duration: float) -> str:
        """The constraints that come to a singular position, and which methods pass it."""
        names, time = singular_ahead(state, duration)
        if not names:
            return ""
        subject = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
        return (
            f" At about t = {time:.6g} s {subject} in a singular position, where branches of the motion "
            "meet; Runge-Kutta methods with error control pass it (integrators.runge_kutta_merson, "
            "integrators.radau5)."
        )

    def create_blocks(self, assembly: Assembly) -> list[Block]:
        """Blocks for joint frames, poses, velocities, joints' own terms and accelerations.

        Faults of the tree are reported through `assembly.problem`.
        """
        faults: list[str] = []

        def problem(where: str, text: str) -> None:
            faults.append(where)
            assembly.problem(where, text)

        tree = Tree.of(assembly.parts(cosim.Component), assembly.attached, problem)
        own = OwnTerms(assembly, tree, problem)
        constraints = Constraints(assembly, problem)
        if not faults:
            check_leaves(tree, problem)
            self.check(tree, own, problem)
        if faults:
            return []
        work = Work(assembly, tree)
        motion = [make(assembly, tree, work) for make in MOTION]
        motion += reversed_of(assembly, tree, work.joints)
        targets = (Targets.apart if constraints.all else Targets.declared)(assembly, tree)
        accelerations, factor = self.acceleration_blocks(assembly, tree, work, own, targets, constraints.size)
        solved = self.method
        if constraints.all:
            solved += f", multipliers of {constraints.size} equations"
            accelerations += constrained(assembly, tree, work, factor, targets, constraints)
        self._constraint_rows = constraints.rows
        assembly.projection = projection_of(assembly, tree, constraints)
        speeds = f"{tree.size} speed{'' if tree.size == 1 else 's'}"
        self.choice = f"{solved}; {speeds}, at most {tree.height} between Ground and a tip"
        return [*motion, *own.blocks, *accelerations]
