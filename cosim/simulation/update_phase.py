"""Running event handlers: what they may change, and what becomes of it."""

from __future__ import annotations

import functools
import inspect
import time as wall
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.cause import EventCause
from cosim.errors import SimulationError
from cosim.simulation.agenda import Entry
from cosim.simulation.event_log import EventRecord
from cosim.simulation.status import EventStatus, Severity, worst
from cosim.simulation.witness import Located
from cosim.stage import Stage
from cosim.system.schedule import Slot
from cosim.system.state import State
from cosim.system.system import System

Log = Callable[[Entry, EventRecord], None]
MAY = {
    "publish": 'a publish changes nothing: declare it with does="discrete" or "unrestricted"',
    "discrete": 'only does="unrestricted" may',
}
CHANGES = {"unrestricted": "ypdk", "discrete": "dk", "publish": ""}


@functools.cache
def _takes_next(function: Callable[..., Any]) -> bool:
    return "next_state" in inspect.signature(function).parameters


def run_handlers(
    system: System,
    state: State,
    entries: Sequence[Entry],
    does: str,
    log: Log,
    located: Located | None = None,
) -> EventStatus:
    """Run the handlers of one cause and kind; all read the State as it is, their writes come after.

    Parameters
    ----------
    entries : sequence of Entry
        In order.
    does : str
        For updates a failure stops the rest, and what was written is dropped; for publishes all run.
    log : callable
        Gets the record of each.
    located : Located, optional
        Of the triggered events.

    Returns
    -------
    EventStatus
        The worst one.
    """
    statuses: list[EventStatus] = []
    working: State | None = None
    y = state._arrays["y"].copy()
    for entry in entries:
        before = working or state
        written: State | None = None
        began = wall.perf_counter()
        failure: SimulationError | None = None
        changed: dict[str, tuple[Any, Any]] = {}
        try:
            run = _run_kernel if entry.block >= 0 else _run_python
            status, written = run(system, state, before, entry, does)
            if status.severity not in (Severity.SUCCEEDED, Severity.REACHED_TERMINATION):
                written = None
            if written is not None:
                changed = _changed(system, before, written, entry, does)
        except Exception as error:
            text = error.reason if isinstance(error, SimulationError) else f"{type(error).__name__}: {error}"
            text, written = text.removeprefix(f"{entry.path}: "), None
            status = EventStatus(Severity.FAILED, text, exception=error)
            if does != "publish":
                failure = SimulationError(state.time, f"{entry.path}: {text}")
                failure.status = replace(status, source=entry.path)
                failure.__cause__ = error
        duration = wall.perf_counter() - began
        y_before = y_after = y
        if written is not None:
            if not np.array_equal(before._arrays["y"], written._arrays["y"], equal_nan=True):
                y_before, y_after = before._arrays["y"].copy(), written._arrays["y"].copy()
            working = written
        statuses.append(replace(status, source=entry.path))
        log(entry, _record(state, entry, does, status, changed, located, duration, (y_before, y_after)))
        if failure is not None:
            raise failure
        if status.severity is Severity.FAILED and does != "publish":
            return worst(statuses)
    if working is not None:
        take_over(system, state, working)
    return worst(statuses)


def _record(
    state: State,
    entry: Entry,
    does: str,
    status: EventStatus,
    changed: dict[str, tuple[Any, Any]],
    located: Located | None,
    duration: float,
    y: tuple[Any, Any],
) -> EventRecord:
    handler, nan = entry.handler, float("nan")
    window, values, witness = (state.time, state.time), (nan, nan), ""
    if handler.witness is not None:
        witness = f"{entry.part}.{handler.witness.name}"
        if located is not None:
            window = located.window
            values = (float(located.before[entry.flag]), float(located.after[entry.flag]))
    source = handler.witness.name if handler.witness else handler.signal or handler.timer or handler.name
    return EventRecord(
        state.time,
        handler.cause,
        does,
        entry.path,
        window,
        witness,
        status.severity,
        status.message,
        tuple(changed),
        source,
        values,
        {path: pair[0] for path, pair in changed.items()},
        {path: pair[1] for path, pair in changed.items()},
        *y,
        duration,
    )


def take_over(system: System, state: State, working: State) -> None:
    """Move the variables of a working copy into the State, invalidating only what changed."""
    computed, touched = state.stage >= Stage.ACCELERATION, {}
    for name in "ypdk":
        mine, new = state._arrays[name], working._arrays[name]
        different = _different(name, mine, new)
        if different.size == 0:
            continue
        mine[:] = new
        touched[name] = different
        stage = min(
            (system.stage_invalidated(Slot(name, int(i), 1)) for i in different), default=Stage.REPORT
        )
        state.invalidate(stage, "an event handler")
    if computed and touched:
        state.touched = touched


