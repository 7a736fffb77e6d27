"""The base class of the solvers for trees of bodies."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import width_of
from cosim_dynamics.connectivity import Report
from cosim_dynamics.constraint_arrays import ConstraintErrors
from cosim_dynamics.constraint_groups import describe_groups, find_groups
from cosim_dynamics.constraint_operators import constraint_equations
from cosim_dynamics.constraint_schedule import schedule_constraints
from cosim_dynamics.joint_terms import JointTerms
from cosim_dynamics.massless_tips import check_tips, find_unresisted
from cosim_dynamics.mechanism import mechanism_at
from cosim_dynamics.mechanism_table import MechanismTable
from cosim_dynamics.model_constraints import ModelConstraints
from cosim_dynamics.motion_schedule import schedule_motion
from cosim_dynamics.projection_schedule import schedule_projection
from cosim_dynamics.singular_ahead import singular_ahead
from cosim_dynamics.singular_start import SingularStart
from cosim_dynamics.solver_cache import SolverCache
from cosim_dynamics.tree import Tree
from cosim_dynamics.tree_assembly import Accelerations, TreeAssembly
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block, Slot


class TreeSolver(contracts.DynamicsSolver):
    """Poses and velocities of a tree of bodies, and its checks; a subclass solves for the accelerations.

    Attributes
    ----------
    method : str
        How the accelerations are found, for people; set at the latest by `acceleration_blocks`.
    """

    method: str
    _rows: NDArray[np.int64] | None = None
    _owners: list[list[str]]

    @abstractmethod
    def acceleration_blocks(self, parts: TreeAssembly) -> tuple[list[Block], Slot]:
        """The blocks that write the accelerations without constraints, `parts.free`.

        Returns
        -------
        list of Block, Slot
            The blocks; the factors with which M is solved for other right sides.
        """

    def check(self, tree: Tree, terms: JointTerms, problem: Report) -> None:
        """Report what this solver cannot do."""

    def constraint_equations(self, constraint: contracts.Constraint, state: cosim.State) -> list[Any]:
        """The equations of a constraint at a State; see `cosim_dynamics.constraint_equations`."""
        return constraint_equations(state.system, state, constraint)

    def explain(self, state: cosim.State, failure: str) -> str:
        """Names the joints whose speeds meet no inertia, where the mass matrix is singular."""
        return find_unresisted(state) if "mass matrix is singular" in failure else ""

    @property
    def describes_start(self) -> bool:
        """Whether there are constraints."""
        return self._rows is not None

    def describe_start(self, state: cosim.State) -> list[tuple[str, str]]:
        """The constraints of closed loops that are in a singular position, and where the motion goes on.

        Raises
        ------
        SimulationError
            There is no motion with the speeds of the State, or with the accelerations that are asked for.
        """
        mechanism = mechanism_at(self._rows, 0)
        notices: list[tuple[str, str]] = []
        for group, owners in zip(mechanism.groups, self._owners, strict=True):
            start = SingularStart(state, mechanism, group, owners)
            if start.contradicting and not start.constraints:
                names = ", ".join(start.contradicting)
                raise cosim.SimulationError(
                    state.time,
                    f"{names}: their accelerations contradict each other: no motion meets them all",
                )
            if not start.is_possible:
                raise cosim.SimulationError(state.time, f"{', '.join(start.constraints)}: {start.message}")
            notices += [(f"{name}.singular", start.message) for name in start.constraints]
        return notices

    def explain_ahead(self, state: cosim.State, duration: float) -> str:
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
        terms = JointTerms(assembly, tree, problem)
        constraints = ModelConstraints(assembly, problem)
        if not faults:
            check_tips(tree, terms.slots, problem)
            self.check(tree, terms, problem)
        if faults:
            return []
        groups = find_groups(assembly, tree, constraints, bool(terms.couples))
        table = MechanismTable(tree, groups)
        errors = assembly.allocate("dynamics: errors of constraints", width_of(ConstraintErrors))
        cache = SolverCache(assembly, tree, table)
        declared = Accelerations.declared(assembly, tree)
        is_constrained = bool(constraints.placed_constraints)
        free = Accelerations.without_constraints(assembly, tree) if is_constrained else declared
        parts = TreeAssembly(assembly, tree, table, cache, terms, free)
        parts.place_free_accelerations()
        motion = schedule_motion(parts)
        accelerations, factor = self.acceleration_blocks(parts)
        method = self.method
        if is_constrained:
            method += f", multipliers of {constraints.equations} equations{describe_groups(groups)}"
            accelerations += schedule_constraints(parts, constraints, groups, declared, factor, errors)
            self._rows = table.rows
            self._owners = [group.owners for group in groups]
        table.copy_parents(tree)
        assembly.projection = schedule_projection(parts, errors)
        speeds = f"{tree.size} speed{'' if tree.size == 1 else 's'}"
        self.choice = f"{method}; {speeds}, at most {tree.height} between Ground and a tip"
        return [*motion, *terms.blocks, *accelerations]
