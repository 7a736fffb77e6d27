"""The records of constraint equations, and of the bodies and joints on which they act."""

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

LEVEL = {"position": POSITIONS, "velocity": SPEEDS, "acceleration": 0}


class ConstraintRecords:
    """Fills in the records of a mechanism, one constraint after the other.

    Attributes
    ----------
    reads, writes : list of Slot
        Slots whose places the records name.
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
        part, slot = placed.constraint, self._slot
        position, velocity = slot(part, "position_error"), slot(part, "velocity_error")
        finds_velocity = not type(part).writes("velocity_error")
        self.reads += [placed.coefficients_slot, position, slot(part, "enabled"), slot(part, "stabilization")]
        self.writes += [slot(part, name) for name in ("multipliers", "redundant", "drifts", "singular")]
        (self.writes if finds_velocity else self.reads).append(velocity)
        corrected, is_known = part.values.options["projected"], type(part).writes("position_error")
        width = placed.equations.width
        constants = placed.coefficients_slot.part(part.equations * width)
        for i, held in enumerate(type(part).levels()):
            equation = next(self._equations)
            equation.constant = constants.part(i).offset
            equation.enabled = slot(part, "enabled").offset
            equation.stabilization = slot(part, "stabilization").offset
            equation.position_error = position.part(i).offset
            equation.velocity_error = velocity.part(i).offset
            equation.finds_velocity_error = finds_velocity
            equation.is_drifting = corrected and held == "position" and not is_known
            equation.level = (LEVEL[held] - equation.is_drifting) * corrected
            equation.multiplier = slot(part, "multipliers").part(i).offset
            equation.redundant = slot(part, "redundant").offset
            equation.drifts = slot(part, "drifts").offset
            equation.singular = slot(part, "singular").offset
            equation.terms = len(placed.equations.attachments)
            equation.terms_at = self._next_term
            coefficients = placed.coefficients_slot.part(i * width)
            self._next_term += width_of(TermSlots) * equation.terms
            terms = terms_of(self.parts.mechanism, equation)
            for end, term in zip(ends, terms, strict=True):
                self._set_term(term, part, end, coefficients)
                term.dof, term.member = end.dof, members.get(end.dof, NOWHERE)
                coefficients = coefficients.part(end.size)

    def _set_term(
        self, term: Any, part: contracts.Constraint, end: ConstraintEnd, coefficients: Slot
    ) -> None:
        """Fill in the term of an equation that acts on one attachment."""
        force = self._slot(part, f"force_on_{end.name}")
        term.size, term.coefficients, term.force = end.size, coefficients.offset, force.offset
        self.writes.append(force)
        if end.size == 1:
            link = self.parts.tree.links[end.link]
            term.velocity = self._slot(link.joint, "u").part(end.dof - link.first_dof).offset
            term.acceleration = self.parts.free.u_dot[end.dof].offset
        else:
            self._set_body(term, self.parts.assembly.attached(part, end.name), end)

    def _set_body(self, term: Any, body: cosim.Component, end: ConstraintEnd) -> None:
        """Fill in where the motion of a body or of Ground lies, and a body's mass and inertia."""
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
