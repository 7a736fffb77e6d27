"""Timers that are set to a time before the start of a run: they do not ring, and a finding says so."""

from __future__ import annotations

from cosim.preparation.event_entries import HandlerEntry
from cosim.simulation.event_record import Finding
from cosim.system.state import State


def passed_timers(state: State, entries: list[HandlerEntry]) -> list[Finding]:
    """A finding for each timer whose time has passed when a run begins.

    Parameters
    ----------
    state : State
        After initialization, whose handlers may have set timers.
    entries : list of HandlerEntry
        All handlers.
    """
    timers = {entry.flag: f"{entry.part}.{entry.handler.timer}" for entry in entries if entry.handler.timer}
    numbers = state.arrays["d"]
    return [
        Finding(
            state.time,
            "passed timer",
            path,
            f"is set to {numbers[flag]:.9g} s, before the start: it does not ring until a handler sets it "
            "anew; give a later time, or inf for none",
        )
        for flag, path in timers.items()
        if numbers[flag] < state.time
    ]
