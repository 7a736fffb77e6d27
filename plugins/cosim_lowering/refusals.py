"""The parts of a model that cannot run without Python, with the reason and the remedy."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
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
    problems = []
    for block in system.blocks:
        text = _refusal(block.label, block.is_python, block.function)
        problems += [Problem(owner, text) for owner in block.owners or (block.label,)] if text else []
    for name, part in system.parts.items():
        problems += _of_handlers(name, part.handlers)
    return problems


def component_refusals(cls: type[Component]) -> list[Problem]:
    """The parts of a class of components that cannot be lowered in any model."""
    texts = [_refusal(name, kernel.is_python, kernel.function) for name, kernel in cls.kernels.items()]
    problems = [Problem(cls.__name__, text) for text in texts if text]
    return problems + _of_handlers(cls.__name__, cls.handlers)


def _of_handlers(owner: str, handlers: Mapping[str, Any]) -> list[Problem]:
    texts = (_refusal(f"the event handler {h.name}", h.function.is_python) for h in handlers.values())
    return [Problem(owner, text) for text in texts if text]


def _refusal(what: str, is_python: bool, function: object = None) -> str:
    """Why a function cannot be lowered; empty when it can."""
    if is_python:
        return f"{what} is a Python method; {AS_KERNEL}"
    if isinstance(function, types.FunctionType) and calls_foreign(function):
        return f"{what} calls a library by its address, which another process lacks."
    return ""


def method_refusals(cls: type[Integrator]) -> list[Problem]:
    """The parts of a class of integrators that cannot be lowered for any system."""
    return [Problem(cls.__name__, text) for text in cls.python_calls()]


def integrator_refusals(integrator: Integrator, system: System) -> list[Problem]:
    """Why an integrator cannot be lowered."""
    problems = method_refusals(type(integrator))
    if reason := integrator.unlowered(system):
        problems.append(Problem(type(integrator).__name__, reason))
    return problems


def calls_foreign(function: types.FunctionType) -> bool:
    """Whether a kernel function calls functions of other libraries by their addresses."""
    foreign_calls = (foreign.call_with_array, foreign.call_with_interval)
    return any(reached in foreign_calls for reached in _reachable(function, set()))


def _reachable(function: types.FunctionType, visited: set[int]) -> Iterator[Any]:
    if id(function) in visited:
        return
    visited.add(id(function))
    yield function
    for value in environment(function).values():
        if isinstance(value, types.FunctionType):
            yield from _reachable(value, visited)
