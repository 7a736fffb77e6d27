"""The tree that the joints of a model make, and how its degrees of freedom are numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cosim

Attached = Callable[[cosim.Component, str], cosim.Component]
Report = Callable[[str, str], None]


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
    """

    body: cosim.Component
    joint: cosim.Joint
    parent: int
    first_dof: int

    @property
    def dofs(self) -> range:
        """Its degrees of freedom."""
        return range(self.first_dof, self.first_dof + self.joint.nu)


class Tree:
    """Links in an order in which a parent comes before its children.

    A body's first child follows it directly. So the degrees of freedom of a chain are numbered without a
    gap, and what is computed along it runs over a stretch of memory.

    Parameters
    ----------
    links : list of Link

    Attributes
    ----------
    links : list of Link
    size : int
        Number of degrees of freedom.
    before : list of int
        For each degree of freedom the next one toward Ground, or -1.
    run : list of int
        For each one the first number of the unbroken run ``run, run + 1, … , itself`` of such neighbours.
    depth : list of int
        For each one how many there are from Ground to it, itself counted.
    """

    def __init__(self, links: list[Link]) -> None:
        self.links = links
        self.size = sum(link.joint.nu for link in links)
        self.before: list[int] = []
        self.run: list[int] = []
        self.depth: list[int] = []
        last: list[int] = []
        for link in links:
            before = last[link.parent] if link.parent >= 0 else -1
            for dof in link.dofs:
                self.before.append(before)
                self.run.append(self.run[before] if before == dof - 1 and before >= 0 else dof)
                self.depth.append(1 + (self.depth[before] if before >= 0 else 0))
                before = dof
            last.append(before)
        self._last_child = {link.parent: i for i, link in enumerate(links)}

    @property
    def height(self) -> int:
        """The most degrees of freedom that lie between Ground and a tip."""
        return max(self.depth, default=0)

    def place(self, index: int) -> tuple[int, int]:
        """Whether a link carries others, and whether it is the last child of its parent: 1 or 0."""
        parent = self.links[index].parent
        return int(index in self._last_child), int(self._last_child[parent] == index)

    @classmethod
    def of(cls, parts: Iterable[cosim.Component], attached: Attached, problem: Report) -> Tree:
        """The tree of a model; every fault of it goes to `problem` with the name of the part.

        Parameters
        ----------
        parts : iterable of Component
            All parts of the model.
        attached : callable
            From a part and the name of an attachment to the part that is attached.
        problem : callable
            Takes the name of a part and a sentence.
        """
        everything = list(parts)
        joints = [part for part in everything if isinstance(part, cosim.Joint)]
        bodies = [part for part in everything if is_body(part)]
        carriers: dict[str, tuple[cosim.Joint, cosim.Component]] = {}
        for joint in joints:
            try:
                parent, child = attached(joint, "parent"), attached(joint, "child")
            except cosim.CosimError as error:
                problem(joint.name, str(error))
                continue
            if _ends_fit(joint, parent, child, carriers, problem):
                carriers[child.name] = (joint, parent)
        for body in bodies:
            if body.name not in carriers and not any(
                j.values.attachments.get("child") in (body, body.name) for j in joints
            ):
                problem(
                    body.name,
                    f"no joint moves it: add a joint with child='{body.name}' "
                    "('free' lets it move freely, 'weld' fixes it)",
                )
        return cls(_ordered(carriers, {part.name: part for part in everything}, problem))


def is_body(part: cosim.Component) -> bool:
    """Whether a part offers what the solver moves: a pose and a mass."""
    return {"X_GB", "mass"} <= set(part.declarations)


def is_ground(part: cosim.Component) -> bool:
    """Whether a part carries joints without being moved: it has a pose and takes forces, but has no mass."""
    return {"X_GB", "F_GB"} <= set(part.declarations) and "mass" not in part.declarations


def _ends_fit(
    joint: cosim.Joint,
    parent: cosim.Component,
    child: cosim.Component,
    carriers: dict[str, tuple[cosim.Joint, cosim.Component]],
    problem: Report,
) -> bool:
    if is_ground(child):
        problem(joint.name, f"child is '{child.name}', which does not move; exchange parent and child")
    elif not is_body(child):
        problem(joint.name, f"child is '{child.name}', a {type(child).__name__}, which is no body")
    elif not (is_body(parent) or is_ground(parent)):
        problem(joint.name, f"parent is '{parent.name}', a {type(parent).__name__}, which is no body")
    elif parent is child:
        problem(joint.name, f"parent and child are both '{child.name}'; a joint connects two bodies")
    elif child.name in carriers:
        other = carriers[child.name][0].name
        problem(
            joint.name,
            f"child '{child.name}' is moved by joint '{other}' already; a body is the child of one joint. "
            "For a closed loop keep one of them and close the loop with a force element or a constraint",
        )
    else:
        return True
    return False


def _ordered(
    carriers: dict[str, tuple[cosim.Joint, cosim.Component]],
    parts: dict[str, cosim.Component],
    problem: Report,
) -> list[Link]:
    children: dict[str, list[str]] = {}
    for name, (_, parent) in carriers.items():
        children.setdefault(parent.name, []).append(name)
    links: list[Link] = []
    pending: list[tuple[str, int]] = []
    for root in (name for name, part in parts.items() if is_ground(part)):
        pending += [(child, -1) for child in reversed(children.get(root, []))]
    first_dof = 0
    while pending:
        name, carrier = pending.pop()
        joint = carriers.pop(name)[0]
        links.append(Link(parts[name], joint, carrier, first_dof))
        first_dof += joint.nu
        pending += [(child, len(links) - 1) for child in reversed(children.get(name, []))]
    while carriers:
        _report_loop(carriers, problem)
    return links


def _report_loop(carriers: dict[str, tuple[cosim.Joint, cosim.Component]], problem: Report) -> None:
    """Report one group of joints that does not reach Ground, and take it out of `carriers`."""
    path = [next(iter(carriers))]
    while True:
        before = carriers[path[-1]][1].name
        if (
            before not in carriers
        ):  # it hangs on a loop that is reported already, or on a body without a joint
            for name in path:
                del carriers[name]
            return
        if before in path:
            loop = path[path.index(before) :][::-1]
            problem(
                carriers[loop[0]][0].name,
                f"loop in the tree of joints: {' → '.join([*loop, loop[0]])} never reaches Ground. "
                "Join one of these bodies to Ground in place of its joint here",
            )
            for name in path:
                del carriers[name]
            return
        path.append(before)
