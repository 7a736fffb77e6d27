"""Balls on a floor that oscillates, beside their solution from event to event: flights, impacts, contact."""

import math

import numpy as np
import pytest
from kernel_parts import system_of
from scipy.optimize import brentq

import cosim

G = 9.81
SLOWEST = 1e-9  # m/s: slower impacts are contact


class Ball(cosim.Component):
    """A ball on a floor at A sin(w t); its handler reverses what comes down and counts."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    restitution = cosim.parameter(default=0.5)
    amplitude = cosim.parameter(unit="m", default=0.02)
    frequency = cosim.parameter(unit="rad/s", default=20.0)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(t, height, amplitude, frequency):
        return height - amplitude * math.sin(frequency * t)

    @cosim.on(floor, does="unrestricted")
    def bounce(t, speed, restitution, amplitude, frequency, hits, speed_next, hits_next):
        rising = amplitude * frequency * math.cos(frequency * t)
        if speed < rising:
            speed_next[0] = rising - restitution * (speed - rising)
        hits_next[0] = hits + 1


class Silent(Ball):
    """The same, and it does not count: there are events at which its handler changes nothing."""

    @cosim.on(Ball.floor, does="unrestricted")
    def bounce(t, speed, restitution, amplitude, frequency, speed_next):
        rising = amplitude * frequency * math.cos(frequency * t)
        if speed < rising:
            speed_next[0] = rising - restitution * (speed - rising)


class Plain(Ball):
    """It reverses the speed whichever way it goes."""

    @cosim.on(Ball.floor, does="unrestricted")
    def bounce(t, speed, restitution, amplitude, frequency, hits, speed_next, hits_next):
        rising = amplitude * frequency * math.cos(frequency * t)
        speed_next[0] = rising - restitution * (speed - rising)
        hits_next[0] = hits + 1


def solution(drop, restitution, amplitude, frequency, until):
    """The height from event to event, as a function of the time, and when the ball leaves the floor."""
    pieces, departures = [], []  # (start, height and speed of a flight; or None: contact)

    def floor(t):
        return amplitude * math.sin(frequency * t)

    def rising(t):
        return amplitude * frequency * math.cos(frequency * t)

    def acceleration(t):
        return -amplitude * frequency * frequency * math.sin(frequency * t)

    t, height, speed = 0.0, drop, 0.0
    while t < until:
        pieces.append((t, height, speed))
        start, at, v = t, height, speed

        def gap(x, start=start, at=at, v=v):
            return at + v * x - 0.5 * G * x * x - floor(start + x)

        step = 0.01 / frequency
        if v > rising(t) and acceleration(t) > -G:
            step = min(step, 0.4 * (v - rising(t)) / (G + acceleration(t)))
        x = step
        while gap(x + step) > 0.0 and t + x < until:
            x += step
            step = min(0.01 / frequency, 1.05 * step)
        if t + x >= until:
            break
        x = brentq(gap, x, x + step, xtol=1e-15) if gap(x) > 0.0 else x
        t, height, speed = t + x, floor(t + x), v - G * x
        speed = rising(t) - restitution * (speed - rising(t))
        if speed - rising(t) < SLOWEST and acceleration(t) > -G:
            pieces.append((t, None, None))
            if amplitude * frequency * frequency <= G:
                break
            phase = math.asin(G / (amplitude * frequency * frequency))
            turns = math.ceil((frequency * t - phase) / (2.0 * math.pi))
            t = (phase + 2.0 * math.pi * turns) / frequency
            departures.append(t)
            height, speed = floor(t), rising(t)

    def height_at(time):
        start, at, v = [piece for piece in pieces if piece[0] <= time][-1]
        x = time - start
        return floor(time) if at is None else at + v * x - 0.5 * G * x * x

    return height_at, [t for t in departures if t < until]


MILD, WILD = 0.7, 1.5  # of g: the largest acceleration of the floor
CASES = [
    # found among random ones: each fell through where its kind was held as a switch, or was not held at all
    (Ball, "dormand_prince", 1e-10, 0.1, 0.23405933806452975, 5.211866263855346, 0.01806),
    (Ball, "tsitouras", 1e-10, 0.5, 0.009715, 25.61, 0.01821),
    (Silent, "runge_kutta_merson", 1e-6, 0.3, 0.02585, 17.52, 0.1372),
    (Silent, "tsitouras", 1e-10, 0.5, 0.003753, 31.73, 0.2056),
    *(
        (kind, method, accuracy, restitution, share * G / frequency**2, frequency, drop)
        for kind in (Ball, Silent, Plain)
        for method, accuracy, restitution, frequency, drop in [
            ("runge_kutta_merson", 1e-6, 0.1, 31.0, 0.07),
            ("dormand_prince", 1e-8, 0.5, 12.0, 0.2),
            ("tsitouras", 1e-10, 0.3, 57.0, 0.05),
            ("bogacki_shampine", 1e-6, 0.3, 7.0, 0.02),
        ]
        for share in (MILD, WILD)
    ),
]


@pytest.mark.few(10)
@pytest.mark.parametrize(
    ("kind", "method", "accuracy", "restitution", "amplitude", "frequency", "drop"), CASES
)
def test_a_ball_follows_the_floor_until_it_falls_away(
    kind, method, accuracy, restitution, amplitude, frequency, drop
):
    until = 2.0 if frequency > 10.0 else 4.0
    given = {"restitution": restitution, "amplitude": amplitude, "frequency": frequency}
    system = system_of(ball=kind(**given, height=drop))
    result = cosim.simulate(
        system, until=until, integrator=f"integrators.{method}", accuracy=accuracy, output_interval=0.01
    )
    gaps = result["ball.height"] - amplitude * np.sin(frequency * result.time)
    assert gaps.min() > -max(1e-6, 3.0 * accuracy)
    height_at, departures = solution(drop, restitution, amplitude, frequency, until)
    exact = np.array([height_at(t) for t in result.time])
    assert abs(result["ball.height"] - exact).max() < 1e-5
    if amplitude * frequency**2 > G:
        released = [f.time for f in result.findings if f.kind == "released"]
        assert released == pytest.approx(departures, abs=0.05 / frequency)  # at the end of a step
    assert {f.kind for f in result.findings} <= {"zeno", "held", "released"}


@pytest.mark.parametrize("amplitude", [0.0, 1e-300])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_floor_that_hardly_moves(amplitude, restitution):
    system = system_of(ball=Ball(amplitude=amplitude, restitution=restitution, height=0.1))
    result = cosim.simulate(system, until=2.0, accuracy=1e-6)
    assert abs(result["ball.height"][-1]) < 1e-6
    assert [f.kind for f in result.findings] == ["zeno", "held"]


@pytest.mark.parametrize("kind", [Ball, Silent])
def test_how_a_ball_was_pushed_last_is_part_of_the_state(kind):
    given = {"restitution": 0.1, "amplitude": 0.23405933806452975, "frequency": 5.211866263855346}
    system = system_of(ball=kind(**given, height=0.01806))
    options = {"integrator": "integrators.dormand_prince", "accuracy": 1e-10}
    simulator = cosim.Simulator(system, **options)
    simulator.initialize()
    while not simulator.findings:
        saved = simulator.state.to_bytes()
        simulator.step(1.0)
    other = cosim.Simulator(system, system.state_from_bytes(saved), **options)
    for each in (simulator, other):
        each.advance_to(1.0)
    assert other.state.to_bytes() == simulator.state.to_bytes()
    assert simulator.state["ball.height"] == pytest.approx(
        0.23405933806452975 * math.sin(5.211866263855346), abs=1e-8
    )


def ride(method, amplitude, frequency, restitution=0.0, count=1):
    """A simulator of balls that rest on the rising floor at the start, and when the floor leaves them."""
    given = {"amplitude": amplitude, "frequency": frequency, "restitution": restitution, "height": 0.0}
    system = system_of(**{f"ball{i}": Plain(**given) for i in range(count)})
    state = system.default_state()
    for i in range(count):
        state[f"ball{i}.speed"] = amplitude * frequency
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    return simulator, math.asin(G / (amplitude * frequency**2)) / frequency


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    ("amplitude", "frequency", "restitution"), [(0.1, 11.0, 0.0), (0.2, 8.0, 0.3), (0.3, 7.0, 0.3)]
)
def test_a_ball_that_the_floor_leaves_is_not_held_again(amplitude, frequency, restitution, count):
    """It leaves as slowly as can be: first steps of low order fall behind by more than rounding."""
    simulator, departure = ride("bdf", amplitude, frequency, restitution, count)
    until = departure + 0.2
    simulator.advance_to(until)
    left = [f.time for f in simulator.findings if f.kind == "released"]
    assert left == pytest.approx([departure] * count, abs=0.05 / frequency)
    phase = frequency * departure
    height = amplitude * (math.sin(phase) + 0.2 * frequency * math.cos(phase)) - 0.5 * G * 0.2**2
    assert [simulator.state[f"ball{i}.height"] for i in range(count)] == pytest.approx(
        [height] * count, abs=1e-5
    )


def test_a_push_that_points_the_wrong_way_holds_from_the_right_side():
    """Rounding may decide about an event, and so which way its handler pushes; no hold pulls."""
    simulator, departure = ride("runge_kutta_merson", 0.1, 11.0)
    simulator.advance_to(0.5 * departure)
    simulator._step.arrays.hold_pushes[:] *= -1.0
    simulator.advance_to(departure + 0.2)
    assert [f.kind for f in simulator.findings] == ["zeno", "held", "released"]
    assert simulator.state["ball0.height"] > 0.1 * math.sin(11.0 * (departure + 0.2)) + 1e-3
