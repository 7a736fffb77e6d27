"""A Model Exchange FMU as a system of ours: its states, derivatives and events."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Protocol

import cosim

NOTHING = (0.0,)
"""In place of the states or event indicators of an FMU that has none."""


class ModelExchangeInstance(Protocol):
    """What the system needs of an instance in continuous-time mode."""

    asked_to_stop: bool

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], Sequence[float]]:
        """The derivatives of the continuous states and the event indicators at this point."""

    def handle_event(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], float, bool]:
        """Go through event mode.

        The continuous states after it, the time of the next time event (s), whether nominal values changed.
        """

    def nominals(self) -> Sequence[float]:
        """Nominal values of the continuous states."""

    def completed_step(self, time: float, states: Any, inputs: Any) -> bool:
        """Tell that an integrator step has ended here; whether the FMU wants an event."""


def model_exchange_system(
    instance: ModelExchangeInstance,
    states: Sequence[float],
    inputs: Sequence[float],
    indicators: int,
    next_event: float,
    *,
    wants_steps: bool,
) -> cosim.System:
    """A system with one part, ``fmu``, whose kernel functions call the instance.

    Its state ``fmu.z`` is that of the FMU in units of ``fmu.scale``: the powers of two next to the nominal
    values, so that tolerances hold for states of any size, and not a bit is lost.

    Parameters
    ----------
    instance : ModelExchangeInstance
    states, inputs : sequence of float
        Continuous states and real inputs at the start.
    indicators : int
        Number of event indicators: each is a witness.
    next_event : float
        Time of the next time event, s; infinite when there is none.
    wants_steps : bool
        Whether the FMU is to be told when an integrator step has ended.
    """
    scale = _scale(instance) if states else NOTHING
    starts = tuple(map(operator.truediv, states, scale)) or NOTHING
    kind = _component(instance, starts, scale, tuple(inputs) or NOTHING, indicators, next_event, wants_steps)
    model = cosim.Model("model_exchange")
    model.add(kind, "fmu")
    return model.build()


def states_of(state: cosim.State) -> list[float]:
    """The continuous states as the FMU has them."""
    return list(map(operator.mul, state["fmu.z"], state["fmu.scale"]))


def put_states(state: cosim.State, states: Sequence[float]) -> None:
    """Write the continuous states as the FMU has them."""
    if len(states):
        state["fmu.z"] = list(map(operator.truediv, states, state["fmu.scale"]))


def _scale(instance: ModelExchangeInstance) -> tuple[float, ...]:
    return tuple(2.0 ** min(max(round(math.log2(x)), -1000), 1000) for x in instance.nominals())


def _component(
    instance: ModelExchangeInstance,
    starts: tuple[float, ...],
    scales: tuple[float, ...],
    inputs: tuple[float, ...],
    count: int,
    next_event: float,
    wants_steps: bool,
) -> type[cosim.Component]:
    def derivatives(self, t, z, u, events, scale, z_dot, indicators):
        rates, crossings = instance.evaluate(t, [x * s for x, s in zip(z, scale, strict=True)], u)
        for i in range(len(rates)):
            z_dot[i] = rates[i] / scale[i]
        for i in range(len(crossings)):
            indicators[i] = crossings[i]

    def handle(self, state, next_state):
        found, following, changed = instance.handle_event(state.time, states_of(state), state["fmu.u"])
        if changed:
            next_state["fmu.scale"] = _scale(instance)
        put_states(next_state, found)
        next_state["fmu.next_event"] = following
        # What changed inside the FMU makes everything that was computed from it void.
        next_state["fmu.events"] = state["fmu.events"] + 1
        return wish_to_stop()

    def after_step(self, state, next_state):
        if not instance.asked_to_stop and instance.completed_step(
            state.time, states_of(state), state["fmu.u"]
        ):
            return handle(self, state, next_state)
        return wish_to_stop() or cosim.EventStatus.did_nothing()

    def wish_to_stop():
        return cosim.EventStatus.reached_termination() if instance.asked_to_stop else None

    next_time = cosim.timer(start=next_event)
    body: dict[str, Any] = {
        "__doc__": "A Model Exchange FMU.",
        "__module__": __name__,
        "z": cosim.auxiliary_state(shape=len(starts), start=starts),
        "scale": cosim.discrete(shape=len(starts), start=scales, invalidates=cosim.Stage.TIME),
        "u": cosim.input(shape=len(inputs), start=inputs),
        "events": cosim.discrete(dtype=int, invalidates=cosim.Stage.TIME),
        "indicators": cosim.cache_slot(shape=max(1, count)),
        "derivatives": derivatives,
        "next_event": next_time,
        "time_event": cosim.on(next_time, does="unrestricted")(_copy(handle)),
    }
    for i in range(count):
        crossing = cosim.witness(_indicator(i))
        body[f"indicator_{i}"] = crossing
        body[f"state_event_{i}"] = cosim.on(crossing, does="unrestricted")(_copy(handle))
    if wants_steps:
        body["step_event"] = cosim.on(cosim.EventCause.TIME_ADVANCED, does="unrestricted")(after_step)
    return type("ModelExchangeFmu", (cosim.Component,), body)


def _indicator(i: int) -> Any:
    def indicator(indicators):
        return indicators[i]

    return indicator


def _copy(function: Any) -> Any:
    """A handler of its own with the same body: each has a name."""

    def handler(self, state, next_state):
        return function(self, state, next_state)

    return handler
