"""The arguments that a kernel function reads and writes, by its source and that of its helpers."""

from __future__ import annotations

import ast
import functools
import types
from dataclasses import dataclass, field

from cosim_compiler.names_in_reach import environment
from cosim_compiler.record import rows_of
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_source import definition_of, statements
from cosim_compiler.sources.recursion import is_recursive
from cosim_compiler.sources.tree_walk import tree_nodes


@dataclass(frozen=True)
class Effects:
    """The effects of a function on its arguments.

    Attributes
    ----------
    arguments : tuple of str
    writes, adds : frozenset of str
        Arguments that it stores into by ``=``, by ``+=`` or ``-=``.
    rebinds : dict of str to int
        Arguments whose name it assigns, with the line.
    lines : dict of str to int
        Where it first stores into an argument.
    indices : dict of str to (int, int)
        The largest constant index of an argument, with the line.
    subscripts : dict of str to int
        Arguments that it takes elements of, with the line of the first.
    as_numbers : dict of str to int
        Arguments that it computes with as if they were numbers, with the line of the first.
    passed_on : frozenset of str
        Arguments that it hands to what is not known here.
    tables : frozenset of str
        Arguments that it, or a helper, indexes by row and column.
    lies_in : frozenset of str
        Arguments in which the record lies that it returns.
    records : frozenset of str
        Local names of records that lie in arguments.
    places : tuple of (str, (int or None, int or None), int)
        Rows and columns by which it indexes arguments itself, None where one is computed, with the line.
    """

    arguments: tuple[str, ...]
    writes: frozenset[str]
    adds: frozenset[str]
    rebinds: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    indices: dict[str, tuple[int, int]] = field(default_factory=dict)
    subscripts: dict[str, int] = field(default_factory=dict)
    as_numbers: dict[str, int] = field(default_factory=dict)
    passed_on: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    lies_in: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    places: tuple[tuple[str, tuple[int | None, int | None], int], ...] = ()


READ = (
    ast.Subscript,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.For,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Call,
)


@functools.cache
def effects_of(function: types.FunctionType) -> Effects:
    """Which arguments the function writes, adds to, assigns or takes elements of."""
    tree = definition_of(function)
    reading = _Reading(tuple(a.arg for a in tree.args.args), environment(function))
    reading.find_records(tree)
    for node in tree_nodes(ast.Module(tree.body, [])):
        if isinstance(node, READ):
            reading.read(node)
    return Effects(
        reading.arguments,
        frozenset(reading.writes),
        frozenset(reading.adds),
        reading.rebinds,
        reading.lines,
        reading.indices,
        {n: line for n, line in reading.subscripts.items() if n not in reading.rebinds},
        {n: line for n, line in reading.as_numbers.items() if n not in reading.rebinds},
        frozenset(reading.passed_on),
        frozenset(reading.tables),
        reading.lies_in(tree),
        frozenset(reading.records),
        tuple(reading.places),
    )


