"""One body of a tree with its joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cosim
from cosim_mechanics import contracts


@dataclass(frozen=True)
class Link:
    """One body of a tree with the joint that moves it.

    Attributes
    ----------
    body : Component
    joint : Joint
    parent : int
        Index of the link that carries it, or -1 for Ground.
    first_dof : int
        The first of its degrees of freedom, in the numbering of the tree.
    reversed : bool
        Whether the body is the joint's `parent`: Ground lies on the side of its `child`.
    """

    body: cosim.Component
    joint: contracts.Joint
    parent: int
    first_dof: int
    reversed: bool = False

    @cached_property
    def dofs(self) -> range:
        """The degrees of freedom of the joint."""
        return range(self.first_dof, self.first_dof + self.joint.nu)
