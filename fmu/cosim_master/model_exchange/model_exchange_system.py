"""A Model Exchange FMU as a system: its states, derivatives and events."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import cosim
from cosim.kit import call_with_array, foreign, gathering, tangent_of
from cosim_fmi.binding.statuses import OK
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import AfterEvent
from cosim_master.model_exchange.system_calls import (
    ALONG,
    CHANGES_AT,
    COMPLETE,
    DIRECTION_AT,
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
PART = "fmu."
"""Prefix of all names in the system."""
STATE_EVENT = f"{PART}state_event_"
"""Name of the handler of an event indicator, before its number."""
TIME_EVENT = f"{PART}time_event"
"""Name of the handler of time events."""


class ModelExchangeInstance(Protocol):
    """The methods that the system needs of an instance in continuous-time mode."""

    stop_requested: bool
    evaluation: Evaluation

    def handle_event(self, time: float, states: Any, inputs: Any) -> AfterEvent:
        """Pass through event mode."""

    def failure(self) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined."""

    def nominals(self) -> Sequence[float]:
        """Nominal values of the continuous states."""


def model_exchange_system(
    instance: ModelExchangeInstance,
    states: int,
    inputs: int,
    indicators: int,
    *,
    wants_steps: bool,
    derives: bool = False,
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
        Whether the FMU is notified when an integrator step has ended.
    derives : bool
        Whether tangents are the directional derivatives of the FMU (`DirectionalDerivatives`).
    """
    model = cosim.Model("model_exchange")
    part = model.add(_component(states, inputs, indicators, wants_steps, derives), "fmu")
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
        Values of the FMU, not scaled.
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
    """The continuous states of the FMU, not scaled."""
    return list(map(operator.mul, state["fmu.z"], state["fmu.scale"]))


def put_states(state: cosim.State, states: Sequence[float]) -> None:
    """Write the continuous states of the FMU, not scaled."""
    if len(states):
        state["fmu.z"] = list(map(operator.truediv, states, state["fmu.scale"]))


def scales(instance: ModelExchangeInstance) -> tuple[float, ...]:
    """The powers of two next to nominal values: tolerances fit states of any size, and no bit is lost."""
    return tuple(2.0 ** min(max(round(math.log2(x)), -1000), 1000) for x in instance.nominals())


@functools.cache
def _component(
    states: int, inputs: int, indicators: int, wants_steps: bool, derives: bool
) -> type[cosim.Component]:
    """The class for all FMUs with these numbers: its functions are compiled once."""

    def bind(self, live):
        live[0] = float(self.instance.evaluation.address)

    @cosim.kernel
    def derivatives(t, z, u, events, scale, live, z_dot, indicators):
        evaluate(t, z, u, events, scale, live, z_dot, indicators)

    @cosim.kernel
    def differentiated(t, z, u, events, scale, live, z_dot, indicators):
        evaluate_differentiably(t, z, u, events, scale, live, z_dot, indicators)

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="unrestricted")
    def after_step(t, z, u, events, scale, live, wanted_next):
        if complete(t, z, u, events, scale, live):
            wanted_next[0] = 1
            return 1
        return 0

    next_time = cosim.timer(start=math.inf)
    size = max(1, states)
    body: dict[str, Any] = {
        "__doc__": "A Model Exchange FMU.",
        "__module__": __name__,
        "z": cosim.auxiliary_state(shape=size, start=(0.0,) * size),
        "scale": cosim.discrete(shape=size, start=(1.0,) * size, invalidates=cosim.Stage.TIME),
        "u": cosim.input(shape=max(1, inputs), start=(0.0,) * max(1, inputs)),
        "events": cosim.discrete(dtype=int, invalidates=cosim.Stage.TIME),
        "indicators": cosim.cache_slot(shape=max(1, indicators)),
        "live": cosim.cache_slot(),
        "instance": None,  # set in the part before its system is built
        "plain_methods": ("bind",),
        "bind": bind,
        "explain_failure": _explain_failure,
        "derivatives": differentiated if derives else derivatives,
        "next_event": next_time,
        TIME_EVENT.removeprefix(PART): cosim.on(next_time, does="unrestricted")(_handle_time_event),
    }
    for i in range(indicators):
        crossing = cosim.witness(_indicator(i))
        body[f"indicator_{i}"] = crossing
        name = f"{STATE_EVENT.removeprefix(PART)}{i}"
        body[name] = cosim.on(crossing, does="unrestricted")(_copy(_handle_event))
    if wants_steps:
        body["wanted"] = cosim.signal()
        body["step_ended"] = after_step
        body["step_event"] = cosim.on(body["wanted"], does="unrestricted")(_handle_step_event)
    return type("ModelExchangeFmu", (cosim.Component,), body)


def indicator_of(event: cosim.EventRecord) -> int | None:
    """The number of the event indicator that caused an event; None for any other event."""
    _, _, number = event.handler.partition(STATE_EVENT)
    return int(number) if number else None


def _handle_event(self: Any, state: Any, next_state: Any) -> cosim.EventStatus | None:
    """Take the instance through event mode."""
    if next_state["fmu.events"] != state["fmu.events"]:
        # another event of this instant has done so already
        return cosim.EventStatus.did_nothing()
    instance = self.instance
    after = instance.handle_event(state.time, states_of(state), state["fmu.u"])
    if after.nominals_changed:
        next_state["fmu.scale"] = scales(instance)
    put_states(next_state, after.states)
    next_state["fmu.next_event"] = after.next_event
    # invalidates everything that was computed from the FMU
    next_state["fmu.events"] = state["fmu.events"] + 1
    return _stop_request(instance)


def _handle_time_event(self: Any, state: Any, next_state: Any) -> cosim.EventStatus | None:
    """Handle an event that the FMU has announced for this time."""
    if state["fmu.next_event"] > state.time:  # the event of an indicator at this time has handled it
        return cosim.EventStatus.did_nothing()
    return _handle_event(self, state, next_state)


def _handle_step_event(self: Any, state: Any, next_state: Any) -> cosim.EventStatus | None:
    """Handle the request of an FMU for event mode, or for the end of the run, after an integrator step."""
    return _stop_request(self.instance) or _handle_event(self, state, next_state)


def _stop_request(instance: ModelExchangeInstance) -> cosim.EventStatus | None:
    return cosim.EventStatus.reached_termination() if instance.stop_requested else None


def _explain_failure(self: Any) -> Exception | None:
    failure: Exception | None = self.instance.failure()
    return failure


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
    if head[STATES] == 0:  # a placeholder state then shows whether the outputs are defined
        z_dot[0] = math.nan if head[IS_LOST] != 0 else 0.0


class Arguments(NamedTuple):
    """The arguments of `evaluate`, then their tangents."""

    t: Any
    z: Any
    u: Any
    events: Any
    scale: Any
    live: Any
    z_dot: Any
    indicators: Any
    t_moved: Any
    z_moved: Any
    u_moved: Any
    scale_moved: Any
    live_moved: Any
    z_dot_moved: Any
    indicators_moved: Any


def evaluate_differentiably(t, z, u, events, scale, live, z_dot, indicators):
    """`evaluate` for an FMU that provides directional derivatives."""
    evaluate(t, z, u, events, scale, live, z_dot, indicators)


@tangent_of(evaluate_differentiably)
@gathering(Arguments._fields)
def evaluate_along(*arguments):
    """The directional derivatives of the FMU; see `DirectionalDerivatives`."""
    a = Arguments(*arguments)
    address = put_point(a.t, a.z, a.u, a.scale, a.live)
    head = integers_at(address, SIZE)
    if head[ALONG] == 0:
        raise ValueError("an FMU without directional derivatives")
    direction = reals_at(head[DIRECTION_AT], 1 + head[STATES] + head[INPUTS])
    direction[0] = a.t_moved
    for i in range(head[STATES]):
        direction[1 + i] = a.z_moved[i] * a.scale[i]
    for i in range(head[INPUTS]):
        direction[1 + head[STATES] + i] = a.u_moved[i]
    if call_with_array(head[ALONG], address, 0, 0, 0, 0) != OK:
        raise ValueError("an FMU has failed, or is gone")
    changes = reals_at(head[CHANGES_AT], head[STATES])
    for i in range(head[STATES]):
        a.z_dot_moved[i] = changes[i] / a.scale[i]
    if head[STATES] == 0:
        a.z_dot_moved[0] = 0.0


def complete(t, z, u, events, scale, live):
    """Report the end of a step. Returns whether the FMU asks for event mode or for the end."""
    address = put_point(t, z, u, scale, live)
    head = integers_at(address, SIZE)
    if call_with_array(head[COMPLETE], address, 0, 0, 0, 0) != OK:
        raise ValueError("an FMU has failed, or is gone")
    return head[WANTS] != 0


@tangent_of(complete, with_values=True)
@gathering(
    ("t", "z", "u", "events", "scale", "live", *(f"{x}_moved" for x in ("t", "z", "u", "scale", "live")))
)
def complete_again(*arguments):
    """The answer of the FMU at the end of a step, which is not reported to it twice."""
    return integers_at(int(arguments[5]), SIZE)[WANTS] != 0


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