class _Reading:
    """The effects of one function, as far as its source was read."""

    def __init__(self, arguments: tuple[str, ...], helpers: dict[str, object]) -> None:
        self.arguments, self.helpers = arguments, helpers
        self.writes: set[str] = set()
        self.adds: set[str] = set()
        self.passed_on: set[str] = set()
        self.tables: set[str] = set()
        self.records: dict[str, set[str]] = {}  # local names, and the arguments in which their records lie
        self.places: list[tuple[str, tuple[int | None, int | None], int]] = []
        self.rebinds: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.indices: dict[str, tuple[int, int]] = {}
        self.subscripts: dict[str, int] = {}
        self.as_numbers: dict[str, int] = {}

    def find_records(self, tree: ast.FunctionDef) -> None:
        """Which names stand for what lies in an argument: a record, or a part as in ``part = x[0:3]``."""
        count = -1
        while count != (count := sum(map(len, self.records.values()))):  # a name may be given another one
            for node in tree_nodes(tree):
                target, value = None, None
                if isinstance(node, ast.Assign):
                    target, value = node.targets[0], node.value
                elif isinstance(node, ast.For):
                    target, value = node.target, node.iter
                if isinstance(target, ast.Name) and (behind := self.behind_record(value)):
                    self.records.setdefault(target.id, set()).update(behind)

    def behind_record(self, node: ast.AST | None) -> set[str]:
        """The arguments in which a record, rows of records or a part lie; none where it is something else."""
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Slice)
            and (whole := _name_behind(node)) in self.arguments
        ):
            return {whole}
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        if isinstance(node, ast.Name):
            return self.records.get(node.id, set())
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return set()
        called = self.helpers.get(node.func.id)
        if not isinstance(called, types.FunctionType) or is_recursive(called):
            return set()
        if called is rows_of:
            shown = {_name_behind(argument) for argument in node.args[1:2]}
        else:
            values = dict(zip(effects_of(called).arguments, node.args, strict=False))
            shown = {_name_behind(values[name]) for name in effects_of(called).lies_in if name in values}
        return shown & set(self.arguments)

    def lies_in(self, tree: ast.FunctionDef) -> frozenset[str]:
        """The arguments in which the record lies that is returned."""
        returned = (node.value for node in tree_nodes(tree) if isinstance(node, ast.Return))
        return frozenset(name for value in returned for name in self.behind_record(value))

    def read(self, node: ast.AST) -> None:
        """Enter what a node itself reads and writes; nodes below it are entered by themselves."""
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            self._subscript(node.value.id, node.slice, line)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._store(self.writes, target, line)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._store(self.writes, node.target, line)
        elif isinstance(node, ast.AugAssign):
            self._store(
                self.adds if isinstance(node.op, (ast.Add, ast.Sub)) else self.writes, node.target, line
            )
            self._computed_with([node.value], line)
        elif isinstance(node, ast.For):
            self._store(self.writes, node.target, line)
        elif isinstance(node, ast.BinOp):
            self._computed_with([node.left, node.right], line)
        elif isinstance(node, ast.UnaryOp):
            self._computed_with([node.operand], line)
        elif isinstance(node, ast.Compare):
            self._computed_with([node.left, *node.comparators], line)
        elif isinstance(node, ast.Call):
            self._call(node, line)

    def _subscript(self, name: str, index: ast.expr, line: int) -> None:
        """Enter an element that is mentioned, with its place where that is constant."""
        if name not in self.arguments:
            return
        self.subscripts.setdefault(name, line)
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            self.tables.add(name)
            row, column = map(_constant_index, index.elts)
            self.places.append((name, (row, column), line))
        constant = _constant_index(index)
        if constant is not None and constant > self.indices.get(name, (-1, 0))[0]:
            self.indices[name] = (constant, line)

    def _store(self, names: set[str], target: ast.expr, line: int) -> None:
        """Enter the arguments in which an assignment stores something."""
        if isinstance(target, ast.Subscript):
            owner = _name_behind(target.value)
            for argument in {owner} & set(self.arguments) or self.records.get(owner, set()):
                names.add(argument)
                self.lines.setdefault(argument, line)
        elif isinstance(target, ast.Attribute):
            for owner in self.behind_record(target.value):
                names.add(owner)
                self.lines.setdefault(owner, line)
        elif isinstance(target, ast.Name) and target.id in self.arguments:
            self.rebinds.setdefault(target.id, line)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._store(names, element, line)

    def _computed_with(self, operands: list[ast.expr], line: int) -> None:
        for operand in operands:
            if isinstance(operand, ast.Name) and operand.id in self.arguments:
                self.as_numbers.setdefault(operand.id, line)

    def _call(self, node: ast.Call, line: int) -> None:
        """Enter what a call does to the arguments that it is given."""
        helper = self.helpers.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(node.func, ast.Attribute) and _root_name(node.func) == "math":  # takes numbers
            self._computed_with(node.args, line)
        if isinstance(helper, types.FunctionType) and not is_recursive(helper):
            self._call_of_helper(effects_of(helper), node, line)
            return
        for argument in node.args:
            name = _name_behind(argument)
            if name in self.arguments and isinstance(node.func, ast.Name):
                self.passed_on.add(name)

    def _call_of_helper(self, inner: Effects, node: ast.Call, line: int) -> None:
        """Enter what a helper does to the arguments that it is given."""
        for name, argument in zip(inner.arguments, node.args, strict=False):
            passed = _name_behind(argument)
            if passed not in self.arguments:
                for names, touched in ((self.writes, inner.writes), (self.adds, inner.adds)):
                    if name in touched:
                        names.update(self.records.get(passed, ()))
                continue
            if name in inner.writes:
                self.writes.add(passed)
            if name in inner.adds:
                self.adds.add(passed)
            if name in inner.passed_on:
                self.passed_on.add(passed)
            if name in inner.tables and isinstance(argument, ast.Name):
                self.tables.add(passed)
            if isinstance(argument, ast.Name) and name in inner.subscripts:
                self.subscripts.setdefault(passed, line)
            if isinstance(argument, ast.Name) and name in inner.as_numbers:
                self.as_numbers.setdefault(passed, line)
            self.lines.setdefault(passed, line)


