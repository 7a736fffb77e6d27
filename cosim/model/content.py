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
        together = _together(list(values), next(iter(kinds)), containers, identities)
        if together is not None:
            return together
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


def _together(
    values: list[Any], kind: Any, containers: dict[int, Any], identities: dict[int, Any]
) -> list[Any] | None:
    """The contents of many values of one kind, attribute by attribute; None where that is not possible."""
    identities[id(kind)] = kind
    if kind in (bool, int, bytes):
        return [id(kind), values]
    if kind is float:
        return [id(kind), np.array(values).tobytes()]
    if kind is np.ndarray:
        forms = {(value.shape, value.dtype) for value in values}
        (_, dtype), *others = forms
        if others or dtype.hasobject or dtype.names is not None:
            return None
        return [
            id(kind),
            [(shape, dtype.str) for shape, dtype in forms],
            b"".join([v.tobytes() for v in values]),
        ]
    if kind is not dict and (
        _leaf(kind) or issubclass(kind, NOT_BY_ATTRIBUTES) or not hasattr(values[0], "__dict__")
    ):
        return None
    if kind is dict and not any(values):
        return [id(kind), len(values)]
    distinct = {id(value): value for value in values}
    if len(distinct) < len(values):
        numbers = dict(zip(distinct, itertools.count(), strict=False))
        inside = _contents(distinct.values(), containers, identities)
        return [id(kind), [numbers[id(value)] for value in values], inside]
    held = values if kind is dict else list(map(vars, values))
    names = list(map(tuple, held))
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for key, attributes in zip(names, held, strict=True):
        alike.setdefault(key, []).append(attributes)
    if not distinct.keys().isdisjoint(containers) or {*map(type, itertools.chain(*alike))} - {str}:
        return None
    containers.update(distinct)
    places = dict(zip(alike, itertools.count(), strict=False))
    columns = [
        (key, [_contents([attributes[name] for attributes in rows], containers, identities) for name in key])
        for key, rows in alike.items()
    ]
    return [id(kind), [places[key] for key in names], columns]


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
    return issubclass(kind, ITSELF)


@functools.cache
def _leaf(kind: type) -> Callable[[Any], str] | None:
    """The text of values of a kind into which nothing is looked; None for the other kinds."""
    if issubclass(kind, float):
        return float.hex  # -0.0 is not 0.0, NaN is NaN
    if issubclass(kind, (np.integer, np.bool_)):
        return lambda value: repr(int(value))
    return next((base.__repr__ for base in PLAIN if issubclass(kind, base)), None)  # whatever a subclass says
