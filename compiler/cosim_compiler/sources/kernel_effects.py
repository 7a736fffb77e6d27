"""The arguments that a kernel function reads and writes, read from its source and that of its helpers."""

from __future__ import annotations

import ast
import functools
import types
from dataclasses import dataclass, field
from typing import NamedTuple

from cosim_compiler.names_in_reach import environment
from cosim_compiler.record import rows_of
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.recursion import is_recursive
from cosim_compiler.sources.tree_walk import tree_nodes


class IndexAtLine(NamedTuple):
    """A constant index of an argument, and the line in which it stands."""

    place: int
    line: int


class TablePlace(NamedTuple):
    """A place of an argument that is indexed by row and column; None stands for a computed index."""

    argument: str
    place: tuple[int | None, int | None]
    line: int


@dataclass(frozen=True)
class Effects:
    """The effects of a function on its arguments.

    Attributes
    ----------
    arguments : tuple of str
        The names of all arguments.
    writes, adds : frozenset of str
        Arguments into which it stores by ``=``; by ``+=`` or ``-=``.
    rebinds : dict of str to int
        Arguments to whose names it assigns, with the line.
    lines : dict of str to int
        The first line that stores into an argument.
    indices : dict of str to IndexAtLine
        The largest constant index of an argument.
    subscripts : dict of str to int
        Arguments whose elements it reads or writes, with the first such line.
    as_numbers : dict of str to int
        Arguments that it uses as numbers, with the first such line.
    passed_on : frozenset of str
        Arguments that it passes to functions whose source is not read.
    tables : frozenset of str
        Arguments that it, or a helper, indexes by row and column.
    lies_in : frozenset of str
        Arguments in which the record lies that it returns.
    records : frozenset of str
        Local names of records that lie in arguments.
    places : tuple of TablePlace
        The places by which it itself indexes arguments by row and column.
    """

    arguments: tuple[str, ...]
    writes: frozenset[str]
    adds: frozenset[str]
    rebinds: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    indices: dict[str, IndexAtLine] = field(default_factory=dict)
    subscripts: dict[str, int] = field(default_factory=dict)
    as_numbers: dict[str, int] = field(default_factory=dict)
    passed_on: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    lies_in: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    places: tuple[TablePlace, ...] = ()


NODES_WITH_EFFECTS = (
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
    """The effects of a function on its arguments."""
    tree = definition_of(function)
    reading = _Reading(tuple(a.arg for a in tree.args.args), environment(function))
    reading.find_records(tree)
    for node in tree_nodes(ast.Module(tree.body, [])):
        if isinstance(node, NODES_WITH_EFFECTS):
            reading.read(node)
    return Effects(
        arguments=reading.arguments,
        writes=frozenset(reading.writes),
        adds=frozenset(reading.adds),
        rebinds=reading.rebinds,
        lines=reading.lines,
        indices=reading.indices,
        subscripts={n: line for n, line in reading.subscripts.items() if n not in reading.rebinds},
        as_numbers={n: line for n, line in reading.as_numbers.items() if n not in reading.rebinds},
        passed_on=frozenset(reading.passed_on),
        tables=frozenset(reading.tables),
        lies_in=reading.lies_in(tree),
        records=frozenset(reading.records),
        places=tuple(reading.places),
    )


class _Reading:
    """The effects of one function, as far as its source was read.

    The sets and dictionaries are those of `Effects`.
    """

    def __init__(self, arguments: tuple[str, ...], helpers: dict[str, object]) -> None:
        self.arguments, self.helpers = arguments, helpers
        self.writes: set[str] = set()
        self.adds: set[str] = set()
        self.passed_on: set[str] = set()
        self.tables: set[str] = set()
        self.records: dict[str, set[str]] = {}  # for each local name the arguments in which its record lies
        self.places: list[TablePlace] = []
        self.rebinds: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.indices: dict[str, IndexAtLine] = {}
        self.subscripts: dict[str, int] = {}
        self.as_numbers: dict[str, int] = {}

    def find_records(self, tree: ast.FunctionDef) -> None:
        """Find the names that stand for a record or a part of an argument, as in ``part = x[0:3]``.

        A name may be assigned another such name, so this is repeated until nothing new is found.
        """
        count = -1
        while count != (count := sum(map(len, self.records.values()))):
            for node in tree_nodes(tree):
                target, value = None, None
                if isinstance(node, ast.Assign):
                    target, value = node.targets[0], node.value
                elif isinstance(node, ast.For):
                    target, value = node.target, node.iter
                if isinstance(target, ast.Name) and (arguments := self.arguments_behind(value)):
                    self.records.setdefault(target.id, set()).update(arguments)

    def arguments_behind(self, node: ast.AST | None) -> set[str]:
        """The arguments in which a record, rows of records or a part lie; none for any other expression."""
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
        return frozenset(name for value in returned for name in self.arguments_behind(value))

    def read(self, node: ast.AST) -> None:
        """Add what a node itself reads and writes; the nodes below it are read by themselves."""
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
        """Add an element that is read or written, with its index if that is constant."""
        if name not in self.arguments:
            return
        self.subscripts.setdefault(name, line)
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            self.tables.add(name)
            row, column = map(_constant_index, index.elts)
            self.places.append(TablePlace(name, (row, column), line))
        constant = _constant_index(index)
        if constant is not None and constant > self.indices.get(name, IndexAtLine(-1, 0)).place:
            self.indices[name] = IndexAtLine(constant, line)

    def _store(self, names: set[str], target: ast.expr, line: int) -> None:
        """Add the arguments in which an assignment stores something to `names`."""
        if isinstance(target, ast.Subscript):
            owner = _name_behind(target.value)
            for argument in {owner} & set(self.arguments) or self.records.get(owner, set()):
                names.add(argument)
                self.lines.setdefault(argument, line)
        elif isinstance(target, ast.Attribute):
            for owner in self.arguments_behind(target.value):
                names.add(owner)
                self.lines.setdefault(owner, line)
        elif isinstance(target, ast.Name) and target.id in self.arguments:
            self.rebinds.setdefault(target.id, line)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._store(names, element, line)

    def _computed_with(self, operands: list[ast.expr], line: int) -> None:
        """Add the arguments among the operands of an operator or of a function of numbers."""
        for operand in operands:
            if isinstance(operand, ast.Name) and operand.id in self.arguments:
                self.as_numbers.setdefault(operand.id, line)

    def _call(self, node: ast.Call, line: int) -> None:
        """Add the effects of a call on the arguments that are passed to it."""
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
        """Add the effects of a helper on the arguments that are passed to it."""
        for name, argument in zip(inner.arguments, node.args, strict=False):
            passed = _name_behind(argument)
            if passed not in self.arguments:
                # it may be a local name of a record that lies in an argument
                for names, names_in_helper in ((self.writes, inner.writes), (self.adds, inner.adds)):
                    if name in names_in_helper:
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
    """The name whose value is passed, as a whole or a part of it; empty if there is none."""
    passed = argument.value if isinstance(argument, ast.Subscript) else argument
    return passed.id if isinstance(passed, ast.Name) else ""


def _constant_index(index: ast.expr) -> int | None:
    """A constant index. A negative one counts as too large: kernel functions do not count from the end."""
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return index.value
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return 1 << 30 if isinstance(index.operand, ast.Constant) else None
    return None


def always_assigned(function: types.FunctionType) -> frozenset[str]:
    """The arguments in which a function stores by ``=``, whatever its branches and loops do."""
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
