"""A Model Exchange FMU as a system of ours: its states, derivatives and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import cosim

NOTHING = (0.0,)
"""In place of the states or event indicators of an FMU that has none."""


class ModelExchangeInstance(Protocol):
    """What the system needs of an instance in continuous-time mode."""

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], Sequence[float]]:
        """The derivatives of the continuous states and the event indicators at this point."""

    def handle_event(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], float]:
        """Go through event mode; the continuous states after it, and the time of the next time event, s."""

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
    kind = _component(
        instance, tuple(states) or NOTHING, tuple(inputs) or NOTHING, indicators, next_event, wants_steps
    )
    model = cosim.Model("model_exchange")
    model.add(kind, "fmu")
    return model.build()


def _component(
    instance: ModelExchangeInstance,
    starts: tuple[float, ...],
    inputs: tuple[float, ...],
    count: int,
    next_event: float,
    wants_steps: bool,
) -> type[cosim.Component]:
    def derivatives(self, t, z, u, events, z_dot, indicators):
        rates, crossings = instance.evaluate(t, z, u)
        for i in range(len(rates)):
            z_dot[i] = rates[i]
        for i in range(len(crossings)):
            indicators[i] = crossings[i]

    def handle(self, state, next_state):
        found, following = instance.handle_event(state.time, state["fmu.z"], state["fmu.u"])
        if len(found):
            next_state["fmu.z"] = found
        next_state["fmu.next_event"] = following
        # What changed inside the FMU makes everything that was computed from it void.
        next_state["fmu.events"] = state["fmu.events"] + 1

    def after_step(self, state, next_state):
        if instance.completed_step(state.time, state["fmu.z"], state["fmu.u"]):
            handle(self, state, next_state)

    next_time = cosim.timer(start=next_event)
    body: dict[str, Any] = {
        "__doc__": "A Model Exchange FMU.",
        "__module__": __name__,
        "z": cosim.auxiliary_state(shape=len(starts), start=starts),
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
        function(self, state, next_state)

    return handler
