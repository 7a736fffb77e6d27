"""Which elements of a result are not written on every way through a kernel function.

Such an element keeps what an earlier evaluation left in the cache, outside of the State: a run that is
resumed goes on with another value. Loops between constants are followed turn by turn, helpers with what they
are given. Where that cannot be known (a place or a number of turns that is computed) an element counts as
written.
"""

from __future__ import annotations

import ast
import builtins
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosim_compiler.fingerprint import environment
from cosim_compiler.sources.kernel_source import definition_of

MOST_TURNS = 64
"""Turns of a loop that are followed one by one; more count as one whose places are not known."""
MOST_DEPTH = 12
"""Helpers that call helpers."""
OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

Elements = frozenset[int]


@dataclass(frozen=True)
class Part:
    """A view of some elements of a result: where it begins, and how many it has (None: not known).

    `columns` is 0 where it has one axis.
    """

    result: str
    first: int | None
    size: int | None
    columns: int = 0


@dataclass
class Ways:
    """What is written where a function is left: for each way the line, and the elements of each result."""

    exits: list[tuple[int, dict[str, Elements]]] = field(default_factory=list)

    def everywhere(self, result: str, all_elements: Elements) -> Elements:
        """The elements of a result that are written on every way."""
        found = all_elements
        for _, written in self.exits:
            found &= written[result]
        return found


def unwritten_results(
    function: types.FunctionType, sizes: Mapping[str, int], columns: Mapping[str, int] | None = None
) -> dict[str, tuple[int, int]]:
    """For each result with an element that is not written on some way: the least such element, and a line.

    Parameters
    ----------
    function : function
    sizes : mapping of str to int
        Of the results, by the names of the arguments.
    columns : mapping of str to int, optional
        Of those that are tables.
    """
    parts = {name: Part(name, 0, size, (columns or {}).get(name, 0)) for name, size in sizes.items()}
    ways = _ways(function, parts, sizes, 0)
    found: dict[str, tuple[int, int]] = {}
    for name, size in sizes.items():
        for line, written in ways.exits:
            missing = frozenset(range(size)) - written[name]
            if missing:
                found.setdefault(name, (min(missing), line))
    return found


def _ways(
    function: types.FunctionType, parts: Mapping[str, Part], sizes: Mapping[str, int], depth: int
) -> Ways:
    tree = definition_of(function)
    constants = {
        name: value for name, value in environment(function).items() if isinstance(value, (int, tuple))
    }
    walk = _Walk(constants, environment(function), dict(parts), sizes, depth)
    end = walk.block(tree.body, {name: frozenset() for name in sizes})
    if end is not None:
        walk.ways.exits.append((tree.body[-1].end_lineno or tree.lineno, end))
    return walk.ways


Written = dict[str, Elements]


