"""Witnesses at exactly zero: what fires there, once, whatever the method, the step and the rounding."""

from __future__ import annotations

import random

import pytest
from exact_thresholds import Points, PushedPoints, on_paper, random_case, run
from how_many import FACTOR, many
from kernel_parts import system_of
from zero_parts import (
    Bystander,
    Cradle,
    Downward,
    EitherWayBall,
    FloorBall,
    FromLevel,
    Mixture,
    Relay,
    Tank,
    Turned,
    TurnedAndBack,
    Upward,
)

import cosim

ERROR_CONTROLLED = (
    *(
        "bdf",
        "bogacki_shampine",
        "dormand_prince",
        "dormand_prince_853",
        "esdirk43",
        "heun",
        "implicit_euler",
    ),
    *("radau3", "radau5", "runge_kutta_3", "runge_kutta_merson", "trapezoid", "tsitouras"),
)
ALWAYS_FIXED = ("explicit_euler", "runge_kutta_4")
OF_SECOND_ORDER = ("generalized_alpha", "semi_implicit_euler", "velocity_verlet", "yoshida_4")
OF_LIBRARIES = ("scipy_bdf", "scipy_dop853", "scipy_lsoda", "scipy_radau")
EVERY = (
    *((method, None) for method in (*ERROR_CONTROLLED, *OF_LIBRARIES)),
    *((method, step) for method in (*ERROR_CONTROLLED, *ALWAYS_FIXED) for step in (0.1, 0.037)),
)
"""Every method that integrates a straight line exactly, up to rounding."""
EVERY_OF_SECOND_ORDER = (
    *EVERY,
    ("generalized_alpha", None),
    *((method, step) for method in OF_SECOND_ORDER for step in (0.1, 0.037)),
)


def simulator_of(part, method="integrators.dormand_prince", step=None, accuracy=1e-6, **starts):
    """A simulator of one part; `starts` are states."""
    system = system_of(part=part)
    state = system.default_state()
    for name, value in starts.items():
        state[f"part.{name}"] = value
    options = {"fixed_step": step} if step else {}
    return cosim.Simulator(system, state, integrator=method, accuracy=accuracy, **options)


@pytest.mark.few(16)
@pytest.mark.parametrize(("method", "step"), EVERY)
@pytest.mark.parametrize("part", [Tank, Mixture])
def test_a_level_that_stays_on_its_threshold_closes_its_valve_once(part, method, step):
    for until in (2.0, 10.0):
        simulator = simulator_of(part(), f"integrators.{method}", step)
        simulator.advance_to(until)
        assert simulator.state["part.closed"] == 1
        assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("height", [0.0, 0.0726])
@pytest.mark.parametrize("part", [FloorBall, EitherWayBall])
@pytest.mark.parametrize(
    "method", ["bogacki_shampine", "dormand_prince", "runge_kutta_merson", "bdf", "radau5"]
)
def test_a_ball_on_the_floor_stays_there(part, height, method):
    """At rest or moving down from the start; put there by a handler of something else, or by a user."""
    for speed in (0.0, -1.0):
        simulator = simulator_of(part(floor_height=height), f"integrators.{method}", h=height, v=speed)
        simulator.advance_to(2.0)
        assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)
        assert [found.kind for found in simulator.findings] == ["zeno", "held"]
    simulator = simulator_of(part(floor_height=height, put_at=0.5), f"integrators.{method}", h=height + 2.0)
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)
    simulator = simulator_of(part(floor_height=height), f"integrators.{method}", h=height + 2.0)
    simulator.advance_to(0.1)
    simulator.state["part.h"], simulator.state["part.v"] = height, 0.0
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "tsitouras"])
def test_steps_of_a_ball_on_the_floor_may_more_than_double(method):
    """Noise was never measured for it, so no step is too long for what was measured."""
    simulator = simulator_of(FloorBall(floor_height=0.0726), f"integrators.{method}", h=0.0726)
    growths = []
    while simulator.state.time < 2.0:
        before = simulator.state.time
        simulator.step(2.0)
        if simulator.state.time > 0.01:
            growths.append(simulator.state.integrator_memory[0] / (simulator.state.time - before))
    assert max(growths) > 2.1


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "bdf", "radau5"])
@pytest.mark.parametrize("kick", [0.0, 1.0, -0.1, -1e-3])
@pytest.mark.parametrize(
    ("part", "side"), [(Upward, 1.0), (Downward, -1.0), (FromLevel, 1.0), (FromLevel, -1.0)]
)
def test_what_starts_at_zero_and_leaves_it_triggers_once(part, side, kick, method):
    """Its handler changes how fast it moves on, or nothing of it."""
    for level in (0.0, 0.7, -3e4):
        simulator = simulator_of(part(level=level, pace=side, kick=kick), f"integrators.{method}", x=level)
        simulator.advance_to(1.0)
        assert simulator.state["part.passages"] == 1
        assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["runge_kutta_4", "radau5"])
