"""Delay differential equations: orders, breaks, long steps, varying and changed delays, vectors."""

import math

import numpy as np
import pytest
from delay_equations import cosine, decay, decay_exactly, mackey_glass, neves, started

import cosim

DORMAND_PRINCE = "integrators.dormand_prince"


class LinearDelay(cosim.Measure):
    """A delay that changes linearly. Law: value = offset + rate t."""

    offset = cosim.parameter()
    rate = cosim.parameter()
    value = cosim.cache_slot(unit="s")

    @cosim.kernel
    def line(t, offset, rate, value):
        value[0] = offset + rate * t


class SineVector(cosim.Component):
    """A vector of sines of different frequencies."""

    q = cosim.position(shape=3, unit="m", start=(1.0, 0.0, -1.0))

    @cosim.kernel
    def derivatives(t, q_dot):
        q_dot[0] = math.cos(t)
        q_dot[1] = 2.0 * math.cos(2.0 * t)
        q_dot[2] = 3.0 * math.cos(3.0 * t)


@pytest.mark.parametrize(("interpolation", "least_order"), [("hermite", 3.8), ("dense_output", 4.8)])
@pytest.mark.parametrize(
    ("make", "until", "exact"), [(decay, 8.0, decay_exactly(8, 1)), (cosine, 7.0, math.cos(7.0))]
)
def test_order_of_a_fifth_order_method(interpolation, least_order, make, until, exact) -> None:
    errors, counts = [], np.array([8, 11, 16, 22])
    for n in counts:
        model = make(interpolation=interpolation)
        delay = model.parts["felt"].delay
        simulator = started(model, integrator=DORMAND_PRINCE, fixed_step=delay / n)
        simulator.advance_to(until)
        errors.append(abs(simulator.state["plant.y"] - exact))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > least_order


@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_fixed_steps_end_where_breaks_arrive(interpolation) -> None:
    """Steps of 0.15 s do not divide 1 s; across a break the method would lose its order."""
    simulator = started(decay(interpolation=interpolation), integrator=DORMAND_PRINCE, fixed_step=0.15)
    times = []
    while simulator.state.time < 5.0:
        simulator.step(5.0)
        times.append(simulator.state.time)
    assert {1.0, 2.0, 3.0, 4.0, 5.0} <= set(times)
    assert simulator.state["plant.y"] == pytest.approx(19 / 120, abs=2e-6)


def test_a_high_accuracy_takes_few_evaluations() -> None:
    """A method of third order with cubic interpolation needs some thousands."""
    simulator = started(decay(interpolation="dense_output"), integrator=DORMAND_PRINCE, accuracy=1e-10)
    simulator.advance_to(5.0)
    assert simulator.state["plant.y"] == pytest.approx(19 / 120, abs=1e-12)
    assert simulator.integrator.statistics.evaluations < 300


@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_mackey_glass(interpolation) -> None:
    """Reference: fourth-order steps with Richardson extrapolation, to 1e-12."""
    simulator = started(mackey_glass(interpolation=interpolation), integrator=DORMAND_PRINCE, accuracy=1e-9)
    exact = {2: 0.931257458403, 4: 1.276702773873, 10: 1.122956757344, 20: 1.054698443952}
    for t, y in exact.items():
        simulator.advance_to(float(t))
        assert simulator.state["plant.y"] == pytest.approx(y, rel=1e-8)


@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_a_delay_that_depends_on_the_state(interpolation) -> None:
    simulator = started(neves(interpolation=interpolation), 1.0, integrator=DORMAND_PRINCE, accuracy=1e-9)
    for t in (2.0, math.e, 5.0, math.e**2):
        simulator.advance_to(t)
        exact = t if t <= math.e else math.exp(t / math.e)
        assert simulator.state["plant.y"] == pytest.approx(exact, rel=1e-8)
    simulator.advance_to(math.e**2)
    assert simulator.events[0].time == pytest.approx(math.e, abs=1e-10)
    simulator.state.realize(cosim.Stage.REPORT)
    y = simulator.state["plant.y"]
    tau_dot = 1.0 - simulator.state.y_dot[0] / y
    assert simulator.state["lag.value_dot"] == pytest.approx(tau_dot)
    # the chain rule: the delayed time grows at the rate 1 - tau'
    assert simulator.state["felt.value_dot"] == pytest.approx(
        simulator.state["felt.slope"] * (1.0 - tau_dot), rel=1e-12
    )


