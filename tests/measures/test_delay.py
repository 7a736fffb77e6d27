"""Delays: interpolation against Simbody, systems against closed forms, jumps, stages, refused values."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from delay_equations import Decay

import cosim
from cosim.system.history_buffer import append_to_history, trim_history
from cosim_measures.delay import Delay
from cosim_measures.histories import interpolate_history

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delay_linear.json").read_text())
COLUMNS = [
    (history, column)
    for history in REFERENCE["histories"]
    for column, c in enumerate(history["delay_columns"])
    if c["linear_only"] and not c["can_use_current_value"] and c["delay"] > 0
]


class WilleBaker(cosim.Component):
    """y1' = y1(t - 1), y2' = y1(t - 1) + y2(t - 0.2), y3' = y2."""

    late = cosim.source()
    recent = cosim.source()
    y1 = cosim.auxiliary_state(start=1.0)
    y2 = cosim.auxiliary_state(start=1.0)
    y3 = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(late, recent, y2, y1_dot, y2_dot, y3_dot):
        y1_dot[0] = late
        y2_dot[0] = late + recent
        y3_dot[0] = y2


class Switch(cosim.Component):
    """A signal that jumps from 0 to 1 at an event at 0.33 s, and a state that needs steps."""

    level = cosim.discrete(start=0.0)
    wave = cosim.auxiliary_state()
    out = cosim.output()

    @cosim.kernel
    def show(level, out):
        out[0] = level

    @cosim.kernel
    def derivatives(t, wave_dot):
        wave_dot[0] = math.cos(20.0 * t)

    @cosim.at([0.33], does="discrete")
    def turn_on(level_next):
        level_next[0] = 1.0


class JumpWithoutEvent(cosim.Measure):
    """sin t, which jumps by 1 at t = 0.777 without an event."""

    @cosim.kernel
    def wave(t, value, value_dot):
        value_dot[0] = math.cos(t)
        value[0] = math.sin(t)
        if t > 0.777:
            value[0] = math.sin(t) + 1.0


class Feedthrough(cosim.Component):
    """An output that equals an input."""

    u = cosim.input()
    y = cosim.output()

    @cosim.kernel
    def run(u, y):
        y[0] = u


def simulator_of(model, **options):
    """Return an initialized simulator."""
    simulator = cosim.Simulator(model.build(), **options)
    simulator.initialize()
    return simulator


def sine(**delay):
    """Return a model of a sinusoid, its integral and its delay; `delay` are parameters of the delay."""
    model = cosim.Model("sine")
    model.add("measures.sinusoid", "source", frequency=6.0, phase=0.3)
    model.add("measures.integrate", "area", source="source")
    model.add(Delay, "delayed", source="source", **delay)
    return model


def test_the_reference_has_all_linear_columns() -> None:
    assert len(COLUMNS) == 8


@pytest.mark.parametrize(("history", "column"), COLUMNS, ids=lambda x: x if isinstance(x, int) else x["name"])
def test_lines_agree_with_simbody(history, column) -> None:
    delay = history["delay_columns"][column]["delay"]
    past, ring = np.zeros(4 * 64), np.array([0, 64, 0, 0, 0, -1, -1, -1])
    last_time = -math.inf
    for i, row in enumerate(history["rows"]):
        for earlier in history["rows"][: i + 1]:
            if last_time < earlier["t"] <= row["newest_buffer_time"]:
                last_time = earlier["t"]
                trim_history(past, ring, last_time, last_time - delay)
                append_to_history(past, ring, last_time, 0.0, math.inf, earlier["source"], math.nan)
        value, _ = interpolate_history(past, ring, row["t"] - delay, row["t"], 0.0, 0.0, 0.0, 1.0, math.nan)
        assert value == pytest.approx(row["delayed"][column], abs=1e-13)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"delay": -0.1}, "delay is -0.1 s, needs at least 0"),
        ({"delay": math.nan}, "delay is nan, needs a finite number"),
        ({}, "delay is missing"),
        ({"delay": 0.1, "can_use_current_value": 1}, "can_use_current_value"),
    ],
)
def test_invalid_values_are_refused(values, text) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        Delay(source="x", **values)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("source", "x.value", r"no signal 'd\.source'\. It is the signal that d reads: choose it before"),
        ("can_use_current_value", True, r"it is an option, .*model\.add\(…, can_use_current_value=…\)"),
        ("use_linear_interpolation_only", True, r"it is an option, .*build the model again"),
    ],
)
def test_sources_and_options_cannot_be_set_in_a_state(name, value, text) -> None:
    model = cosim.Model("late")
    model.add("signals.chirp", "x")
    model.add("measures.delay", "d", source="x", delay=0.1)
    state = model.build().default_state()
    with pytest.raises(cosim.CosimError, match=text):
        state[f"d.{name}"] = value
    state["d.delay"] = 0.25
    assert state["d.delay"] == 0.25


