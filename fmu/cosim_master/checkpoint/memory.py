"""What an object remembers, as a tree; it is put back into an object that was made alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import cosim

OBJECT = "$object"
DEEPEST = 20


def memory_of(thing: Any, path: str = "", depth: int = 0) -> Any:
    """The attributes of an object, those of the objects in them likewise.

    Raises
    ------
    TypeError
        Naming the attribute that no checkpoint can hold.
    """
    if depth > DEEPEST:
        raise TypeError(f"{path} is nested without an end")
    if thing is None or isinstance(thing, (bool, int, float, str, bytes, np.generic)):
        return thing
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "fiub":
        return thing
    if isinstance(thing, Mapping):
        return {key: memory_of(value, f"{path}[{key!r}]", depth + 1) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        found = [memory_of(value, f"{path}[{i}]", depth + 1) for i, value in enumerate(thing)]
        return found if isinstance(thing, list) else tuple(found)
    if callable(thing) or not hasattr(thing, "__dict__"):
        raise TypeError(f"{path} is a {type(thing).__name__}")
    own = {
        name: memory_of(value, f"{path}.{name}".lstrip("."), depth + 1) for name, value in vars(thing).items()
    }
    return {OBJECT: type(thing).__name__, "attributes": own}


def put_back(thing: Any, memory: Any) -> Any:
    """`thing` with what `memory_of` found; what holds no objects is replaced, objects are changed.

    Raises
    ------
    CosimError
        The memory is that of something else.
    """
    if isinstance(memory, dict) and OBJECT in memory:
        if type(thing).__name__ != memory[OBJECT]:
            raise cosim.CosimError(
                f"has a {memory[OBJECT]} where this co-simulation has a {type(thing).__name__}"
            )
        for name, value in memory["attributes"].items():
            vars(thing)[name] = put_back(getattr(thing, name, None), value)
        return thing
    if isinstance(memory, dict) and isinstance(thing, dict) and list(thing) == list(memory):
        return {key: put_back(thing[key], value) for key, value in memory.items()}
    return memory
