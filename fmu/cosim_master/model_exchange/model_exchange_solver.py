"""The `Simulator` of one or several Model Exchange FMUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import cosim
from cosim_master.model_exchange.model_exchange_system import (
    first_state,
    model_exchange_system,
    put_states,
    states_of,
)

INTEGRATOR = "integrators.runge_kutta_merson"
ACCURACY = 1e-6


class ModelExchangeSolver:
    """A `Simulator` over a `model_exchange_system`, and the values of its inputs.

    Parameters
    ----------
    instance : ModelExchangeInstance
        With `move_to_point`, `check_settled`, `indicators` and `forget`, in continuous-time mode.
    inputs : mapping of hashable to float
        Continuous inputs from outside the system, with their first values.
    start : float
        s
    states : sequence of float
        Continuous states at the start.
    next_event : float
        Time of the next time event, s.
    integrator : str
        Id of an integrator plugin.
    accuracy : float
    options : mapping of str to object
        For the integrator and the simulator.
    wants_steps : bool
        Whether the instance is notified when an integrator step has ended.
    derives : bool
        As for `model_exchange_system`.

    Attributes
    ----------
    known : dict of hashable to float
        The values that inputs hold; NaN for inputs that ran along slopes.
    called : object or None
        The functions of compiled code, if there are any; after `unbind` Python may use the simulator.
    """

    def __init__(
        self,
        instance: Any,
        inputs: Mapping[Any, float],
        start: float,
        states: Sequence[float],
        next_event: float,
        *,
        integrator: str,
        accuracy: float,
        options: Mapping[str, Any],
        wants_steps: bool,
        derives: bool = False,
    ) -> None:
        self.instance, self.known = instance, dict(inputs)
        self.called: Any = None
        system = model_exchange_system(
            *(instance, len(states), len(inputs), instance.indicators),
            wants_steps=wants_steps,
            derives=derives,
        )
        state = first_state(system, instance, start, states, list(inputs.values()), next_event)
        self._simulator = cosim.Simulator(system, state, integrator, accuracy, **options)
        # an FMU that is notified of the end of a step does not always change
        self._simulator.events.idle_cause = cosim.EventCause.TIME_ADVANCED

    @property
    def time(self) -> float:
        """The time that has been reached, s."""
        return float(self.simulator.state.time)

    @property
    def simulator(self) -> cosim.Simulator:
        """The simulator for Python, taken back from compiled code."""
        if self.called is not None:
            self.called.unbind()
        return self._simulator

    @property
    def events_when_saved(self) -> int:
        """The number of events at the last state that compiled code saved; also valid inside a step."""
        counted = int(self._simulator.compiled_step.arrays.counts.events)
        return self.event_total - (counted - int(self.called.record.events_when_saved))

    @property
    def event_total(self) -> int:
        """The number of events; also valid inside a step."""
        return self._simulator.events.total

    def path(self, name: Any) -> str:
        """The path of a continuous input in the system."""
        return f"fmu.u[{list(self.known).index(name)}]"

    def hold(self, values: Mapping[Any, float]) -> None:
        """Hold inputs at these values; unchanged ones are not written again."""
        state = self.simulator.state
        for name, value in values.items():
            if self.known[name] != value:
                state[self.path(name)] = self.known[name] = float(value)

    def follow(self, slopes: Mapping[Any, float]) -> None:
        """Let inputs run along lines, per s; other inputs stay as they are."""
        simulator = self.simulator
        for name, slope in slopes.items():
            if name in self.known:
                simulator.system.write_slope(simulator.state, self.path(name), slope)
                self.known[name] = math.nan

    def move_to_point(self) -> None:
        """Make the present point that of the instance, for reading variables."""
        state = self.simulator.state
        state.realize(cosim.Stage.TIME)
        self.instance.move_to_point(state.time, states_of(state), state["fmu.u"])

    def jump(self, states: Sequence[float], next_event: float) -> None:
        """Store the states after event mode, and the time of the next time event (s)."""
        state = self.simulator.state
        put_states(state, states)
        state["fmu.next_event"] = next_event
        state["fmu.events"] = state["fmu.events"] + 1

    def advance(self, time: float) -> None:
        """Integrate to `time` (s), through all events on the way, those that are due there too."""
        if self.simulator.advance_to(time).succeeded:
            self.simulator.advance_pending_events()

    def hold_inputs(self) -> None:
        """Hold inputs on slopes at their values at the end of a step."""
        self.simulator.system.hold_inputs(self.simulator.state)

    def restore(self, saved: bytes, events: int) -> None:
        """Restore a saved State, with this number of events."""
        self.instance.stop_requested = False
        self.instance.forget()
        state = self.simulator.system.state_from_bytes(saved)
        self.simulator.replace_state(state)
        self.simulator.events.truncate(events)
        self.known.update(dict.fromkeys(self.known, math.nan))  # the values are not known any more
