"""The memory of objects as trees of numbers, texts and arrays, and objects from such trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import cosim

OBJECT = "$object"
"""Key of the name of a class; the attributes are further keys."""
DEEPEST = 20
"""Levels of objects: more are an object that contains itself."""


def memory_of(instance: Any, path: str = "", depth: int = 0) -> Any:
    """The attributes of an object, and recursively of the objects in them.

    Raises
    ------
    TypeError
        An attribute cannot be saved in a checkpoint; it is named.
    """
    if depth > DEEPEST:
        raise TypeError(f"{path} is nested without an end")
    if instance is None or isinstance(instance, (bool, int, float, str, bytes, np.generic)):
        return instance
    if isinstance(instance, np.ndarray) and instance.dtype.kind in "fiub":
        return instance
    if isinstance(instance, Mapping):
        return {key: memory_of(value, f"{path}[{key!r}]", depth + 1) for key, value in instance.items()}
    if isinstance(instance, (list, tuple)):
        items = [memory_of(value, f"{path}[{i}]", depth + 1) for i, value in enumerate(instance)]
        return items if isinstance(instance, list) else tuple(items)
    if callable(instance) or not hasattr(instance, "__dict__"):
        raise TypeError(f"{path} is a {type(instance).__name__}")
    attributes = {
        name: memory_of(value, f"{path}.{name}".lstrip("."), depth + 1)
        for name, value in vars(instance).items()
    }
    return {OBJECT: type(instance).__name__, "attributes": attributes}


def restore_memory(instance: Any, memory: Any) -> Any:
    """Restore the result of `memory_of`: objects get their attributes back, other values are replaced.

    Returns
    -------
    object
        `instance` if it is an object, else the value from the memory.

    Raises
    ------
    CosimError
        The memory is that of an object of another class.
    """
    if isinstance(memory, dict) and OBJECT in memory:
        if type(instance).__name__ != memory[OBJECT]:
            raise cosim.CosimError(
                f"has a {memory[OBJECT]} where this co-simulation has a {type(instance).__name__}"
            )
        for name, value in memory["attributes"].items():
            vars(instance)[name] = restore_memory(getattr(instance, name, None), value)
        return instance
    if isinstance(memory, dict) and isinstance(instance, dict) and list(instance) == list(memory):
        return {key: restore_memory(instance[key], value) for key, value in memory.items()}
    return memory
