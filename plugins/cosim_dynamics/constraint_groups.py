"""Which equations of constraints are solved together, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cosim_dynamics.constraint_ends import ConstraintEnd, ConstraintEnds
from cosim_dynamics.elimination_fronts import Elimination, Front
from cosim_dynamics.mechanism import NOWHERE
from cosim_dynamics.model_constraints import ModelConstraints, PlacedConstraint
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly

#: So many times the operations of elimination along the tree dense matrices may take: they find the rank,
#: too.
DENSE_MAY_TAKE = 1.0
#: Operations for each front beside those on its variables.
EACH_FRONT = 200.0


@dataclass
class ConstraintGroup:
    """Constraints that degrees of freedom couple.

    Attributes
    ----------
    constraints : list of PlacedConstraint
    ends : list of list of ConstraintEnd
        Of each constraint.
    dofs : list of int
        The degrees of freedom that move what they act on, parents first.
    links : list of int
        The links between these and Ground, parents first.
    fronts : list of Front
        Along which they are solved; empty where dense matrices are cheap enough.
    members : list of (int, int)
        Of each of `dofs` its number, and the index in `dofs` of the next one toward Ground.
    first_dofs : dict of int to int
        The first degree of freedom of each of `links`.
    """

    constraints: list[PlacedConstraint] = field(default_factory=list)
    ends: list[list[ConstraintEnd]] = field(default_factory=list)
    dofs: list[int] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    fronts: list[Front] = field(default_factory=list)
    members: list[tuple[int, int]] = field(default_factory=list)
    first_dofs: dict[int, int] = field(default_factory=dict)

    @property
    def equations(self) -> int:
        """The number of equations."""
        return sum(placed.constraint.equations for placed in self.constraints)

    @property
    def owners(self) -> list[str]:
        """The name of the constraint that each equation belongs to."""
        return [p.constraint.name for p in self.constraints for _ in range(p.constraint.equations)]

    @property
    def ends_of_equations(self) -> list[list[ConstraintEnd]]:
        """The ends of each equation."""
        pairs = zip(self.constraints, self.ends, strict=True)
        return [ends for placed, ends in pairs for _ in range(placed.constraint.equations)]


def find_groups(
    assembly: Assembly, tree: Tree, constraints: ModelConstraints, couples: bool
) -> list[ConstraintGroup]:
    """The groups of a model, in the order of their first constraints.

    Parameters
    ----------
    couples : bool
        Whether equations of joints couple their speeds: only a mass matrix knows these.
    """
    roots = _roots(tree)
    leader = list(range(tree.size))

    def find(dof: int) -> int:
        while leader[dof] != dof:
            leader[dof] = leader[leader[dof]]
            dof = leader[dof]
        return dof

    find_ends = ConstraintEnds(assembly, tree)
    placed = [(constraint, find_ends.of(constraint)) for constraint in constraints.placed_constraints]
    for _, ends in placed:
        moved = [find(roots[end.dof]) for end in ends if end.dof >= 0]
        for root in moved:
            leader[root] = min(moved)
    groups: dict[int | str, ConstraintGroup] = {}
    for constraint, ends in placed:
        moved = [find(roots[end.dof]) for end in ends if end.dof >= 0]
        key = moved[0] if moved else constraint.constraint.name
        group = groups.setdefault(key, ConstraintGroup())
        group.constraints.append(constraint)
        group.ends.append(ends)
    links_of = _links_by_leader(tree, roots, find)
    for key, group in groups.items():
        _find_members(tree, group)
        if not couples and isinstance(key, int):
            _choose_fronts(tree, group, links_of[key])
    return list(groups.values())


def describe_groups(groups: Sequence[ConstraintGroup]) -> str:
    """The way in which groups are solved, for people; "" if one is solved by dense matrices."""
    many = f" in {len(groups)} groups" if len(groups) > 1 else ""
    along_tree = sum(bool(group.fronts) for group in groups)
    if not along_tree:
        return many
    return f"{many}, {along_tree} of them along the tree" if many else " along the tree"


def _roots(tree: Tree) -> list[int]:
    """For each degree of freedom the one next to Ground on its way there."""
    roots: list[int] = []
    for dof, before in enumerate(tree.before):
        roots.append(dof if before < 0 else roots[before])
    return roots


def _links_by_leader(tree: Tree, roots: list[int], find: Callable[[int], int]) -> dict[int, list[int]]:
    """All links that move, by the group that moves them."""
    links: dict[int, list[int]] = {}
    last: list[int] = []
    for i, link in enumerate(tree.links):
        last.append(link.dofs[-1] if link.joint.nu else last[link.parent] if link.parent >= 0 else -1)
        if last[i] >= 0:
            links.setdefault(find(roots[last[i]]), []).append(i)
    return links


def _find_members(tree: Tree, group: ConstraintGroup) -> None:
    """The degrees of freedom and the links between what a group acts on and Ground."""
    dofs: set[int] = set()
    links: set[int] = set()
    for end in (end for ends in group.ends for end in ends):
        dof, link = end.dof, end.link
        while dof >= 0 and dof not in dofs:
            dofs.add(dof)
            dof = tree.before[dof]
        while link >= 0 and link not in links:
            links.add(link)
            link = tree.links[link].parent
    group.dofs, group.links = sorted(dofs), sorted(links)
    index = {dof: i for i, dof in enumerate(group.dofs)}
    group.members = [(dof, index.get(tree.before[dof], NOWHERE)) for dof in group.dofs]
    group.first_dofs = {link: tree.links[link].first_dof for link in group.links}


def _choose_fronts(tree: Tree, group: ConstraintGroup, links: list[int]) -> None:
    """Find the fronts of a group, and keep them where dense matrices take several times the operations."""
    m, n = group.equations, len(group.dofs)
    dense = m * m * (0.5 * n + m / 6.0) + 4.0 * m * n
    if dense < DENSE_MAY_TAKE * EACH_FRONT * len(links):
        return
    fronts = Elimination(tree, links, group.ends_of_equations).fronts
    along_tree = sum(
        EACH_FRONT + front.size**2 * (1.5 + 0.5 * (tree.links[front.link].joint.nu + len(front.candidates)))
        for front in fronts
    )
    if dense > DENSE_MAY_TAKE * along_tree:
        group.fronts = fronts
