"""The content of an object, as a digest that can be compared later."""

from __future__ import annotations

import functools
import hashlib
import itertools
import marshal
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from typing import Any

import numpy as np

from cosim.component.component import Component
from cosim.component.declaration import Declaration

ITSELF = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(Component, Declaration),
)
"""These stand for themselves; parts are looked into one by one."""
PLAIN = (int, complex, bytes, str)
MANY = 16
"""Values of one kind from which on they are looked into together, attribute by attribute."""
NOT_BY_ATTRIBUTES = (Mapping, list, tuple, Set, np.ndarray)
_unequal = itertools.count()


def content(values: Iterable[Any]) -> tuple[bytes, dict[int, Any]]:
    """A digest of everything that values hold, down to numbers: the same later if nothing has changed.

    What cannot be looked into is equal to nothing, so whoever compares finds a change.

    Returns
    -------
    bytes
    dict of int to object
        What stands for itself, by its identity, which no other object can have while this is kept.
    """
    digest, containers, identities = hashlib.blake2b(digest_size=16), dict[int, Any](), dict[int, Any]()
    for value in values:
        digest.update(
            marshal.dumps(_contents([value], containers, identities), 0)
        )  # 0: equal values, equal bytes
    return digest.digest(), identities


def _contents(values: Collection[Any], containers: dict[int, Any], identities: dict[int, Any]) -> list[Any]:
    """For each value text, an identity, or a tuple."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return list(values)
    if len(kinds) == 1 and _is_itself(*kinds):
        identities.update((id(value), value) for value in values)
        return list(map(id, values))
    if len(kinds) == 1 and len(values) >= MANY:
        contents_of_all = _contents_of_one_kind(list(values), next(iter(kinds)), containers, identities)
        if contents_of_all is not None:
            return contents_of_all
    contents: list[Any] = []
    for value in values:
        kind: Any = type(value)
        if kind is str or value is None:
            contents.append(value)
        elif kind is dict and not value:  # as most of them are
            contents.append(())
        elif kind is np.ndarray and not value.dtype.hasobject:
            dtype = value.dtype.str if value.dtype.names is None else repr(value.dtype)
            contents.append((value.shape, dtype, value.tobytes()))
        elif _is_itself(kind):
            identities[id(value)] = value
            contents.append(id(value))
        elif (leaf := _leaf(kind)) is not None:
            identities[id(kind)] = kind
            contents.append((id(kind), leaf(value)))
        elif id(value) in containers:
            contents.append(("seen", id(value)))
        else:
            identities[id(kind)] = kind
            containers[id(value)] = value
            contents.append((id(kind), *_inside(value, containers, identities)))
    return contents


def _contents_of_one_kind(
    values: list[Any], kind: Any, containers: dict[int, Any], identities: dict[int, Any]
) -> list[Any] | None:
    """The contents of many values of one kind, attribute by attribute; None where that is not possible."""
    identities[id(kind)] = kind
    if kind in (bool, int, bytes):
        return [id(kind), values]
    if kind is float:
        return [id(kind), np.array(values).tobytes()]
    if kind is np.ndarray:
        return _contents_of_arrays(values)
    if kind is dict and not any(values):
        return [id(kind), len(values)]
    if kind is not dict and not _has_attributes_alone(kind, values[0]):
        return None
    distinct = {id(value): value for value in values}
    if len(distinct) == len(values):
        return _contents_by_attribute(distinct, kind, containers, identities)
    numbers = dict(zip(distinct, itertools.count(), strict=False))
    contents = _contents(distinct.values(), containers, identities)
    return [id(kind), [numbers[id(value)] for value in values], contents]


def _contents_of_arrays(arrays: list[Any]) -> list[Any] | None:
    """The contents of many arrays; None unless all have one shape and plain numbers."""
    forms = {(array.shape, array.dtype) for array in arrays}
    (shape, dtype), *others = forms
    if others or dtype.hasobject or dtype.names is not None:
        return None
    return [id(np.ndarray), [(shape, dtype.str)], b"".join([array.tobytes() for array in arrays])]


def _has_attributes_alone(kind: type, value: Any) -> bool:
    """Whether attributes are all that values of a kind hold."""
    return not (_leaf(kind) or issubclass(kind, NOT_BY_ATTRIBUTES)) and hasattr(value, "__dict__")


def _contents_by_attribute(
    distinct: dict[int, Any], kind: Any, containers: dict[int, Any], identities: dict[int, Any]
) -> list[Any] | None:
    """The contents of objects or dicts that have the same names, name by name; by their identities."""
    attributes_of = list(distinct.values()) if kind is dict else list(map(vars, distinct.values()))
    names_of = list(map(tuple, attributes_of))
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for names, attributes in zip(names_of, attributes_of, strict=True):
        alike.setdefault(names, []).append(attributes)
    if not distinct.keys().isdisjoint(containers) or {*map(type, itertools.chain(*alike))} - {str}:
        return None
    containers.update(distinct)
    places = dict(zip(alike, itertools.count(), strict=False))
    columns = [
        (names, [_contents([row[name] for row in rows], containers, identities) for name in names])
        for names, rows in alike.items()
    ]
    return [id(kind), [places[names] for names in names_of], columns]


def _inside(value: Any, containers: dict[int, Any], identities: dict[int, Any]) -> tuple[Any, ...]:
    """The contents of a value that is not a leaf."""
    if isinstance(value, (dict, Mapping)):
        return _contents(value, containers, identities), _contents(value.values(), containers, identities)
    if isinstance(value, np.ndarray):  # of objects, or of a kind of its own whose rows are of that kind again
        inside = [*np.asarray(value).ravel().tolist(), getattr(value, "__dict__", None)]  # such as a mask
        return value.shape, str(value.dtype), _contents(inside, containers, identities)
    if isinstance(value, (list, tuple, Set)):
        return (_contents(value, containers, identities),)
    return (
        _inside(vars(value), containers, identities)
        if hasattr(value, "__dict__")
        else ("unequal", next(_unequal))
    )


@functools.cache
def _is_itself(kind: type) -> bool:
    """Whether values of a kind stand for themselves."""
    return issubclass(kind, ITSELF)


@functools.cache
def _leaf(kind: type) -> Callable[[Any], str] | None:
    """The text of values of a kind into which nothing is looked; None for the other kinds."""
    if issubclass(kind, float):
        return float.hex  # -0.0 is not 0.0, NaN is NaN
    if issubclass(kind, (np.integer, np.bool_)):
        return lambda value: repr(int(value))
    return next((base.__repr__ for base in PLAIN if issubclass(kind, base)), None)  # whatever a subclass says
