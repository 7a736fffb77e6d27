"""Facts about the local names of a function: where C declares them, which are read and never negative."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.statement_parts import bodies_of, expressions_of
from cosim_compiler.language.typed_form import Expression, Function, Statement
from cosim_compiler.language.types import TRUTH, WHOLE

Place = tuple[int, ...]
"""The place of a statement: its index in the body, the number of a branch, the index in that branch …"""


class Declarations:
    """The local names of a function.

    Attributes
    ----------
    by : dict of int to str
        By the `id` of an assignment, a loop or a `Let`: the name that it declares. All others are declared
        where the function begins.
    read : set of str
        Names whose value is read somewhere.
    nonnegative : set of str
        Whole numbers that are never below 0.
    """

    def __init__(self, function: Function) -> None:
        self.by: dict[int, str] = {}
        self.read: set[str] = set()
        self._places: dict[str, list[Place]] = {}  # where each name occurs
        self._assignments: dict[str, list[Statement | Expression]] = {}  # of each name, also loops and `Let`
        self._statements: dict[Place, Statement] = {}
        self._visit(function.body, ())
        parameters = {name for name, _ in function.parameters}
        for name in function.variables:
            if name not in parameters:
                self._declare(name)
        self.nonnegative = self._never_negative(function, parameters)

    def is_nonnegative(self, node: Expression) -> bool:
        """Whether a whole number cannot be below 0."""
        if isinstance(node, form.Constant):
            return bool(node.value >= 0)
        if isinstance(node, form.Variable):
            return node.name in self.nonnegative
        if isinstance(node, form.Binary):
            if node.operator in ("//", "%", ">>"):
                return (
                    isinstance(node.right, form.Constant)
                    and node.right.value > 0
                    and self.is_nonnegative(node.left)
                )
            return (
                node.operator in "+*" and self.is_nonnegative(node.left) and self.is_nonnegative(node.right)
            )
        if isinstance(node, form.Convert):
            kind = node.operand.type
            return kind is TRUTH or (kind is WHOLE and self.is_nonnegative(node.operand))
        if isinstance(node, form.Choice):
            return self.is_nonnegative(node.yes) and self.is_nonnegative(node.no)
        if isinstance(node, form.Mathematics):
            each = map(self.is_nonnegative, node.arguments)
            return (node.name == "min" and all(each)) or (node.name == "max" and any(each))
        return isinstance(node, form.Length)

    def _visit(self, body: Sequence[Statement], block: Place) -> None:
        """Record the places of all names in a block."""
        for i, statement in enumerate(body):
            place = (*block, i)
            self._statements[place] = statement
            for expression in expressions_of(statement):
                for node in form.walk(expression):
                    if isinstance(node, form.Variable):
                        self.read.add(node.name)
                        self._store_place(node.name, place)
                    elif isinstance(node, form.Let):
                        self._store_place(node.name, place, node)
                    elif isinstance(node, form.Zeros):
                        self._store_place(node.name, place)
            if isinstance(statement, (form.Assign, form.For, form.Try)):
                self._store_place(statement.name, place, statement)
            if isinstance(statement, (form.Try, form.RaiseAgain)):
                self.read.add(statement.name)
                self._store_place(statement.name, place)
            for number, branch in enumerate(bodies_of(statement)):
                self._visit(branch, (*place, number))

    def _store_place(self, name: str, place: Place, node: Statement | Expression | None = None) -> None:
        """Record that a name occurs at a place, and what assigns to it there."""
        self._places.setdefault(name, []).append(place)
        if node is not None:
            self._assignments.setdefault(name, []).append(node)

    def _declare(self, name: str) -> None:
        """Declare a name where it gets its first value, if the declaration holds wherever the name occurs.

        That is an assignment in the innermost block that contains all its places; or the only loop or `Let`
        that assigns it, if no other statement mentions it.
        """
        places, assignments = self._places.get(name, []), self._assignments.get(name, [])
        if not places or not assignments:
            return
        block = _common_block(places)
        first = min(place[len(block)] for place in places)
        statement = self._statements[(*block, first)]
        if isinstance(statement, form.Assign) and statement.name == name:
            reads = (n.name for n in form.walk(statement.value) if isinstance(n, (form.Variable, form.Let)))
            if name not in reads:
                self.by[id(statement)] = name
            return
        is_alone = all(place[len(block)] == first for place in places)
        if len(assignments) != 1 or not is_alone:
            return
        (only,) = assignments
        is_loop = only is statement and isinstance(statement, form.For)
        # the condition of a `while` is computed in each turn, where nothing can be declared
        is_let = isinstance(only, form.Let) and len({*places}) == 1 and not isinstance(statement, form.While)
        if is_loop or is_let:
            self.by[id(only)] = name

    def _never_negative(self, function: Function, parameters: set[str]) -> set[str]:
        """The names that are never negative: all integers but those that may get another value."""
        self.nonnegative = {
            name
            for name, kind in function.variables.items()
            if kind is WHOLE and name not in parameters and self._assignments.get(name)
        }
        while wrong := {name for name in self.nonnegative if not self._stays_nonnegative(name)}:
            self.nonnegative -= wrong
        return self.nonnegative

    def _stays_nonnegative(self, name: str) -> bool:
        return all(map(self._assigns_nonnegative, self._assignments[name]))

    def _assigns_nonnegative(self, node: Statement | Expression) -> bool:
        """Whether an assignment, a loop or a `Let` assigns no negative number, by what is known of names."""
        if isinstance(node, (form.Assign, form.Let)):
            return node.value.type in (WHOLE, TRUTH) and self.is_nonnegative(node.value)
        if not isinstance(node, form.For) or not isinstance(node.step, form.Constant):
            return False
        if node.step.value > 0:
            return self.is_nonnegative(node.first)
        return isinstance(node.last, form.Constant) and node.last.value >= -1


def _common_block(places: Sequence[Place]) -> Place:
    """The innermost block in which all these places lie."""
    levels = zip(*places, strict=False)
    depth = len(list(itertools.takewhile(lambda level: len({*level}) == 1, levels)))
    return places[0][: depth // 2 * 2]  # each block around it adds two: a statement and a branch
