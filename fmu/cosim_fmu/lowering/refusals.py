"""What cannot run without Python, with the reason and what to do instead."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cosim import Problem
from cosim.kit import environment, foreign

if TYPE_CHECKING:
    from cosim import Component, Integrator, System

AS_KERNEL = (
    "write it as a kernel function: without `self`, its argument names being what it reads and writes."
)


def system_refusals(system: System) -> list[Problem]:
    """The components of a system that cannot be lowered."""
    found = []
    for block in system.blocks:
        text = ""
        if block.is_python:
            text = f"{block.label} is a Python method; {AS_KERNEL}"
        elif isinstance(block.function, types.FunctionType) and calls_foreign(block.function):
            text = f"{block.label} calls a library by its address, which another process lacks."
        if text:
            found += [Problem(owner, text) for owner in block.owners or (block.label,)]
    for name, part in system.parts.items():
        for handler in part.handlers.values():
            if handler.function.is_python:
                what = f"the event handler {handler.name} is a Python method; {AS_KERNEL}"
                found.append(Problem(name, what))
    return found


def component_refusals(cls: type[Component]) -> list[Problem]:
    """What of a class of components cannot be lowered, whatever the model it stands in."""
    functions = {name: kernel.function for name, kernel in cls.kernels.items() if not kernel.is_python}
    found = [
        Problem(cls.__name__, f"{name} is a Python method; {AS_KERNEL}")
        for name, kernel in cls.kernels.items()
        if kernel.is_python
    ]
    found += [
        Problem(cls.__name__, f"{name} calls a library by its address, which another process lacks.")
        for name, function in functions.items()
        if calls_foreign(function)
    ]
    found += [
        Problem(cls.__name__, f"the event handler {name} is a Python method; {AS_KERNEL}")
        for name, handler in cls.handlers.items()
        if handler.function.is_python
    ]
    return found


def method_refusals(cls: type[Integrator]) -> list[Problem]:
    """What of a class of integrators cannot be lowered, whatever the system."""
    return [Problem(cls.__name__, text) for text in cls.python_calls()]


def integrator_refusals(integrator: Integrator, system: System) -> list[Problem]:
    """Why an integrator cannot be lowered."""
    found = method_refusals(type(integrator))
    if reason := integrator.unlowered(system):
        found.append(Problem(type(integrator).__name__, reason))
    return found


def calls_foreign(function: types.FunctionType) -> bool:
    """Whether a kernel function calls functions of other libraries by their addresses."""
    wanted = (foreign.call_with_array, foreign.call_with_interval)
    return any(reached in wanted for reached in _reachable(function, set()))


def _reachable(function: types.FunctionType, seen: set[int]) -> Iterator[Any]:
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function
    for value in environment(function).values():
        if isinstance(value, types.FunctionType):
            yield from _reachable(value, seen)
