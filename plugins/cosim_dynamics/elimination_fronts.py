"""In which order the joints and the equations of a group are eliminated, and what is coupled then.

Joints are eliminated from the tips toward Ground, as in the recursion over articulated bodies. An equation
between two bodies couples what carries them once it is eliminated; so does each joint with all that its
body is coupled with. Among the joints that carry no other any more, the one is next that leaves the fewest
variables coupled (minimum degree), and of these the outermost.

An equation can be eliminated where all bodies that it acts on have lost their joints. Where it hardly holds
these joints yet (a rod that ends on the axis of a pin), it waits for the next ones toward Ground: it is a
candidate of several fronts.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cosim_dynamics.constraint_ends import ConstraintEnd
from cosim_dynamics.mechanism import NOWHERE
from cosim_dynamics.tree import Tree

#: In how many fronts an equation is a candidate.
CHANCES = 3
BODY = 6
"""Variables of a body."""


@dataclass(frozen=True)
class FrontCandidate:
    """An equation that may be eliminated in a front.

    Attributes
    ----------
    equation : int
        Index in the group.
    is_first, is_last : bool
        Whether this is the first, and the last, of the fronts of which it is a candidate.
    """

    equation: int
    is_first: bool
    is_last: bool


@dataclass
class Front:
    """The variables that are coupled when a link's joint is eliminated; the fields are those of `FrontSlots`.

    Attributes
    ----------
    link : int
    bodies : list of int
        Links, the own one first.
    equations : list of int
        Indices in the group.
    candidates : list of FrontCandidate
    carrier : int
        The link that moves and carries this one, or `NOWHERE`.
    parent : int
        Index of the front that takes over what is left, or `NOWHERE`.
    """

    link: int
    bodies: list[int]
    equations: list[int]
    carrier: int
    candidates: list[FrontCandidate] = field(default_factory=list)
    parent: int = NOWHERE

    @property
    def size(self) -> int:
        """The number of variables."""
        return BODY * len(self.bodies) + len(self.equations)

    def variable_of(self, equation: int) -> int:
        """The index of the multiplier of an equation among the variables."""
        return BODY * len(self.bodies) + self.equations.index(equation)

    def targets(self, parent: Front) -> list[int]:
        """The indices of the variables in the next front; `NOWHERE` for those that are eliminated."""
        first_variables = {body: BODY * i for i, body in enumerate(parent.bodies)}
        bodies = [first_variables.get(body, NOWHERE) for body in (self.carrier, *self.bodies[1:])]
        targets = [NOWHERE if first < 0 else first + i for first in bodies for i in range(BODY)]
        eliminated = {candidate.equation for candidate in self.candidates if candidate.is_last}
        return targets + [NOWHERE if r in eliminated else parent.variable_of(r) for r in self.equations]


class _Remainder(NamedTuple):
    """The variables that an elimination leaves coupled."""

    bodies: set[int]
    equations: set[int]


class Elimination:
    """Finds the fronts of a group.

    Parameters
    ----------
    tree : Tree
    links : sequence of int
        All links of the trees that the group moves, parents first.
    ends : sequence of sequence of ConstraintEnd
        Of each equation.

    Attributes
    ----------
    fronts : list of Front
        In the order of elimination.
    """

    def __init__(self, tree: Tree, links: Sequence[int], ends: Sequence[Sequence[ConstraintEnd]]) -> None:
        self.fronts: list[Front] = []
        self._carrier = {i: _moving_carrier(tree, i) for i in links}
        self._depth: dict[int, int] = {}
        self._carried = dict.fromkeys(links, 0)
        for i in links:
            carrier = self._carrier[i]
            self._depth[i] = self._depth.get(carrier, 0) + 1
            if carrier != NOWHERE:
                self._carried[carrier] += 1
        self._attached: dict[int, list[int]] = {i: [] for i in links}
        self._waits_for: list[set[int]] = []
        for r, of_equation in enumerate(ends):
            self._waits_for.append({end.link for end in of_equation if end.dof != NOWHERE})
            for link in self._waits_for[r]:
                self._attached[link].append(r)
        self._chances = [CHANCES] * len(ends)
        self._remainders: dict[int, _Remainder] = {}  # of each front
        self._fronts_of_body: dict[int, set[int]] = {i: set() for i in links}
        self._fronts_of_equation: list[set[int]] = [set() for _ in ends]
        self._eliminate_all()

    def _eliminate_all(self) -> None:
        """Eliminate the cheapest link that carries no other, until none is left.

        Costs change while links wait in the heap. A link that has become dearer is put back when it is
        reached; one whose front has changed is also pushed anew, in case it has become cheaper.
        """
        open_links = {i for i, count in self._carried.items() if not count}
        heap = [(self._cost(i), i) for i in open_links]
        heapq.heapify(heap)
        while heap:
            cost, link = heapq.heappop(heap)
            if link not in open_links:
                continue
            now = self._cost(link)
            if now > cost:
                heapq.heappush(heap, (now, link))
                continue
            open_links.remove(link)
            for changed in self._eliminate(link):
                if changed not in open_links and not self._carried[changed]:
                    open_links.add(changed)
                if changed in open_links:
                    heapq.heappush(heap, (self._cost(changed), changed))

    def _coupled(self, link: int) -> tuple[set[int], set[int], set[int]]:
        """The bodies and the equations in the front of a link, and the fronts that it takes over from."""
        former = set(self._fronts_of_body[link])
        for r in self._attached[link]:
            if self._waits_for[r] == {link}:
                former |= self._fronts_of_equation[r]
        bodies, equations = {link}, set(self._attached[link])
        for front in former:
            bodies |= self._remainders[front].bodies
            equations |= self._remainders[front].equations
        return bodies, equations, former

    def _cost(self, link: int) -> tuple[int, int, int]:
        """The number of variables that stay coupled; an equation waiting for a body counts as that body."""
        bodies, equations, _ = self._coupled(link)
        bodies_left = len(bodies - {link} | {self._carrier[link]} - {NOWHERE})
        waiting = sum(bool(self._waits_for[r] - {link}) for r in equations)
        return BODY * (bodies_left + waiting) + len(equations) - waiting, -self._depth[link], link

    def _eliminate(self, link: int) -> set[int]:
        """Make the front of a link; the links whose fronts have changed."""
        bodies, equations, former = self._coupled(link)
        number, carrier = len(self.fronts), self._carrier[link]
        front = Front(link, [link, *sorted(bodies - {link})], sorted(equations), carrier)
        self.fronts.append(front)
        for earlier in former:
            self.fronts[earlier].parent = number
            remainder = self._remainders.pop(earlier)
            for body in remainder.bodies:
                self._fronts_of_body[body].discard(earlier)
            for r in remainder.equations:
                self._fronts_of_equation[r].discard(earlier)
        for r in self._attached[link]:
            self._waits_for[r].discard(link)
        bodies_left = bodies - {link} | {carrier} - {NOWHERE}
        waiting = {r for r in equations if self._waits_for[r]}
        for r in sorted(equations - waiting):
            is_first = self._chances[r] == CHANCES
            self._chances[r] -= 1
            is_last = not self._chances[r] or not (bodies_left or waiting)
            front.candidates.append(FrontCandidate(r, is_first, is_last))
        equations_left = equations - {
            candidate.equation for candidate in front.candidates if candidate.is_last
        }
        changed = bodies_left | {other for r in waiting for other in self._waits_for[r]}
        if bodies_left or waiting:
            self._remainders[number] = _Remainder(bodies_left, equations_left)
            for body in bodies_left:
                self._fronts_of_body[body].add(number)
            for r in equations_left:
                self._fronts_of_equation[r].add(number)
        if carrier != NOWHERE:
            self._carried[carrier] -= 1
        return changed


def _moving_carrier(tree: Tree, link: int) -> int:
    """The link that carries another, where it moves."""
    parent = tree.links[link].parent
    return parent if parent >= 0 and tree.last_dof(parent) >= 0 else NOWHERE
