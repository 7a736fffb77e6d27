"""The elements that the names of a kernel function, and its expressions, may be computed from."""

from __future__ import annotations

from collections.abc import Iterable

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_elements import WHOLE, Element, Elements
from cosim_compiler.language.typed_form import Expression, Function, parts

NOTHING: Elements = frozenset()


class NameSources:
    """For each local name the elements of parameters that it may depend on, as far as they were added.

    Attributes
    ----------
    parameters : frozenset of str
        Names of the parameters: each depends on itself, as a whole.
    """

    def __init__(self, function: Function) -> None:
        self.parameters = frozenset(name for name, _ in function.parameters)
        self._sources: dict[str, set[Element]] = {}

    @property
    def size(self) -> int:
        """The number of elements of all names; it stays the same where `add` adds nothing new."""
        return sum(map(len, self._sources.values()))

    def add(self, name: str, elements: Elements) -> None:
        """Add sources of a local name, or of a parameter that is assigned."""
        self._sources.setdefault(name, set()).update(elements)

    def read(self, node: Expression) -> Elements:
        """The elements that the value of an expression may depend on."""
        if isinstance(node, form.Variable):
            elements = frozenset(self._sources.get(node.name, ()))
            return elements | {(node.name, WHOLE)} if node.name in self.parameters else elements
        if isinstance(node, form.Element) and isinstance(node.view, form.Variable):
            name, index = node.view.name, constant_index(node)
            if name in self.parameters and name not in self._sources and index != WHOLE:
                return frozenset({(name, index)})
        return self.read_all(part for part in parts(node) if isinstance(part, Expression))

    def read_all(self, nodes: Iterable[Expression]) -> Elements:
        """The elements that the values of some expressions may depend on."""
        return NOTHING.union(*map(self.read, nodes))


def constant_index(place: form.Element) -> int:
    """The constant place of an element of a view with one axis; `WHOLE` of any other."""
    index = place.indices[0]
    if len(place.indices) == 1 and isinstance(index, form.Constant) and index.value >= 0:
        return int(index.value)
    return WHOLE
