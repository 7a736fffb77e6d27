"""The constraints of a model, their equations traced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cosim.kit import Block
from cosim_dynamics.connectivity import Report
from cosim_dynamics.equations_of_constraints import TracedConstraintEquations, trace_constraint
from cosim_dynamics.joint_terms import with_line
from cosim_dynamics.traced_block import traced_block
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


@dataclass(frozen=True)
class PlacedConstraint:
    """A constraint, its traced equations, and the slot of their coefficients, row by row, and constants."""

    constraint: contracts.Constraint
    equations: TracedConstraintEquations
    coefficients_slot: Slot

    @property
    def terms(self) -> int:
        """The number of terms of all equations."""
        return self.constraint.equations * len(self.equations.attachments)


class ModelConstraints:
    """The constraints of a model.

    Attributes
    ----------
    placed_constraints : list of PlacedConstraint
    blocks : list of Block
        They compute coefficients and constants.
    """

    def __init__(self, assembly: Assembly, report: Report) -> None:
        self.placed_constraints: list[PlacedConstraint] = []
        self.blocks: list[Block] = []
        for constraint in assembly.parts(contracts.Constraint):
            try:
                self._add(assembly, constraint)
            except Exception as error:  # the author's code: whatever it raises is a fault of the model
                report(constraint.name, with_line(error))

    @property
    def equations(self) -> int:
        """The number of equations."""
        return sum(placed.constraint.equations for placed in self.placed_constraints)

    @property
    def terms(self) -> int:
        """The number of terms of all equations."""
        return sum(placed.terms for placed in self.placed_constraints)

    def _add(self, assembly: Assembly, constraint: contracts.Constraint) -> None:
        equations = trace_constraint(constraint)
        block, coefficients_slot = traced_block(
            assembly,
            constraint,
            equations.graph,
            equations.results,
            assembly.slot_of_argument,
            "coefficients and constants",
        )
        self.placed_constraints.append(PlacedConstraint(constraint, equations, coefficients_slot))
        self.blocks.append(block)
