"""Tangents of values while a tangent is written: texts, one for each direction, in the shape of the value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cosim_compiler.language.types import REAL, Tuple, Type, View

NO_TANGENT = None
Tangents = None | list[str] | tuple["Tangents", ...]
"""Of a number or a view the texts of its tangents; None where it does not vary; of a tuple item by item."""
Varying = bool | tuple["Varying", ...]
"""Whether a value varies; of a tuple item by item."""


def varying_of(tangents: Tangents) -> Varying:
    """The parts of a value that have tangents."""
    if isinstance(tangents, tuple):
        varying = tuple(map(varying_of, tangents))
        return varying if any(is_on for _, is_on in leaves(varying)) else False
    return tangents is not None


def varies(tangents: Tangents) -> bool:
    """Whether some part of a value has tangents."""
    return any(is_on for _, is_on in leaves(varying_of(tangents)))


def joined(one: Varying, other: Varying) -> Varying:
    """The parts that vary in one of two shapes that fit; a tuple wins over a single value."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(joined(x, y) for x, y in zip(one, other, strict=True))
    if isinstance(one, tuple) or isinstance(other, tuple):
        return one if isinstance(one, tuple) else other
    return one or other


def leaves(varying: Varying, place: str = "0") -> Iterator[tuple[str, bool]]:
    """The parts of a value that are no tuples: the place of each, and whether it varies."""
    if isinstance(varying, tuple):
        for i, item in enumerate(varying):
            yield from leaves(item, f"{place}_{i}")
    else:
        yield place, varying


def of_leaves(tangents: Tangents, place: str = "0") -> Iterator[tuple[str, list[str] | None]]:
    """The parts of a value that are no tuples: the place of each, and its tangents."""
    if isinstance(tangents, tuple):
        for i, item in enumerate(tangents):
            yield from of_leaves(item, f"{place}_{i}")
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
    """The parts of a type that are no tuples: the place of each, and its type."""
    if isinstance(kind, Tuple):
        return [x for i, item in enumerate(kind.items) for x in leaf_kinds(item, f"{place}_{i}")]
    return [(place, kind)]


def tangents_of_names(varying: Varying, names: dict[str, list[str]], place: str = "0") -> Tangents:
    """The tangents of a value, from the names that hold them at the place of each part."""
    if isinstance(varying, tuple):
        return tuple(tangents_of_names(item, names, f"{place}_{i}") for i, item in enumerate(varying))
    return names[place] if varying else NO_TANGENT


def tangents_of_items(kind: Type, texts: list[str]) -> Tangents:
    """The tangents of a value, from expressions for the complete value, one for each direction."""
    if isinstance(kind, Tuple):
        items = enumerate(kind.items)
        return tuple(tangents_of_items(item, [f"{x}[{i}]" for x in texts]) for i, item in items)
    return texts if kind is REAL else NO_TANGENT


def each(tangents: Tangents, build: Callable[[str], str]) -> Tangents:
    """Apply a function to each tangent of a number, a view or a record."""
    return [build(text) for text in tangents] if isinstance(tangents, list) else NO_TANGENT
