"""The sources of each result of a kernel function, by its typed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_elements import RETURNED, WHOLE, Element, Elements, Flows
from cosim_compiler.language.typed_form import Expression, Function, Statement, parts
from cosim_compiler.language.types import Group, Record, RecordRows, Tuple, Type, View

NOTHING: Elements = frozenset()
CALLS = (form.Call, form.CallLinked, form.CallAddress)


def flows_of(function: Function) -> Flows:
    """For every element that a function writes or adds to: elements that the number may depend on.

    Values and what decides whether a statement runs count. An index that is not a constant stands for the
    whole parameter, and what a helper writes depends on everything that it is given.
    """
    following = _Flows(function)
    before = -1
    while following.size != before:  # names may be read above the line that they are assigned in: loops
        before = following.size
        following.block(function.body, NOTHING)
    return {to: frozenset(sources) for to, sources in following.closed().items()}


def parameters_written(function: Function) -> frozenset[str]:
    """The parameters in which a function, or what it calls, stores something."""
    if function.written is None:
        function.written = _Flows(function).results
    return function.written


class _Flows:
    """The flows so far."""

    def __init__(self, function: Function) -> None:
        self.parameters = frozenset(name for name, _ in function.parameters)
        self.local: dict[str, set[Element]] = {}
        self.sources: dict[Element, set[Element]] = {}
        self.leaving: set[Element] = set()  # what decides whether the function ends before its last line
        self.results = self.results_of(function)

    def results_of(self, function: Function) -> frozenset[str]:
        """Follow names of views, then what is stored into them."""
        before = -1
        while before != (before := sum(map(len, self.local.values()))):
            for node in form.walk(*function.body):
                if isinstance(node, (form.Assign, form.Let)) and has_memory(node.value.type):
                    self.local.setdefault(node.name, set()).update(self.read(node.value))
        written = set()
        for node in form.walk(*function.body):
            if isinstance(node, form.Store):
                written |= {name for name, _ in self.read(memory_of(node.place))}
            elif isinstance(node, CALLS):
                views = [argument for argument in arguments_written(node) if has_memory(argument.type)]
                written |= {name for name, _ in self.read_all(views)}
        self.local.clear()
        return frozenset(name for name, kind in function.parameters if name in written and has_memory(kind))

    @property
    def size(self) -> int:
        tables = (*self.local.values(), *self.sources.values(), self.leaving)
        return sum(map(len, tables)) + len(self.sources)

    def closed(self) -> dict[Element, set[Element]]:
        """Of each element all elements it depends on, also by way of results that are read again."""
        sources_of = {to: set(sources) | self.leaving for to, sources in self.sources.items()}
        changed = True
        while changed:
            changed = False
            for sources in sources_of.values():
                further = {f for name, index in sources for f in _behind(sources_of, name, index)}
                changed = changed or not further <= sources
                sources |= further
        return sources_of

    # statements

    def block(self, statements: Iterable[Statement], control: Elements) -> None:
        for statement in statements:
            self.statement(statement, control)

    def statement(self, node: Statement, control: Elements) -> None:
        """Enter the sources of what a statement sets; `control` decides whether it runs."""
        for expression in (part for part in parts(node) if isinstance(part, Expression)):
            self.calls(expression, control)
        if isinstance(node, form.Assign):
            self.local.setdefault(node.name, set()).update(self.read(node.value) | control)
        elif isinstance(node, form.Store):
            self.store(node, control)
        elif isinstance(node, (form.If, form.While)):
            self.block((*node.body, *node.orelse), control | self.read(node.condition))
        elif isinstance(node, form.For):
            inner = control | self.read_all((node.first, node.last, node.step))
            self.local.setdefault(node.name, set()).update(inner)
            self.block((*node.body, *node.orelse), inner)
        elif isinstance(node, form.Once):
            for turn in (*node.turns, node.orelse):
                self.block(turn, control)
        elif isinstance(node, form.Try):
            self.block((*node.body, *node.handler), control)
        elif isinstance(node, form.Return):
            self.leaving |= control
            if node.value is not None:
                self.sources.setdefault((RETURNED, WHOLE), set()).update(self.read(node.value) | control)
        elif isinstance(node, (form.Break, form.Continue)):
            self.leaving |= control

    def store(self, node: form.Store, control: Elements) -> None:
        """Something is written to a place; what is added to it does not depend on it."""
        value = node.value.operand if isinstance(node.value, form.Convert) else node.value
        if isinstance(value, form.Binary) and value.left is node.place:
            value = value.right
        place = node.place
        elements = self.read(value) | control
        if isinstance(place, form.Element):
            elements |= self.read_all(place.indices)
        memory = memory_of(place)
        is_own = isinstance(memory, form.Variable) and memory.name in self.parameters
        if isinstance(place, form.Element) and is_own:
            self.sources.setdefault((memory.name, constant_index(place)), set()).update(elements)  # type: ignore[attr-defined]
            return
        behind = self.read(memory)
        elements |= {element for element in behind if element[0] not in self.results}  # which part it is
        for name, _ in behind:
            if name in self.results:
                self.sources.setdefault((name, WHOLE), set()).update(elements)

    def calls(self, node: Expression, control: Elements) -> None:
        """Names that an expression sets, and what its calls write, from everything that they are given."""
        for part in form.walk(node):
            if isinstance(part, form.Let):
                self.local.setdefault(part.name, set()).update(self.read(part.value) | control)
            elif isinstance(part, CALLS):
                sources = self.read_all(parts(part)) | control
                for argument in arguments_written(part):
                    if has_memory(argument.type):
                        for name in {name for name, _ in self.read(argument)} & self.results:
                            self.sources.setdefault((name, WHOLE), set()).update(sources)

    # expressions

    def read(self, node: Expression) -> Elements:
        """The elements that the value of an expression may depend on."""
        if isinstance(node, form.Variable):
            elements = set(self.local.get(node.name, ()))
            if node.name in self.parameters:
                elements.add((node.name, WHOLE))
            return frozenset(elements)
        if isinstance(node, form.Element) and isinstance(node.view, form.Variable):
            name, index = node.view.name, constant_index(node)
            if name in self.parameters and name not in self.local and index != WHOLE:
                return frozenset({(name, index)})
        return self.read_all(part for part in parts(node) if isinstance(part, Expression))

    def read_all(self, nodes: Iterable[Expression]) -> Elements:
        return NOTHING.union(*map(self.read, nodes))


def _behind(sources_of: Mapping[Element, set[Element]], name: str, index: int) -> Iterator[Element]:
    for (written, at), sources in sources_of.items():
        if written == name and (index in (at, WHOLE) or at == WHOLE):
            yield from sources


def memory_of(place: Expression) -> Expression:
    """The view or the record in which a place lies."""
    return place.view if isinstance(place, form.Element) else place.record  # type: ignore[attr-defined]


def arguments_written(node: Expression) -> list[Expression]:
    """The arguments into which a call may store: all of a function that is not in the program."""
    if not isinstance(node, form.Call):
        return [part for part in parts(node) if isinstance(part, Expression)]
    written = parameters_written(node.function)
    pairs = zip(node.function.parameters, node.arguments, strict=True)
    return [argument for (name, _), argument in pairs if name in written]


def constant_index(place: form.Element) -> int:
    """The constant place of an element of a view with one axis; `WHOLE` of any other."""
    index = place.indices[0]
    if len(place.indices) == 1 and isinstance(index, form.Constant) and index.value >= 0:
        return int(index.value)
    return WHOLE


def has_memory(kind: Type) -> bool:
    """Whether a value of this type shows memory that others see."""
    if isinstance(kind, Tuple):
        return any(map(has_memory, kind.items))
    return isinstance(kind, (View, Group, Record, RecordRows))
