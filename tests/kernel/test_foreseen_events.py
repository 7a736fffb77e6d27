"""Steps end at events that are predicted from past values; a wrong prediction costs time, not accuracy."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim
from cosim.step.forecast import Cubic, first_root, root_between

G = 10.0
RESTITUTION = 0.9
ACCURACY = 1e-6
WINDOW = 0.01 * ACCURACY


class Faller(cosim.Component):
    """A ball that bounces on a floor; its weight is a discrete variable."""

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
        speed_next[0] = -RESTITUTION * speed
        hits_next[0] = hits + 1


def system_of(count, kind=Faller):
    """Balls at 1.0 m, 1.1 m and so on."""
    model = cosim.Model("balls")
    for i in range(count):
        model.add(kind, f"ball{i}", height=1.0 + 0.1 * i)
    return model.build()


def impacts(height, until):
    """The times of the impacts of a ball that falls from a height, s."""
    fall = math.sqrt(2.0 * height / G)
    times, flight = [fall], 2.0 * RESTITUTION * fall
    while times[-1] + flight < until:
        times.append(times[-1] + flight)
        flight *= RESTITUTION
    return times


def simulator_of(system, method="bogacki_shampine", **options):
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=ACCURACY, **options)
    simulator.initialize()
    return simulator


@pytest.mark.parametrize(("method", "stages"), [("bogacki_shampine", 3), ("runge_kutta_merson", 5)])
def test_most_events_cost_one_step_and_are_located_within_a_window(method, stages):
    count, until = 20, 4.0
    simulator = simulator_of(system_of(count), method)
    simulator.advance_to(until)
    for i in range(count):
        times = [e.time for e in simulator.events if e.owner == f"ball{i}"]
        exact = impacts(1.0 + 0.1 * i, until)
        assert len(times) == len(exact)
        # an event comes a little late, and so do all later ones of its ball
        delays = np.array(times) - exact
        assert np.all((delays > 0.0) & (delays < 0.3 * WINDOW * (1 + 2 * np.arange(len(delays)))))
        for event in simulator.events:
            assert event.window[1] == event.time and event.window[1] - event.window[0] <= WINDOW
            assert event.witness_values[1] <= 0.0 < event.witness_values[0]
    # an event ends one step, and after it only the derivatives of its ball are computed
    counts = simulator.statistics
    assert counts.evaluations < 1.2 * stages * len(simulator.events)
    assert counts.realizations <= 2 and counts.partial_evaluations == len(simulator.events)
    assert counts.partial_share < len(simulator.events) / count


def test_an_event_that_comes_later_than_predicted_is_located():
    """When ball 0 hits the floor, the other balls become lighter; ball 1 even rises."""

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
    first_events = {e.owner: e.time for e in reversed(simulator.events) if e.witness}
    assert "ball1" not in first_events
    change_time = first_events["ball0"]
    for i in range(2, 5):
        height, speed = 1.0 + 0.1 * i - 0.5 * G * change_time**2, -G * change_time
        exact = change_time + (speed + math.sqrt(speed**2 + 8.0 * height)) / 4.0
        assert 0.0 <= first_events[f"ball{i}"] - exact < 3.0 * WINDOW


def test_a_write_between_calls_changes_predicted_events():
    simulator = simulator_of(system_of(3))
    simulator.advance_to(0.46)  # ball 0 has hit the floor, and the impacts of the others are predicted
    simulator.state["ball1.height"] += 1.0
    simulator.state["ball2.weight"] = -200.0
    height, speed = simulator.state["ball1.height"], simulator.state["ball1.speed"]
    exact = 0.46 + (speed + math.sqrt(speed**2 + 2.0 * G * height)) / G
    simulator.advance_to(1.0)
    assert [e.owner for e in simulator.events[1:]] == ["ball1"]
    assert abs(simulator.events[1].time - exact) < WINDOW


def test_a_run_that_is_saved_every_three_steps_has_the_same_bytes():
    system = system_of(10)
    uninterrupted = simulator_of(system)
    uninterrupted.advance_to(3.0)
    restored = simulator_of(system)
    while restored.state.time < 3.0:
        for _ in range(3):
            if restored.state.time < 3.0:
                restored.step(3.0)
        restored = cosim.Simulator(
            system,
            state=system.state_from_bytes(restored.state.to_bytes()),
            integrator="integrators.bogacki_shampine",
            accuracy=ACCURACY,
        )
    assert restored.state.to_bytes() == uninterrupted.state.to_bytes()


def test_fixed_steps_are_shortened_only_to_end_at_events():
    simulator = simulator_of(system_of(5), fixed_step=0.05)
    ends = []
    simulator.set_monitor(lambda state: ends.append(state.time))
    simulator.advance_to(1.0)
    events = {e.time for e in simulator.events}
    starts = [0.0, *ends[:-1]]
    assert len(events) == 5
    for start, end in zip(starts, ends, strict=True):
        assert end in events or end == 1.0 or end - start == pytest.approx(0.05)


def test_events_are_located_where_predictions_are_poor():
    """A fall against a drag of 8 1/s, far from the parabola that is predicted."""

    class Sinking(Faller):
        @cosim.kernel
        def derivatives(speed, weight, height_dot, speed_dot):
            height_dot[0] = speed
            speed_dot[0] = -weight - 8.0 * speed

    simulator = simulator_of(system_of(5, Sinking))
    simulator.advance_to(2.0)
    first_times = {e.owner: e.time for e in reversed(simulator.events)}
    for i in range(5):
        height, terminal = 1.0 + 0.1 * i, G / 8.0
        t = first_times[f"ball{i}"]
        assert abs(height - terminal * (t - (1.0 - math.exp(-8.0 * t)) / 8.0)) < 1e-5


class Approaching(cosim.Component):
    """Law: x' = -x: it approaches zero and never reaches it."""

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