def _different(array: str, old: Any, new: Any) -> Any:
    """Where two arrays differ; NaN is equal to NaN."""
    same = old == new if array == "k" else (old == new) | ((old != old) & (new != new))
    return np.flatnonzero(~same)


def _run_kernel(
    system: System, state: State, before: State, entry: Entry, does: str
) -> tuple[EventStatus, State | None]:
    slots, part = system._assembly.layout.slots, system.parts[entry.part]
    arguments = part.arguments[entry.handler.name]
    system.realize(state, system.handler_stage[entry.part, entry.handler.name])
    cache = state._arrays["c"]
    results = []
    for argument in arguments:
        if argument.role == "next":
            target, source = slots[entry.part, argument.name], slots[entry.part, argument.of]
            values = before._arrays[source.array][source.offset : source.offset + source.size]
            cache[target.offset : target.offset + target.size] = values
            results.append((target, source))
    failed = system.walk(state, entry.block, entry.block + 1)
    if failed:
        raise system.failure(state, failed - 1)
    written = before.copy() if results else None
    for target, source in results:
        values = cache[target.offset : target.offset + target.size]
        if source.array == "k" and (np.any(values != np.floor(values)) or np.any(np.abs(values) >= 2.0**53)):
            raise SimulationError(state.time, f"{entry.path}: an integer became {values.tolist()}")
        if source.array == "y" and not np.all(np.isfinite(values)):
            name = system.paths_at("y", [source.offset])[0]
            raise SimulationError(state.time, f"{entry.path}: {name} became {values.tolist()}, not finite")
        assert written is not None
        written._arrays[source.array][source.offset : source.offset + source.size] = values
    status = slots.get((entry.part, entry.handler.name))
    number = 1.0 if status is None else float(cache[status.offset])
    if number not in tuple(Severity):
        raise SimulationError(state.time, f"it answered {number:g}, needs {' '.join(map(repr, Severity))}")
    return EventStatus(Severity(int(number))), written


def _run_python(
    system: System, state: State, before: State, entry: Entry, does: str
) -> tuple[EventStatus, State | None]:
    function = entry.handler.function.function
    part = system.parts[entry.part]
    takes_next = _takes_next(function)
    scratch = before.copy() if takes_next else None
    kept = {name: state._arrays[name].copy() for name in "ypdk"}
    time, stage = state.time, state.stage
    try:
        answer = function(part, state, scratch) if takes_next else function(part, state)
    finally:
        touched = [n for n in "ypdk" if not np.array_equal(kept[n], state._arrays[n], equal_nan=n != "k")]
        moved = state.time != time
        if touched or moved:
            for name in touched:
                state._arrays[name][:] = kept[name]
            state.set_time(time)
        if state.stage < stage:  # somebody has written, be it what was there
            system.realize(state, stage)  # for the handlers beside it
            state.jumped = False
    if touched or moved:
        raise SimulationError(
            time,
            f"{entry.path}: the handler wrote to the State that it may only read; "
            + (
                "a publish changes nothing"
                if does == "publish"
                else "write to next_state: def handler(self, state, next_state)"
            ),
        )
    status = answer if isinstance(answer, EventStatus) else EventStatus.succeeded()
    if answer is not None and not isinstance(answer, EventStatus):
        raise SimulationError(time, f"{entry.path}: a handler answers None or an EventStatus, not {answer!r}")
    if scratch is not None and scratch.time != time:
        raise SimulationError(time, f"{entry.path}: a handler cannot change time")
    return status, scratch


def _changed(
    system: System, before: State, written: State, entry: Entry, does: str
) -> dict[str, tuple[Any, Any]]:
    """By path, the values before and after."""
    found: dict[str, tuple[Any, Any]] = {}
    for array in "ypdk":
        different = _different(array, before._arrays[array], written._arrays[array])
        if not different.size:
            continue
        paths = system.paths_at(array, different.tolist())
        if array not in CHANGES[does]:
            raise SimulationError(
                before.time,
                f"{entry.path}: a {does} handler changed {', '.join(paths)}; {MAY[does]}",
            )
        for path in paths:
            readable = path in system.variables
            found[path] = (
                (system.read(before, path), system.read(written, path)) if readable else (None, None)
            )
    return found


def handler_table(entries: Sequence[Entry]) -> dict[tuple[EventCause, str], list[Entry]]:
    """Entries by cause and kind, in order."""
    table: dict[tuple[EventCause, str], list[Entry]] = {}
    for entry in entries:
        table.setdefault((entry.handler.cause, entry.handler.does), []).append(entry)
    return table
