"""Directed graphs: strongly connected components, and closed paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

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
    search = _DepthFirstSearch(successors)
    for node in successors:
        search.visit(node)
    return search.components[::-1]


class _DepthFirstSearch(Generic[Node]):
    """Tarjan's search.

    Attributes
    ----------
    components : list of list
        The components that are complete, those first that no other component needs.
    """

    def __init__(self, successors: Mapping[Node, Sequence[Node]]) -> None:
        self.components: list[list[Node]] = []
        self._successors = successors
        self._place_of = {node: place for place, node in enumerate(successors)}
        self._index: dict[Node, int] = {}  # by the order in which nodes are entered
        self._low: dict[Node, int] = {}  # the least index that is reached through an open node
        self._open: list[Node] = []  # nodes whose component is not complete
        self._is_open: set[Node] = set()

    def visit(self, root: Node) -> None:
        """Complete the components of all nodes that can be reached from here."""
        if root in self._index:
            return
        path = [self._enter(root)]
        while path:
            node, children = path[-1]
            for child in children:
                if child not in self._index:
                    path.append(self._enter(child))
                    break
                if child in self._is_open:
                    self._low[node] = min(self._low[node], self._index[child])
            else:
                path.pop()
                if path:
                    parent, _ = path[-1]
                    self._low[parent] = min(self._low[parent], self._low[node])
                if self._low[node] == self._index[node]:
                    self._close(node)

    def _enter(self, node: Node) -> tuple[Node, Iterator[Node]]:
        """Open a node; the node, and its successors that have to be visited."""
        self._index[node] = self._low[node] = len(self._index)
        self._open.append(node)
        self._is_open.add(node)
        return node, iter(self._successors[node])

    def _close(self, first: Node) -> None:
        """Complete the component whose node `first` was entered first."""
        members = [self._open.pop()]
        while members[-1] != first:
            members.append(self._open.pop())
        self._is_open.difference_update(members)
        self.components.append(sorted(members, key=self._place_of.__getitem__))


def closed_path(successors: Mapping[Node, Sequence[Node]], members: Sequence[Node]) -> list[Node]:
    """A shortest closed path through the first member, inside `members`; [] when there is none."""
    start, inside = members[0], set(members)
    predecessor: dict[Node, Node] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for successor in successors[node]:
            if successor == start:
                return _path_back(node, start, predecessor)[::-1]
            if successor in inside and successor not in predecessor:
                predecessor[successor] = node
                queue.append(successor)
    return []


def _path_back(end: Node, start: Node, predecessor: Mapping[Node, Node]) -> list[Node]:
    """The nodes from `end` back to `start`."""
    path = [end]
    while path[-1] != start:
        path.append(predecessor[path[-1]])
    return path
