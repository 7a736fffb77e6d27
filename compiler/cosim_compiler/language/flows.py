"""The sources of each result of a kernel function, by its typed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_elements import ANY_INDEX, RETURNED, Element, Elements, Flows
from cosim_compiler.language.read_elements import ReadElements, constant_index
from cosim_compiler.language.typed_form import Expression, Function, Statement, parts
from cosim_compiler.language.written_parameters import (
    CALLS,
    arguments_written,
    has_memory,
    memory_of,
    parameters_written,
)


def flows_of(function: Function) -> Flows:
    """For every element that a function writes or adds to: elements that the number may depend on.

    Values and what decides whether a statement runs count. An index that is not a constant stands for the
    whole parameter, and what a helper writes depends on everything that it is given.
    """
    following = _Flows(function)
    count = -1
    while following.count != count:  # names may be read above the line that they are assigned in: loops
        count = following.count
        following.block(function.body, frozenset())
    return {to: frozenset(sources) for to, sources in following.closed().items()}


class _Flows:
    """The flows that the statements followed so far make.

    Attributes
    ----------
    read : ReadElements
    written : frozenset of str
        The parameters in which the function stores.
    sources : dict of Element to set of Element
        Of each element that is written, those that the number may depend on.
    leaving : set of Element
        What decides whether the function ends before its last line.
    """

    def __init__(self, function: Function) -> None:
        self.read = ReadElements(function)
        self.written = parameters_written(function)
        self.sources: dict[Element, set[Element]] = {}
        self.leaving: set[Element] = set()

    @property
    def count(self) -> int:
        """How many flows there are: it grows until nothing is new."""
        sizes = map(len, self.sources.values())
        return self.read.count + sum(sizes) + len(self.leaving) + len(self.sources)

    def closed(self) -> dict[Element, set[Element]]:
        """Of each element all elements it depends on, also by way of results that are read again."""
        sources_of = {to: set(sources) | self.leaving for to, sources in self.sources.items()}
        changed = True
        while changed:
            changed = False
            for sources in sources_of.values():
                further = {f for name, index in sources for f in _sources_at(sources_of, name, index)}
                changed = changed or not further <= sources
                sources |= further
        return sources_of

    def block(self, statements: Iterable[Statement], control: Elements) -> None:
        """Enter the sources of what statements set."""
        for statement in statements:
            self.statement(statement, control)

    def statement(self, node: Statement, control: Elements) -> None:
        """Enter the sources of what a statement sets; `control` decides whether it runs."""
        for expression in (part for part in parts(node) if isinstance(part, Expression)):
            self.expression(expression, control)
        if isinstance(node, form.Assign):
            self.read.assign(node.name, self.read.of(node.value) | control)
        elif isinstance(node, form.Store):
            self.store(node, control)
        elif isinstance(node, (form.If, form.While)):
            self.block((*node.body, *node.orelse), control | self.read.of(node.condition))
        elif isinstance(node, form.For):
            inner = control | self.read.of_all((node.first, node.last, node.step))
            self.read.assign(node.name, inner)
            self.block((*node.body, *node.orelse), inner)
        elif isinstance(node, form.Once):
            for turn in (*node.turns, node.orelse):
                self.block(turn, control)
        elif isinstance(node, form.Try):
            self.block((*node.body, *node.handler), control)
        elif isinstance(node, form.Return):
            self.leaving |= control
            if node.value is not None:
                self._add((RETURNED, ANY_INDEX), self.read.of(node.value) | control)
        elif isinstance(node, (form.Break, form.Continue)):
            self.leaving |= control

    def store(self, node: form.Store, control: Elements) -> None:
        """Enter the sources of a place that is written; what is added to it does not depend on it."""
        place = node.place
        elements = self.read.of(_value_apart_from(place, node.value)) | control
        if isinstance(place, form.Element):
            elements |= self.read.of_all(place.indices)
        memory = memory_of(place)
        is_parameter = isinstance(memory, form.Variable) and memory.name in self.read.parameters
        if isinstance(place, form.Element) and is_parameter:
            self._add((memory.name, constant_index(place)), elements)  # type: ignore[attr-defined]
            return
        shown = self.read.of(memory)  # of a part of parameters: they, and what says which part it is
        elements |= {element for element in shown if element[0] not in self.written}
        self._add_to_written(shown, elements)

    def expression(self, node: Expression, control: Elements) -> None:
        """Enter names that an expression sets, and what its calls write, from everything they are given."""
        for part in form.walk(node):
            if isinstance(part, form.Let):
                self.read.assign(part.name, self.read.of(part.value) | control)
            elif isinstance(part, CALLS):
                sources = self.read.of_all(parts(part)) | control
                for argument in arguments_written(part):
                    if has_memory(argument.type):
                        self._add_to_written(self.read.of(argument), sources)

    def _add(self, to: Element, sources: Elements) -> None:
        self.sources.setdefault(to, set()).update(sources)

    def _add_to_written(self, shown: Elements, sources: Elements) -> None:
        """Add the sources to each parameter that is written and shows through a view."""
        for name in {name for name, _ in shown} & self.written:
            self._add((name, ANY_INDEX), sources)


def _value_apart_from(place: Expression, value: Expression) -> Expression:
    """Of ``place = place + term`` the term; else the value that is stored, before it is converted."""
    value = value.operand if isinstance(value, form.Convert) else value
    return value.right if isinstance(value, form.Binary) and value.left is place else value


def _sources_at(sources_of: Mapping[Element, set[Element]], name: str, index: int) -> Iterator[Element]:
    """The sources of all elements of a parameter that may be the one at an index."""
    for (written, at), sources in sources_of.items():
        if written == name and (index in (at, ANY_INDEX) or at == ANY_INDEX):
            yield from sources