class _Walk:
    """Goes through a function with the elements that are written; None where nothing is reached."""

    def __init__(
        self,
        constants: dict[str, Any],
        names: Mapping[str, Any],
        parts: dict[str, Part],
        sizes: Mapping[str, int],
        depth: int,
    ) -> None:
        self.constants, self.names, self.parts, self.sizes, self.depth = constants, names, parts, sizes, depth
        self.ways = Ways()
        self.loops: list[tuple[list[Written], list[Written]]] = []  # where breaks and continues leave

    def block(self, body: Iterable[ast.stmt], written: Written | None) -> Written | None:
        for statement in body:
            if written is None:
                return None
            written = self.statement(statement, written)
        return written

    def statement(self, node: ast.stmt, written: Written) -> Written | None:
        if isinstance(node, ast.If):
            written = self.calls(node.test, written)
            known = self.value(node.test)
            if known is not None:
                return self.block(node.body if known else node.orelse, written)
            return _both(self.block(node.body, dict(written)), self.block(node.orelse, dict(written)))
        if isinstance(node, ast.For):
            return self.loop(node, self.calls(node.iter, written), self.turns(node))
        if isinstance(node, ast.While):
            return self.loop(node, self.calls(node.test, written), None)
        if isinstance(node, (ast.Break, ast.Continue)):
            if self.loops:
                self.loops[-1][isinstance(node, ast.Continue)].append(written)
            return None
        written = self.calls(node, written)
        if isinstance(node, ast.Return):
            self.ways.exits.append((node.lineno, written))
            return None
        if isinstance(node, ast.Raise):
            return None
        if isinstance(node, ast.Assign):
            for target in node.targets:
                written = self.store(target, node.value, written)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            written = self.store(node.target, None, written)
        return written

    # loops

    def turns(self, node: ast.For) -> list[int] | None:
        """The values of the name of a loop between constants."""
        source = node.iter
        if not isinstance(node.target, ast.Name):
            return None
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
            bounds = [self.value(argument) for argument in source.args]
            if all(type(bound) is int for bound in bounds) and 1 <= len(bounds) <= 3 and bounds[2:] != [0]:
                values = range(*bounds)
                return list(values) if len(values) <= MOST_TURNS else None
            return None
        given = self.value(source)
        return list(given) if isinstance(given, tuple) and len(given) <= MOST_TURNS else None

    def loop(
        self, node: ast.For | ast.While, written: Written | None, turns: Sequence[Any] | None
    ) -> Written | None:
        broken: list[Written] = []
        for value in [None] if turns is None else turns:
            if written is None:
                break
            name = node.target.id if isinstance(node, ast.For) and isinstance(node.target, ast.Name) else ""
            self.forget(node)
            if value is not None:
                self.constants[name] = value
            breaks: list[Written] = []
            continues: list[Written] = []
            self.loops.append((breaks, continues))
            written = self.block(node.body, dict(written))
            self.loops.pop()
            for other in continues:
                written = _both(written, other)
            broken += breaks
        self.forget(node)
        if written is not None:
            written = self.block(node.orelse, written)
        for other in broken:
            written = _both(written, other)
        return written

    def forget(self, node: ast.AST) -> None:
        """What a loop binds has no known value."""
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                self.constants.pop(name.id, None)

    # what is written

    def store(self, target: ast.expr, source: ast.expr | None, written: Written) -> Written:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = None if source is None else self.value(source)
            known = values if isinstance(values, tuple) and len(values) == len(target.elts) else ()
            for i, element in enumerate(target.elts):
                written = self.store(element, ast.Constant(known[i]) if known else None, written)
        elif isinstance(target, ast.Name):
            self.constants.pop(target.id, None)
            part = None if source is None else self.part(source)
            value = None if source is None else self.value(source)
            self.parts.pop(target.id, None)
            if part is not None:
                self.parts[target.id] = part
            elif type(value) is int:
                self.constants[target.id] = value
        elif isinstance(target, ast.Subscript):
            part = self.part(target.value)
            if part is not None:
                written = self.add(part, self.value(target.slice), written)
        return written

    def add(self, part: Part, index: Any, written: Written) -> Written:
        """An element of a part is written; all of the result, where it is not known which."""
        size = self.sizes[part.result]
        elements = frozenset(range(size))
        if part.columns and isinstance(index, tuple) and len(index) == 2:
            index = index[0] * part.columns + index[1] if min(index) >= 0 else None
        if part.first is not None and type(index) is int:
            place = index + (part.size or 0 if index < 0 and part.size is not None else 0)
            if index >= 0 or part.size is not None:
                elements = frozenset({part.first + place})
        return {**written, part.result: written[part.result] | elements}

    def part(self, node: ast.expr) -> Part | None:
        """The elements of a result that an expression is a view of."""
        if isinstance(node, ast.Name):
            return self.parts.get(node.id)
        if not isinstance(node, ast.Subscript):
            return None
        whole = self.part(node.value)
        if whole is None:
            return None
        if not isinstance(node.slice, ast.Slice):
            return self.row(whole, self.value(node.slice)) if whole.columns else None
        first = 0 if node.slice.lower is None else self.value(node.slice.lower)
        last = whole.size if node.slice.upper is None else self.value(node.slice.upper)
        is_known = type(first) is int and first >= 0 and whole.first is not None
        begin = whole.first + first if is_known and whole.first is not None else None
        size = last - first if is_known and type(last) is int and last >= 0 else None
        return Part(whole.result, begin, size)

    @staticmethod
    def row(table: Part, index: Any) -> Part:
        """A row of a table."""
        if table.first is None or type(index) is not int or index < 0:
            return Part(table.result, None, table.columns)
        return Part(table.result, table.first + index * table.columns, table.columns)

    def calls(self, node: ast.AST, written: Written) -> Written:
        """What the calls in a statement or an expression write."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                written = self.call(call, written)
        return written

    def call(self, node: ast.Call, written: Written) -> Written:
        given = [self.part(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        if not any(part is not None for part in given):
            return written
        function = self.names.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id) and function is None:
            return written  # len, min and so on write nothing
        if not isinstance(function, types.FunctionType) or self.depth > MOST_DEPTH:
            return self._all_of(given, written)
        names = [a.arg for a in definition_of(function).args.args]
        parts: dict[str, Part] = {}
        for name, part in zip(names, given, strict=False):
            if part is not None:
                if part.first is None:
                    written = self._all_of([part], written)
                parts[name] = part
        ways = _ways(function, parts, self.sizes, self.depth + 1)
        return {
            name: before | ways.everywhere(name, frozenset(range(self.sizes[name])))
            for name, before in written.items()
        }

    def _all_of(self, given: Iterable[Part | None], written: Written) -> Written:
        for part in given:
            if part is not None:
                written = self.add(part, None, written)
        return written

    # what is known

    def value(self, node: ast.expr) -> Any:
        """The value of an expression, where it is a constant; None of others."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (bool, int)) else None
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        if isinstance(node, ast.Tuple):
            items = tuple(map(self.value, node.elts))
            return None if None in items else items
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            value = self.value(node.operand)
            return None if value is None else (not value if isinstance(node.op, ast.Not) else -value)
        if isinstance(node, ast.Attribute) and node.attr in ("ndim", "shape"):
            part = self.part(node.value)
            if part is None or (node.attr == "shape" and part.size is None):
                return None
            if node.attr == "ndim":
                return 2 if part.columns else 1
            return ((part.size or 0) // part.columns, part.columns) if part.columns else (part.size,)
        if isinstance(node, ast.BinOp):
            return self._operation(node.op, node.left, node.right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._operation(node.ops[0], node.left, node.comparators[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            part = self.part(node.args[0]) if len(node.args) == 1 else None
            if part is None or part.size is None:
                return None
            return part.size // part.columns if part.columns else part.size
        return None

    def _operation(self, sign: ast.AST, left: ast.expr, right: ast.expr) -> Any:
        one, other = self.value(left), self.value(right)
        operation = OPERATORS.get(type(sign))
        if operation is None or type(one) not in (int, bool) or type(other) not in (int, bool):
            return None
        try:
            return operation(one, other)
        except ZeroDivisionError:
            return None


def _both(one: Written | None, other: Written | None) -> Written | None:
    if one is None or other is None:
        return other if one is None else one
    return {name: elements & other[name] for name, elements in one.items()}
