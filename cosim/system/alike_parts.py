"""Facts that follow from the declarations or the class of a part, shared by all parts of the class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from cosim.component.component import Component
from cosim.component.declaration import Declaration

T = TypeVar("T")
Declarations = Mapping[str, Declaration]


class Alike(NamedTuple):
    """Parts that follow each other and share their declarations: what these say holds for all of them."""

    declarations: Declarations
    names: list[str]
    parts: list[Component]


def alike_parts(parts: Mapping[str, Component]) -> list[Alike]:
    """All parts in order; those that follow each other and share their declarations stand together.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(default=1.0)
    >>> class Marker(cosim.Component):
    ...     '''A place.'''
    >>> parts = {"left": Spring(), "right": Spring(), "here": Marker()}
    >>> [alike.names for alike in alike_parts(parts)]
    [['left', 'right'], ['here']]
    """
    result = []
    for _, group in groupby(parts.items(), key=lambda item: id(item[1].declarations)):
        names, listed = zip(*group, strict=True)
        result.append(Alike(listed[0].declarations, [*names], [*listed]))
    return result


def parts_with(
    all_alike: Sequence[Alike], find: Callable[[Declarations], Collection[T]]
) -> list[tuple[str, Component, Collection[T]]]:
    """The parts for which `find` lists something, in order, each with its name and what is listed."""
    listed_by: dict[int, Collection[T]] = {}  # by the identity of declarations, which `all_alike` keeps
    result = []
    for declarations, names, parts in all_alike:
        key = id(declarations)
        if key not in listed_by:
            listed_by[key] = find(declarations)
        if listed := listed_by[key]:
            result += [(name, part, listed) for name, part in zip(names, parts, strict=True)]
    return result


def names_of_kinds(declarations: Declarations, kinds: Collection[str]) -> list[str]:
    """The names of what is declared of these kinds."""
    return [d.name for d in declarations.values() if d.kind in kinds]


def parts_of_classes(
    parts: Mapping[str, Component], is_one: Callable[[type[Component]], object]
) -> list[tuple[str, Component]]:
    """The parts of classes for which `is_one` is true, in order, each with its name."""
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
        """The fact of a part's declarations."""
        return self.of(part.declarations)

    def of(self, declarations: Declarations) -> T:
        """The fact of declarations."""
        entry = self._found.get(id(declarations))
        if entry is None:
            entry = self._found[id(declarations)] = self._find(declarations), declarations
        return entry[0]
