"""Events foreseen from how witnesses ran: steps end there, and nothing depends on their coming true."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim
from cosim.step.forecast import Cubic, first_root, root_between

G = 10.0
ACCURACY = 1e-6
WINDOW = 0.01 * ACCURACY


class Faller(cosim.Component):
    """A ball on a floor; its weight comes from outside."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    weight = cosim.discrete(start=G)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, weight, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -weight

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, hits, speed_next, hits_next):
        speed_next[0] = -0.9 * speed
        hits_next[0] = hits + 1


def system_of(count, kind=Faller):
    model = cosim.Model("balls")
    for i in range(count):
        model.add(kind, f"ball{i}", height=1.0 + 0.1 * i)
    return model.build()


def impacts(height, until):
    fall = math.sqrt(2.0 * height / G)
    times, flight = [fall], 1.8 * fall
    while times[-1] + flight < until:
        times.append(times[-1] + flight)
        flight *= 0.9
    return times


def simulator_of(system, method="bogacki_shampine", **options):
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=ACCURACY, **options)
    simulator.initialize()
    return simulator


@pytest.mark.parametrize(("method", "stages"), [("bogacki_shampine", 3), ("runge_kutta_merson", 5)])
def test_most_events_cost_one_step_and_are_where_they_belong(method, stages):
    count, until = 20, 4.0
    simulator = simulator_of(system_of(count), method)
    simulator.advance_to(until)
    for i in range(count):
        found = [e.time for e in simulator.events if e.owner == f"ball{i}"]
        exact = impacts(1.0 + 0.1 * i, until)
        assert len(found) == len(exact)
        late = np.array(found) - exact
        assert np.all((late > 0.0) & (late < 0.3 * WINDOW * (1 + 2 * np.arange(len(late)))))
        for event in simulator.events:
            assert event.window[1] == event.time and event.window[1] - event.window[0] <= WINDOW
            assert event.witness_values[1] <= 0.0 < event.witness_values[0]
    # one step that ends at the event, and behind it the derivatives of one ball
    counts = simulator.statistics
    assert counts.evaluations < 1.2 * stages * len(simulator.events)
    assert counts.realizations <= 2 and counts.partial_evaluations == len(simulator.events)
    assert counts.partial_share < len(simulator.events) / count


def test_what_was_foreseen_does_not_come_true():
    """When ball 0 hits the floor, a signal makes all balls lighter: they fall later than was foreseen."""

    class Lifted(Faller):
        lighter = cosim.discrete(start=0.0)

        @cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")
        def change(self, state, next_state):
            if state["ball0.hits"] == 1 and state["ball1.weight"] == G:
                for i in range(1, 5):
                    next_state[f"ball{i}.weight"] = -200.0 if i == 1 else 4.0

    model = cosim.Model("balls")
    for i in range(5):
        model.add(Lifted if i == 0 else Faller, f"ball{i}", height=1.0 + 0.1 * i)
    simulator = simulator_of(model.build())
    simulator.advance_to(1.2)
    first = {e.owner: e.time for e in reversed(simulator.events) if e.witness}
    assert "ball1" not in first  # it rises
    changed = first["ball0"]
    for i in range(2, 5):
        height, speed = 1.0 + 0.1 * i - 0.5 * G * changed**2, -G * changed
        exact = changed + (speed + math.sqrt(speed**2 + 8.0 * height)) / 4.0
        assert 0.0 <= first[f"ball{i}"] - exact < 3.0 * WINDOW


def test_a_write_between_calls_makes_void_what_was_foreseen():
    simulator = simulator_of(system_of(3))
    simulator.advance_to(0.46)  # ball 0 has hit, the others are foreseen
    simulator.state["ball1.height"] += 1.0
    simulator.state["ball2.weight"] = -200.0
    height, speed = simulator.state["ball1.height"], simulator.state["ball1.speed"]
    exact = 0.46 + (speed + math.sqrt(speed**2 + 2.0 * G * height)) / G
    simulator.advance_to(1.0)
    assert [e.owner for e in simulator.events[1:]] == ["ball1"]
    assert abs(simulator.events[1].time - exact) < WINDOW


def test_a_saved_state_goes_on_to_the_same_bytes():
    system = system_of(10)
    whole = simulator_of(system)
    whole.advance_to(3.0)
    parts = simulator_of(system)
    while parts.state.time < 3.0:
        for _ in range(3):
            if parts.state.time < 3.0:
                parts.step(3.0)
        parts = cosim.Simulator(
            system,
            state=system.state_from_bytes(parts.state.to_bytes()),
            integrator="integrators.bogacki_shampine",
            accuracy=ACCURACY,
        )
    assert parts.state.to_bytes() == whole.state.to_bytes()