@pytest.mark.parametrize("factor", [1.0, 0.97, 0.0])
def test_a_passage_is_one_event_whatever_else_is_updated_then(method, factor):
    """A speed passes zero, is turned round by its handler and passes where that was: two events."""
    system = system_of(part=TurnedAndBack(), other=Bystander(factor=factor))
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", fixed_step=0.05)
    simulator.advance_to(1.0)
    passed = [event for event in simulator.events if event.handler == "part.turn"]
    assert [round(event.time, 9) for event in passed] == [0.05, 0.55]
    assert [event.witness_values[1] > 0.0 for event in passed] == [True, True]
    assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [0.15, 0.08, 0.037, 0.003])
@pytest.mark.parametrize("height", [0.0726, 3.3, 7e5])
@pytest.mark.parametrize(
    "method",
    [
        *("bdf", "esdirk43", "generalized_alpha", "implicit_euler", "radau3", "radau5"),
        *("runge_kutta_4", "trapezoid", "velocity_verlet", "yoshida_4"),
    ],
)
def test_a_ball_stays_on_a_floor_with_fixed_steps(method, height, step):
    """Rates of what is held are differences: they have noise, which a fixed step cannot make smaller."""
    simulator = simulator_of(FloorBall(floor_height=height), f"integrators.{method}", step, h=height)
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, rel=1e-8, abs=1e-8)
    assert [found.kind for found in simulator.findings] == ["zeno", "held"]


def test_a_ball_that_starts_below_the_floor_is_a_finding():
    simulator = simulator_of(FloorBall(), h=-1e-12)
    simulator.advance_to(0.5)
    assert [found.kind for found in simulator.findings] == ["wrong side"]


def test_a_ball_whose_start_is_below_the_floor_by_rounding_stays_there():
    height = 0.1 + 0.2
    simulator = simulator_of(FloorBall(floor_height=height), h=0.3)
    assert simulator.state["part.h"] < height
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)
    assert [found.kind for found in simulator.findings] == ["zeno", "held"]


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [None, 0.1, 0.013])
@pytest.mark.parametrize("diameter", [0.2, 0.25])
def test_three_bodies_that_touch_pass_a_blow_on(diameter, step):
    """Whether the distance of those that touch is zero, or a unit of rounding from it, on either side."""
    for x3 in (0.1 + diameter, 0.1 + diameter + 5e-17, 0.1 + diameter - 5e-17):
        simulator = simulator_of(Cradle(diameter=diameter), step=step, x3=x3)
        simulator.advance_to(3.0)
        assert simulator.state["part.blows"] == 1001
        speeds = [simulator.state[f"part.v{i}"] for i in (1, 2, 3)]
        assert speeds == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


class Ramp(cosim.Component):
    """Goes up at a constant rate; its witness triggers upward, and is at zero when the handler is told to."""

    x = cosim.auxiliary_state()
    rate = cosim.discrete(start=1.0)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(rate, x_dot):
        x_dot[0] = rate

    @cosim.witness(direction="rising")
    def top(x):
        return x - 0.7

    @cosim.on(top, does="unrestricted")
    def count(events, events_next):
        events_next[0] = events + 1


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-9, 1e100])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "radau5"])
def test_a_passage_is_one_event_however_small_its_numbers(method, unit):
    """Products of rates as small as that are 0, which is no change of sign."""
    part = Passage(rate=unit, height=0.5 * unit)
    simulator = simulator_of(part, f"integrators.{method}")
    simulator.advance_to(1.0)
    assert simulator.state["part.events"] == 1
    assert not simulator.findings


class Passage(cosim.Component):
    """Goes up at a rate through a height."""

    x = cosim.auxiliary_state()
    rate = cosim.parameter(default=1.0)
    height = cosim.parameter(default=0.5)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(rate, x_dot):
        x_dot[0] = rate

    @cosim.witness(direction="rising")
    def top(x, height):
        return x - height

    @cosim.on(top, does="discrete")
    def count(events, events_next):
        events_next[0] = events + 1


def test_a_user_who_writes_zero_has_the_event_when_it_is_left():
    simulator = simulator_of(Ramp())
    simulator.advance_to(0.25)
    simulator.state["part.x"], simulator.state["part.rate"] = 0.7, 0.0
    simulator.advance_to(0.5)
    assert simulator.state["part.events"] == 0
    simulator.state["part.rate"] = 1.0
    simulator.advance_to(0.75)
    assert simulator.state["part.events"] == 1
    assert simulator.events[0].time == pytest.approx(0.5, abs=1e-7)
    simulator.advance_to(2.0)
    assert simulator.state["part.events"] == 1


