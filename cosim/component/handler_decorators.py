"""Decorators of event handlers: `on` a cause or trigger, `every` period, `at` listed times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from cosim.cause import EventCause
from cosim.component.class_line import class_line
from cosim.component.kernel_function import HandlerFunction, KernelFunction, describe, plain_function
from cosim.errors import ContractError, UnitError
from cosim.options import options_checked
from cosim.units import exact_quantity

KINDS = ("unrestricted", "discrete", "publish")


@options_checked
def on(trigger: Any, *, does: str) -> Callable[[Any], HandlerFunction]:
    """Declare an event handler: for a cause, or a witness, a signal or a timer of this class.

    Parameters
    ----------
    trigger : EventCause, witness, signal or timer
    does : str
        "unrestricted" (may change anything but time), "discrete" (discrete variables only) or
        "publish" (changes nothing).
    """
    _check_kind(does)

    def decorate(function: Any) -> HandlerFunction:
        wrapped = _handler_function(function)
        if isinstance(trigger, EventCause):
            if trigger in (
                EventCause.TRIGGERED,
                EventCause.SCHEDULED,
                EventCause.SIGNALED,
                EventCause.INVALID,
            ):
                raise ContractError(
                    f"{wrapped.function.__qualname__}: {trigger.name} needs a trigger: "
                    "cosim.on(a_witness), cosim.on(a_signal), cosim.every(period) or cosim.at(times)"
                )
            return HandlerFunction(wrapped, trigger, does)
        if isinstance(trigger, KernelFunction) and trigger.role == "witness":
            return HandlerFunction(wrapped, EventCause.TRIGGERED, does, witness=trigger)
        if getattr(trigger, "kind", "") == "signal":
            return HandlerFunction(wrapped, EventCause.SIGNALED, does, signal=trigger)
        if getattr(trigger, "options", {}).get("timer"):
            return HandlerFunction(wrapped, EventCause.SCHEDULED, does, timer=trigger)
        raise ContractError(
            f"{wrapped.function.__qualname__}: cosim.on() needs an EventCause, a witness, signal or timer "
            f"of the same class, not {describe(trigger)}{_without_quotes(trigger)}"
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
) -> Callable[[Any], HandlerFunction]:
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
    return lambda f: HandlerFunction(
        _handler_function(f), EventCause.SCHEDULED, does, period=exact[0], offset=exact[1]
    )


@options_checked
def at(times: float | str | Sequence[float | str], *, does: str) -> Callable[[Any], HandlerFunction]:
    """Declare events at a time or a list of times: numbers in s, or text with a unit (``"20 ms"``)."""
    _check_kind(does)
    listed = list(times) if isinstance(times, Iterable) and not isinstance(times, str) else [times]
    if any(is_no_time(time) for time in listed):
        raise ContractError(f"{class_line()}: cosim.at({describe(times)}): needs a time or a list of times")
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
    return lambda f: HandlerFunction(_handler_function(f), EventCause.SCHEDULED, does, times=ordered)


def _seconds(time: float | str | Fraction, name: str) -> Fraction | str:
    """Seconds, or the name of a parameter."""
    if isinstance(time, str) and time.isidentifier():
        return time
    if is_no_time(time):
        raise ContractError(
            f"{class_line()}: cosim.every: {name} is {describe(time)}, needs a time in s, text with a unit "
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
    """The plain function of a handler; a bare ``@cosim.kernel`` below its decorator is taken off."""
    if isinstance(function, KernelFunction) and _is_bare(function):
        function = function.function
    return KernelFunction(plain_function(function), role="handler")


def _is_bare(kernel: KernelFunction) -> bool:
    """Whether it was marked as a kernel function and nothing more."""
    return all(getattr(kernel, f.name) == f.default for f in fields(kernel) if f.name != "function")


def _check_kind(does: str) -> None:
    """`ContractError` unless a handler does one of `KINDS`."""
    if does not in KINDS:
        raise ContractError(f"{class_line()}: a handler does one of {', '.join(KINDS)}, not '{does}'")
