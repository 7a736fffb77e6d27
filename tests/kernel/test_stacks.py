"""A ball that rests on another one on a floor: handlers of two witnesses set the speed of the lower ball."""

from __future__ import annotations

import numpy as np
import pytest
from how_many import many
from kernel_parts import system_of

import cosim

SIZE = 0.2


class Pair(cosim.Component):
    """Two balls, one above the other; blows keep their momentum."""

    low = cosim.position(start=0.1)
    high = cosim.position(start=0.4)
    low_speed = cosim.speed()
    high_speed = cosim.speed()
    e = cosim.parameter(default=0.5)
    low_mass = cosim.parameter(default=1.0)
    high_mass = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(low_speed, high_speed, low_dot, high_dot, low_speed_dot, high_speed_dot):
        low_dot[0] = low_speed
        high_dot[0] = high_speed
        low_speed_dot[0] = -9.81
        high_speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(low):
        return low

    @cosim.witness(direction="falling")
    def gap(low, high):
        return high - low - 0.2

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(low_speed, e, low_speed_next):
        if low_speed < 0.0:
            low_speed_next[0] = -e * low_speed

    @cosim.on(gap, does="unrestricted")
    @cosim.kernel
    def blow(low_speed, high_speed, e, low_mass, high_mass, low_speed_next, high_speed_next):
        if high_speed < low_speed:
            impulse = (1.0 + e) * (low_speed - high_speed) * low_mass * high_mass / (low_mass + high_mass)
            low_speed_next[0] = low_speed - impulse / low_mass
            high_speed_next[0] = high_speed + impulse / high_mass


def settled(system, seed, integrator="runge_kutta_merson", until=4.0):
    """A simulator of a random pair that has come to rest.

    Of four seeds one starts with both witnesses at exactly zero, and two with one of them.
    """
    draw = np.random.default_rng(seed)
    state = system.default_state()
    drop, gap = draw.uniform(0.0, 0.3, 2)
    lies, touches = seed % 4 in (1, 2), seed % 4 in (1, 3)
    state["x.low"] = 0.0 if lies else drop
    state["x.high"] = state["x.low"] + SIZE + (0.0 if touches else gap)
    state["x.low_speed"] = 0.0 if lies else draw.uniform(-1.0, 1.0)
    state["x.high_speed"] = state["x.low_speed"] if touches else draw.uniform(-1.0, 1.0)
    state["x.e"] = draw.uniform(0.0, 0.8)
    state["x.low_mass"], state["x.high_mass"] = draw.uniform(0.2, 5.0, 2)
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{integrator}", accuracy=1e-6)
    simulator.advance_to(until)
    return simulator


def places(simulator):
    """Where the lower and the upper ball are."""
    return simulator.state["x.low"], simulator.state["x.high"]


@pytest.mark.parametrize(
    ("integrator", "most_steps"),
    [("runge_kutta_merson", 400), ("radau5", 500), ("bogacki_shampine", 1000), ("bdf", 5000)],
)
def test_random_pairs_come_to_rest(integrator, most_steps):
    system = system_of(x=Pair())
    for seed in range(many(12)):
        simulator = settled(system, seed, integrator)
        assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5), seed
        assert simulator.statistics.steps < most_steps, seed
        held = {finding.witness for finding in simulator.findings if finding.kind == "held"}
        assert held == {"x.floor", "x.gap"}, seed


def test_a_pair_that_is_kicked_leaves_and_comes_back():
    """A write releases both: they fly for 2 v / g, and rest again."""
    simulator = settled(system_of(x=Pair()), 0, until=4.0)
    simulator.state["x.low_speed"] = simulator.state["x.high_speed"] = 3.0
    simulator.advance_to(4.3)
    assert simulator.state["x.low"] == pytest.approx(3.0 * 0.3 - 0.5 * 9.81 * 0.09, abs=1e-5)
    simulator.advance_to(8.0)
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5)


