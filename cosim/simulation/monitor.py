"""The monitor of a simulation: a function that is called at the end of every step."""

from __future__ import annotations

from collections.abc import Callable

from cosim.errors import SimulationError
from cosim.simulation.status import DID_NOTHING, EventStatus, Severity
from cosim.system.state import State
from cosim.value_text import quote

Monitor = Callable[[State], EventStatus | None]


def call_monitor(state: State, monitor: Monitor) -> EventStatus:
    """Call the monitor with a State that is realized to Report.

    Raises
    ------
    SimulationError
        The monitor raised, failed, changed the time, or returned something else.
    """
    time = state.time
    try:
        try:
            returned = monitor(state)
        finally:
            moved = state.time != time
            if moved:
                state.set_time(time)
        if moved:
            raise SimulationError(time, "a monitor cannot change time")
        if returned is not None and not isinstance(returned, EventStatus):
            raise SimulationError(time, f"must return None or an EventStatus, not {quote(returned)}")
    except Exception as error:
        status = EventStatus.of_exception(error, "monitor")
        failure = SimulationError(time, f"monitor: {status.message}")
        failure.status = status
        raise failure from error
    if returned is None:
        return DID_NOTHING
    status = EventStatus(returned.severity, returned.message, "monitor")
    if status.severity is Severity.FAILED:
        failure = SimulationError(time, f"monitor failed: {status.message}")
        failure.status = status
        raise failure
    return status
