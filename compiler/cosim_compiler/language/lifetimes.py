"""Which assignments of a name belong together: each such group is a variable of its own.

In Python a name may stand for a whole number first and for a tuple later. Assignments whose values may meet
where the name is read are one variable; others are different ones, and their types have nothing to do with
each other. (Compilers call such a group a web.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from cosim_compiler.language.typed_form import in_ascii
from cosim_compiler.sources.assigned_names import runs_once
from cosim_compiler.sources.tree_walk import tree_nodes

UNSET = 0
"""In place of an assignment: the name has no value yet."""

Reaching = dict[str, frozenset[int]]
"""For each name the numbers of the assignments whose value it may have."""


@dataclass
class Lifetimes:
    """The variables of a function.

    Attributes
    ----------
    bound : dict of int to str
        By the `id` of each `ast.Name` and `ast.arg` that gives a local name a value: its variable.
    read : dict of int to str
        By the `id` of each `ast.Name` that reads one.
    unset : list of ast.Name
        Where a name is read that may have no value.
    local : frozenset of str
        All names that are bound.
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
    walk.block(tree.body, dict(walk.given))
    return walk.lifetimes()


class _Walk:
    """Goes through a function with the assignments that may reach each place."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.names: list[str] = [""]  # by the number of an assignment
        self.group: list[int] = [UNSET]  # towards the first of those that belong together
        self.numbers: dict[int, int] = {}  # of each name that is bound, by its `id`
        self.reads: dict[int, int] = {}
        self.unset: dict[int, ast.Name] = {}
        self.loops: list[tuple[list[Reaching], list[Reaching]]] = []  # where breaks and continues leave
        arguments = [*tree.args.args, *([tree.args.vararg] if tree.args.vararg else [])]
        self.local = frozenset(
            [a.arg for a in arguments]
            + [n.id for n in tree_nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        )
        self.given: Reaching = {
            **{name: frozenset({UNSET}) for name in self.local},
            **{a.arg: frozenset({self._bound(a, a.arg)}) for a in arguments},
        }

    def lifetimes(self) -> Lifetimes:
        """The names of the typed form: one for each group of bindings that reach a common read."""
        texts: dict[int, str] = {}
        texts_taken = set(map(in_ascii, self.local))
        first: set[str] = set()
        for number in range(1, len(self.names)):
            root = self._root(number)
            if root in texts:
                continue
            name, i = self.names[number], 1
            name = text = in_ascii(name)
            while name in first and text in texts_taken:
                i += 1
                text = f"{name}_{i}"
            first.add(name)
            texts_taken.add(text)
            texts[root] = text
        bound = {node: texts[self._root(number)] for node, number in self.numbers.items()}
        read = {node: texts[self._root(number)] for node, number in self.reads.items()}
        return Lifetimes(bound, read, list(self.unset.values()), self.local)

    # groups

    def _root(self, number: int) -> int:
        while self.group[number] != number:
            number = self.group[number]
        return number

    def _join(self, numbers: Iterable[int]) -> int:
        """Let assignments belong together; the first of them."""
        roots = sorted({self._root(number) for number in numbers})
        for root in roots:
            self.group[root] = roots[0]
        return roots[0]

    def _bound(self, node: ast.AST, name: str) -> int:
        number = self.numbers.get(id(node))
        if number is None:
            number = self.numbers[id(node)] = len(self.names)
            self.names.append(name)
            self.group.append(number)
        return number

    # statements

    def block(self, body: Iterable[ast.stmt], reaching: Reaching | None) -> Reaching | None:
        for statement in body:
            if reaching is None:  # it is never reached
                return None
            reaching = self._statement(statement, reaching)
        return reaching

    def _statement(self, node: ast.stmt, reaching: Reaching) -> Reaching | None:
        """The bindings that reach the end of a statement; None where nothing reaches it."""
        if isinstance(node, ast.If):
            self._read(node.test, reaching)
            return _union(self.block(node.body, dict(reaching)), self.block(node.orelse, dict(reaching)))
        if isinstance(node, ast.For):
            self._read(node.iter, reaching)
            return self._loop(node, reaching, node.target)
        if isinstance(node, ast.While):
            return self._loop(node, reaching, None)
        if isinstance(node, ast.Try):
            return self._attempt(node, reaching)
        if isinstance(node, (ast.Break, ast.Continue)):
            if self.loops:
                self.loops[-1][isinstance(node, ast.Continue)].append(reaching)
            return None
        self._read(node, reaching)
        self._bind(node, reaching)
        return None if isinstance(node, (ast.Return, ast.Raise)) else reaching

    def _attempt(self, node: ast.Try, reaching: Reaching) -> Reaching | None:
        """Follow a `try`: its handlers begin with what any statement of the body may have stored."""
        end = self.block(node.body, dict(reaching))
        caught = dict(reaching)
        for statement in node.body:
            for name in tree_nodes(statement):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    caught[name.id] = caught[name.id] | {self._bound(name, name.id)}
        for handler in node.handlers:
            end = _union(end, self.block(handler.body, dict(caught)))
        return end

    def _loop(
        self, node: ast.For | ast.While, reaching: Reaching, target: ast.expr | None
    ) -> Reaching | None:
        """The bindings that reach the end of a loop; its body is followed until none are new."""
        endless = (
            isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        begin = reaching
        while True:
            turn = dict(begin)
            if isinstance(node, ast.While):
                self._read(node.test, turn)
            elif target is not None:
                self._bind(target, turn)
            breaks: list[Reaching] = []
            continues: list[Reaching] = []
            self.loops.append((breaks, continues))
            end = self.block(node.body, turn)
            self.loops.pop()
            for other in continues:
                end = _union(end, other)
            again = _union(reaching, end)
            assert again is not None
            if again == begin:
                break
            begin = again
        through: Reaching | None = None if endless else begin
        if isinstance(node, ast.For) and runs_once(node.iter) and end is not None:
            through = end
        left = None if through is None else self.block(node.orelse, dict(through))
        for other in breaks:
            left = _union(left, other)
        return left

    def _read(self, node: ast.AST, reaching: Reaching) -> None:
        """Join the bindings that reach each name that is read; note names that may have none."""
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
                number = self._bound(name, name.id)
                reaching[name.id] = frozenset({number})


def _union(left: Reaching | None, right: Reaching | None) -> Reaching | None:
    if left is None or right is None:
        return right if left is None else left
    return {name: numbers | right[name] for name, numbers in left.items()}
