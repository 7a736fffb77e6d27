"""Kernel functions: pure functions whose argument names are the declaration."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from inspect import signature
from numbers import Real
from typing import Any, cast

import numpy as np

from cosim.argument_checks import read_seconds
from cosim.cause import EventCause
from cosim.component.class_line import class_line
from cosim.errors import ContractError, ModelError, UnitError
from cosim.options import options_checked
from cosim.stage import Stage
from cosim.units import exact_quantity
from cosim.value_text import quote
from cosim_compiler.sources.kernel_effects import returns_condition
from cosim_compiler.sources.kernel_source import where

KINDS = ("unrestricted", "discrete", "publish")
UPDATES_AT = ("end", "inside", "ahead", "between")
MOST_COVERS = 10
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
        Of an update: "end", "inside" or "ahead", see `cosim.update`.
    direction : str
        Of a witness: "rising", "falling" or "both".
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
    shortest_pulse: float = math.inf
    at: str = "end"
    name: str = ""
    rate_of: KernelFunction | None = None
    refuses: tuple[str, ...] = ()
    kink_of: str = ""
    view: str = ""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def with_names(self, **values: Any) -> Any:
        """Call it with its arguments by their names."""
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
        return KernelFunction(_plain(function), role="rate", rate_of=self)

    def applies_to(self, holds: Callable[[str], bool]) -> bool:
        """Whether what holds for an instance switches this function on."""
        return (not self.when or holds(self.when)) and not (self.unless and holds(self.unless))


@dataclass(eq=False)
class Handler:
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


@options_checked
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    stage: Stage | str | None = None,
    when: str = "",
    unless: str = "",
    refuses: Sequence[str] = (),
) -> Any:
    """Mark a function in a component's class body as a kernel function.

    Parameters
    ----------
    stage : Stage or str, optional
        At the earliest here, for results that nothing else needs (``Stage.REPORT``); or the name of an
        option that says it, in small letters.
    when, unless : str, optional
        What has to be true (false): the name of an option or of a condition of the component
        (`Component.conditions`), or of a derivative, ``"source_dot"``: the source has one; or
        ``"source_state"``: the source is a state.
    refuses : sequence of str, optional
        Makes it a check of the component's parameters, which is all that it may ask for: it returns 0 where
        they fit together, else the number (from 1) of the sentence that says what is wrong. An FMU answers
        with that sentence where the values are set, and keeps the old ones.

    Examples
    --------
    >>> import cosim
    >>> class Clamp(cosim.Component):
    ...     '''Has two ends.'''
    ...     lower = cosim.parameter(default=0.0)
    ...     upper = cosim.parameter(default=1.0)
    ...     @cosim.kernel(refuses=["the lower end is above the upper one: exchange them"])
    ...     def order(lower, upper):
    ...         return 1.0 if lower > upper else 0.0
    """
    if isinstance(refuses, str) or not all(isinstance(text, str) and text.strip() for text in refuses):
        raise ContractError(f"{class_line()}: kernel: refuses is a list of sentences")
    if not isinstance(refuses, tuple) and not refuses:
        raise ContractError(f"{class_line()}: kernel: refuses is empty: write a sentence, or leave it out")
    if refuses:
        sentences = tuple(refuses)
        return lambda f: KernelFunction(_plain(f), "check", when=when, unless=unless, refuses=sentences)
    if stage is not None and not isinstance(stage, (str, Stage)):
        raise ContractError(
            f"{class_line()}: kernel: stage is {quote(stage)}, needs a Stage, as in Stage.REPORT"
        )
    if function is None:
        return lambda f: KernelFunction(_plain(f), stage=stage, when=when, unless=unless)
    return KernelFunction(_plain(function))


@options_checked
def update(
    function: Callable[..., Any] | None = None, *, at: str = "end", when: str = "", unless: str = ""
) -> Any:
    """Mark an auto-update: it runs when a step has ended, with everything realized.

    Besides the usual names it may ask for ``side``: 0.0 for the values before the events of the
    instant, 1.0 for those after, 2.0 for those after a delayed break has arrived; and for ``smoothness``,
    the least order of the derivatives that may jump on the other side although nothing shows it. It
    may write to histories, and to ``<name>_next`` of a discrete variable, which is swapped in
    afterwards; the State then drops below the stage that the variable declares. Calling it again for
    the same time and side must have no further effect.

    Parameters
    ----------
    at : str
        "end"; "inside": for points inside the step that has ended, on the integrator's dense output, in
        order of time, before those for the end (`side` is -1): histories that keep more than the ends
        of steps; "ahead": while a step is taken again, for its end as the attempt before had it
        (`side` is 0): histories that the step itself looks into; "between": for times inside the step that
        has ended (`side` is -1/2) and before them for its end (`side` is 0), where `smoothness` is how far
        the history may be off: histories of signals that the integrator does not integrate
        (`cosim_measures.histories.refine_history`). First `side` may be -1/4: whether the time is needed
        is asked, and derivatives of sources are not there yet.
    when, unless : str, optional
        As for `kernel`.
    """
    if at not in UPDATES_AT:
        raise ContractError(f"{class_line()}: update: at='{at}', needs one of {', '.join(UPDATES_AT)}")
    if function is None:
        return lambda f: KernelFunction(_plain(f), role="update", at=at, when=when, unless=unless)
    return KernelFunction(_plain(function), role="update")


@options_checked
def witness(
    function: Callable[..., Any] | None = None,
    *,
    direction: str = "both",
    shortest_pulse: float | str = math.inf,
) -> Any:
    """Mark a kernel function that returns a number whose change of sign is an event, or a condition.

    A function that returns true or false is a condition: becoming true is "rising", becoming false
    "falling". NaN means that there is no value now; a finding says so, once in a run.

    Parameters
    ----------
    direction : str
        "rising" (negative to not negative), "falling" (positive to not positive) or "both".
    shortest_pulse : float, s, or str with a unit, > 0
        How long the witness stays on the other side of zero at least, when it goes there and comes back. No
        pulse that long is missed where events are isolated (with an accuracy), whatever the steps.
    """
    if direction not in DIRECTIONS:
        raise ContractError(
            f"{class_line()}: witness: direction '{direction}', needs one of {', '.join(DIRECTIONS)}"
        )
    try:
        shortest = read_seconds(shortest_pulse, "shortest_pulse")
    except ModelError as error:
        raise ContractError(f"{class_line()}: witness: {error}") from error
    if not shortest > 0.0:
        raise ContractError(
            f"{class_line()}: witness: shortest_pulse is {shortest_pulse} s, needs more than 0"
        )
    options: dict[str, Any] = {"direction": direction, "shortest_pulse": shortest}
    if function is None:
        return lambda f: KernelFunction(_plain(f), role="witness", **options)
    return KernelFunction(_plain(function), role="witness", **options)


@options_checked
def on(trigger: Any, *, does: str) -> Callable[[Any], Handler]:
    """Declare an event handler: for a cause, or a witness, a signal or a timer of this class.

    Parameters
    ----------
    trigger : EventCause, witness, signal or timer
    does : str
        "unrestricted" (may change anything but time), "discrete" (discrete variables only) or
        "publish" (changes nothing).
    """
    _check_kind(does)

    def decorate(function: Any) -> Handler:
        wrapped = _handler_function(function)
        if isinstance(trigger, EventCause):
            if trigger in (
                EventCause.TRIGGERED,
                EventCause.SCHEDULED,
                EventCause.SIGNALED,
                EventCause.INVALID,
            ):
                raise ContractError(
                    f"{wrapped.function.__qualname__}: {trigger.name} needs what triggers it: "
                    "cosim.on(a_witness), cosim.on(a_signal), cosim.every(period) or cosim.at(times)"
                )
            return Handler(wrapped, trigger, does)
        if isinstance(trigger, KernelFunction) and trigger.role == "witness":
            return Handler(wrapped, EventCause.TRIGGERED, does, witness=trigger)
        if getattr(trigger, "kind", "") == "signal":
            return Handler(wrapped, EventCause.SIGNALED, does, signal=trigger)
        if getattr(trigger, "options", {}).get("timer"):
            return Handler(wrapped, EventCause.SCHEDULED, does, timer=trigger)
        raise ContractError(
            f"{wrapped.function.__qualname__}: cosim.on() needs an EventCause, a witness, signal or timer "
            f"of the same class, not {described(trigger)}{_without_quotes(trigger)}"
        )

    return decorate


def _without_quotes(trigger: Any) -> str:
    """A hint for the name of a witness in quotes."""
    if not isinstance(trigger, str) or not trigger.isidentifier():
        return ""
    return f": write the name without quotes, cosim.on({trigger}, …)"


@options_checked
def every(
    period: float | str | Fraction, *, does: str, offset: float | str | Fraction = 0.0
) -> Callable[[Any], Handler]:
    """Declare a periodic event at ``offset + i * period`` (s), i = 0, 1, …, never before `offset`.

    `period` and `offset` are numbers, text with a unit (``"10 ms"``, ``"1/3 s"``), or names of parameters.
    They are rational numbers: 0.3 is 3/10 s. Ticks that meet on paper are one instant.
    """
    _check_kind(does)
    first_to_next = period if isinstance(period, float) else _seconds(period, "period")
    if not isinstance(first_to_next, str) and not first_to_next > 0:
        raise ContractError(
            f"{class_line()}: cosim.every: period {period} s, needs more than 0 "
            "(for every step: EventCause.TIME_ADVANCED)"
        )
    exact = _seconds(period, "period"), _seconds(offset, "offset")
    return lambda f: Handler(
        _handler_function(f), EventCause.SCHEDULED, does, period=exact[0], offset=exact[1]
    )


@options_checked
def at(times: float | str | Sequence[float | str], *, does: str) -> Callable[[Any], Handler]:
    """Declare events at a time or a list of times: numbers in s, or text with a unit (``"20 ms"``)."""
    _check_kind(does)
    listed = list(times) if isinstance(times, Iterable) and not isinstance(times, str) else [times]
    if any(is_no_time(time) for time in listed):
        raise ContractError(f"{class_line()}: cosim.at({described(times)}): needs a time or a list of times")
    try:
        ordered = tuple(
            sorted(float(exact_quantity(t, "s")) if isinstance(t, str) else float(t) for t in listed)
        )
    except (TypeError, ValueError) as error:  # a UnitError is a ValueError
        raise ContractError(f"{class_line()}: cosim.at({listed}): {error}") from error
    if not ordered or not all(math.isfinite(t) for t in ordered):
        raise ContractError(
            f"{class_line()}: cosim.at({listed}): needs at least one time, all of them finite"
        )
    return lambda f: Handler(_handler_function(f), EventCause.SCHEDULED, does, times=ordered)


def _seconds(time: float | str | Fraction, name: str) -> Fraction | str:
    """Seconds, or the name of a parameter."""
    if isinstance(time, str) and time.isidentifier():
        return time
    if is_no_time(time):
        raise ContractError(
            f"{class_line()}: cosim.every: {name} is {described(time)}, needs a time in s, text with a unit "
            "or the name of a parameter"
        )
    try:
        return exact_quantity(time, "s")
    except UnitError as error:
        raise ContractError(f"{class_line()}: cosim.every: {name}: {error}{_period_of(time)}") from error


def _period_of(rate: Any) -> str:
    """A hint for a frequency in place of a period: ``" Write '1/100 s'."`` for ``"100 Hz"``."""
    try:
        per_second = exact_quantity(rate, "Hz")
    except UnitError:
        return ""
    return f" Write '{1 / per_second} s'." if per_second > 0 else ""


def is_no_time(value: Any) -> bool:
    """Whether it is neither a number nor text."""
    return isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, Real))


def _handler_function(function: Any) -> KernelFunction:
    if isinstance(function, KernelFunction) and _is_bare(function):
        function = function.function  # @cosim.kernel below the decorator of a handler says nothing more
    return KernelFunction(_plain(function), role="handler")


def _is_bare(kernel: KernelFunction) -> bool:
    """Whether it was marked as a kernel function and nothing more."""
    return all(getattr(kernel, f.name) == f.default for f in fields(kernel) if f.name != "function")


def _check_kind(does: str) -> None:
    if does not in KINDS:
        raise ContractError(f"{class_line()}: a handler does one of {', '.join(KINDS)}, not '{does}'")


def _plain(function: Any) -> types.FunctionType:
    """The function itself; `ContractError` where something else stands between it and its decorator."""
    covers, inner = uncovered(function)
    if covers and not (isinstance(function, types.FunctionType) and takes_self(function)):
        at = f"{where(inner)}: " if isinstance(inner, types.FunctionType) else f"{class_line()}: "
        raise ContractError(
            f"{at}{covers[0]} stands below the decorator of cosim: leave it out; what is compiled is the "
            "plain function"
        )
    if isinstance(function, (KernelFunction, Handler)):
        raise ContractError(
            f"{where(_innermost(function))}: this is {described(function)} already: write one decorator of "
            "cosim above each function"
        )
    if not isinstance(function, types.FunctionType):
        raise ContractError(
            f"{class_line()}: the decorator is applied to {described(function)}, needs a plain "
            "function: def force(…)"
        )
    return function


def _innermost(value: KernelFunction | Handler) -> types.FunctionType:
    return _innermost(value.function) if isinstance(value, Handler) else value.function


def described(value: Any) -> str:
    """A value that was given in place of another kind of value, in words for messages."""
    if isinstance(value, Handler):
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


def uncovered(value: Any) -> tuple[list[str], Any]:
    """The wrappers around a function, from outside to inside, and the function."""
    covers: list[str] = []
    while len(covers) < MOST_COVERS and not isinstance(value, (KernelFunction, Handler)):
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
        covers.append(name)
        value = inner
    return covers, value


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
