"""What each result of a kernel function is computed from, read from its source."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterator, Mapping

from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import definition_of

WHOLE = -1
Element = tuple[str, int]
"""An argument and an index into it, or `WHOLE`."""
RETURNED = ""
"""In place of an argument: what the function returns."""


@functools.cache
def flows_of(function: types.FunctionType) -> Mapping[Element, frozenset[Element]]:
    """For every element that a kernel function writes or adds to: elements that the number may depend on.

    Values and what decides whether a statement runs count. An index that is no constant stands for the
    whole argument, and a helper's results depend on everything that it is given. What has not been
    found to be written is not listed.
    """
    reading = _Flows(function)
    before = -1
    while reading.size != before:  # names may be read above the line that they are assigned in: loops
        before = reading.size
        reading.block(definition_of(function).body, frozenset())
    return {to: frozenset(sources) for to, sources in reading.closed().items()}


class _Flows:
    """What is known so far."""

    def __init__(self, function: types.FunctionType) -> None:
        effects = effects_of(function)
        self.arguments = frozenset(effects.arguments)
        self.results = effects.writes | effects.adds | effects.passed_on
        self.local: dict[str, set[Element]] = {}
        self.sources: dict[Element, set[Element]] = {}
        self.leaving: set[Element] = set()  # what decides whether the function ends before its last line

    @property
    def size(self) -> int:
        tables = (*self.local.values(), *self.sources.values(), self.leaving)
        return sum(map(len, tables)) + len(self.sources)

    def closed(self) -> dict[Element, set[Element]]:
        """Without detours over results that are read again."""
        sources_of = {to: set(sources) | self.leaving for to, sources in self.sources.items()}
        changed = True
        while changed:
            changed = False
            for sources in sources_of.values():
                further = {f for name, index in sources for f in self._behind(sources_of, name, index)}
                changed = changed or not further <= sources
                sources |= further
        return sources_of

    @staticmethod
    def _behind(sources_of: Mapping[Element, set[Element]], name: str, index: int) -> Iterator[Element]:
        for (written, at), sources in sources_of.items():
            if written == name and (index in (at, WHOLE) or at == WHOLE):
                yield from sources

    # statements

    def block(self, statements: list[ast.stmt], control: frozenset[Element]) -> None:
        for statement in statements:
            self.statement(statement, control)

    def statement(self, node: ast.stmt, control: frozenset[Element]) -> None:
        for call in (n for n in _own_nodes(node) if isinstance(n, ast.Call)):
            self.call(call, control)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.assign(target, node.value, control)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            self.store(node.target, self.read(node.value) | control)
        elif isinstance(node, (ast.If, ast.While)):
            inner = control | self.read(node.test)
            self.block([*node.body, *node.orelse], inner)
        elif isinstance(node, ast.For):
            inner = control | self.read(node.iter)
            self.store(node.target, inner)
            self.block([*node.body, *node.orelse], inner)
        elif isinstance(node, ast.Return):
            self.leaving |= control
            if node.value is not None:
                self.sources.setdefault((RETURNED, WHOLE), set()).update(self.read(node.value) | control)
        elif isinstance(node, (ast.Break, ast.Continue)):
            self.leaving |= control

    def assign(self, target: ast.expr, value: ast.expr, control: frozenset[Element]) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
        ):
            for item, item_value in zip(target.elts, value.elts, strict=True):
                self.assign(item, item_value, control)
        else:
            self.store(target, self.read(value) | control)

    def store(self, target: ast.expr, what: frozenset[Element]) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.store(element, what)
        elif isinstance(target, ast.Starred):
            self.store(target.value, what)
        elif isinstance(target, ast.Name):
            self.local.setdefault(target.id, set()).update(what)
        elif isinstance(target, ast.Subscript):
            self.into(target.value, _constant(target.slice), what | self.read(target.slice))
        elif isinstance(target, ast.Attribute):
            self.into(target.value, WHOLE, what)

    def into(self, base: ast.expr, index: int, what: frozenset[Element]) -> None:
        """Something is written to an element of an argument, or of what a name is a view of."""
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base, index = base.value, WHOLE
        if isinstance(base, ast.Call):  # a record that lies in one of them
            given = {argument.id for argument in base.args if isinstance(argument, ast.Name)}
            for name in given & self.results:
                self.sources.setdefault((name, WHOLE), set()).update(what | self.read(base))
        if not isinstance(base, ast.Name):
            return
        if base.id in self.arguments:
            self.sources.setdefault((base.id, index), set()).update(what)
        for name, _ in tuple(self.local.get(base.id, ())):  # a view under another name
            if name in self.results:
                self.sources.setdefault((name, WHOLE), set()).update(what)

    def call(self, node: ast.Call, control: frozenset[Element]) -> None:
        """A helper may write to the arguments that it is given, from everything that it is given."""
        arguments = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
        arguments += [keyword.value for keyword in node.keywords]
        sources = frozenset[Element]().union(control, *map(self.read, arguments))
        for argument in arguments:
            base = argument
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                names = {base.id} | {name for name, _ in self.local.get(base.id, ())}
                for name in names & self.results:
                    self.sources.setdefault((name, WHOLE), set()).update(sources)

    # expressions

    def read(self, node: ast.AST) -> frozenset[Element]:
        if isinstance(node, ast.Name):
            elements = set(self.local.get(node.id, ()))
            if node.id in self.arguments:
                elements.add((node.id, WHOLE))
            return frozenset(elements)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = _constant(node.slice)
            if node.value.id in self.arguments and node.value.id not in self.local and index != WHOLE:
                return frozenset({(node.value.id, index)})
        if isinstance(node, ast.NamedExpr):
            self.store(node.target, self.read(node.value))
        return frozenset[Element]().union(*map(self.read, ast.iter_child_nodes(node)))


def _constant(index: ast.expr) -> int:
    """A constant index; `WHOLE` for any other."""
    if isinstance(index, ast.Constant) and type(index.value) is int and index.value >= 0:
        return index.value
    return WHOLE


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without those of the statements inside of it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        pending += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
