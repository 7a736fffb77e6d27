"""Local names that may be read before they have a value.

Python would raise an error there; compiled code would use whatever number lies in the variable's memory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from cosim_compiler.sources.tree_walk import tree_nodes

EVERYTHING = frozenset({"*"})
"""In place of the names that have a value, behind return, raise, break and continue: never reached."""

Fault = tuple[int, str]
"""A line, and the name that may have no value there."""


def names_without_value(
    body: Iterable[ast.stmt], arguments: Iterable[str], local: Iterable[str]
) -> Iterator[Fault]:
    r"""The local names that are read although a branch, or a loop without a turn, may not have assigned them.

    Examples
    --------
    >>> tree = ast.parse('if x > 0.0:\n    y = 1.0\nz = y')
    >>> list(names_without_value(tree.body, ["x"], ["x", "y", "z"]))
    [(3, 'y')]
    """
    walk = _AssignedWalk(frozenset(local))
    walk.run(body, frozenset(arguments))
    yield from sorted((line, name) for name, line in walk.faults.items())


class _AssignedWalk:
    """Walks through statements with the set of names that have a value."""

    def __init__(self, local: frozenset[str]) -> None:
        self.local = local
        self.faults: dict[str, int] = {}
        self.at_jumps: list[frozenset[str]] = []  # for each loop around: names with a value at all its jumps

    def run(self, body: Iterable[ast.stmt], assigned: frozenset[str]) -> frozenset[str]:
        for statement in body:
            assigned = self._statement(statement, assigned)
        return assigned

    def _statement(self, node: ast.stmt, assigned: frozenset[str]) -> frozenset[str]:
        """The names that have a value behind a statement, if those in `assigned` have one before it."""
        if isinstance(node, ast.If):
            self._read(node.test, assigned)
            return _intersection(self.run(node.body, assigned), self.run(node.orelse, assigned))
        if isinstance(node, ast.For):
            self._read(node.iter, assigned)
            after_turn = self._turn(node.body, assigned | _stored(node.target))
            return self.run(node.orelse, after_turn if runs_once(node.iter) else assigned)
        if isinstance(node, ast.While):
            self._read(node.test, assigned)
            after_turn = self._turn(node.body, assigned)
            is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            return self.run(node.orelse, after_turn if is_endless else assigned)
        if isinstance(node, ast.Try):
            after = self.run(node.body, assigned)
            for handler in node.handlers:
                after = _intersection(after, self.run(handler.body, assigned))
            return after
        self._read(node, assigned)
        if isinstance(node, (ast.Break, ast.Continue)):
            self.at_jumps[-1] = _intersection(self.at_jumps[-1], assigned)
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return EVERYTHING
        return assigned if assigned == EVERYTHING else assigned | _stored(node)

    def _turn(self, body: Iterable[ast.stmt], assigned: frozenset[str]) -> frozenset[str]:
        """The names that have a value after one turn of a loop, however it ends."""
        self.at_jumps.append(EVERYTHING)
        at_end = self.run(body, assigned)
        return _intersection(at_end, self.at_jumps.pop())

    def _read(self, node: ast.AST, assigned: frozenset[str]) -> None:
        """Record the names that are read and may have no value."""
        if assigned == EVERYTHING:
            return
        # of a statement such as `x += y` the target is read, too
        names = [n for n in tree_nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.append(node.target)
        for name in names:
            is_bound = name.id not in self.local or name.id in assigned or name.id in _walrus(node)
            if not is_bound:
                self.faults.setdefault(name.id, name.lineno)


def _intersection(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    if EVERYTHING in (left, right):
        return right if left == EVERYTHING else left
    return left & right


def _stored(node: ast.AST) -> frozenset[str]:
    return frozenset(
        n.id for n in tree_nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def _walrus(node: ast.AST) -> frozenset[str]:
    return frozenset(n.target.id for n in tree_nodes(node) if isinstance(n, ast.NamedExpr))


def runs_once(iterated: ast.expr) -> bool:
    """Whether a loop certainly has a turn: over a range between constants, or over a tuple that is listed."""
    if isinstance(iterated, ast.Tuple):
        return any(not isinstance(item, ast.Starred) for item in iterated.elts)
    if not (isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name)):
        return False
    try:
        bounds = [ast.literal_eval(argument) for argument in iterated.args]
        return iterated.func.id == "range" and len(range(*bounds)) > 0
    except (ValueError, TypeError):
        return False
