"""The table that the blocks of a solver share, while it is filled."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim.kit import Block, Record, rows_of, width_of
from cosim_dynamics.constraint_groups import ConstraintGroup
from cosim_dynamics.group_records import GroupSlots
from cosim_dynamics.group_table import GroupTable
from cosim_dynamics.mechanism import (
    NOWHERE,
    DofSlots,
    EquationSlots,
    LinkSlots,
    MechanismSlots,
    TermSlots,
    mechanism_at,
)
from cosim_dynamics.solver_blocks import solver_block
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Slot


class MechanismTable:
    """Memory for the records of a mechanism. The files that allocate slots set the fields.

    Parameters
    ----------
    tree : Tree
    groups : sequence of ConstraintGroup

    Attributes
    ----------
    rows : ndarray, shape (1, integers)
        The memory: one row of the blocks that `block` makes. What is not set is `NOWHERE`.
    mechanism : Mechanism
        The records in it.
    """

    def __init__(self, tree: Tree, groups: Sequence[ConstraintGroup]) -> None:
        equations = sum(group.equations for group in groups)
        terms = sum(len(ends) for group in groups for ends in group.ends_of_equations)
        counts = len(tree.links), tree.size, equations, terms, len(groups)
        kinds: Sequence[type[Record]] = LinkSlots, DofSlots, EquationSlots, TermSlots, GroupSlots
        widths = [width_of(kind) * count for kind, count in zip(kinds, counts, strict=True)]
        *places, end = accumulate(widths, initial=width_of(MechanismSlots))
        lists = GroupTable(groups, places[2], places[3], end)
        self.rows = np.full((1, end + len(lists.integers)), NOWHERE, dtype=np.int64)
        self.rows[0, end:] = lists.integers
        header = rows_of(MechanismSlots, self.rows, 0, 1)[0]
        header.links, header.dofs, header.equations, header.terms, header.groups = counts
        header.links_at, header.dofs_at, header.equations_at, header.terms_at, header.groups_at = places
        self.mechanism = mechanism_at(self.rows, 0)
        for i, (link, slots) in enumerate(zip(tree.links, self.mechanism.links, strict=True)):
            slots.has_parent = link.parent >= 0
            slots.parent_number = link.parent
            slots.is_behind_parent = link.parent == i - 1 >= 0
            slots.dofs = link.joint.nu
            slots.dofs_at = header.dofs_at + width_of(DofSlots) * link.first_dof
            slots.carries = tree.carries(i)
            slots.is_last_child = tree.is_last_child(i)
        for i, dof in enumerate(self.mechanism.dofs):
            dof.number = i
            dof.parent = tree.before[i]
            dof.run = tree.run[i]
        for record, slots in zip(lists.records, self.mechanism.groups, strict=True):
            ctypes.pointer(slots)[0] = record

    def copy_parents(self, tree: Tree) -> None:
        """Copy the slots of each link's parent into the link, once all are set."""
        for link, slots in zip(tree.links, self.mechanism.links, strict=True):
            if link.parent >= 0:
                slots.parent = self.mechanism.links[link.parent].body

    def block(
        self,
        function: object,
        stage: cosim.Stage,
        reads: Sequence[Slot],
        writes: Sequence[Slot],
        label: str,
        can_be_omitted: bool = False,
    ) -> Block:
        """A block that works on the mechanism."""
        return solver_block(function, self.rows, stage, reads, writes, label, can_be_omitted)
