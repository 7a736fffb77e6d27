"""Triggered events: the behaviour cases 40 to 57."""

import math

import pytest
from kernel_parts import BouncingBall, Clock, system_of

import cosim
from cosim.run_data.records.witnesses import BOTH, FALLING, RISING
from cosim.step.crossing import crosses

MERSON = "integrators.runge_kutta_merson"


def clock_class(does, direction="both"):
    """A `Clock` class with a witness, and with a handler that stores when it ran unless `does` is empty."""

    class Ringing(Clock):
        """Rings."""

        def __init__(self, **values):
            super().__init__(**values)
            self.rings = []

        @cosim.witness(direction=direction)
        def due(t, when):
            return t - when

        if does == "publish":

            @cosim.on(due, does="publish")
            def ring(self, state):
                self.rings.append(state.time)

        elif does:

            @cosim.on(due, does=does)
            def ring(self, state, next_state):
                self.rings.append(state.time)

    return Ringing


def clocks(*whens, does="publish", direction="both", start=0.0, **options):
    """A simulator of clocks that ring at some times, and the list of each in which it stores when it rang."""
    parts = {f"clock{i}": clock_class(does, direction)(when=when) for i, when in enumerate(whens)}
    system = system_of(**parts)
    state = system.default_state()
    state.set_time(start)
    return cosim.Simulator(system, state, **options), [part.rings for part in parts.values()]


