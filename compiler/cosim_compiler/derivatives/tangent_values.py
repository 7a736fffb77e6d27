"""The tangents of a value while the text of a tangent is written.

The tangent of a number or a view is a list of texts, one for each direction. That of a tuple is a tuple of
such lists. The parts of a value that are no tuples are its *leaves*; the place of a leaf is a text such as
``0_1``: item 1 of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cosim_compiler.language.types import REAL, Tuple, Type, View

NO_TANGENT = None
Tangents = None | list[str] | tuple["Tangents", ...]
"""The tangents of a value; `NO_TANGENT` if it does not vary."""
Varying = bool | tuple["Varying", ...]
"""Whether a value varies; of a tuple item by item."""
Dual = tuple[str, Tangents]
"""The text of a value, and its tangents."""


def varying_of(tangents: Tangents) -> Varying:
    """The parts of a value that have tangents."""
    if isinstance(tangents, tuple):
        varying = tuple(map(varying_of, tangents))
        return varying if any(is_on for _, is_on in leaves(varying)) else False
    return tangents is not None


def varies(tangents: Tangents) -> bool:
    """Whether some part of a value has tangents."""
    return any(is_on for _, is_on in leaves(varying_of(tangents)))


def joined(left: Varying, right: Varying) -> Varying:
    """The leaves that vary in one of two values; False may stand for a tuple in which nothing varies."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return tuple(joined(x, y) for x, y in zip(left, right, strict=True))
    if isinstance(left, tuple) or isinstance(right, tuple):
        return left if isinstance(left, tuple) else right
    return left or right


def leaves(varying: Varying, place: str = "0") -> Iterator[tuple[str, bool]]:
    """The leaves of a value: the place of each, and whether it varies."""
    if isinstance(varying, tuple):
        for i, item in enumerate(varying):
            yield from leaves(item, f"{place}_{i}")
    else:
        yield place, varying


def tangent_leaves(tangents: Tangents, place: str = "0") -> Iterator[tuple[str, list[str] | None]]:
    """The leaves of a value: the place of each, and its tangents."""
    if isinstance(tangents, tuple):
        for i, item in enumerate(tangents):
            yield from tangent_leaves(item, f"{place}_{i}")
    else:
        yield place, tangents


def varies_any(varying: Varying) -> bool:
    """Whether some part varies."""
    return any(is_on for _, is_on in leaves(varying))


def has_reals(kind: Type) -> bool:
    """Whether a value of a type can vary."""
    if isinstance(kind, Tuple):
        return any(map(has_reals, kind.items))
    return kind is REAL or (isinstance(kind, View) and kind.item is REAL)


def leaf_kinds(kind: Type, place: str = "0") -> list[tuple[str, Type]]:
    """The leaves of a value of a type: the place of each, and its type."""
    if isinstance(kind, Tuple):
        return [x for i, item in enumerate(kind.items) for x in leaf_kinds(item, f"{place}_{i}")]
    return [(place, kind)]


def tangents_of_names(varying: Varying, names: dict[str, list[str]], place: str = "0") -> Tangents:
    """The tangents of a value, whose leaves have these names for their tangents, by place."""
    if isinstance(varying, tuple):
        return tuple(tangents_of_names(item, names, f"{place}_{i}") for i, item in enumerate(varying))
    return names[place] if varying else NO_TANGENT


def tangents_of_items(kind: Type, texts: list[str]) -> Tangents:
    """The tangents of a value, from texts for the tangent of the whole value, one for each direction."""
    if isinstance(kind, Tuple):
        items = enumerate(kind.items)
        return tuple(tangents_of_items(item, [f"{x}[{i}]" for x in texts]) for i, item in items)
    return texts if kind is REAL else NO_TANGENT


def each(tangents: Tangents, build: Callable[[str], str]) -> Tangents:
    """The tangents of what `build` makes of a number, a view or a record: of each tangent the same."""
    return [build(text) for text in tangents] if isinstance(tangents, list) else NO_TANGENT
