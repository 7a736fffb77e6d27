"""The links and degrees of freedom on which constraints act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cosim_dynamics.connectivity import is_ground
from cosim_dynamics.equations_of_constraints import offered_name
from cosim_dynamics.mechanism import NOWHERE
from cosim_dynamics.model_constraints import PlacedConstraint
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly


@dataclass(frozen=True)
class ConstraintEnd:
    """The body or coordinate on which all equations of a constraint act at one of its attachments.

    Attributes
    ----------
    name : str
        Of the attachment.
    size : int
        6 of a body, 1 of a coordinate.
    link : int
        The body, or the one that the coordinate moves; `NOWHERE`: Ground.
    dof : int
        The coordinate, or the outermost degree of freedom that moves the body; `NOWHERE` where none does.
    """

    name: str
    size: int
    link: int
    dof: int


class ConstraintEnds:
    """Finds what constraints act on."""

    def __init__(self, assembly: Assembly, tree: Tree) -> None:
        self._assembly, self._tree = assembly, tree
        self._links = {link.body.name: i for i, link in enumerate(tree.links)}
        self._joints = {link.joint.name: i for i, link in enumerate(tree.links)}

    def of(self, placed: PlacedConstraint) -> list[ConstraintEnd]:
        """The ends of a constraint, in the order of the terms of its equations."""
        return [self._end(placed, name, size) for name, size in placed.equations.attachments]

    def _end(self, placed: PlacedConstraint, name: str, size: int) -> ConstraintEnd:
        part = placed.constraint
        if size == 1:
            speed = self._assembly.slot_of_argument(part, offered_name("u", name, "coordinate"))
            path = str(getattr(part.values.attachments[name], "name", part.values.attachments[name]))
            number = self._joints[path.partition("[")[0].partition(".")[0]]
            link = self._tree.links[number]
            dof = link.first_dof + speed.offset - self._assembly.slot(link.joint, "u").offset
            return ConstraintEnd(name, size, number, dof)
        body = self._assembly.attached(part, name)
        if is_ground(body):
            return ConstraintEnd(name, size, NOWHERE, NOWHERE)
        number = self._links[body.name]
        return ConstraintEnd(name, size, number, self._tree.last_dof(number))