def test_one_that_rests_at_the_end_of_a_step_has_come_to_zero():
    """It is short of zero by rounding: whether that was a passage is known when it goes on, or does not."""
    for then, expected in ((1.0, 1), (0.0, 1), (-1.0, 1)):
        simulator = simulator_of(Ramp(), x=0.7 - 0.3)
        simulator.advance_to(0.1)
        simulator.advance_to(0.2)
        simulator.advance_to(0.30000000000000004 - 5e-17)
        simulator.state["part.rate"] = then
        simulator.advance_to(0.5)
        simulator.advance_to(0.6)
        assert simulator.state["part.events"] == expected


def test_going_on_with_another_integrator_is_no_start():
    simulator = simulator_of(Ramp(), "integrators.runge_kutta_4", 0.0625, x=0.7 - 0.5)
    simulator.advance_to(0.5)
    simulator.advance_pending_events()
    assert simulator.state["part.events"] == 1
    simulator.reset_integrator("integrators.dormand_prince")
    simulator.advance_to(1.0)
    assert simulator.state["part.events"] == 1


class Gate(cosim.Component):
    """A witness of an input, which jumps where it is written."""

    x = cosim.auxiliary_state()
    signal = cosim.input(unit="1")
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.witness(direction="rising")
    def opened(signal):
        return signal - 1.0

    @cosim.on(opened, does="discrete")
    def count(events, events_next):
        events_next[0] = events + 1


def test_an_input_that_is_written_to_zero_has_come_there():
    simulator = simulator_of(Gate())
    for number, (value, expected) in enumerate([(0.5, 0), (1.0, 1), (2.0, 1), (1.0, 1), (0.0, 1), (1.0, 2)]):
        simulator.state["part.signal"] = value
        simulator.advance_to(0.25 * (number + 1))
        assert simulator.state["part.events"] == expected


@pytest.mark.parametrize("part", [Tank(), Mixture(), FloorBall(put_at=0.5), Cradle(spring=20.0)], ids=repr)
def test_stopped_and_resumed_runs_give_the_same_bytes(part):
    system = system_of(part=part)
    options = {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-6}

    def fresh():
        state = system.default_state()
        if isinstance(part, FloorBall):
            state["part.h"] = 1.0
        return state

    one, other = (cosim.Simulator(system, fresh(), **options) for _ in range(2))
    for step in range(1, 13):
        one.advance_to(0.125 * step)
        other = cosim.Simulator(system, system.state_from_bytes(other.state.to_bytes()), **options)
        other.advance_to(0.125 * step)
        assert one.state.to_bytes() == other.state.to_bytes()


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [None, 0.1, 0.125])
@pytest.mark.parametrize("limit", [0.7, 0.75])
def test_what_watches_both_ways_fires_for_either(step, limit):
    simulator = simulator_of(Turned(limit=limit), step=step)
    simulator.advance_to(2.0)
    counts = [simulator.state[f"part.{name}"] for name in ("turns", "rises", "falls", "passages")]
    assert counts == [1, 1, 1, 2]


class Buffer(cosim.Component):
    """A point that is stopped at a wall, is put behind it, and comes back to it and no farther."""

    x = cosim.position(unit="m", start=0.35)
    v = cosim.speed(unit="m/s", start=-1.0)
    is_put = cosim.parameter(unit="1", default=1.0)
    stops = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 0.0

    @cosim.witness(direction="falling")
    def wall(x):
        return x

    @cosim.on(wall, does="unrestricted")
    def stop(stops, v_next, stops_next):
        v_next[0] = 0.0
        stops_next[0] = stops + 1

    @cosim.every("0.1 s", does="unrestricted")
    def move(t, is_put, x_next, v_next):
        if is_put == 1.0 and 0.95 < t < 1.05:
            x_next[0] = -0.3
            v_next[0] = 1.0
        if 1.25 < t < 1.35:
            v_next[0] = -1.0


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("method", "step"),
    [
        *(("bdf", 0.1), ("explicit_euler", 0.1), ("implicit_euler", 0.1), ("radau5", 0.1)),
        *(("semi_implicit_euler", 0.1), ("tsitouras", 0.1), ("velocity_verlet", 0.1), ("yoshida_4", 0.1)),
        *(("bdf", None), ("dormand_prince", None), ("radau5", None)),
    ],
)
def test_what_is_put_elsewhere_leaves_its_guard_behind(method, step):
    """-0.3 + 3 * 0.1 is 3e-17 beyond zero; going back from there was a second stop."""
    simulator = simulator_of(Buffer(), f"integrators.{method}", step)
    simulator.advance_to(2.0)
    assert simulator.state["part.stops"] == 1
    assert simulator.state["part.x"] == pytest.approx(-0.7)
    simulator = simulator_of(Buffer(is_put=0.0), f"integrators.{method}", step)
    simulator.advance_to(1.0)
    assert simulator.state["part.stops"] == 1
    simulator.state["part.x"], simulator.state["part.v"] = -0.3, 1.0
    simulator.advance_to(1.05)
    assert simulator.state["part.stops"] == 2  # a user has written it through the wall, at which it lay
    simulator.state["part.x"], simulator.state["part.v"] = -0.25, 1.0
    simulator.advance_to(2.0)
    assert simulator.state["part.stops"] == 2


