"""Fills in the records by which the solver knows constraint equations: the places of their variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cosim
from cosim.kit import width_of
from cosim_dynamics.connectivity import is_ground
from cosim_dynamics.constraint_ends import ConstraintEnd
from cosim_dynamics.constraint_groups import ConstraintGroup
from cosim_dynamics.mechanism import NOWHERE, TermSlots, terms_of
from cosim_dynamics.model_constraints import PlacedConstraint
from cosim_dynamics.projection_blocks import POSITIONS, SPEEDS
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Slot

LEVELS = {"position": POSITIONS, "velocity": SPEEDS, "acceleration": 0}
"""For what an equation holds: the level up to which projection corrects it."""


class ConstraintRecords:
    """Fills in the records of a mechanism, one constraint after the other.

    Parameters
    ----------
    parts : TreeAssembly

    Attributes
    ----------
    reads, writes : list of Slot
        The slots that the solver reads and writes because the records name them.
    """

    def __init__(self, parts: TreeAssembly) -> None:
        self.parts, self._slot = parts, parts.assembly.slot
        self.reads: list[Slot] = []
        self.writes: list[Slot] = []
        self._equations = iter(parts.mechanism.equations)
        self._next_term = parts.mechanism.header.terms_at

    def add_group(self, group: ConstraintGroup) -> None:
        """Fill in the equations of all constraints of a group."""
        members = {dof: i for i, dof in enumerate(group.dofs)}
        for constraint, ends in zip(group.constraints, group.ends, strict=True):
            self._add(constraint, ends, members)

    def _add(self, placed: PlacedConstraint, ends: list[ConstraintEnd], members: dict[int, int]) -> None:
        """Fill in the equations of a constraint and their terms.

        Parameters
        ----------
        members : dict of int to int
            By degree of freedom its index in the group.
        """
        part = placed.constraint
        width = placed.equations.width
        coefficients_slot = placed.coefficients_slot  # the coefficients of all equations, then the constants
        self._list_slots(placed)
        for i, held in enumerate(type(part).levels()):
            equation = next(self._equations)
            self._set_equation(equation, part, i, held)
            equation.constant = coefficients_slot.part(part.equations * width).part(i).offset
            equation.terms = len(placed.equations.attachments)
            equation.terms_at = self._next_term
            self._next_term += width_of(TermSlots) * equation.terms
            coefficients = coefficients_slot.part(i * width)
            for end, term in zip(ends, terms_of(self.parts.mechanism, equation), strict=True):
                self._set_term(term, part, end, coefficients)
                term.dof = end.dof
                term.member = members.get(end.dof, NOWHERE)
                coefficients = coefficients.part(end.size)

    def _list_slots(self, placed: PlacedConstraint) -> None:
        """Add the slots of a constraint itself to `reads` and `writes`."""
        part, slot = placed.constraint, self._slot
        self.reads += [placed.coefficients_slot, slot(part, "position_error")]
        self.reads += [slot(part, "enabled"), slot(part, "stabilization")]
        self.writes += [slot(part, name) for name in ("multipliers", "redundant", "drifts", "singular")]
        (self.reads if _computes(part, "velocity_error") else self.writes).append(
            slot(part, "velocity_error")
        )

    def _set_equation(self, equation: Any, part: contracts.Constraint, i: int, held: str) -> None:
        """Fill in the record of equation `i` of a constraint, which holds `held`: "position", …."""
        slot = self._slot
        equation.enabled = slot(part, "enabled").offset
        equation.stabilization = slot(part, "stabilization").offset
        equation.position_error = slot(part, "position_error").part(i).offset
        equation.velocity_error = slot(part, "velocity_error").part(i).offset
        equation.multiplier = slot(part, "multipliers").part(i).offset
        equation.redundant = slot(part, "redundant").offset
        equation.drifts = slot(part, "drifts").offset
        equation.singular = slot(part, "singular").offset
        equation.finds_velocity_error = not _computes(part, "velocity_error")
        equation.level = LEVELS[held] if part.values.options["projected"] else 0
        # positions drift while their speeds are corrected, if no function computes how far off they are
        equation.is_drifting = equation.level == POSITIONS and not _computes(part, "position_error")
        if equation.is_drifting:
            equation.level = SPEEDS

    def _set_term(
        self, term: Any, part: contracts.Constraint, end: ConstraintEnd, coefficients: Slot
    ) -> None:
        """Fill in the term of an equation that acts on one attachment."""
        force = self._slot(part, f"force_on_{end.name}")
        self.writes.append(force)
        term.size = end.size
        term.coefficients = coefficients.offset
        term.force = force.offset
        if end.size == 1:
            link = self.parts.tree.links[end.link]
            term.velocity = self._slot(link.joint, "u").part(end.dof - link.first_dof).offset
            term.acceleration = self.parts.free.u_dot[end.dof].offset
        else:
            self._set_body(term, self.parts.assembly.attached(part, end.name), end)

    def _set_body(self, term: Any, body: cosim.Component, end: ConstraintEnd) -> None:
        """Fill in the places of the motion of a body or of Ground, and of a body's mass and inertia."""
        X_GB, V_GB = self._slot(body, "X_GB"), self._slot(body, "V_GB")
        self.reads += [X_GB, V_GB]
        term.pose, term.velocity = X_GB.offset, V_GB.offset
        if is_ground(body):
            A_GB = self._slot(body, "A_GB")
            self.reads.append(A_GB)
            term.acceleration = A_GB.offset
            return
        mass, inertia = self._slot(body, "mass"), self._slot(body, "inertia")
        self.reads += [mass, inertia]
        term.mass, term.inertia = mass.offset, inertia.offset
        term.reference = self.parts.mechanism.links[end.link].reference
        term.acceleration = self.parts.free.A_GB[end.link].offset


def _computes(part: contracts.Constraint, name: str) -> bool:
    """Whether a constraint computes one of its variables itself; else the solver does."""
    return type(part).writes(name)
