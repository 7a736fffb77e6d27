"""The elements that each result of a kernel function may depend on, found in its typed form."""

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
    """The elements that each written element may depend on: its sources.

    A written element depends on the values that it is computed from, and on what decides whether the
    statement runs. An index that is not a constant stands for the whole parameter. What a helper writes
    counts as depending on all its arguments.
    """
    following = _Flows(function)
    count = -1
    while following.count != count:  # names may be read above the line that they are assigned in: loops
        count = following.count
        following.block(function.body, frozenset())
    return {to: frozenset(sources) for to, sources in following.closed().items()}


class _Flows:
    """The sources of written elements, as far as statements were followed.

    Attributes
    ----------
    read : ReadElements
    written : frozenset of str
        The parameters in which the function stores.
    sources : dict of Element to set of Element
        By written element: its sources.
    leaving : set of Element
        The sources of conditions that may end the function before its last line.
    """

    def __init__(self, function: Function) -> None:
        self.read = ReadElements(function)
        self.written = parameters_written(function)
        self.sources: dict[Element, set[Element]] = {}
        self.leaving: set[Element] = set()

    @property
    def count(self) -> int:
        """How many elements are known altogether; it stops growing when nothing is new."""
        sizes = map(len, self.sources.values())
        return self.read.count + sum(sizes) + len(self.leaving) + len(self.sources)

    def closed(self) -> dict[Element, set[Element]]:
        """The sources of each written element, with those of results that it is computed from."""
        sources_of = {to: set(sources) | self.leaving for to, sources in self.sources.items()}
        changed = True
        while changed:
            changed = False
            for sources in sources_of.values():
                indirect = {s for name, index in sources for s in _sources_at(sources_of, name, index)}
                changed = changed or not indirect <= sources
                sources |= indirect
        return sources_of

    def block(self, statements: Iterable[Statement], control: Elements) -> None:
        """Add the sources of what statements assign."""
        for statement in statements:
            self.statement(statement, control)

    def statement(self, node: Statement, control: Elements) -> None:
        """Add the sources of what a statement assigns; `control` are those of whether it runs."""
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
        """Add the sources of a place that is written; in ``x[0] += y`` the place itself does not count."""
        place = node.place
        elements = self.read.of(_value_apart_from(place, node.value)) | control
        if isinstance(place, form.Element):
            elements |= self.read.of_all(place.indices)
        memory = memory_of(place)
        is_parameter = isinstance(memory, form.Variable) and memory.name in self.read.parameters
        if isinstance(place, form.Element) and is_parameter:
            self._add((memory.name, constant_index(place)), elements)  # type: ignore[attr-defined]
            return
        shown = self.read.of(memory)  # the parameters that the view shows, and the sources of its indices
        elements |= {element for element in shown if element[0] not in self.written}
        self._add_to_written(shown, elements)

    def expression(self, node: Expression, control: Elements) -> None:
        """Add the sources of names in an expression, and of what its calls write: all their arguments."""
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
        """Add sources to each written parameter among the elements that a view shows."""
        for name in {name for name, _ in shown} & self.written:
            self._add((name, ANY_INDEX), sources)


def _value_apart_from(place: Expression, value: Expression) -> Expression:
    """The term of ``place = place + term``; of any other statement the stored value before conversion."""
    value = value.operand if isinstance(value, form.Convert) else value
    return value.right if isinstance(value, form.Binary) and value.left is place else value


def _sources_at(sources_of: Mapping[Element, set[Element]], name: str, index: int) -> Iterator[Element]:
    """The sources of all elements of a parameter that may be the one at an index."""
    for (written, at), sources in sources_of.items():
        if written == name and (index in (at, ANY_INDEX) or at == ANY_INDEX):
            yield from sources