class Unwatched(cosim.Component):
    """Law: x' = -x, without a witness."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "dormand_prince_853"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-7])
def test_a_witness_that_never_crosses_costs_at_most_two_steps(method, accuracy):
    steps = []
    for kind in (Approaching, Unwatched):
        model = cosim.Model("one")
        model.add(kind, "one")
        integrator = f"integrators.{method}"
        simulator = cosim.Simulator(model.build(), integrator=integrator, accuracy=accuracy)
        simulator.advance_to(6.0)
        steps.append(simulator.statistics.integrator_steps)
    assert steps[0] <= steps[1] + 2


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4),
    st.floats(0.01, 10.0),
)
def test_the_first_root_of_a_random_cubic(numbers, end):
    value, rate, bend, twist = numbers
    if abs(value) < 1e-3:
        return
    root = first_root(Cubic(value, rate, bend, twist), end)
    x = np.linspace(0.0, end, 2001)
    sign_changes = np.flatnonzero(np.sign(value + x * (rate + x * (bend + x * twist))) != np.sign(value))
    if sign_changes.size:
        assert root <= x[sign_changes[0]] + 1e-9
    if not math.isnan(root):
        size = abs(value) + abs(rate) * root + abs(bend) * root**2 + abs(twist) * root**3
        assert 0.0 < root <= end
        assert abs(value + root * (rate + root * (bend + root * twist))) <= 1e-7 * size


def test_a_copied_state_goes_on_to_the_same_bytes():
    simulator = simulator_of(system_of(3))
    simulator.advance_to(0.3)
    copied = cosim.Simulator(
        simulator.system,
        state=simulator.state.copy(),
        integrator="integrators.bogacki_shampine",
        accuracy=ACCURACY,
    )
    for each in (simulator, copied):
        each.advance_to(2.0)
    assert simulator.state.to_bytes() == copied.state.to_bytes()


def lines_run(function, call):
    """How many lines of a function are run by a call."""
    lines = 0

    def tracer(frame, event, argument):
        nonlocal lines
        lines += event == "line" and frame.f_code is function.__code__
        return tracer

    previous_trace = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(previous_trace)
    return lines


def test_the_search_for_a_root_takes_few_iterations():
    """Where Newton's method makes no progress, bisection alone would take fifty iterations more."""
    draws = np.random.default_rng(11)
    lines = []
    for _ in range(300):
        cubic = Cubic(*draws.random(4) * [3.0, -1.0, -1.0, draws.integers(-1, 2)])
        lines.append(lines_run(root_between, lambda cubic=cubic: first_root(cubic, 20.0)))
    assert max(lines) < 300  # an iteration runs a dozen lines


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
def test_the_first_root_of_simple_polynomials(polynomial, end, root):
    assert first_root(Cubic(*polynomial), end) == pytest.approx(root, rel=0.0, abs=0.0, nan_ok=True)


def test_a_double_root():
    assert first_root(Cubic(1.0, -2.0, 1.0, 0.0), 20.0) == pytest.approx(1.0, rel=1e-7)