@pytest.mark.by_turns
@pytest.mark.parametrize("long_steps", ["iterate", "limit", "extrapolate"])
@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_steps_longer_than_the_delay(long_steps, interpolation) -> None:
    model = decay(0.05, long_steps=long_steps, interpolation=interpolation)
    simulator = started(model, integrator=DORMAND_PRINCE, accuracy=1e-6)
    longest = 0.0
    while simulator.state.time < 5.0:
        start = simulator.state.time
        simulator.step(5.0)
        longest = max(longest, simulator.state.time - start)
    assert simulator.state["plant.y"] == pytest.approx(decay_exactly(5, 0.05), abs=1e-7)
    largest_extrapolation = simulator.state["felt.largest_extrapolation"]
    assert (largest_extrapolation > 0.0) == (long_steps == "extrapolate")
    assert (longest > 0.06) == (long_steps != "limit")


def test_iterated_fixed_steps_keep_the_order() -> None:
    errors, counts = [], np.array([20, 28, 40])
    for n in counts:
        model = decay(0.05, interpolation="dense_output", long_steps="iterate")
        simulator = started(model, integrator=DORMAND_PRINCE, fixed_step=5.0 / n)
        simulator.advance_to(5.0)
        errors.append(abs(simulator.state["plant.y"] - decay_exactly(5, 0.05)))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > 4.5


