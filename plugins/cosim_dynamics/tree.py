"""The tree that the joints of a model make, and how its degrees of freedom are numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cosim
from cosim_dynamics.connectivity import Connectivity, Report, unfit_ends
from cosim_dynamics.link import Link
from cosim_mechanics import contracts

Attached = Callable[[cosim.Component, str], cosim.Component]


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

    def last_dof(self, index: int) -> int:
        """The outermost degree of freedom that moves a link, or -1: without one of its own its parent's."""
        while index >= 0 and not self.links[index].joint.nu:
            index = self.links[index].parent
        return self.links[index].dofs[-1] if index >= 0 else -1

    def carries(self, index: int) -> bool:
        """Whether a link carries others."""
        return index in self._last_child

    def is_last_child(self, index: int) -> bool:
        """Whether a link is the last of those that its parent carries."""
        return self._last_child[self.links[index].parent] == index

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
        connectivity = Connectivity(everything)
        for joint in (part for part in everything if isinstance(part, contracts.Joint)):
            try:
                parent, child = attached(joint, "parent"), attached(joint, "child")
            except cosim.CosimError as error:
                problem(joint.name, str(error))
                connectivity.skip_faulty(joint)
                continue
            unfit = unfit_ends(parent, child)
            if unfit:
                problem(joint.name, unfit)
                connectivity.skip_faulty(joint)
            else:
                connectivity.connect(joint, parent, child)
        connectivity.report(problem)
        return cls(connectivity.links())