@pytest.mark.parametrize("before", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("after", [-1.0, 0.0, 1.0, math.nan])
def test_case_40_which_pairs_of_values_trigger(before, after):
    falls, rises = before > 0 and after <= 0, before < 0 and after >= 0
    expected = {FALLING: falls, RISING: rises, BOTH: falls or rises}
    for direction, fires in expected.items():
        assert crosses(before, after, direction, 0.0) is fires


@pytest.mark.parametrize(
    ("when", "direction", "start", "stops", "expected"),
    [
        (1.0, "both", 0.0, (1.0, 3.0), [1.0]),
        (0.0, "both", 0.0, (1.0, 3.0), [1.0]),  # a start sets it to zero: leaving it is the event
        (1.0, "falling", 0.0, (2.0,), []),
        (0.0, "rising", -1.0, (1.0,), [0.0]),
    ],
)
def test_case_41_a_clock_rings_when_its_witness_crosses(when, direction, start, stops, expected):
    simulator, (rings,) = clocks(when, direction=direction, start=start, fixed_step=1.0)
    for stop in stops:
        simulator.advance_to(stop)
    assert rings == expected


def test_case_42_fixed_steps_without_accuracy_do_not_isolate():
    simulator, (rings,) = clocks(0.0003, fixed_step=1e-3)
    simulator.advance_to(1e-3)
    assert (rings, simulator.statistics.steps) == ([1e-3], 1)


def test_case_43_error_control_without_accuracy():
    simulator, _ = clocks(0.5, initial_step=0.1, maximum_step=0.1)
    simulator.advance_to(0.4)
    with pytest.raises(cosim.SimulationError, match="accuracy is not set"):
        simulator.advance_to(0.6)
    assert 0.5 <= simulator.state.time <= 0.6


@pytest.mark.parametrize("k", range(9))
def test_case_44_isolation_window_of_fixed_steps(k):
    accuracy = 10.0**-k
    simulator, (rings,) = clocks(1.0, fixed_step=10.0, accuracy=accuracy)
    assert simulator.witness_time_isolation == pytest.approx(0.01 * accuracy * 10.0)
    simulator.advance_to(10.0)
    assert len(rings) == 1
    assert 0.0 <= rings[0] - 1.0 <= 0.01 * accuracy * 10.0


@pytest.mark.parametrize("accuracy", [0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
def test_case_45_isolation_window_under_error_control(accuracy):
    simulator, (rings,) = clocks(1.0 / 3.0, maximum_step=1.0, accuracy=accuracy)
    simulator.advance_to(1.0)
    assert len(rings) == 1
    assert 0.0 <= rings[0] - 1.0 / 3.0 <= 0.01 * accuracy


def test_case_46_two_witnesses_of_one_instant_ring_together():
    simulator, rings = clocks(1.0, 1.0, maximum_step=2.0, accuracy=1e-12)
    simulator.advance_to(2.0)
    assert len(rings[0]) == 1
    assert rings[0] == rings[1]
    assert 1.0 <= rings[0][0] <= 1.0 + 1e-14


def test_case_48_two_witnesses_that_cross_in_one_step_each_end_one():
    simulator, rings = clocks(1.0, 2.0, maximum_step=3.0, accuracy=1e-12)
    simulator.advance_to(2.1)
    assert [len(times) for times in rings] == [1, 1]
    assert 0.0 <= rings[0][0] - 1.0 <= 2e-14
    assert 0.0 <= rings[1][0] - 2.0 <= 2e-14


def test_case_49_a_witness_does_not_move_periodic_events():
    times = []

    class Publisher(cosim.Component):
        """Once a second."""

        @cosim.every(1.0, offset=0.5, does="publish")
        def show(self, state):
            times.append(state.time)

    for when in (0.25, 0.5, 0.75):
        times.clear()
        clock = clock_class("publish", "rising")(when=when)
        system = system_of(clock=clock, publisher=Publisher)
        cosim.Simulator(system, accuracy=1e-12).advance_to(1.0)
        assert times == [0.5]
        assert len(clock.rings) == 1
        assert abs(clock.rings[0] - when) <= 1e-12


def test_case_51_a_witness_without_handler_only_ends_the_step():
    simulator, _ = clocks(1.0 / 3.0, does="", maximum_step=1.0, accuracy=1e-10)
    simulator.initialize()
    ends = []
    while simulator.state.time < 1.0:
        simulator.step(1.0)
        ends.append(simulator.state.time)
    assert min(abs(end - 1.0 / 3.0) for end in ends) <= 1e-12
    counts = simulator.statistics
    assert (counts.publishes, counts.discrete_updates, counts.unrestricted_updates) == (0, 0, 0)


def test_case_52_publish_at_the_end_update_at_the_start_of_the_next_step():
    simulator, (rings,) = clocks(0.5, does="publish", accuracy=1e-12)
    simulator.advance_to(0.5)
    assert rings == [0.5]
    for does in ("discrete", "unrestricted"):
        simulator, (rings,) = clocks(0.5, does=does, accuracy=1e-12)
        simulator.advance_to(0.5)
        assert rings == []
        simulator.advance_to(0.75)
        assert rings == [0.5]


IMPACTS = [1.4278431229270645, 4.283529368781194, 7.139215614635322, 9.99490186048945]


def ball(**options):
    """A ball dropped from 10 m that loses nothing."""
    part = BouncingBall(height=10.0, restitution=1.0)
    return cosim.Simulator(system_of(ball=part), **options)


def impacts(simulator):
    """The times of all bounces."""
    return [event.time for event in simulator.events if event.handler == "ball.bounce"]


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
def test_case_55_bouncing_ball(accuracy):
    simulator = ball(accuracy=accuracy)
    simulator.advance_to(10.5)
    times, window = impacts(simulator), simulator.witness_time_isolation
    assert len(times) == 4
    for k, (time, exact) in enumerate(zip(times, IMPACTS, strict=True)):
        # an impact is late by up to a window, and delays each later one by up to two
        assert -1e-12 <= time - exact <= (2 * k + 1) * window + 1e-12
    assert simulator.state["ball.bounces"] == 4
    assert simulator.state["ball.alarms"] == 1


def test_case_55_without_accuracy_at_the_ends_of_the_steps():
    simulator = ball(fixed_step=0.01)
    simulator.advance_to(10.0)
    assert impacts(simulator) == pytest.approx([1.43, 4.29, 7.15], abs=1e-9)


def test_case_57_two_changes_of_sign_in_one_step_are_found():
    class Parabola(Clock):
        """Is negative from 0.4 to 0.6."""

        @cosim.witness
        def sign(t):
            return (t - 0.4) * (t - 0.6)

        @cosim.on(sign, does="publish")
        def note(self, state):
            times.append(state.time)

    times = []
    system = system_of(parabola=Parabola)
    cosim.Simulator(system, accuracy=1e-6, fixed_step=1.0).advance_to(1.0)
    assert times == pytest.approx([0.4, 0.6], abs=1e-7)


def test_a_witness_of_a_system_without_states_is_isolated():
    class Timer(cosim.Component):
        """Nothing but a witness."""

        @cosim.witness
        def due(t):
            return t - 0.3

        @cosim.on(due, does="publish")
        def note(self, state):
            times.append(state.time)

    times = []
    cosim.Simulator(system_of(timer=Timer), accuracy=1e-6).advance_to(1.0)
    assert times == pytest.approx([0.3], abs=1e-7)


class Switched(cosim.Component):
    """Two witnesses with handlers: an option switches one on, the other off."""

    early = cosim.option(False)
    hit = cosim.discrete()

    @cosim.witness(when="early")
    def soon(t):
        return t - 0.25

    @cosim.on(soon, does="discrete")
    def store_early_hit(t, hit_next):
        hit_next[0] = t

    @cosim.witness(unless="early")
    def late(t):
        return t - 0.75

    @cosim.on(late, does="discrete")
    def store_late_hit(t, hit_next):
        hit_next[0] = t


@pytest.mark.parametrize(("early", "time"), [(True, 0.25), (False, 0.75)])
def test_an_option_switches_a_witness_on_or_off(early, time):
    simulator = cosim.Simulator(system_of(switched=Switched(early=early)), accuracy=1e-9)
    simulator.advance_to(1.0)
    simulator.advance_pending_events()
    assert [event.time for event in simulator.events if event.witness] == pytest.approx([time], abs=1e-9)
    assert simulator.state["switched.hit"] == pytest.approx(time, abs=1e-9)


def test_a_witness_that_is_switched_by_an_unknown_name_is_an_error():
    with pytest.raises(cosim.errors.ContractError, match="switched by 'nowhere'"):

        class Nowhere(cosim.Component):
            """Test."""

            @cosim.witness(when="nowhere")
            def due(t):
                return t - 0.3
