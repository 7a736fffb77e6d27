"""The records of equations of constraints, and of what these act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cosim
from cosim.kit import width_of
from cosim_dynamics.connectivity import is_ground
from cosim_dynamics.equations_of_constraints import offered_name
from cosim_dynamics.mechanism import NOWHERE, TermSlots, terms_of
from cosim_dynamics.model_constraints import PlacedConstraint
from cosim_dynamics.projection_blocks import POSITIONS, SPEEDS
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Slot

LEVEL = {"position": POSITIONS, "velocity": SPEEDS, "acceleration": 0}


class ConstraintRecords:
    """Sets the records of a mechanism, one constraint after the other.

    Attributes
    ----------
    reads, writes : list of Slot
        What lies at the places that were set.
    """

    def __init__(self, parts: TreeAssembly) -> None:
        self.parts, self._slot = parts, parts.assembly.slot
        self.reads: list[Slot] = []
        self.writes: list[Slot] = []
        self._equations = iter(parts.mechanism.equations)
        self._next_term = parts.mechanism.whole.terms_at
        self._number = {link.body.name: i for i, link in enumerate(parts.tree.links)}
        self._joints = {link.joint.name: link for link in parts.tree.links}

    def add(self, placed: PlacedConstraint) -> None:
        """Set the equations of a constraint and their terms."""
        part, slot = placed.constraint, self._slot
        position, velocity = slot(part, "position_error"), slot(part, "velocity_error")
        finds_velocity = not type(part).writes("velocity_error")
        self.reads += [placed.numbers, position, slot(part, "enabled"), slot(part, "stabilization")]
        self.writes += [slot(part, name) for name in ("multipliers", "redundant", "drifts", "singular")]
        (self.writes if finds_velocity else self.reads).append(velocity)
        corrected, is_known = part.values.options["projected"], type(part).writes("position_error")
        width = placed.equations.width
        constants = placed.numbers.part(part.equations * width)
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
            coefficients = placed.numbers.part(i * width)
            self._next_term += width_of(TermSlots) * equation.terms
            terms = terms_of(self.parts.mechanism, equation)
            for (name, size), term in zip(placed.equations.attachments, terms, strict=True):
                self._set_term(term, part, name, size, coefficients)
                coefficients = coefficients.part(size)

    def _set_term(
        self, term: Any, part: contracts.Constraint, name: str, size: int, coefficients: Slot
    ) -> None:
        """Set what an equation acts on at an attachment."""
        force = self._slot(part, f"force_on_{name}")
        term.size, term.coefficients, term.force = size, coefficients.offset, force.offset
        self.writes.append(force)
        if size == 1:
            self._set_coordinate(term, part, name)
        else:
            self._set_body(term, self.parts.assembly.attached(part, name))

    def _set_coordinate(self, term: Any, part: contracts.Constraint, name: str) -> None:
        """Of a coordinate its speed and its acceleration."""
        speed = self.parts.assembly.asked(part, offered_name("u", name, "coordinate"))
        path = str(getattr(part.values.attachments[name], "name", part.values.attachments[name]))
        link = self._joints[path.partition("[")[0].partition(".")[0]]
        term.velocity = speed.offset
        term.dof = link.first_dof + speed.offset - self._slot(link.joint, "u").offset
        term.acceleration = self.parts.free.u_dot[term.dof].offset

    def _set_body(self, term: Any, body: cosim.Component) -> None:
        """Of a body or of Ground its motion, and what it puts up against a force."""
        X_GB, V_GB = self._slot(body, "X_GB"), self._slot(body, "V_GB")
        self.reads += [X_GB, V_GB]
        term.pose, term.velocity = X_GB.offset, V_GB.offset
        if is_ground(body):
            A_GB = self._slot(body, "A_GB")
            self.reads.append(A_GB)
            term.acceleration, term.dof = A_GB.offset, NOWHERE
            return
        mass, inertia = self._slot(body, "mass"), self._slot(body, "inertia")
        self.reads += [mass, inertia]
        term.mass, term.inertia = mass.offset, inertia.offset
        number = self._number[body.name]
        term.reference = self.parts.mechanism.links[number].reference
        term.acceleration = self.parts.free.A_GB[number].offset
        term.dof = self.parts.tree.last_dof(number)
