"""A Model Exchange FMU as a system of ours: its states, derivatives and events."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import cosim
from cosim.kit import call_with_array, foreign
from cosim_fmi.binding.statuses import OK
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.system_calls import (
    COMPLETE,
    EVALUATE,
    INDICATORS,
    INDICATORS_AT,
    INPUTS,
    INPUTS_AT,
    IS_LOST,
    RATES_AT,
    REAL,
    SIZE,
    STATES,
    STATES_AT,
    TIME,
    WANTS,
)

integers_at, reals_at = foreign.integers_at, foreign.reals_at


class ModelExchangeInstance(Protocol):
    """What the system needs of an instance in continuous-time mode."""

    stop_requested: bool
    evaluation: Evaluation

    def handle_event(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], float, bool]:
        """Go through event mode.

        The continuous states after it, the time of the next time event (s), whether nominal values changed.
        """

    def failure(self) -> Exception | None:
        """What has failed in the last evaluation, or what is not defined there."""

    def nominals(self) -> Sequence[float]:
        """Nominal values of the continuous states."""


def model_exchange_system(
    instance: ModelExchangeInstance, states: int, inputs: int, indicators: int, *, wants_steps: bool
) -> cosim.System:
    """A system with one part, ``fmu``, whose kernel functions call the instance.

    Its state ``fmu.z`` is that of the FMU in units of ``fmu.scale``: the powers of two next to the nominal
    values, so that tolerances hold for states of any size, and not a bit is lost.

    Parameters
    ----------
    instance : ModelExchangeInstance
    states, inputs, indicators : int
        Number of continuous states, real inputs and event indicators: each of these is a witness.
    wants_steps : bool
        Whether the FMU is to be told when an integrator step has ended.
    """
    model = cosim.Model("model_exchange")
    part = model.add(_component(states, inputs, indicators, wants_steps), "fmu")
    part.instance = instance  # type: ignore[attr-defined]
    return model.build()


def first_state(
    system: cosim.System,
    instance: ModelExchangeInstance,
    time: float,
    states: Sequence[float],
    inputs: Sequence[float],
    next_event: float,
) -> cosim.State:
    """The State with which a run begins.

    Parameters
    ----------
    system : System
    instance : ModelExchangeInstance
    time : float
        s.
    states, inputs : sequence of float
        As the FMU has them.
    next_event : float
        Time of the next time event, s; infinite when there is none.
    """
    state = system.default_state()
    state.set_time(time)
    if len(states):
        state["fmu.scale"] = scales(instance)
    put_states(state, states)
    if len(inputs):
        state["fmu.u"] = list(inputs)
    state["fmu.next_event"] = next_event
    return state


def states_of(state: cosim.State) -> list[float]:
    """The continuous states as the FMU has them."""
    return list(map(operator.mul, state["fmu.z"], state["fmu.scale"]))


def put_states(state: cosim.State, states: Sequence[float]) -> None:
    """Write the continuous states as the FMU has them."""
    if len(states):
        state["fmu.z"] = list(map(operator.truediv, states, state["fmu.scale"]))


def scales(instance: ModelExchangeInstance) -> tuple[float, ...]:
    """The powers of two next to nominal values: tolerances fit states of any size, and no bit is lost."""
    return tuple(2.0 ** min(max(round(math.log2(x)), -1000), 1000) for x in instance.nominals())


@functools.cache
def _component(states: int, inputs: int, count: int, wants_steps: bool) -> type[cosim.Component]:
    """One class for all FMUs of these numbers: what is compiled for it is compiled once and kept for ever."""

    def bind(self, live):
        live[0] = float(self.instance.evaluation.address)

    @cosim.kernel
    def derivatives(t, z, u, events, scale, live, z_dot, indicators):
        evaluate(t, z, u, events, scale, live, z_dot, indicators)

    def handle(self, state, next_state):
        if next_state["fmu.events"] != state["fmu.events"]:
            # Another event of this instant has taken it through event mode; `state` is older than that.
            return cosim.EventStatus.did_nothing()
        instance = self.instance
        states, following, changed = instance.handle_event(state.time, states_of(state), state["fmu.u"])
        if changed:
            next_state["fmu.scale"] = scales(instance)
        put_states(next_state, states)
        next_state["fmu.next_event"] = following
        # What changed inside the FMU makes everything that was computed from it void.
        next_state["fmu.events"] = state["fmu.events"] + 1
        return wish_to_stop(instance)

    def at_time(self, state, next_state):
        if state["fmu.next_event"] > state.time:  # an event indicator has led through event mode here
            return cosim.EventStatus.did_nothing()
        return handle(self, state, next_state)

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="unrestricted")
    def after_step(t, z, u, events, scale, live, wanted_next):
        if complete(t, z, u, events, scale, live):
            wanted_next[0] = 1
            return 1
        return 0

    def at_wish(self, state, next_state):
        return wish_to_stop(self.instance) or handle(self, state, next_state)

    def wish_to_stop(instance):
        return cosim.EventStatus.reached_termination() if instance.stop_requested else None

    def explain_failure(self):
        return self.instance.failure()

    next_time = cosim.timer(start=math.inf)
    size = max(1, states)
    body: dict[str, Any] = {
        "__doc__": "A Model Exchange FMU.",
        "__module__": __name__,
        "z": cosim.auxiliary_state(shape=size, start=(0.0,) * size),
        "scale": cosim.discrete(shape=size, start=(1.0,) * size, invalidates=cosim.Stage.TIME),
        "u": cosim.input(shape=max(1, inputs), start=(0.0,) * max(1, inputs)),
        "events": cosim.discrete(dtype=int, invalidates=cosim.Stage.TIME),
        "indicators": cosim.cache_slot(shape=max(1, count)),
        "live": cosim.cache_slot(),
        "instance": None,  # given to the part before its system is built
        "plain_methods": ("bind",),
        "bind": bind,
        "explain_failure": explain_failure,
        "derivatives": derivatives,
        "next_event": next_time,
        "time_event": cosim.on(next_time, does="unrestricted")(at_time),
    }
    for i in range(count):
        crossing = cosim.witness(_indicator(i))
        body[f"indicator_{i}"] = crossing
        body[f"state_event_{i}"] = cosim.on(crossing, does="unrestricted")(_copy(handle))
    if wants_steps:
        body["wanted"] = cosim.signal()
        body["step_ended"] = after_step
        body["step_event"] = cosim.on(body["wanted"], does="unrestricted")(at_wish)
    return type("ModelExchangeFmu", (cosim.Component,), body)


def evaluate(t, z, u, events, scale, live, z_dot, indicators):
    """Derivatives and event indicators; see `system_calls.evaluate`."""
    address = put_point(t, z, u, scale, live)
    head = integers_at(address, SIZE)
    if call_with_array(head[EVALUATE], address, 0, 0, 0, 0) != OK:
        raise ValueError("an FMU has failed, or is gone")
    rates = reals_at(head[RATES_AT], head[STATES])
    for i in range(head[STATES]):
        z_dot[i] = rates[i] / scale[i]
    values = reals_at(head[INDICATORS_AT], head[INDICATORS])
    for i in range(head[INDICATORS]):
        indicators[i] = values[i]
    if head[STATES] == 0:  # then this says it
        z_dot[0] = math.nan if head[IS_LOST] != 0 else 0.0


def complete(t, z, u, events, scale, live):
    """Tell that a step has ended; whether event mode, or the end, is wanted."""
    address = put_point(t, z, u, scale, live)
    head = integers_at(address, SIZE)
    if call_with_array(head[COMPLETE], address, 0, 0, 0, 0) != OK:
        raise ValueError("an FMU has failed, or is gone")
    return head[WANTS] != 0


def put_point(t, z, u, scale, live):
    """Fill the buffers of the system; its address."""
    address = int(live)
    head = integers_at(address, SIZE)
    reals_at(address + REAL * TIME, 1)[0] = t
    states = reals_at(head[STATES_AT], head[STATES])
    for i in range(head[STATES]):
        states[i] = z[i] * scale[i]
    inputs = reals_at(head[INPUTS_AT], head[INPUTS])
    for i in range(head[INPUTS]):
        inputs[i] = u[i]
    return address


def _indicator(i: int) -> Any:
    def indicator(indicators):
        return indicators[i]

    return indicator


def _copy(function: Any) -> Any:
    """A handler of its own with the same body: each has a name."""

    def handler(self, state, next_state):
        return function(self, state, next_state)

    return handler


INTEGRATOR = "integrators.runge_kutta_merson"
ACCURACY = 1e-6


class ModelExchangeSolver:
    """A `Simulator` over a `model_exchange_system`, and what its inputs are given from outside.

    Parameters
    ----------
    instance : ModelExchangeInstance
        With `settle`, `check_settled`, `indicators` and `forget`, in continuous-time mode.
    inputs : mapping of hashable to float
        Continuous inputs that are given from outside, with their first values.
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

    Attributes
    ----------
    known : dict of hashable to float
        What inputs hold; NaN where that is not known, since they ran along slopes.
    called : object or None
        Where compiled code steps it: what has `unbind`, after which Python may use the simulator.
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
    ) -> None:
        self.instance, self.known = instance, dict(inputs)
        self.called: Any = None
        system = model_exchange_system(
            *(instance, len(states), len(inputs), instance.indicators), wants_steps=wants_steps
        )
        state = first_state(system, instance, start, states, list(inputs.values()), next_event)
        self._simulator = cosim.Simulator(system, state, integrator, accuracy, **options)
        self._simulator.events.idle_cause = cosim.EventCause.TIME_ADVANCED  # an FMU was told of its step

    @property
    def time(self) -> float:
        """That has been reached, s."""
        return float(self.simulator.state.time)

    @property
    def simulator(self) -> cosim.Simulator:
        """For Python, which takes it from compiled code."""
        if self.called is not None:
            self.called.unbind()
        return self._simulator

    @property
    def events_when_saved(self) -> int:
        """How many events there had been when compiled code saved a state last; also asked inside a step."""
        counted = int(self._simulator.compiled_step.arrays.counts.events)
        return self.event_total - (counted - int(self.called.record.saved_events))

    @property
    def event_total(self) -> int:
        """How many events there have been; also asked inside a step."""
        return self._simulator.events.total

    def path(self, name: Any) -> str:
        """Of a continuous input in the system."""
        return f"fmu.u[{list(self.known).index(name)}]"

    def hold(self, given: Mapping[Any, float]) -> None:
        """Give inputs values, which they hold; what has not changed is not written again."""
        state = self.simulator.state
        for name, value in given.items():
            if self.known[name] != value:
                state[self.path(name)] = self.known[name] = float(value)

    def follow(self, slopes: Mapping[Any, float]) -> None:
        """Let inputs run along lines, per s; those that are not named stay as they are."""
        simulator = self.simulator
        for name, slope in slopes.items():
            if name in self.known:
                simulator.system.write_slope(simulator.state, self.path(name), slope)
                self.known[name] = math.nan

    def settle(self) -> None:
        """Make the present point that of the instance, for reading variables."""
        state = self.simulator.state
        state.realize(cosim.Stage.TIME)
        self.instance.settle(state.time, states_of(state), state["fmu.u"])

    def jump(self, states: Sequence[float], next_event: float) -> None:
        """The instance has been in event mode: its states, and when the next time event is (s)."""
        state = self.simulator.state
        put_states(state, states)
        state["fmu.next_event"] = next_event
        state["fmu.events"] = state["fmu.events"] + 1

    def advance(self, time: float) -> None:
        """Integrate to `time` (s), through all events on the way, those that are due there too."""
        if self.simulator.advance_to(time).succeeded:
            self.simulator.advance_pending_events()

    def hold_inputs(self) -> None:
        """A step has ended: inputs on slopes stay where they are."""
        self.simulator.system.hold_inputs(self.simulator.state)

    def restore(self, saved: bytes, events: int) -> None:
        """To a State that was saved, and so many events."""
        self.instance.stop_requested = False
        self.instance.forget()
        state = self.simulator.system.state_from_bytes(saved)
        self.simulator.replace_state(state)
        self.simulator.events.truncate(events)
        self.known.update(dict.fromkeys(self.known, math.nan))  # they may be anywhere
