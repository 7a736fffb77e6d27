"""The elements of parameters that the values of expressions in a kernel function may depend on."""

from __future__ import annotations

from collections.abc import Iterable

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_elements import ANY_INDEX, Element, Elements
from cosim_compiler.language.typed_form import Expression, Function, parts


class ReadElements:
    """Finds the elements that expressions read, directly or through local names.

    Attributes
    ----------
    parameters : frozenset of str
    local : dict of str to set of Element
        The elements that each assigned local name may depend on.
    """

    def __init__(self, function: Function) -> None:
        self.parameters = frozenset(name for name, _ in function.parameters)
        self.local: dict[str, set[Element]] = {}

    def assign(self, name: str, elements: Elements) -> None:
        """Add the elements that a value depends on to those of a local name that may have the value."""
        self.local.setdefault(name, set()).update(elements)

    @property
    def count(self) -> int:
        """How many elements are known of all local names together; it stops growing when nothing is new."""
        return sum(map(len, self.local.values()))

    def of(self, node: Expression) -> Elements:
        """The elements that the value of an expression may depend on."""
        if isinstance(node, form.Variable):
            elements = set(self.local.get(node.name, ()))
            if node.name in self.parameters:
                elements.add((node.name, ANY_INDEX))
            return frozenset(elements)
        if isinstance(node, form.Element) and isinstance(node.view, form.Variable):
            name, index = node.view.name, constant_index(node)
            if name in self.parameters and name not in self.local and index != ANY_INDEX:
                return frozenset({(name, index)})
        return self.of_all(part for part in parts(node) if isinstance(part, Expression))

    def of_all(self, nodes: Iterable[Expression]) -> Elements:
        """The elements that the values of several expressions may depend on."""
        return frozenset[Element]().union(*map(self.of, nodes))


def constant_index(place: form.Element) -> int:
    """The constant index of an element of a view with one axis; `ANY_INDEX` of any other."""
    index = place.indices[0]
    if len(place.indices) == 1 and isinstance(index, form.Constant) and index.value >= 0:
        return int(index.value)
    return ANY_INDEX
