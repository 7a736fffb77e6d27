"""Which local names may be read before they have a value.

Compiled code would go on with whatever number lies there, where Python raises an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from cosim_compiler.sources.tree_walk import tree_nodes

EVERYTHING = frozenset({"*"})
"""What has a value where the program does not come: after return, raise, break and continue."""

Fault = tuple[int, str]


def names_without_value(
    body: Iterable[ast.stmt], arguments: Iterable[str], local: Iterable[str]
) -> Iterator[Fault]:
    r"""Line and name of each local name that is read where a branch, or no turn of a loop, leaves it out.

    Examples
    --------
    >>> tree = ast.parse('if x > 0.0:\n    y = 1.0\nz = y')
    >>> list(names_without_value(tree.body, ["x"], ["x", "y", "z"]))
    [(3, 'y')]
    """
    watch = _Watch(frozenset(local))
    watch.run(body, frozenset(arguments))
    yield from sorted((line, name) for name, line in watch.faults.items())


class _Watch:
    """Walks through statements with the set of names that have a value."""

    def __init__(self, local: frozenset[str]) -> None:
        self.local = local
        self.faults: dict[str, int] = {}
        self.left: list[frozenset[str]] = []  # for each loop around: where break or continue leave it

    def run(self, body: Iterable[ast.stmt], assigned: frozenset[str]) -> frozenset[str]:
        for statement in body:
            assigned = self._statement(statement, assigned)
        return assigned

    def _statement(self, node: ast.stmt, assigned: frozenset[str]) -> frozenset[str]:
        """The names that have a value behind a statement, if those of `assigned` have one before it."""
        if isinstance(node, ast.If):
            self._read(node.test, assigned)
            return _intersection(self.run(node.body, assigned), self.run(node.orelse, assigned))
        if isinstance(node, ast.For):
            self._read(node.iter, assigned)
            inside = self._turn(node.body, assigned | _stored(node.target))
            return self.run(node.orelse, inside if runs_once(node.iter) else assigned)
        if isinstance(node, ast.While):
            self._read(node.test, assigned)
            inside = self._turn(node.body, assigned)
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            return self.run(node.orelse, inside if endless else assigned)
        if isinstance(node, ast.Try):
            after = self.run(node.body, assigned)
            for handler in node.handlers:
                after = _intersection(after, self.run(handler.body, assigned))
            return after
        self._read(node, assigned)
        if isinstance(node, (ast.Break, ast.Continue)):
            self.left[-1] = _intersection(self.left[-1], assigned)
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return EVERYTHING
        return assigned if assigned == EVERYTHING else assigned | _stored(node)

    def _turn(self, body: Iterable[ast.stmt], assigned: frozenset[str]) -> frozenset[str]:
        """The names that have a value after one turn of a loop, however it ends."""
        self.left.append(EVERYTHING)
        through = self.run(body, assigned)
        return _intersection(through, self.left.pop())

    def _read(self, node: ast.AST, assigned: frozenset[str]) -> None:
        """Note names that are read and may have no value."""
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
    """Whether a loop has a turn in any case: a range between constants, or a tuple that is written out."""
    if isinstance(iterated, ast.Tuple):
        return any(not isinstance(item, ast.Starred) for item in iterated.elts)
    if not (isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name)):
        return False
    try:
        bounds = [ast.literal_eval(argument) for argument in iterated.args]
        return iterated.func.id == "range" and len(range(*bounds)) > 0
    except (ValueError, TypeError):
        return False
