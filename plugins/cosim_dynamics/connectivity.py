"""Which bodies are connected by joints, and to Ground."""

from __future__ import annotations

from collections.abc import Callable

import cosim
from cosim_dynamics.link import Link
from cosim_mechanics import contracts

Report = Callable[[str, str], None]


class Connectivity:
    """Which bodies are connected by joints, as these are added one after the other.

    Which end of a joint carries the other follows from where Ground is.

    Parameters
    ----------
    parts : list of Component
    """

    def __init__(self, parts: list[cosim.Component]) -> None:
        self._parts = {part.name: part for part in parts}
        # All that does not move is one: Ground.
        self._ground = next((part.name for part in parts if is_ground(part)), "")
        self._ends: dict[str, list[tuple[contracts.Joint, str]]] = {
            self._name(part): [] for part in parts if is_body(part) or is_ground(part)
        }
        self._above = {name: name for name in self._ends}
        self._skipped: set[str] = set()
        self._loops: list[tuple[contracts.Joint, list[str]]] = []

    def skip_faulty(self, joint: contracts.Joint) -> None:
        """Report nothing else about the bodies of a faulty joint."""
        for value in joint.values.attachments.values():
            self._skipped.add(value if isinstance(value, str) else getattr(value, "name", ""))

    def connect(self, joint: contracts.Joint, parent: cosim.Component, child: cosim.Component) -> None:
        """Connect two bodies; if they are connected already, record a loop."""
        inner, outer = self._name(parent), self._name(child)
        inner_root, outer_root = self._root(inner), self._root(outer)
        if inner_root == outer_root:
            self._loops.append((joint, self._path(inner, outer)))
            return
        self._above[outer_root] = inner_root
        self._ends[inner].append((joint, outer))
        self._ends[outer].append((joint, inner))

    def report(self, problem: Report) -> None:
        """Report loops, and bodies that are not connected to Ground: once for each connected group."""
        reached = set(self._connected_to([self._ground])) if self._ground else set()
        for joint, loop in self._loops:
            text = f"loop in the tree of joints: {' → '.join([*loop, loop[0]])}"
            if loop[0] in reached:
                text += (
                    ". Bodies and joints make a tree on Ground: leave one joint of it out, and close the "
                    "loop with a constraint (ball_constraint, weld_constraint …) or a force element"
                )
            else:
                text += " never reaches Ground. Join one of these bodies to Ground in place of its joint here"
                self._skipped |= set(loop)
            problem(joint.name, text)
        for name in self._ends:
            if name in reached:
                continue
            together = self._connected_to([name])
            reached |= set(together)
            if self._skipped & set(together):
                continue
            if len(together) == 1:
                text = (
                    f"no joint moves it: add a joint with child='{name}' "
                    "('free' lets it move freely, 'weld' fixes it)"
                )
            else:
                listed = ", ".join(f"'{body}'" for body in together)
                text = (
                    f"{listed} hang together, but none of them on Ground: add a joint between Ground and one "
                    "of them ('free' lets it move freely, 'weld' fixes it)"
                )
            problem(name, text)

    def links(self) -> list[Link]:
        """The bodies connected to Ground, carriers before the bodies that they carry."""
        links: list[Link] = []
        pending: list[tuple[contracts.Joint, str, int]] = []
        if self._ground:
            pending += [(joint, body, -1) for joint, body in reversed(self._ends[self._ground])]
        first_dof = 0
        while pending:
            joint, name, carrier = pending.pop()
            body = self._parts[name]
            outward = joint.values.attachments["child"] in (body, name)
            links.append(Link(body, joint, carrier, first_dof, not outward))
            first_dof += joint.nu
            number = len(links) - 1
            pending += [(j, b, number) for j, b in reversed(self._ends[name]) if j is not joint]
        return links

    def _name(self, part: cosim.Component) -> str:
        return self._ground if is_ground(part) else part.name

    def _root(self, name: str) -> str:
        """The name that represents all links connected with this one (union-find)."""
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]  # shorter the next time
            name = self._above[name]
        return name

    def _connected_to(self, names: list[str]) -> list[str]:
        reached, pending = dict.fromkeys(names), list(names)
        while pending:
            for _, name in self._ends[pending.pop()]:
                if name not in reached:
                    reached[name] = None
                    pending.append(name)
        return list(reached)

    def _path(self, start: str, end: str) -> list[str]:
        """Names from one body to another along the joints, empty where there is no such way."""
        before, pending = {start: ""}, [start]
        while pending:
            at = pending.pop()
            if at == end:
                path = [at]
                while before[path[-1]]:
                    path.append(before[path[-1]])
                return path[::-1]
            for _, name in self._ends[at]:
                if name not in before:
                    before[name] = at
                    pending.append(name)
        return []


def is_body(part: cosim.Component) -> bool:
    """Whether a part offers what the solver moves: a pose and a mass."""
    return part.declarations.keys() >= {"X_GB", "mass"}


def is_ground(part: cosim.Component) -> bool:
    """Whether a part carries joints without being moved: it has a pose and takes forces, but has no mass."""
    return part.declarations.keys() >= {"X_GB", "F_GB"} and "mass" not in part.declarations


def unfit_ends(parent: cosim.Component, child: cosim.Component) -> str:
    """The fault of the ends of a joint; "" if there is none."""
    for end, part in (("child", child), ("parent", parent)):
        if not (is_body(part) or is_ground(part)):
            return f"{end} is '{part.name}', a {type(part).__name__}, which is not a body"
    if parent is child:
        return f"parent and child are both '{child.name}'; a joint connects two bodies"
    if is_ground(parent) and is_ground(child):
        return f"parent '{parent.name}' and child '{child.name}' do not move, either of them"
    return ""