def _root_name(node: ast.Attribute) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _name_behind(argument: ast.expr) -> str:
    """The argument that is passed whole or in part."""
    passed = argument.value if isinstance(argument, ast.Subscript) else argument
    return passed.id if isinstance(passed, ast.Name) else ""


def _constant_index(index: ast.expr) -> int | None:
    """A constant index; a negative one counts as too large, since nothing counts from the end."""
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return index.value
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return 1 << 30 if isinstance(index.operand, ast.Constant) else None
    return None


@functools.cache
def line_of_returned_value(function: types.FunctionType) -> int:
    """The first line that returns something other than None; 0 where none does."""
    reading = KeptReading(*as_written(function), "returned")
    if reading.fact is not None:
        line: int = reading.fact
        return line
    line = _read_line_of_returned_value(function)
    reading.remember(line)
    return line


def _read_line_of_returned_value(function: types.FunctionType) -> int:
    for node in statements(definition_of(function)):
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            return value.lineno
    return 0


def always_assigned(function: types.FunctionType) -> frozenset[str]:
    """Arguments into an element of which the function stores by ``=`` whatever its branches and loops do."""
    assigned: set[str] = set()
    for statement in definition_of(function).body:
        if isinstance(statement, ast.Return):
            break
        if any(isinstance(node, (ast.Return, ast.Raise)) for node in tree_nodes(statement)):
            break
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                assigned.add(target.value.id)
    return frozenset(assigned)


def returns_value(function: types.FunctionType) -> bool:
    """Whether the function returns something other than None."""
    return line_of_returned_value(function) != 0


@functools.cache
def may_raise(function: types.FunctionType) -> bool:
    """Whether the function, or a helper of it, refuses something: it raises or asserts."""
    nodes = tree_nodes(definition_of(function))
    if is_recursive(function):
        return True  # nothing says that it does not
    if any(isinstance(node, (ast.Raise, ast.Assert)) for node in nodes):
        return True
    helpers = [h for h in environment(function).values() if isinstance(h, types.FunctionType)]
    return any(helper is not function and may_raise(helper) for helper in helpers)


@functools.cache
def returns_condition(function: types.FunctionType) -> bool:
    """Whether everything that the function returns is true or false."""
    tree = definition_of(function)
    assigned: dict[str, list[ast.expr]] = {}
    for node in tree_nodes(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)

    def is_condition(value: ast.expr | None, depth: int = 0) -> bool:
        """Whether a value is true or false, also by way of names."""
        if isinstance(value, ast.BoolOp):
            return all(is_condition(v, depth) for v in value.values)
        if isinstance(value, ast.IfExp):
            return is_condition(value.body, depth) and is_condition(value.orelse, depth)
        if isinstance(value, ast.Name) and depth < 10:
            sources = assigned.get(value.id, [])
            return bool(sources) and all(is_condition(v, depth + 1) for v in sources)
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id == "bool"
        is_not = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
        is_constant = isinstance(value, ast.Constant) and isinstance(value.value, bool)
        return is_not or is_constant or isinstance(value, ast.Compare)

    returned = [n.value for n in tree_nodes(tree) if isinstance(n, ast.Return)]
    return bool(returned) and all(is_condition(value) for value in returned)
