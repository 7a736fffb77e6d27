"""Balls on a floor that oscillates, against their solution from event to event: flights, impacts, contact."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from kernel_parts import system_of
from scipy.optimize import brentq

import cosim

G = 9.81
SLOWEST = 1e-9  # m/s: slower impacts are contact


class Ball(cosim.Component):
    """A ball on a floor at A sin(w t); its handler reverses a ball that comes down, and counts."""

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
    """The same without a count: there are events at which its handler changes nothing."""

    @cosim.on(Ball.floor, does="unrestricted")
    def bounce(t, speed, restitution, amplitude, frequency, speed_next):
        rising = amplitude * frequency * math.cos(frequency * t)
        if speed < rising:
            speed_next[0] = rising - restitution * (speed - rising)


class Reversing(Ball):
    """Its handler reverses the speed in either direction, and counts."""

    @cosim.on(Ball.floor, does="unrestricted")
    def bounce(t, speed, restitution, amplitude, frequency, hits, speed_next, hits_next):
        rising = amplitude * frequency * math.cos(frequency * t)
        speed_next[0] = rising - restitution * (speed - rising)
        hits_next[0] = hits + 1


class Piece(NamedTuple):
    """A flight from a time on with a height and a speed; without these, contact with the floor."""

    start: float
    height: float | None = None
    speed: float | None = None

    def flight_height(self, time):
        """The height of a flight at a time, s."""
        since = time - self.start
        return self.height + self.speed * since - 0.5 * G * since * since


class Floor(NamedTuple):
    """A floor at A sin(w t)."""

    amplitude: float
    frequency: float

    def height(self, t):
        return self.amplitude * math.sin(self.frequency * t)

    def speed(self, t):
        return self.amplitude * self.frequency * math.cos(self.frequency * t)

    def acceleration(self, t):
        return -self.amplitude * self.frequency * self.frequency * math.sin(self.frequency * t)

    def impact(self, flight, until):
        """When a flight reaches the floor; infinite if that is not before a time.

        It searches in steps of a hundredth of an oscillation's time constant, and in shorter ones at first
        where the ball leaves the floor slowly.
        """
        longest = 0.01 / self.frequency
        t, step = flight.start, longest

        def gap(x):
            return flight.flight_height(t + x) - self.height(t + x)

        leaving = flight.speed - self.speed(t)
        if leaving > 0.0 and self.acceleration(t) > -G:
            step = min(step, 0.4 * leaving / (G + self.acceleration(t)))
        x = step
        while gap(x + step) > 0.0 and t + x < until:
            x += step
            step = min(longest, 1.05 * step)
        if t + x >= until:
            return math.inf
        return t + (brentq(gap, x, x + step, xtol=1e-15) if gap(x) > 0.0 else x)

    def departure(self, t):
        """When it leaves a ball that rests on it at a time; infinite if it never falls faster than g."""
        if self.amplitude * self.frequency * self.frequency <= G:
            return math.inf
        phase = math.asin(G / (self.amplitude * self.frequency * self.frequency))
        turns = math.ceil((self.frequency * t - phase) / (2.0 * math.pi))
        return (phase + 2.0 * math.pi * turns) / self.frequency


def solution(drop, restitution, floor, until):
    """The height from event to event, as a function of the time, and when the ball leaves the floor."""
    pieces, departures = [Piece(0.0, drop, 0.0)], []
    while (t := floor.impact(pieces[-1], until)) < math.inf:
        speed = pieces[-1].speed - G * (t - pieces[-1].start)
        rebound = -restitution * (speed - floor.speed(t))
        if rebound >= SLOWEST or floor.acceleration(t) <= -G:
            pieces.append(Piece(t, floor.height(t), floor.speed(t) + rebound))
            continue
        pieces.append(Piece(t))
        t = floor.departure(t)
        if t >= until:
            break
        departures.append(t)
        pieces.append(Piece(t, floor.height(t), floor.speed(t)))

    def height_at(time):
        piece = [piece for piece in pieces if piece.start <= time][-1]
        return floor.height(time) if piece.height is None else piece.flight_height(time)

    return height_at, departures


class Case(NamedTuple):
    """A ball that is dropped onto a floor, and how its run is computed."""

    kind: type
    method: str
    accuracy: float
    restitution: float
    amplitude: float
    frequency: float
    drop: float


MILD, WILD = 0.7, 1.5  # of g: the largest acceleration of the floor
CASES = [
    # of random ones, those that fell through a floor whose ball was held as a switch, or was not held at all
    Case(Ball, "dormand_prince", 1e-10, 0.1, 0.23405933806452975, 5.211866263855346, 0.01806),
    Case(Ball, "tsitouras", 1e-10, 0.5, 0.009715, 25.61, 0.01821),
    Case(Silent, "runge_kutta_merson", 1e-6, 0.3, 0.02585, 17.52, 0.1372),
    Case(Silent, "tsitouras", 1e-10, 0.5, 0.003753, 31.73, 0.2056),
    *(
        Case(kind, method, accuracy, restitution, share * G / frequency**2, frequency, drop)
        for kind in (Ball, Silent, Reversing)
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
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_ball_follows_the_floor_until_it_falls_away(case):
    until = 2.0 if case.frequency > 10.0 else 4.0
    floor = Floor(case.amplitude, case.frequency)
    values = {"restitution": case.restitution, "amplitude": case.amplitude, "frequency": case.frequency}
    result = cosim.simulate(
        system_of(ball=case.kind(**values, height=case.drop)),
        until=until,
        integrator=f"integrators.{case.method}",
        accuracy=case.accuracy,
        output_interval=0.01,
    )
    heights = result["ball.height"]
    gaps = heights - case.amplitude * np.sin(case.frequency * result.time)
    assert gaps.min() > -max(1e-6, 3.0 * case.accuracy)
    height_at, departures = solution(case.drop, case.restitution, floor, until)
    assert abs(heights - [height_at(t) for t in result.time]).max() < 1e-5
    if case.amplitude * case.frequency**2 > G:
        released = [finding.time for finding in result.findings if finding.kind == "released"]
        assert released == pytest.approx(departures, abs=0.05 / case.frequency)  # at the end of a step
    assert {finding.kind for finding in result.findings} <= {"zeno", "held", "released"}


@pytest.mark.parametrize("amplitude", [0.0, 1e-300])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_floor_that_hardly_moves(amplitude, restitution):
    system = system_of(ball=Ball(amplitude=amplitude, restitution=restitution, height=0.1))
    result = cosim.simulate(system, until=2.0, accuracy=1e-6)
    assert abs(result["ball.height"][-1]) < 1e-6
    assert [finding.kind for finding in result.findings] == ["zeno", "held"]


@pytest.mark.parametrize("kind", [Ball, Silent])
def test_the_direction_of_the_last_push_is_part_of_the_state(kind):
    values = {"restitution": 0.1, "amplitude": 0.23405933806452975, "frequency": 5.211866263855346}
    system = system_of(ball=kind(**values, height=0.01806))
    options = {"integrator": "integrators.dormand_prince", "accuracy": 1e-10}
    simulator = cosim.Simulator(system, **options)
    simulator.initialize()
    while not simulator.findings:
        saved = simulator.state.to_bytes()
        simulator.step(1.0)
    resumed = cosim.Simulator(system, system.state_from_bytes(saved), **options)
    for run in (simulator, resumed):
        run.advance_to(1.0)
    assert resumed.state.to_bytes() == simulator.state.to_bytes()
    assert simulator.state["ball.height"] == pytest.approx(
        0.23405933806452975 * math.sin(5.211866263855346), abs=1e-8
    )


def ride(method, amplitude, frequency, restitution=0.0, count=1):
    """A simulator of balls that rest on the rising floor at the start, and when the floor leaves them."""
    values = {"amplitude": amplitude, "frequency": frequency, "restitution": restitution, "height": 0.0}
    system = system_of(**{f"ball{i}": Reversing(**values) for i in range(count)})
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
    """The gap opens with the third power of time: first steps of low order are off by more than rounding."""
    simulator, departure = ride("bdf", amplitude, frequency, restitution, count)
    until = departure + 0.2
    simulator.advance_to(until)
    released = [finding.time for finding in simulator.findings if finding.kind == "released"]
    assert released == pytest.approx([departure] * count, abs=0.05 / frequency)
    phase = frequency * departure
    height = amplitude * (math.sin(phase) + 0.2 * frequency * math.cos(phase)) - 0.5 * G * 0.2**2
    assert [simulator.state[f"ball{i}.height"] for i in range(count)] == pytest.approx(
        [height] * count, abs=1e-5
    )


def test_a_stored_push_of_the_wrong_sign_still_holds_the_ball_from_above():
    """Rounding may decide in which direction a handler pushes; a hold never pulls."""
    simulator, departure = ride("runge_kutta_merson", 0.1, 11.0)
    simulator.advance_to(0.5 * departure)
    simulator._step.arrays.hold_pushes[:] *= -1.0
    simulator.advance_to(departure + 0.2)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held", "released"]
    assert simulator.state["ball0.height"] > 0.1 * math.sin(11.0 * (departure + 0.2)) + 1e-3
