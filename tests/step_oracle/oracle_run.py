"""Runs a plan with `cosim.Simulator` and returns its final State and its events, as exact bytes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from oracle_plan import Plan

import cosim
from cosim.component.history import RING

WRITTEN = 8
"""How many integers of the descriptor of a history are written; the size of its signal follows them in k."""


class Limit:
    """A monitor that stops a run after `most` steps, counted over all calls."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, state: cosim.State) -> cosim.EventStatus | None:
        self.left -= 1
        return None if self.left > 0 else cosim.EventStatus.reached_termination("long enough")


def run_plan(plan: Plan, after_action: Any = None, most_steps: int | None = None) -> dict[str, Any]:
    """The outcome of a plan; `after_action` is called with the simulator, each action and its status."""
    simulator = cosim.Simulator(plan.build(), integrator=plan.integrator, **plan.options)
    if plan.start != 0.0:
        simulator.state.set_time(plan.start)
    if most_steps is not None:
        simulator.set_monitor(Limit(most_steps))
    events: list[Any] = []
    findings: list[Any] = []
    statuses: list[str] = []
    for action in plan.actions:
        if action[0] in ("restore", "initialize"):  # these clear the lists of the simulator
            events, findings = events + list(simulator.events), findings + list(simulator.findings)
        if action[0] == "restore":
            monitor, simulator = simulator.monitor, restored(simulator, plan)
            if monitor is not None:
                simulator.set_monitor(monitor)
            status = ""
        else:
            status = status_of(simulator, action)
        statuses.append(status)
        if after_action is not None:
            after_action(simulator, action, status)
    return outcome(simulator, [*events, *simulator.events], findings + simulator.findings, statuses)


def restored(simulator: cosim.Simulator, plan: Plan) -> cosim.Simulator:
    """A new simulator with the State restored from its bytes."""
    state = simulator.system.state_from_bytes(simulator.state.to_bytes())
    return cosim.Simulator(simulator.system, state, integrator=plan.integrator, **plan.options)


def status_of(simulator: cosim.Simulator, action: tuple[Any, ...]) -> str:
    """Do an action and return the name of its status."""
    try:
        answer = act(simulator, action)
    except cosim.SimulationError:
        return "failed"
    return "" if answer is None else answer.reason.name.lower()


def act(simulator: cosim.Simulator, action: tuple[Any, ...]) -> Any:
    """Do an action and return the status of the simulator, or None for a write."""
    kind, *arguments = action
    if kind == "write":
        simulator.state[arguments[0]] = arguments[1]
        return None
    if kind == "slope":
        simulator.system.write_slope(simulator.state, *arguments)
        return None
    if kind in ("advance", "step"):
        time = max(arguments[0], simulator.state.time)
        return simulator.advance_to(time) if kind == "advance" else simulator.step(time)
    if kind == "pending":
        return simulator.advance_pending_events()
    return simulator.finish() if kind == "finish" else simulator.initialize()


def outcome(
    simulator: cosim.Simulator, events: list[Any], findings: list[Any], statuses: list[str]
) -> dict[str, Any]:
    """The State and the log of a simulator; numbers as text that keeps every bit."""
    return {
        **numbers_of(simulator.state),
        "statuses": " ".join(status or "-" for status in statuses),
        "events": [event_row(event) for event in events],
        "findings": [[finding.time.hex(), finding.kind, finding.witness] for finding in findings],
    }


def numbers_of(state: cosim.State) -> dict[str, str]:
    """Time, variables and histories of a State, as hexadecimal text of their bytes (little-endian)."""
    arrays, rings = state._arrays, [slot.offset for slot in state.system.rings]
    numbers = {name: arrays[name][places(state.system, name)] for name in "ypdk"}
    return {
        "time": state.time.hex(),
        **{name: numbers[name].astype("<f8").tobytes().hex() for name in "ypd"},
        "k": numbers["k"].astype("<i8").tobytes().hex(),
        "histories": np.array(history_contents(arrays["k"], arrays["h"], rings), "<f8").tobytes().hex(),
    }


def places(system: cosim.System, name: str) -> list[int]:
    """The indices of the numbers of an array in the order of the file: by parts, except for y."""
    size = system.start_arrays()[name].size
    if name == "y":
        return list(range(size))
    slots = [s for own in system.assembly.layout.slots.values() for s in own.values() if s.array == name]
    named = dict.fromkeys(i for slot in slots for i in slot.elements)
    rings = {slot.offset + i for slot in system.rings for i in range(RING)} if name == "k" else ()
    return [i for i in (*named, *(i for i in range(size) if i not in named)) if i not in rings]


def history_contents(k: Any, h: Any, rings: list[int]) -> list[float]:
    """The entries of all histories, oldest first, each history followed by its last four integers."""
    numbers: list[float] = []
    for offset in rings:
        start, capacity, first, count, *rest = (int(number) for number in k[offset : offset + WRITTEN])
        indices = [start + 4 * ((first + i) % capacity) for i in range(count)]
        numbers += [h[place + j] for place in indices for j in range(4)] + [float(number) for number in rest]
    return numbers


def event_row(event: Any) -> list[Any]:
    """One event, without what differs between equal runs."""
    return [
        event.time.hex(),
        event.cause.name.lower(),
        event.handler,
        event.does,
        event.severity.name.lower(),
        [event.window[0].hex(), event.window[1].hex()],
        event.witness,
        [_exact(value) for value in event.witness_values],
        [[path, _exact(event.before[path]), _exact(event.after[path])] for path in event.changed],
    ]


def _exact(value: Any) -> str:
    """A number, an integer or an array as text that keeps every bit; all NaN are one."""
    if isinstance(value, np.ndarray):
        return " ".join(_exact(element) for element in value.ravel().tolist())
    if isinstance(value, int | np.integer):
        return str(int(value))
    return "nan" if math.isnan(value) else float(value).hex()
