"""Caches of the last object that was made from the same things, beside the object that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made")


def reuse_last(owner: Any, name: str, key: Any, make: Callable[[], Made]) -> Made:
    """The result of `make()`; the last one of this name is returned again while the key is equal.

    Parameters
    ----------
    owner : object
        Holds the last result in its ``__dict__``.
    name : str
    key : object
        Everything that the result depends on beside the owner.
    make : callable

    Examples
    --------
    >>> class Circle:
    ...     pass
    >>> circle = Circle()
    >>> first = reuse_last(circle, "_area", 2.0, lambda: [3.14 * 2.0**2])
    >>> reuse_last(circle, "_area", 2.0, lambda: [3.14 * 2.0**2]) is first
    True
    """
    last = vars(owner).get(name)
    if last is None or last[0] != key:
        last = vars(owner)[name] = key, make()
    result: Made = last[1]
    return result
