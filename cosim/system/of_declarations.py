"""What follows from the declarations or the class of a part, found once for all parts that share them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from cosim.component.component import Component
from cosim.component.declaration import Declaration

T = TypeVar("T")
Declarations = Mapping[str, Declaration]


def parts_with(
    parts: Mapping[str, Component], find: Callable[[Declarations], Collection[T]]
) -> list[tuple[str, Component, Collection[T]]]:
    """The parts for which `find` lists something, in order, each with its name and what is listed.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(default=1.0)
    >>> class Marker(cosim.Component):
    ...     '''A place.'''
    >>> parts = {"left": Spring(), "here": Marker(), "right": Spring()}
    >>> [(name, found) for name, _, found in parts_with(parts, list)]
    [('left', ['stiffness']), ('right', ['stiffness'])]
    """
    distinct = {id(part.declarations): part.declarations for part in parts.values()}
    found = {key: listed for key, declarations in distinct.items() if (listed := find(declarations))}
    if not found:
        return []
    return [
        (name, part, found[key]) for name, part in parts.items() if (key := id(part.declarations)) in found
    ]


def parts_of_classes(
    parts: Mapping[str, Component], is_one: Callable[[type[Component]], object]
) -> list[tuple[str, Component]]:
    """The parts of classes for which `is_one` is true, in order, each with its name.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    >>> class Marker(cosim.Component):
    ...     '''A place.'''
    >>> parts = {"left": Spring(), "here": Marker()}
    >>> [name for name, _ in parts_of_classes(parts, lambda cls: cls is Spring)]
    ['left']
    """
    chosen = {cls for cls in set(map(type, parts.values())) if is_one(cls)}
    return [(name, part) for name, part in parts.items() if type(part) in chosen] if chosen else []


class OfDeclarations(Generic[T]):
    """A function of declarations that is called once for each mapping of them.

    Very many parts of a class share one mapping: what is done for each of them is to look it up.

    Parameters
    ----------
    find : callable
        From declarations to what follows from them.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(default=1.0)
    >>> names = OfDeclarations(list)
    >>> names(Spring()), names(Spring()) is names(Spring())
    (['stiffness'], True)
    """

    def __init__(self, find: Callable[[Declarations], T]) -> None:
        self._find = find
        self._found: dict[
            int, tuple[T, Declarations]
        ] = {}  # with the mapping, whose identity nothing else gets

    def __call__(self, part: Component) -> T:
        """What follows from the declarations of a part."""
        return self.of(part.declarations)

    def of(self, declarations: Declarations) -> T:
        """What follows from declarations."""
        known = self._found.get(id(declarations))
        if known is None:
            known = self._found[id(declarations)] = self._find(declarations), declarations
        return known[0]