@pytest.mark.by_turns
@pytest.mark.parametrize("delay", [0.05, 0.7])
@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_a_run_resumed_inside_a_delay_has_the_same_bytes(delay, interpolation) -> None:
    system = decay(delay, interpolation=interpolation).build()
    simulator = cosim.Simulator(system, integrator=DORMAND_PRINCE, accuracy=1e-6)
    simulator.initialize()
    saved_states = []
    while simulator.state.time < 2.5:
        saved_states.append(simulator.state.to_bytes())
        simulator.step()
    for i in range(1, len(saved_states), max(1, len(saved_states) // 6)):
        state = system.state_from_bytes(saved_states[i])
        resumed = cosim.Simulator(system, state, integrator=DORMAND_PRINCE, accuracy=1e-6)
        while resumed.state.time < 2.5:
            resumed.step()
        assert resumed.state.to_bytes() == simulator.state.to_bytes()


def test_steps_end_at_breaks_until_these_are_smoother_than_the_method() -> None:
    """y' jumps at 0, y'' at 1, … y^(5) at 4; jumps of higher derivatives do not matter for order 5."""
    simulator = started(decay(), integrator=DORMAND_PRINCE, accuracy=1e-4)
    times = []
    while simulator.state.time < 8.0:
        simulator.step(8.5)
        times.append(simulator.state.time)
    assert {1.0, 2.0, 3.0, 4.0, 5.0} <= set(times)
    assert 7.0 not in times


@pytest.mark.parametrize(
    ("offset", "rate", "text"),
    [
        (0.1, 2.0, "felt: remember: t - delay decreases"),
        (0.1, -0.3, "felt: remember: the delay is negative or not a number"),
        (0.0, 0.0, "felt: remember: the delay has reached 0: set can_use_current_value"),
    ],
)
def test_impossible_delays_are_named(offset, rate, text) -> None:
    model = cosim.Model("bad")
    model.add("measures.sinusoid", "source")
    model.add("measures.integrate", "area", source="source")
    model.add(LinearDelay, "lag", offset=offset, rate=rate)
    model.add("measures.variable_delay", "felt", source="source", delay="lag")
    with pytest.raises(cosim.SimulationError, match=text):
        started(model, accuracy=1e-6).advance_to(1.0)


def test_a_delay_of_zero_does_not_shorten_steps() -> None:
    """Nothing is interpolated, so there is no error of interpolation to control."""
    steps = []
    for options in ({"delay": 1e3}, {}, {"use_linear_interpolation_only": True}):
        simulator = started(decay(**{"delay": 0.0, **options}), integrator=DORMAND_PRINCE, accuracy=1e-9)
        simulator.advance_to(3.0)
        steps.append(simulator.statistics.steps)
    assert simulator.state["plant.y"] == pytest.approx(math.exp(-3.0), abs=1e-10)
    assert steps[1] == steps[2] < 150 + steps[0]


def test_a_delay_may_reach_zero_with_the_current_value() -> None:
    model = cosim.Model("zero")
    model.add("measures.sinusoid", "source", frequency=2.0)
    model.add("measures.integrate", "area", source="source")
    model.add(LinearDelay, "lag", offset=0.5, rate=-0.5)
    model.add("measures.variable_delay", "felt", source="source", delay="lag", can_use_current_value=True)
    simulator = started(model, accuracy=1e-8)
    for t in (0.4, 0.8, 1.0):
        simulator.advance_to(t)
        expected = math.sin(2.0 * max(t - 0.5 * (1.0 - t), 0.0))
        assert simulator.state["felt"] == pytest.approx(expected, abs=1e-6)


def test_a_delay_can_be_raised_in_a_state() -> None:
    """Up to `longest_delay` the result is exact; beyond that it is an error."""
    model = cosim.Model("raised")
    model.add("measures.sinusoid", "source", frequency=3.0)
    model.add("measures.integrate", "area", source="source")
    model.add("measures.delay", "felt", source="source", delay=0.1, longest_delay=0.5)
    simulator = started(model, accuracy=1e-9)
    simulator.advance_to(2.0)
    for delay in (0.3, 0.5, 0.05):
        simulator.state["felt.delay"] = delay
        state = simulator.state.copy().realize(cosim.Stage.TIME)
        assert state["felt"] == pytest.approx(math.sin(3.0 * (2.0 - delay)), abs=1e-7)
    simulator.advance_to(2.7)
    assert simulator.state["felt"] == pytest.approx(math.sin(3.0 * 2.65), abs=1e-7)
    simulator.state["felt.delay"] = 1.5
    with pytest.raises(cosim.SimulationError, match="history.*longest_delay"):
        simulator.advance_to(2.8)


def test_a_delay_set_to_zero_needs_the_current_value() -> None:
    simulator = started(decay(0.3), accuracy=1e-6)
    simulator.advance_to(1.0)
    simulator.state["felt.delay"] = 0.0
    with pytest.raises(cosim.SimulationError, match="delay cannot become 0"):
        simulator.advance_to(1.5)


@pytest.mark.parametrize("interpolation", ["hermite", "dense_output"])
def test_a_vector_is_delayed_element_by_element(interpolation) -> None:
    model = cosim.Model("vector")
    model.add(SineVector, "wheel")
    model.add("measures.delay", "felt", source="wheel.q", delay=0.25, interpolation=interpolation)
    model.add("measures.delay", "twice", source="felt", delay=0.25)
    model.add("measures.scale", "half", source="felt", factor=0.5)
    system = model.build()
    assert system.variables["felt"].shape == (3,)
    assert system.variables["felt"].units == ("m",)
    simulator = cosim.Simulator(system, integrator=DORMAND_PRINCE, accuracy=1e-9)
    simulator.advance_to(2.0)
    state = simulator.state.realize(cosim.Stage.REPORT)
    start, rates = np.array([1.0, 0.0, -1.0]), np.array([1.0, 2.0, 3.0])
    assert state["felt"] == pytest.approx(start + np.sin(rates * 1.75), abs=1e-8)
    assert state["twice"] == pytest.approx(start + np.sin(rates * 1.5), abs=1e-8)
    assert state["half"] == pytest.approx(0.5 * (start + np.sin(rates * 1.75)), abs=1e-8)
    assert state["felt.value_dot"] == pytest.approx(rates * np.cos(rates * 1.75), abs=1e-6)
    assert state["felt[1]"] == state["felt"][1]
    restored = system.state_from_bytes(state.to_bytes()).realize(cosim.Stage.REPORT)
    assert np.array_equal(restored["felt"], state["felt"])


def test_vectors_that_do_not_fit_are_refused() -> None:
    model = cosim.Model("vectors")
    model.add(SineVector, "wheel")
    model.add("measures.plus", "sum", first="wheel.q", second="felt")
    model.add("measures.delay", "felt", source="other.y", delay=1.0, default_value=[1.0, 2.0])
    model.add(SineVector, "other")
    with pytest.raises(cosim.ModelError, match="elements, the largest.*3"):
        model.build()


def test_a_jump_of_a_source_before_the_start_is_a_break() -> None:
    """The history is 3 and the source starts at 1, so the delayed signal jumps when the start arrives."""
    model = decay(0.5, history="before")
    model.add("measures.constant", "before", value=3.0)
    simulator = started(model, accuracy=1e-8)
    simulator.advance_to(0.5)
    assert simulator.state["plant.y"] == pytest.approx(1.0 - 1.5, abs=1e-12)
    simulator.advance_to(0.75)
    # y(t) = 1 - 3 t on the first interval
    assert simulator.state["plant.y"] == pytest.approx(-0.5 - (0.25 - 1.5 * 0.0625), abs=1e-12)
