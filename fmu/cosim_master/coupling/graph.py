"""Small directed graphs: strongly connected components and closed paths."""

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
    found: list[list[Node]] = []
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
                    cut = stack.index(node)
                    members = set(stack[cut:])
                    del stack[cut:]
                    waiting -= members
                    found.append([n for n in successors if n in members])
    return found[::-1]


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
