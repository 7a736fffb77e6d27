"""Carrying tangents over the communication points of a co-simulation, where inputs change at a fixed time."""

from __future__ import annotations

from cosim.derivatives.carrier import (
    IS_MOTION,
    IS_REPORT,
    MEETS_EXCHANGE,
    NEARLY_ZERO,
    carrier_at,
    lose,
    shift_time,
)
from cosim.derivatives.event_order import comes_close, store_shift
from cosim.derivatives.source_kinks import settle_kinks
from cosim.derivatives.tangent_cache import realize_tangents
from cosim.run_data.run import arrays_at

EXCHANGE_SIGNATURE = "ii>i"


def meet_exchange(run, carrier):
    """Describe the tangents at the fixed time at which values are exchanged.

    An event at that very instant, whose time moves, comes before the exchange or behind it as it moves.
    """
    notes = carrier.notes
    if notes.lost != 0.0:
        return
    realize_tangents(run, carrier, IS_MOTION)
    settle_kinks(run, carrier)
    is_close = comes_close(run, carrier, notes.time)
    for i in range(1, carrier.directions):
        if is_close and abs(carrier.time_dots[i]) > NEARLY_ZERO:
            lose(carrier, notes.time, MEETS_EXCHANGE, 0)
        carrier.event_dots[i] = 0.0
    shift_time(run, carrier, carrier.event_dots)
    notes.is_shifted = 1.0
    store_shift(carrier, 0, 0.0)


def meet_exchange_by_address(head, carrier_head):
    """`meet_exchange` of a run and of tangents whose arrays stand at addresses."""
    meet_exchange(arrays_at(head), carrier_at(carrier_head))
    return 0


def evaluate_by_address(head, carrier_head):
    """Evaluate all tangents of the present, of a run and of tangents whose arrays stand at addresses."""
    realize_tangents(arrays_at(head), carrier_at(carrier_head), IS_REPORT)
    return 0
