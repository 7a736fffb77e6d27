"""The variables behind a name: assignments that belong together are one variable (a *web* of compilers).

In Python a name may stand for a whole number first and for a tuple later. If a read of the name may see the
value of either of two assignments, these two are one variable. Otherwise they are different variables, and
their types have nothing to do with each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from cosim_compiler.language.typed_form import in_ascii
from cosim_compiler.sources.assigned_names import runs_once
from cosim_compiler.sources.tree_walk import tree_nodes

UNSET = 0
"""In place of an assignment: the name has no value yet."""

Reaching = dict[str, frozenset[int]]
"""For each name the numbers of the assignments whose value it may have."""


class LoopEnds(NamedTuple):
    """What reaches each `break` that leaves a loop, and each `continue` that ends one of its turns."""

    breaks: list[Reaching]
    continues: list[Reaching]


@dataclass
class Lifetimes:
    """The variables of a function.

    Attributes
    ----------
    bound : dict of int to str
        The variable that each `ast.Name` or `ast.arg` assigns, by the `id` of the node.
    read : dict of int to str
        The variable that each `ast.Name` reads, by the `id` of the node.
    unset : list of ast.Name
        Names that are read where they may have no value.
    local : frozenset of str
        All names that are assigned.
    """

    bound: dict[int, str] = field(default_factory=dict)
    read: dict[int, str] = field(default_factory=dict)
    unset: list[ast.Name] = field(default_factory=list)
    local: frozenset[str] = frozenset()


def lifetimes_of(tree: ast.FunctionDef) -> Lifetimes:
    r"""The variables of a function.

    Examples
    --------
    >>> tree = ast.parse("def f(x):\n    y = 1\n    x = y\n    y = 2.0\n    return x + y").body[0]
    >>> sorted(set(lifetimes_of(tree).bound.values()))
    ['x', 'x_2', 'y', 'y_2']
    """
    walk = _Walk(tree)
    walk.block(tree.body, dict(walk.at_start))
    return walk.lifetimes()


class _Walk:
    """Walks through a function with the assignments that may reach each place.

    Assignments have numbers, from 1 on. Those that belong together are a tree: `parent` leads from each to an
    earlier one, up to the root, which is its own parent.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.names: list[str] = [""]  # by the number of an assignment: the name that it assigns
        self.parent: list[int] = [UNSET]  # by the number of an assignment
        self.numbers: dict[int, int] = {}  # of assignments, by the `id` of the assigned node
        self.reads: dict[int, int] = {}  # an assignment that reaches a read, by the `id` of the node
        self.unset: dict[int, ast.Name] = {}
        self.loops: list[LoopEnds] = []  # of the loops around the present statement
        arguments = [*tree.args.args, *([tree.args.vararg] if tree.args.vararg else [])]
        self.local = frozenset(
            [a.arg for a in arguments]
            + [n.id for n in tree_nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        )
        self.at_start: Reaching = {
            **{name: frozenset({UNSET}) for name in self.local},
            **{a.arg: frozenset({self._number_of(a, a.arg)}) for a in arguments},
        }

    def lifetimes(self) -> Lifetimes:
        """The variables: the first one of a name is called like it, the next ones have a number behind it."""
        variables: dict[int, str] = {}  # by roots
        used = set(map(in_ascii, self.local))
        with_variable: set[str] = set()  # names that have their first variable
        for number in range(1, len(self.names)):
            root = self._root(number)
            if root in variables:
                continue
            name = variable = in_ascii(self.names[number])
            i = 1
            while name in with_variable and variable in used:
                i += 1
                variable = f"{name}_{i}"
            with_variable.add(name)
            used.add(variable)
            variables[root] = variable
        bound = {node: variables[self._root(number)] for node, number in self.numbers.items()}
        read = {node: variables[self._root(number)] for node, number in self.reads.items()}
        return Lifetimes(bound, read, list(self.unset.values()), self.local)

    # assignments that belong together

    def _root(self, number: int) -> int:
        while self.parent[number] != number:
            number = self.parent[number]
        return number

    def _join(self, numbers: Iterable[int]) -> int:
        """Make assignments one variable; the first of them."""
        roots = sorted({self._root(number) for number in numbers})
        for root in roots:
            self.parent[root] = roots[0]
        return roots[0]

    def _number_of(self, node: ast.AST, name: str) -> int:
        """The number of the assignment that a node makes to a name."""
        number = self.numbers.get(id(node))
        if number is None:
            number = self.numbers[id(node)] = len(self.names)
            self.names.append(name)
            self.parent.append(number)
        return number

    # statements

    def block(self, body: Iterable[ast.stmt], reaching: Reaching | None) -> Reaching | None:
        for statement in body:
            if reaching is None:  # it is never reached
                return None
            reaching = self._statement(statement, reaching)
        return reaching

    def _statement(self, node: ast.stmt, reaching: Reaching) -> Reaching | None:
        """The assignments that reach the end of a statement; None if the program does not get there."""
        if isinstance(node, ast.If):
            self._read(node.test, reaching)
            return _union(self.block(node.body, dict(reaching)), self.block(node.orelse, dict(reaching)))
        if isinstance(node, ast.For):
            self._read(node.iter, reaching)
            return self._loop(node, reaching, node.target)
        if isinstance(node, ast.While):
            return self._loop(node, reaching, None)
        if isinstance(node, ast.Try):
            return self._try(node, reaching)
        if isinstance(node, (ast.Break, ast.Continue)):
            if self.loops:
                ends = self.loops[-1]
                (ends.breaks if isinstance(node, ast.Break) else ends.continues).append(reaching)
            return None
        self._read(node, reaching)
        self._bind(node, reaching)
        return None if isinstance(node, (ast.Return, ast.Raise)) else reaching

    def _try(self, node: ast.Try, reaching: Reaching) -> Reaching | None:
        """Follow a `try`: any statement of its body may have been the last one before a handler begins."""
        end = self.block(node.body, dict(reaching))
        caught = dict(reaching)
        for statement in node.body:
            for name in tree_nodes(statement):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    caught[name.id] = caught[name.id] | {self._number_of(name, name.id)}
        for handler in node.handlers:
            end = _union(end, self.block(handler.body, dict(caught)))
        return end

    def _loop(
        self, node: ast.For | ast.While, reaching: Reaching, target: ast.expr | None
    ) -> Reaching | None:
        """The assignments that reach the end of a loop; its body is followed until none are new."""
        is_endless = (
            isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        begin = reaching
        while True:
            turn = dict(begin)
            if isinstance(node, ast.While):
                self._read(node.test, turn)
            elif target is not None:
                self._bind(target, turn)
            ends = LoopEnds([], [])
            self.loops.append(ends)
            end = self.block(node.body, turn)
            self.loops.pop()
            for at_continue in ends.continues:
                end = _union(end, at_continue)
            next_begin = _union(reaching, end)
            assert next_begin is not None
            if next_begin == begin:
                break
            begin = next_begin
        after_turns: Reaching | None = None if is_endless else begin
        if isinstance(node, ast.For) and runs_once(node.iter) and end is not None:
            after_turns = end
        behind = None if after_turns is None else self.block(node.orelse, dict(after_turns))
        for at_break in ends.breaks:
            behind = _union(behind, at_break)
        return behind

    def _read(self, node: ast.AST, reaching: Reaching) -> None:
        """Make all assignments that reach a read of a name one variable; record names without a value."""
        for name in tree_nodes(node):
            if not isinstance(name, ast.Name) or name.id not in self.local:
                continue
            is_read = isinstance(name.ctx, ast.Load)
            if isinstance(node, ast.AugAssign) and name is node.target:
                is_read = True
            if not is_read:
                continue
            numbers = reaching[name.id]
            if UNSET in numbers:
                self.unset[id(name)] = name
            numbers = numbers - {UNSET}
            if numbers:
                joined = self.reads.get(id(name))
                self.reads[id(name)] = self._join(numbers if joined is None else [*numbers, joined])

    def _bind(self, node: ast.AST, reaching: Reaching) -> None:
        for name in tree_nodes(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                reaching[name.id] = frozenset({self._number_of(name, name.id)})


def _union(left: Reaching | None, right: Reaching | None) -> Reaching | None:
    if left is None or right is None:
        return right if left is None else left
    return {name: numbers | right[name] for name, numbers in left.items()}