@pytest.mark.parametrize("can_use_current_value", [False, True])
def test_a_smooth_source(can_use_current_value) -> None:
    # without the current value, steps of more than 0.05 s extrapolate
    simulator = simulator_of(sine(delay=0.05, can_use_current_value=can_use_current_value), accuracy=1e-6)
    assert simulator.state["delayed"] == simulator.state["source"]
    for i in range(1, 40):
        t = 0.05 * i
        simulator.advance_to(t)
        expected = math.sin(6.0 * max(t - 0.05, 0.0) + 0.3)
        assert simulator.state["delayed"] == pytest.approx(expected, abs=2e-5)
        if i > 1:
            rate = 6.0 * math.cos(6.0 * (t - 0.05) + 0.3)
            assert simulator.state["delayed.value_dot"] == pytest.approx(rate, abs=2e-3)


def test_a_delay_depends_on_time_unless_it_uses_the_current_value() -> None:
    model = cosim.Model("stages")
    model.add(Decay, "plant", felt="past")
    model.add(Delay, "past", source="plant.y", delay=0.1)
    model.add(Delay, "present", source="plant.y", delay=0.1, can_use_current_value=True)
    system = model.build()
    assert system.parts["past"].depends_on_stage(system) == cosim.Stage.TIME
    assert system.parts["present"].depends_on_stage(system) == cosim.Stage.DYNAMICS


@pytest.mark.parametrize("flag", ["can_use_current_value", "use_linear_interpolation_only", ""])
def test_a_delay_of_zero_equals_its_source(flag) -> None:
    simulator = simulator_of(sine(delay=0.0, **({flag: True} if flag else {})))
    system = simulator.system
    delayed, source = system.parts["delayed"], system.parts["source"]
    assert delayed.derivatives_in(system) == source.derivatives_in(system) == 3
    assert delayed.depends_on_stage(system) == source.depends_on_stage(system)
    for i in range(1, 10):
        simulator.advance_to(0.1 * i)
        for order in range(4):
            assert delayed.read(simulator.state, order) == source.read(simulator.state, order)


def test_the_default_value_is_shown_before_initialization() -> None:
    state = sine(delay=0.1, default_value=4.0).build().default_state()
    state.realize(cosim.Stage.REPORT)
    assert state["delayed"] == 4.0


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
def test_one_delay(integrator, accuracy) -> None:
    """Error control covers steps longer than the delay and the interpolation over long steps."""
    model = cosim.Model("decay")
    model.add(Decay, "plant", felt="delayed")
    model.add(Delay, "delayed", source="plant.y", delay=1.0)
    simulator = simulator_of(model, integrator=f"integrators.{integrator}", accuracy=accuracy)
    for t, y in ((1.0, 0.0), (2.0, -1 / 2), (3.0, -1 / 6), (5.0, 19 / 120), (10.0, 0.020241126543209878)):
        simulator.advance_to(t)
        assert simulator.state["plant.y"] == pytest.approx(y, abs=2.0 * accuracy)


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
def test_two_delays(integrator, accuracy) -> None:
    model = cosim.Model("wille_baker")
    model.add(WilleBaker, "plant", late="late", recent="recent")
    model.add(Delay, "late", source="plant.y1", delay=1.0)
    model.add(Delay, "recent", source="plant.y2", delay=0.2)
    simulator = simulator_of(model, integrator=f"integrators.{integrator}", accuracy=accuracy)
    simulator.advance_to(5.0)
    states = [simulator.state[f"plant.y{i}"] for i in (1, 2, 3)]
    assert states == pytest.approx([19.175, 176.42257844738032, 190.34420193607042], rel=accuracy)