@pytest.mark.parametrize(("start", "speed"), [(0.35, -1.0), (0.0, 0.0)])
@pytest.mark.parametrize(("to", "stops"), [(-0.3, 1), (0.3, 0), (0.0, 0)])
def test_what_lies_at_its_wall_may_be_written_through_it(start, speed, to, stops):
    """Whether it lies just behind zero, where it was stopped, or at exactly zero."""
    simulator = simulator_of(Buffer(is_put=0.0), x=start, v=speed)
    simulator.advance_to(1.0)
    before = simulator.state["part.stops"]
    simulator.state["part.x"] = to
    simulator.advance_to(1.2)
    assert simulator.state["part.stops"] == before + stops
    simulator.state["part.v"] = -1.0
    simulator.advance_to(1.25)
    assert simulator.state["part.stops"] == before + (0 if to == 0.3 else 1)


def test_what_moves_with_its_wall_by_rounding_stays_on_guard():
    simulator = simulator_of(Buffer(is_put=0.0))
    simulator.advance_to(1.0)
    x = simulator.state["part.x"]
    assert -1e-7 < x < 0.0
    for time, moved in ((1.04, 1.0 + 1e-15), (1.08, 1.5), (1.12, 0.5)):
        simulator.state["part.x"] = x * moved
        simulator.advance_to(time)
    simulator.state["part.v"] = -1.0
    simulator.advance_to(1.2)
    assert simulator.state["part.stops"] == 2


def check_campaign(first, count, base, methods):
    """Random systems: no event is missed, none comes twice."""
    for seed in range(first, first + count):
        draws = random.Random(seed)
        case = None
        while case is None:
            case = random_case(draws, base)
        method, step = methods[seed % len(methods)]
        unit, grid = (
            draws.choice((1.0, 0.25, 0.7, 0.1, 1.0 / 3.0, 1e3 / 7.0)),
            draws.choice((0.125, 0.1, 0.7)),
        )
        options = {"fixed_step": step * draws.choice((1.0, 2.0)) * grid / 0.1} if step else {}
        found = run(case, unit, grid, integrator=f"integrators.{method}", accuracy=1e-6, **options)
        expected = [float(time) for time in on_paper(case)]
        assert found == pytest.approx(expected, abs=1e-4), (seed, method, options, unit, grid, case)


@pytest.mark.thorough
def test_random_thresholds_that_are_met_exactly():
    check_campaign(0, many(60), Points, EVERY)
    check_campaign(0, many(60), PushedPoints, EVERY_OF_SECOND_ORDER)


@pytest.mark.thorough
def test_ten_thousand_random_thresholds_that_are_met_exactly():
    check_campaign(100_000, many(10_000), Points, EVERY)
    check_campaign(200_000, many(10_000), PushedPoints, EVERY_OF_SECOND_ORDER)


def test_paper_knows_what_it_cannot_know():
    cases = [random_case(random.Random(seed)) for seed in range(200)]
    assert 40 < sum(case is None for case in cases) < 160
    assert sum(len(on_paper(case)) for case in cases if case is not None) > 60


@pytest.mark.by_turns
@pytest.mark.parametrize("accuracy", [1e-6, 1e-10, 1e-12])
@pytest.mark.parametrize("method", ["dormand_prince", "tsitouras", "runge_kutta_merson"])
def test_a_relay_that_is_switched_at_its_very_surface_slides_on_it(method, accuracy):
    simulator = simulator_of(Relay(), f"integrators.{method}", accuracy=accuracy)
    # held since t = 0.7, where each step is searched in all its parts: at small accuracies for many seconds
    simulator.advance_to(3.0 if accuracy == 1e-6 or FACTOR > 1 else 1.0)
    state = simulator.state
    assert [finding.kind for finding in simulator.findings] == ["chattering", "held"]
    assert abs(state["part.x"] + state["part.v"]) < 1e-12
