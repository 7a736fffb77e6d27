"""Directed graphs: strongly connected components, and closed paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(successors: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """Strongly connected components in topological order: what a component needs comes before it.

    An edge leads from what is needed to what needs it. Deterministic: it depends on the order of the
    mapping alone. Every node has to be a key.

    References
    ----------
    Tarjan: Depth-first search and linear graph algorithms. SIAM J. Comput. 1(2), 1972; without recursion.

    Examples
    --------
    >>> components({"c": [], "a": ["b"], "b": ["a", "c"]})
    [['a', 'b'], ['c']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    listed: list[list[Node]] = []
    place_of = {node: place for place, node in enumerate(successors)}
    for root in successors:
        if root in index:
            continue
        work: list[tuple[Node, int]] = [(root, 0)]
        while work:
            node, child = work.pop()
            if child == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                waiting.add(node)
            else:
                low[node] = min(low[node], low[successors[node][child - 1]])
            for place in range(child, len(successors[node])):
                following = successors[node][place]
                if following not in index:
                    work += [(node, place + 1), (following, 0)]
                    break
                if following in waiting:
                    low[node] = min(low[node], index[following])
            else:
                if low[node] == index[node]:
                    members = [stack.pop()]
                    while members[-1] != node:
                        members.append(stack.pop())
                    waiting.difference_update(members)
                    listed.append(sorted(members, key=place_of.__getitem__))
    return listed[::-1]


def closed_path(successors: Mapping[Node, Sequence[Node]], members: Sequence[Node]) -> list[Node]:
    """A shortest closed path through the first member, inside `members`; [] when there is none."""
    start, inside = members[0], set(members)
    before: dict[Node, Node] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for following in successors[node]:
            if following == start:
                path = [node]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if following in inside and following not in before:
                before[following] = node
                queue.append(following)
    return []