def test_fixed_steps_with_derivatives_are_of_fourth_order() -> None:
    """y' = -y(t - pi/2) with the history cos t has the solution cos t, without a break at the start."""
    errors, counts = [], np.array([10, 20, 40])
    for n in counts:
        step = 0.5 * math.pi / n
        past, ring = np.zeros(4 * 256), np.array([0, 256, 0, 0, 0, -1, -1, -1])
        for i in range(-n - 2, 1):
            append_to_history(past, ring, i * step, 0.0, math.inf, math.cos(i * step), -math.sin(i * step))

        def slope(t, past=past, ring=ring):
            return -interpolate_history(past, ring, t - 0.5 * math.pi, t, 0.0, 0.0, 0.0, 0.0, 0.0)[0]

        y = 1.0
        for i in range(4 * n):
            t = i * step
            y += step / 6.0 * (slope(t) + 4.0 * slope(t + 0.5 * step) + slope(t + step))
            append_to_history(past, ring, t + step, 0.0, math.inf, y, slope(t + step))
        errors.append(abs(y - 1.0))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize(
    "options", [{}, {"use_linear_interpolation_only": True}, {"can_use_current_value": True}]
)
def test_a_jump_at_an_event_is_not_smoothed(options) -> None:
    model = cosim.Model("jump")
    model.add(Switch, "switch")
    model.add(Delay, "delayed", source="switch.out", delay=0.1, **options)
    simulator = simulator_of(model, accuracy=1e-6, maximum_step=0.037)
    values = []
    for i in range(1, 101):
        simulator.advance_to(0.01 * i)
        values.append((simulator.state.time, simulator.state["delayed"]))
    assert {value for _, value in values} == {0.0, 1.0}
    assert min(t for t, value in values if value == 1.0) == pytest.approx(0.44, abs=0.0101)
    assert max(t for t, value in values if value == 0.0) < 0.44


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-8])
def test_steps_end_where_a_jump_arrives(integrator, accuracy) -> None:
    """The jump arrives at 0.43 s; from there on y is a straight line, so the result is exact."""
    model = cosim.Model("jump")
    model.add(Switch, "switch")
    model.add(Delay, "delayed", source="switch.out", delay=0.1)
    model.add(Decay, "plant", felt="delayed")
    simulator = simulator_of(model, integrator=f"integrators.{integrator}", accuracy=accuracy)
    simulator.advance_to(1.0)
    assert simulator.state["plant.y"] == pytest.approx(1.0 - (1.0 - 0.43), abs=1e-14)


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
@pytest.mark.parametrize("delay", [0.5, 0.01, 0.0])
def test_a_jump_without_an_event_does_not_stop_the_run(integrator, delay) -> None:
    model = cosim.Model("jump")
    model.add(JumpWithoutEvent, "source")
    model.add(Delay, "delayed", source="source", delay=delay)
    model.add(Decay, "plant", felt="delayed")
    simulator = simulator_of(model, integrator=f"integrators.{integrator}", accuracy=1e-6)
    simulator.advance_to(3.0)
    exact = 1.0 - ((1.0 - math.cos(3.0 - delay)) + (3.0 - delay - 0.777))
    assert simulator.state["plant.y"] == pytest.approx(exact, abs=1e-4)


def test_a_long_delay_makes_the_history_grow() -> None:
    simulator = simulator_of(sine(delay=3.0), accuracy=1e-6, maximum_step=0.01)
    before = simulator.state["delayed"]
    simulator.advance_to(2.9)
    assert simulator.state["delayed"] == before
    simulator.advance_to(5.0)
    assert simulator.state["delayed"] == pytest.approx(math.sin(6.0 * 2.0 + 0.3), abs=1e-7)


def test_a_resumed_run_has_the_same_bytes() -> None:
    model = cosim.Model("decay")
    model.add(Decay, "plant", felt="delayed")
    model.add(Delay, "delayed", source="plant.y", delay=0.3)
    system = model.build()
    simulator = cosim.Simulator(system, accuracy=1e-5)
    simulator.initialize()
    saved_states = []
    while simulator.state.time < 3.0:
        saved_states.append(simulator.state.to_bytes())
        simulator.step()
    end, steps = simulator.state.to_bytes(), len(saved_states)
    assert steps > 15
    for i in range(0, steps, 3):
        resumed = cosim.Simulator(system, system.state_from_bytes(saved_states[i]), accuracy=1e-5)
        for _ in range(steps - i):
            resumed.step()
        assert resumed.state.to_bytes() == end


def test_a_delay_of_a_delay_keeps_a_jump_of_an_input() -> None:
    model = cosim.Model("chain")
    model.add(Feedthrough, "door")
    model.add("measures.delay", "first", source="door.y", delay=0.1000001)
    model.add("measures.delay", "second", source="first", delay=0.05)
    model.add("measures.integrate", "sum", source="second")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(0.3)
    simulator.state["door.u"] = 1.0
    simulator.advance_to(1.0)
    simulator.state.realize(cosim.Stage.REPORT)
    assert simulator.state["sum"] == pytest.approx(0.7 - 0.1500001, abs=1e-12)


@pytest.mark.parametrize("integrator", ["radau5", "bdf"])
def test_implicit_methods_with_a_variable_delay_and_no_states(integrator: str) -> None:
    """The model has no states, so its Jacobian has no columns."""
    model = cosim.Model("delayed")
    model.add("measures.sinusoid", "wave", amplitude=1.0, frequency=5.0)
    model.add("measures.sinusoid", "sway", amplitude=0.3, frequency=2.0)
    model.add("measures.constant", "mean", value=0.6)
    model.add("measures.plus", "lag", first="mean", second="sway")
    model.add("measures.variable_delay", "late", source="wave", delay="lag")
    result = model.simulate(
        until=2.0, integrator=f"integrators.{integrator}", accuracy=1e-6, output_interval=0.01
    )
    past = np.maximum(result.time - 0.6 - 0.3 * np.sin(2.0 * result.time), 0.0)
    assert np.abs(result["late"] - np.sin(5.0 * past)).max() < 1e-5
