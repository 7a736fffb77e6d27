"""Kernel functions: pure functions whose argument names are the declaration."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from inspect import signature
from typing import Any, cast

from cosim.cause import EventCause
from cosim.component.class_line import class_line
from cosim.errors import ContractError
from cosim.stage import Stage
from cosim.value_text import quote
from cosim_compiler.record import Record
from cosim_compiler.sources.kernel_returns import returns_condition
from cosim_compiler.sources.kernel_source import where

UPDATES_AT = ("end", "inside", "ahead", "between")
MOST_WRAPPERS = 10
"""Wrappers that are removed from a function: one that wraps itself has no end."""
ROLES = {
    "kernel": "a kernel function",
    "check": "a check of parameters",
    "witness": "a witness",
    "rate": "the rate of a witness",
    "update": "an auto-update",
    "handler": "a handler",
    "side": "the side of a kink",
}
DIRECTIONS = {"rising": (False, True), "falling": (True, False), "both": (True, True)}


@dataclass(eq=False)
class KernelFunction:
    """A function of a component that becomes blocks of the schedule.

    Attributes
    ----------
    function : function
        As the author wrote it; call it with plain arrays to test it. Of a class, one with a view is written
        out: its arguments are the attributes that it uses.
    role : str
        "kernel", "check" (of parameters), "witness", "rate" (of a witness), "update", "handler" or "side" (of
        a kink: its sign tells on which one it is).
    stage : Stage, str or None
        Asked for by the author; otherwise it follows from the names.
    when, unless : str
        What has to be true (false) for the function to be used: an option, a condition of the class, or
        the derivative of a source (``"source_dot"``: whether it has one).
    at : str
        Of an update: one of `UPDATES_AT`, see `cosim.update`.
    direction : str
        Of a witness: "rising", "falling" or "both".
    witness_options : WitnessOptions or None
        Of a witness: the other arguments of `cosim.witness`.
    rate_of : KernelFunction or None
        The witness whose rate it returns.
    kink_of : str
        Of a "side": the kernel function whose kink it is.
    refuses : tuple of str
        Of a check: sentences; it returns 0, or which of them (counted from 1) says what is wrong.
    view : str
        Name of the argument that stood for all others, where the author wrote one.
    """

    function: types.FunctionType
    role: str = "kernel"
    stage: Stage | str | None = None
    when: str = ""
    unless: str = ""
    direction: str = "both"
    witness_options: Record | None = None
    at: str = "end"
    name: str = ""
    rate_of: KernelFunction | None = None
    refuses: tuple[str, ...] = ()
    kink_of: str = ""
    view: str = ""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def call_by_name(self, **values: Any) -> Any:
        """Call the function with its arguments by their names."""
        return self.function(*[values[name] for name in self.arguments])

    @cached_property
    def arguments(self) -> list[str]:
        """Argument names, without ``self``."""
        return [a for a in signature(self.function).parameters if a != "self"]

    @cached_property
    def is_python(self) -> bool:
        """Whether it is a plain-Python method (``self`` first) instead of a kernel function."""
        return takes_self(self.function)

    def written_name(self, name: str) -> str:
        """An argument as the author writes it."""
        return f"{self.view}.{name}" if self.view else name

    @property
    def is_condition(self) -> bool:
        """Whether it is a witness that returns true or false."""
        return self.role == "witness" and returns_condition(self.function)

    def rate(self, function: Callable[..., Any]) -> KernelFunction:
        """Decorator: a kernel function that returns how fast this witness changes, per second.

        With it no differences are taken to find crossings that come in pairs inside of a step.
        """
        if self.role != "witness":
            raise ContractError(f"{self.function.__qualname__}: only a witness has a rate")
        return KernelFunction(plain_function(function), role="rate", rate_of=self)

    def applies_to(self, holds: Callable[[str], bool]) -> bool:
        """Whether what holds for an instance switches this function on."""
        return (not self.when or holds(self.when)) and not (self.unless and holds(self.unless))


@dataclass(eq=False)
class HandlerFunction:
    """An event handler of a component.

    Attributes
    ----------
    function : KernelFunction
    cause : EventCause
    does : str
        "unrestricted", "discrete" or "publish".
    witness : KernelFunction or None
        For TRIGGERED.
    signal : Declaration or None
        For SIGNALED.
    period, offset : Fraction or str
        For SCHEDULED: s, or names of parameters. Times are ``offset + i * period``.
    times : tuple of float
        For SCHEDULED: a list instead of a period.
    timer : Declaration or str
        For SCHEDULED: a variable that holds the next time.
    """

    function: KernelFunction
    cause: EventCause
    does: str
    witness: KernelFunction | None = None
    signal: Any = None
    period: Fraction | str = Fraction(0)
    offset: Fraction | str = Fraction(0)
    times: tuple[float, ...] = ()
    timer: Any = None
    name: str = field(default="")

    @property
    def is_periodic(self) -> bool:
        """Whether it comes again and again, at times that a period and an offset give."""
        return self.cause is EventCause.SCHEDULED and not self.times and self.timer is None


def plain_function(function: Any) -> types.FunctionType:
    """The function itself; `ContractError` where something else stands between it and its decorator."""
    wrappers, inner = unwrap(function)
    if wrappers and not (isinstance(function, types.FunctionType) and takes_self(function)):
        at = f"{where(inner)}: " if isinstance(inner, types.FunctionType) else f"{class_line()}: "
        raise ContractError(
            f"{at}{wrappers[0]} is below the decorator of cosim: remove it, since cosim compiles the plain "
            "function"
        )
    if isinstance(function, (KernelFunction, HandlerFunction)):
        raise ContractError(
            f"{where(_innermost(function))}: this is {describe(function)} already: write one decorator of "
            "cosim above each function"
        )
    if not isinstance(function, types.FunctionType):
        raise ContractError(
            f"{class_line()}: the decorator is applied to {describe(function)}, needs a plain "
            "function: def force(…)"
        )
    return function


def _innermost(value: KernelFunction | HandlerFunction) -> types.FunctionType:
    return _innermost(value.function) if isinstance(value, HandlerFunction) else value.function


def describe(value: Any) -> str:
    """A value that was given in place of another kind of value, in words for messages."""
    if isinstance(value, HandlerFunction):
        return f"a handler ({_innermost(value).__name__})"
    if isinstance(value, KernelFunction):
        return f"{ROLES[value.role]} ({value.function.__name__})"
    if isinstance(value, (staticmethod, classmethod, property, functools.partial)):
        return f"a {type(value).__name__}"
    if hasattr(value, "kind") and hasattr(value, "declared_at"):
        return f"{value.name or 'a declaration'} ({value.kind})"
    return quote(value)


def takes_self(function: types.FunctionType) -> bool:
    """Whether it is a method: its first argument is ``self``."""
    return next(iter(signature(function).parameters), "") == "self"


def unwrap(value: Any) -> tuple[list[str], Any]:
    """The wrappers around a function, from outside to inside, and the function."""
    wrappers: list[str] = []
    while len(wrappers) < MOST_WRAPPERS and not isinstance(value, (KernelFunction, HandlerFunction)):
        if isinstance(value, (staticmethod, classmethod)):
            name, inner = type(value).__name__, cast(Any, value.__func__)
        elif isinstance(value, property):
            name, inner = "property", value.fget
        elif isinstance(value, (functools.partial, functools.cached_property, functools.partialmethod)):
            name, inner = type(value).__name__, value.func
        else:
            name, inner = _decorator(value), _wrapped(value)
        if inner is None:
            break
        wrappers.append(name)
        value = inner
    return wrappers, value


def _wrapped(value: Any) -> Any:
    """The function that a decorator wraps, where it says so; also that of other compilers."""
    if isinstance(value, type) or not callable(value):
        return None
    attributes = getattr(value, "__dict__", {})
    return attributes.get("__wrapped__") or attributes.get("py_func")


def _decorator(value: Any) -> str:
    """The name of the decorator that made an object of a function, for messages."""
    if isinstance(value, types.FunctionType):
        return "a decorator"
    return f"{type(value).__module__.partition('.')[0]}'s {type(value).__name__}"
