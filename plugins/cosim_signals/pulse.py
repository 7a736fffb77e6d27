"""Pulses that come again and again."""

from __future__ import annotations

import cosim
from cosim.kit import periodic_time, rational_time
from cosim_measures.piecewise_constant import PiecewiseConstant
from cosim_signals.source import Source

MOST_PARTS = 1000000
"""A width is exact if it is a whole number of parts of the period, with at most so many parts in it."""


def edge_time(number, start_time, period, width):
    """When an edge comes: the double nearest to the exact time. Edges with even numbers rise, others fall."""
    half = number // 2
    if number % 2 == 0:
        return periodic_time(half, 1, start_time, period)
    _, of_period, parts = rational_time(width)
    if parts == 0 or parts > MOST_PARTS:
        return start_time + half * period + width * period
    return periodic_time(half * parts + of_period, parts, start_time, period)


def edges_before(t, start_time, period, width):
    """The number of edges up to a time, an edge at this time included."""
    if t < start_time:
        return 0
    periods = int((t - start_time) / period)
    number = max(2 * periods - 1, 0)
    while edge_time(number, start_time, period, width) <= t:
        number += 1
    return number


class Pulse(Source, PiecewiseConstant):
    """Pulses that come again and again.

    Law: value = offset + amplitude from `start_time` + i `period` on, for `width` of the period, i = 0, 1,
    …; else offset. All derivatives are 0. Every edge is an event of the cause Scheduled, at a time that is
    computed from its number, so no step of an integrator goes across it.

    Parameters
    ----------
    amplitude : float, in the unit of the value
    period : float, s, > 0
    width : float, 1, between 0 and 1
        The part of the period that a pulse lasts: ``0.3`` or ``"30 %"``.
    unit, offset, start_time
        As for `Source`.

    References
    ----------
    Modelica Standard Library, block ``Sources.Pulse`` (its width is in per cent).

    Examples
    --------
    >>> Pulse(amplitude="5 V", period="10 ms", width="30 %").width
    0.3
    """

    known_as = ("square", "square_wave", "rectangle")
    amplitude = cosim.parameter(unit="{value}", default=1.0, description="height of a pulse")
    period = cosim.parameter(unit="s", default=1.0, minimum=1e-9, description="from one pulse to the next")
    width = cosim.parameter(
        unit="1", default=0.5, minimum=1e-6, maximum=1.0 - 1e-6, description="part of the period, 0 to 1"
    )
    edges = cosim.discrete(dtype=int, description="how many edges have come")
    due = cosim.timer(description="when the next edge comes")

    @cosim.kernel
    def level(offset, amplitude, edges, value):
        value[0] = offset + amplitude if edges % 2 == 1 else offset

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(t, start_time, period, width, edges_next, due_next):
        number = edges_before(t, start_time, period, width)
        edges_next[0] = number
        due_next[0] = edge_time(number, start_time, period, width)

    @cosim.on(due, does="discrete")
    def change(start_time, period, width, edges, edges_next, due_next):
        edges_next[0] = edges + 1
        due_next[0] = edge_time(edges + 1, start_time, period, width)
