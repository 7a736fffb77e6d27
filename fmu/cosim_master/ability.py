"""The base of abilities: protocols that are checked on the object, not on its class."""

from __future__ import annotations

from functools import cache
from typing import Any, Generic, Protocol

NO_MEMBERS = (object, Generic, Protocol)


@cache
def _members(ability: type) -> tuple[str, ...]:
    """Names of attributes and methods that an object needs."""
    names: dict[str, None] = {}
    for base in ability.__mro__:
        if base not in NO_MEMBERS and base is not Ability:
            names.update(dict.fromkeys([*vars(base), *getattr(base, "__annotations__", {})]))
    return tuple(name for name in names if not name.startswith("_"))


class AskedOfObjects(type(Protocol)):  # type: ignore[misc]
    """``isinstance`` checks the attributes of the object.

    From Python 3.12 on, protocols check only the class: a participant that delegates to another one by
    ``__getattr__`` would lose abilities silently.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        for name in _members(cls):
            if not hasattr(instance, name):
                return False
            if callable(getattr(cls, name, None)) and getattr(instance, name) is None:
                return False
        return True


class Ability(Protocol, metaclass=AskedOfObjects):
    """The base of all abilities."""
