"""The sources of each result of a kernel function, by its typed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_elements import RETURNED, WHOLE, Element, Elements, Flows
from cosim_compiler.language.name_sources import NOTHING, NameSources, constant_index
from cosim_compiler.language.typed_form import Expression, Function, Statement, parts
from cosim_compiler.language.written_parameters import CALLS, memory_of, parameters_written, views_written


def flows_of(function: Function) -> Flows:
    """For every element that a function writes or adds to: elements that the number may depend on.

    Values and what decides whether a statement runs count. An index that is not a constant stands for the
    whole parameter, and what a helper writes depends on everything that it is given.
    """
    follower = _FlowFollower(function)
    size = -1
    while size != follower.size:  # a loop may read a name above the line that assigns it
        size = follower.size
        follower.block(function.body, NOTHING)
    sources = {place: elements | follower.leaving for place, elements in follower.sources.items()}
    return {place: frozenset(elements) for place, elements in _transitive(sources).items()}


class _FlowFollower:
    """Passes through a function and adds to the sources of its names and results what each statement shows.

    A pass sees only what was added before; `flows_of` repeats it until nothing is new.

    Attributes
    ----------
    names : NameSources
        Of local names.
    sources : dict of Element to set of Element
        Of each element that is written, and of what is returned.
    leaving : set of Element
        What decides whether the function, or a loop, ends before its last line: all results depend on it.
    """

    def __init__(self, function: Function) -> None:
        self.names = NameSources(function)
        self.sources: dict[Element, set[Element]] = {}
        self.leaving: set[Element] = set()
        self._written = parameters_written(function)

    @property
    def size(self) -> int:
        """The number of places and sources so far; it stays the same where a pass adds nothing new."""
        of_results = sum(map(len, self.sources.values())) + len(self.sources)
        return self.names.size + of_results + len(self.leaving)

    def block(self, statements: Iterable[Statement], control: Elements) -> None:
        """Follow statements; what `control` depends on decides whether they run."""
        for statement in statements:
            self.statement(statement, control)

    def statement(self, node: Statement, control: Elements) -> None:
        """Add the sources of what a statement sets; what `control` depends on decides whether it runs."""
        for expression in (part for part in parts(node) if isinstance(part, Expression)):
            self.effects(expression, control)
        read = self.names.read
        if isinstance(node, form.Assign):
            self.names.add(node.name, read(node.value) | control)
        elif isinstance(node, form.Store):
            self.store(node, control)
        elif isinstance(node, (form.If, form.While)):
            self.block((*node.body, *node.orelse), control | read(node.condition))
        elif isinstance(node, form.For):
            inner = control | self.names.read_all((node.first, node.last, node.step))
            self.names.add(node.name, inner)
            self.block((*node.body, *node.orelse), inner)
        elif isinstance(node, form.Once):
            for turn in (*node.turns, node.orelse):
                self.block(turn, control)
        elif isinstance(node, form.Try):
            self.block((*node.body, *node.handler), control)
        elif isinstance(node, form.Return):
            self.leaving |= control
            if node.value is not None:
                self._add((RETURNED, WHOLE), read(node.value) | control)
        elif isinstance(node, (form.Break, form.Continue)):
            self.leaving |= control

    def store(self, node: form.Store, control: Elements) -> None:
        """Add the sources of a place that is written: of the value, the indices and the condition."""
        elements = self.names.read(_value_stored(node)) | control
        place, memory = node.place, memory_of(node.place)
        if isinstance(place, form.Element):
            elements |= self.names.read_all(place.indices)
            if isinstance(memory, form.Variable) and memory.name in self.names.parameters:
                self._add((memory.name, constant_index(place)), elements)
                return
        # a local view, or a field: any parameter that it may show; the other sources decide which one it is
        shown = self.names.read(memory)
        elements |= {element for element in shown if element[0] not in self._written}
        self._add_to_wholes(shown, elements)

    def effects(self, node: Expression, control: Elements) -> None:
        """Add the sources of names that an expression sets, and of what its calls write: all arguments."""
        for part in form.walk(node):
            if isinstance(part, form.Let):
                self.names.add(part.name, self.names.read(part.value) | control)
            elif isinstance(part, CALLS):
                elements = self.names.read_all(parts(part)) | control
                self._add_to_wholes(self.names.read_all(views_written(part)), elements)

    def _add(self, place: Element, elements: Elements) -> None:
        """Add sources of an element that is written."""
        self.sources.setdefault(place, set()).update(elements)

    def _add_to_wholes(self, shown: Elements, elements: Elements) -> None:
        """Add sources of each written parameter among the elements whose memory a view shows."""
        for name in {name for name, _ in shown} & self._written:
            self._add((name, WHOLE), elements)


def _value_stored(node: form.Store) -> Expression:
    """The value that a statement stores; of ``x[i] += value`` the value alone, not what was there."""
    value = node.value.operand if isinstance(node.value, form.Convert) else node.value
    return value.right if isinstance(value, form.Binary) and value.left is node.place else value


def _transitive(sources_of: dict[Element, set[Element]]) -> dict[Element, set[Element]]:
    """The same sources and theirs: a result that is read again brings along what it was computed from."""
    changed = True
    while changed:
        changed = False
        for sources in sources_of.values():
            further = {f for name, index in sources for f in _sources_at(sources_of, name, index)}
            changed = changed or not further <= sources
            sources |= further
    return sources_of


def _sources_at(sources_of: Mapping[Element, set[Element]], name: str, index: int) -> Iterator[Element]:
    """The sources of all written elements that an element, or a whole parameter, may be."""
    for (written, at), sources in sources_of.items():
        if written == name and (index in (at, WHOLE) or at == WHOLE):
            yield from sources