def test_fixed_steps_keep_their_length():
    simulator = simulator_of(system_of(5), fixed_step=0.05)
    ends = []
    simulator.set_monitor(lambda state: ends.append(state.time))
    simulator.advance_to(1.0)
    events = {e.time for e in simulator.events}
    starts = [0.0, *ends[:-1]]
    assert len(events) == 5
    for start, end in zip(starts, ends, strict=True):
        assert end in events or end == 1.0 or end - start == pytest.approx(0.05)


def test_times_are_exact_where_forecasts_are_not():
    """A fall through air that is as thick as honey."""

    class Sinking(Faller):
        @cosim.kernel
        def derivatives(speed, weight, height_dot, speed_dot):
            height_dot[0] = speed
            speed_dot[0] = -weight - 8.0 * speed

    simulator = simulator_of(system_of(5, Sinking))
    simulator.advance_to(2.0)
    firsts = {e.owner: e.time for e in reversed(simulator.events)}
    for i in range(5):
        height, terminal = 1.0 + 0.1 * i, G / 8.0
        t = firsts[f"ball{i}"]
        assert abs(height - terminal * (t - (1.0 - math.exp(-8.0 * t)) / 8.0)) < 1e-5


class Approaching(cosim.Component):
    """Comes nearer and nearer to zero, and never reaches it."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x

    @cosim.witness(direction="both")
    def zero(x):
        return x

    @cosim.on(zero, does="publish")
    def arrive(self, state):
        raise AssertionError("it never arrives")


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "dormand_prince_853"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-7])
def test_a_witness_that_never_crosses_costs_one_step_at_most(method, accuracy):
    counts = []
    for kind in (Approaching, type("Unwatched", (cosim.Component,), {
        "x": cosim.auxiliary_state(start=1.0), "derivatives": Approaching.__dict__["derivatives"],
    })):  # fmt: skip
        simulator = cosim.Simulator(
            system_of_one(kind), integrator=f"integrators.{method}", accuracy=accuracy
        )
        simulator.advance_to(6.0)
        counts.append(simulator.statistics.integrator_steps)
    assert counts[0] <= counts[1] + 2


def system_of_one(kind):
    model = cosim.Model("one")
    model.add(kind, "one")
    return model.build()


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4),
    st.floats(0.01, 10.0),
)
def test_the_first_root_of_a_cubic(numbers, end):
    value, rate, bend, twist = numbers
    if abs(value) < 1e-3:
        return
    found = first_root(Cubic(value, rate, bend, twist), end)
    x = np.linspace(0.0, end, 2001)
    changed = np.flatnonzero(np.sign(value + x * (rate + x * (bend + x * twist))) != np.sign(value))
    if changed.size:
        assert found <= x[changed[0]] + 1e-9
    if found == found:
        size = abs(value) + abs(rate) * found + abs(bend) * found**2 + abs(twist) * found**3
        assert 0.0 < found <= end
        assert abs(value + found * (rate + found * (bend + found * twist))) <= 1e-7 * size


def test_a_copy_goes_on_to_the_same_bytes():
    simulator = simulator_of(system_of(3))
    simulator.advance_to(0.3)
    twin = cosim.Simulator(
        simulator.system,
        state=simulator.state.copy(),
        integrator="integrators.bogacki_shampine",
        accuracy=ACCURACY,
    )
    for each in (simulator, twin):
        each.advance_to(2.0)
    assert simulator.state.to_bytes() == twin.state.to_bytes()


def lines_run(function, call):
    """How many lines of a function are run by a call."""
    lines = 0

    def tracer(frame, event, argument):
        nonlocal lines
        lines += event == "line" and frame.f_code is function.__code__
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


def test_a_root_takes_few_steps():
    """Where Newton's method comes no closer, halving the bracket takes fifty steps more."""
    draws = np.random.default_rng(11)
    lines = []
    for _ in range(300):
        cubic = Cubic(*draws.random(4) * [3.0, -1.0, -1.0, draws.integers(-1, 2)])
        lines.append(lines_run(root_between, lambda cubic=cubic: first_root(cubic, 20.0)))
    assert max(lines) < 300  # a step has a dozen


@pytest.mark.parametrize(
    ("polynomial", "end", "root"),
    [
        ((1.0, -1.0, 0.0, 0.0), 20.0, 1.0),
        ((1.0, -1.0, 0.0, 0.0), 1.0, 1.0),  # at the very end
        ((1.0, -1.0, 0.0, 0.0), math.nextafter(1.0, 0.0), math.nan),
        ((1.0, 0.0, -1.0, 0.0), 20.0, 1.0),
        ((1.0, 0.0, 0.0, 0.0), 20.0, math.nan),
        ((1.0, 1.0, 1.0, 1.0), 20.0, math.nan),
        ((-1.0, 0.0, 0.0, 1.0), 20.0, 1.0),
    ],
)
def test_exact_roots(polynomial, end, root):
    found = first_root(Cubic(*polynomial), end)
    assert found == root or (found != found and root != root)


def test_a_root_that_is_touched():
    assert first_root(Cubic(1.0, -2.0, 1.0, 0.0), 20.0) == pytest.approx(1.0, rel=1e-7)
