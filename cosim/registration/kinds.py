"""Kinds of what plugins register: a kind is a base class that is declared as one."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import TypeVar

from cosim.errors import ContractError

T = TypeVar("T", bound=type)

_declared: dict[str, type] = {}
_names: dict[type, str] = {}


def plugin_kind(name: str) -> Callable[[T], T]:
    """Declare a base class as a kind: what derives from it can be registered, and is found by this name.

    The kernel's kinds and those that a plugin brings are declared alike. A kind may derive from another one:
    a joint is a component, and is found as either.

    Parameters
    ----------
    name : str
        snake_case, singular: "integrator".

    Raises
    ------
    ContractError
        When the name is none, or another base class has it.

    Examples
    --------
    >>> @plugin_kind("road")
    ... class Road:
    ...     '''A surface.'''
    >>> kinds_of(type("Gravel", (Road,), {}))
    ('road',)
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ContractError(f"the kind '{name}' must be snake_case, such as 'force_element'")

    def declare(base: T) -> T:
        old = _declared.setdefault(name, base)
        if _place(old) != _place(base):
            refused, earlier = (
                (old, base) if _is_kernels(base) else (base, old)
            )  # the kernel's may be loaded later
            raise ContractError(
                f"the kind '{name}' of {_place(refused)} is that of {_place(earlier)} already: choose another"
            )
        _declared[name] = base
        _names[base] = name
        return base

    return declare


def kinds_of(cls: type) -> tuple[str, ...]:
    """The kinds of a class, the nearest first; empty when none of its bases is declared as a kind."""
    return tuple(_names[base] for base in cls.__mro__ if base in _names)


def is_kind(cls: type) -> bool:
    """Whether a class is itself declared as a kind."""
    return cls in _names


def declared_kinds() -> dict[str, type]:
    """The base class of each kind: the kernel's, and those of plugins that are imported."""
    _declare_kernel_kinds()
    return dict(_declared)


@functools.cache
def _declare_kernel_kinds() -> None:
    """Import all that ``import cosim`` leaves for later: the kernel's kinds belong to it."""
    kernel = importlib.import_module("cosim")
    for name in dir(kernel):
        getattr(kernel, name)


def _is_kernels(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "cosim"


def _place(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