@pytest.mark.parametrize("seed", [24, 62, 172, 180])
def test_a_crossing_that_rounding_of_dense_output_makes_hides_no_other_one(seed):
    """The gap seemed to close, by rounding; steps grew until it would, and both fell through the floor."""
    simulator = settled(system_of(x=Pair()), seed, "esdirk43")
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5)


def test_a_gap_that_closes_and_opens_at_one_instant_stays_guarded():
    """The gap closed at an instant at which the lower ball was thrown back: the upper one fell through it."""
    simulator = settled(system_of(x=Pair()), 31, "bogacki_shampine")
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5)


@pytest.mark.parametrize(
    ("integrator", "seed"),
    [("bdf", 0), ("bdf", 13), ("bdf", 36), ("bdf", 49), ("radau5", 57), ("esdirk43", 26), ("esdirk43", 60)],
)
def test_a_bounce_that_a_blow_of_the_same_instant_overwrites_is_repeated(integrator, seed):
    """The speed that the floor had given the lower ball was lost, and both fell through the floor."""
    simulator = settled(system_of(x=Pair()), seed, integrator)
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5)


@pytest.mark.parametrize(
    ("integrator", "seed"), [("radau5", 21), ("esdirk43", 21), ("radau5", 103), ("runge_kutta_merson", 33)]
)
def test_two_holds_that_release_each_other_come_to_rest(integrator, seed):
    """Each blow releases the floor. A ball that is held again has no speed, with which it would fly."""
    simulator = settled(system_of(x=Pair()), seed, integrator)
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-12)
    assert simulator.statistics.steps < 500


@pytest.mark.parametrize("seed", [8, 14, 99, 135, 142])
def test_impacts_that_pile_up_at_two_witnesses_end_in_holds(seed):
    """Each blow releases the floor, whose impacts pile up anew."""
    simulator = settled(system_of(x=Pair()), seed, "bdf")
    assert places(simulator) == pytest.approx((0.0, SIZE), abs=1e-5)
    assert simulator.statistics.steps < 5_000


class Meeting(cosim.Component):
    """Two walls at zero, met at one instant, whose handlers set one speed."""

    x = cosim.position(start=1.0)
    v = cosim.speed(start=-1.0)
    first_v = cosim.parameter(default=1.0)
    second_v = cosim.parameter(default=-2.0)
    firsts = cosim.discrete(dtype=int)
    seconds = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 0.0

    @cosim.witness(direction="falling")
    def first(x):
        return x

    @cosim.witness(direction="falling")
    def second(x):
        return 2.0 * x

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def set_first(first_v, firsts, firsts_next, v_next):
        firsts_next[0] = firsts + 1
        v_next[0] = first_v

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def set_second(second_v, seconds, seconds_next, v_next):
        seconds_next[0] = seconds + 1
        v_next[0] = second_v


@pytest.mark.parametrize(
    ("first_v", "second_v", "calls", "end"),
    [
        (1.0, -2.0, (2, 1), 1.0),  # the second one lets it through: the first one turns it after all
        (-2.0, 1.0, (1, 1), 1.0),  # the second one has turned it
        (-2.0, -2.0, (1, 1), -2.0),  # both say the same: nothing is lost
    ],
)
@pytest.mark.parametrize("integrator", ["dormand_prince", "radau5", "bdf"])
def test_one_of_two_handlers_of_one_instant_is_overwritten(integrator, first_v, second_v, calls, end):
    system = system_of(x=Meeting())
    state = system.default_state()
    state["x.first_v"], state["x.second_v"] = first_v, second_v
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{integrator}", accuracy=1e-6)
    simulator.advance_to(2.0)
    assert (simulator.state["x.firsts"], simulator.state["x.seconds"]) == calls
    assert simulator.state["x.x"] == pytest.approx(end, abs=1e-6)
    assert [finding.kind for finding in simulator.findings] == ["overwritten"]
