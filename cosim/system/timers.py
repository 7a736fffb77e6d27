"""Periods and offsets of handlers as rational numbers, and whether one resolution counts all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction

from cosim.component.component import Component
from cosim.component.kernel_function import HandlerFunction
from cosim.errors import Problem, UnitError
from cosim.rational import LARGEST_RESOLUTION
from cosim.system.alike_parts import parts_of_classes
from cosim.units import exact_quantity

SHOWN = 8  # timers that one error names


def exact_time(part: Component, time: Fraction | str) -> Fraction | None:
    """The period or offset of a handler with the start values of its part, s; None where it is not a number.

    A parameter that was given as text is the number in the text, as long as it has that value.
    """
    if not isinstance(time, str):
        return time
    value = float(part.values.numbers[time][0])
    typed = part.values.given.get(time, part.declarations[time].start)
    if isinstance(typed, str):
        with suppress(UnitError, OverflowError):
            exact = exact_quantity(typed, "s")
            if float(exact) == value:
                return exact
    with suppress(UnitError):
        return exact_quantity(value, "s")
    return None


def check_timers(parts: Mapping[str, Component]) -> list[Problem]:
    """A problem where the times of all handlers cannot be counted in one resolution of 64 bits."""
    counted: dict[str, list[Fraction]] = {}
    for name, part in parts_of_classes(parts, lambda cls: cls.handlers):
        for handler in part.handlers.values():
            if handler.is_periodic:
                counted[f"{name}.{handler.name}"] = _counted_times(part, handler)
    for path, times in counted.items():
        if math.lcm(*(time.denominator for time in times)) > LARGEST_RESOLUTION:
            return [Problem(path, f"its times, {_shown(times)}, cannot be counted in 64 bits: {_ADVICE}")]
    common = math.lcm(*(time.denominator for times in counted.values() for time in times))
    if common <= LARGEST_RESOLUTION:
        return []
    finest = sorted(counted, key=lambda path: -math.lcm(*(time.denominator for time in counted[path])))
    shown = ", ".join(f"{path} ({_shown(counted[path])})" for path in finest[:SHOWN])
    hidden = f" and {len(finest) - SHOWN} more" if len(finest) > SHOWN else ""
    text = (
        f"the times of {shown}{hidden} have no common resolution of 64 bits (it would be 1/{common} s), so "
        f"that it could not be said which ticks meet: {_ADVICE}"
    )
    return [Problem(finest[0], text)]


_ADVICE = 'write periods and offsets as multiples of one time, "900 ms" and "300 ms", or "1/3 s" and "1/7 s"'


def _counted_times(part: Component, handler: HandlerFunction) -> list[Fraction]:
    """Period and offset, without parameters whose values are not short decimals: a run counts them."""
    times = []
    for time in (handler.period, handler.offset):
        exact = exact_time(part, time)
        if isinstance(time, str) and not isinstance(part.values.given.get(time), str):
            value = float(part.values.numbers[time][0])
            exact = exact if math.isfinite(value) and exact == Fraction(repr(value)) else None
        if exact is not None:
            times.append(exact)
    return times


def _shown(times: list[Fraction]) -> str:
    """A period and an offset that is not 0."""
    return " from ".join(f"{time} s" for time in times if time or len(times) == 1)
