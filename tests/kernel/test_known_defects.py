"""Defects of Simbody and Drake, measured there, that cosim does not have, by the numbers of their lists."""

import math
import pickle

import pytest
from kernel_parts import BouncingBall, Clock, Oscillator, system_of
from located_parts import Swing, witness_part

import cosim
from cosim import EventCause, EventStatus


class Causes(Clock):
    """Logs the causes TimeAdvanced, Signaled and Termination beside a witness and a period."""

    raised = cosim.signal()

    def __init__(self, **values):
        super().__init__(**values)
        self.log = []

    @cosim.witness
    def half(t):
        return t - 0.5

    @cosim.on(half, does="unrestricted")
    def triggered(self, state, next_state):
        self.log.append(("triggered", state.time))
        next_state["part.raised"] = 1

    @cosim.every(0.25, does="publish")
    def scheduled(self, state):
        self.log.append(("scheduled", state.time))

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def advanced(self, state):
        self.log.append(("advanced", state.time))

    @cosim.on(raised, does="discrete")
    def signaled(self, state, next_state):
        self.log.append(("signaled", state.time))

    @cosim.on(EventCause.TERMINATION, does="publish")
    def ended(self, state):
        self.log.append(("ended", state.time))


def test_simbody_7_every_cause_is_issued_also_in_steps_that_end_at_events():
    part = Causes()
    simulator = cosim.Simulator(system_of(part=part), accuracy=1e-9)
    ends = []
    simulator.set_monitor(lambda state: ends.append(state.time))
    simulator.advance_to(1.0)
    simulator.finish()
    advanced = [t for name, t in part.log if name == "advanced"]
    assert advanced == ends  # also where an event ended the step
    names = [name for name, _ in part.log]
    assert names.count("triggered") == names.count("signaled") == names.count("ended") == 1
    assert [t for name, t in part.log if name == "scheduled"] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_simbody_7_termination_is_issued_when_a_handler_asks_to_stop():
    class Stopping(Causes):
        """Asks to stop at 0.3 s."""

        @cosim.at([0.3], does="discrete")
        def stop(self, state, next_state):
            return EventStatus.reached_termination("enough")

    part = Stopping()
    simulator = cosim.Simulator(system_of(part=part), accuracy=1e-6)
    status = simulator.advance_to(1.0)
    assert (status.reason, status.source) == (cosim.Reason.REACHED_TERMINATION, "part.stop")
    assert part.log[-1] == ("ended", 0.3)


def test_simbody_7_a_later_event_of_one_part_does_not_come_at_an_earlier_time_of_another():
    def ticking(period):
        class Ticking(Clock):
            """Lists the times of its ticks."""

            def __init__(self, **values):
                super().__init__(**values)
                self.times = []

            @cosim.every(period, offset=period, does="discrete")
            def tick(self, state, next_state):
                self.times.append(state.time)

        return Ticking()

    early, late = ticking(0.2), ticking(0.3)
    cosim.Simulator(system_of(late=late, early=early), accuracy=1e-6).advance_to(1.0)
    assert early.times == [0.2, 0.4, 0.6, 0.8]
    assert late.times == [0.3, 0.6, 0.9]


def test_simbody_7_witnesses_in_one_window_come_in_order_of_time_not_of_declaration():
    order = []

    class Window(Clock):
        """Two witnesses, the later one declared first."""

        second = cosim.parameter(default=0.500001)
        first = cosim.parameter(default=0.5)

        @cosim.witness
        def late(t, second):
            return t - second

        @cosim.witness
        def early(t, first):
            return t - first

        @cosim.on(late, does="discrete")
        def on_late(self, state, next_state):
            order.append("late")

        @cosim.on(early, does="discrete")
        def on_early(self, state, next_state):
            order.append("early")

    cosim.Simulator(system_of(window=Window), accuracy=1e-9).advance_to(1.0)
    assert order == ["early", "late"]


def test_simbody_7_a_sign_that_a_handler_changes_does_not_trigger():
    class Flipping(Clock):
        """A handler changes the sign of a discrete variable that is a witness."""

        sign = cosim.discrete(start=1.0)
        count = cosim.discrete(dtype=int)

        @cosim.witness
        def sign_witness(sign):
            return sign

        @cosim.at([0.5], does="discrete")
        def flip(sign, sign_next):
            sign_next[0] = -sign

        @cosim.on(sign_witness, does="discrete")
        def fired(count, count_next):
            count_next[0] = count + 1

    simulator = cosim.Simulator(system_of(part=Flipping), accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.state["part.sign"] == -1.0
    assert simulator.state["part.count"] == 0


def test_simbody_11_2_the_second_impact_of_a_ball_is_not_missed():
    simulator = cosim.Simulator(system_of(ball=BouncingBall(restitution=0.7)), accuracy=1e-3)
    simulator.advance_to(2.0)
    fall = math.sqrt(2.0 / 9.81)
    exact = [fall * (1.0 + 2.0 * sum(0.7**i for i in range(1, k))) for k in range(1, 5)]
    times = [e.time for e in simulator.events if e.handler == "ball.bounce"]
    assert times[:4] == pytest.approx([t for t in exact if t < 2.0], abs=1e-3)


def test_simbody_11_4_locating_an_event_does_not_replace_the_state_by_an_interpolated_one():
    plain = cosim.Simulator(system_of(swing=Swing(level=2.0)), accuracy=1e-9)
    watched = cosim.Simulator(system_of(swing=Swing(level=0.3)), accuracy=1e-9)
    for each in (plain, watched):
        each.advance_to(10.0)
    assert len(watched.events) == 3
    assert watched.state["swing.x"] == pytest.approx(math.cos(10.0), abs=2e-8)
    assert plain.state["swing.x"] == pytest.approx(math.cos(10.0), abs=2e-8)


def test_simbody_11_5_a_minimum_step_that_is_too_long_is_an_error_and_can_be_changed():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-8, minimum_step=1.0)
    with pytest.raises(cosim.SimulationError, match="lower minimum_step"):
        simulator.advance_to(2.0)
    simulator.reset_integrator("integrators.runge_kutta_merson", accuracy=1e-4)
    assert simulator.state.accuracy == 1e-4
    assert simulator.advance_to(2.0).succeeded


def test_drake_9_1_two_witnesses_in_one_step_without_isolation_both_trigger():
    class TwoWitnesses(Clock):
        """Two witnesses in one step of 1 s."""

        count = cosim.discrete(dtype=int)

        @cosim.witness
        def first(t):
            return t - 0.2

        @cosim.witness
        def second(t):
            return t - 0.7

        @cosim.on(first, does="publish")
        def on_first(self, state):
            fired.append("first")

        @cosim.on(second, does="publish")
        def on_second(self, state):
            fired.append("second")

    fired: list = []
    cosim.Simulator(system_of(part=TwoWitnesses), fixed_step=1.0).advance_to(1.0)
    assert fired == ["first", "second"]


def clock_at_one(t):
    return t - 1.0


def test_drake_9_2_a_zero_at_the_end_of_a_step_costs_no_extra_steps():
    part = witness_part(clock_at_one)
    simulator = cosim.Simulator(system_of(part=part), fixed_step=1.0, accuracy=1e-12)
    simulator.advance_to(1.0)
    assert part.times == [1.0]
    assert simulator.statistics.steps == 1


@pytest.mark.parametrize("options", [{"accuracy": 1e-6}, {"fixed_step": 0.01, "accuracy": 1e-4}])
def test_drake_9_3_no_short_flight_is_missed(options):
    simulator = cosim.Simulator(system_of(ball=BouncingBall(height=10.0)), **options)
    heights = [0.0]
    simulator.set_monitor(lambda state: heights.append(state["ball.height"]))
    simulator.advance_to(5.0)
    assert simulator.state["ball.bounces"] > 15
    assert min(heights) > -1e-5


def test_drake_9_5_a_failed_step_leaves_the_state_before_it_and_the_run_can_go_on():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-8, minimum_step=0.5)
    before = simulator.state.y.tolist()
    with pytest.raises(cosim.SimulationError):
        simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state.y.tolist()) == (0.0, before)
    simulator.state.accuracy = 1e-2
    simulator.reset_integrator("integrators.runge_kutta_merson", accuracy=1e-2)
    assert simulator.advance_to(1.0).return_time == 1.0


def test_drake_9_7_what_a_handler_wrote_that_did_nothing_is_discarded():
    class Pair(Clock):
        """Two handlers of one instant; the first one writes and returns that it did nothing."""

        x = cosim.discrete()
        y = cosim.discrete()

        @cosim.at([0.5], does="discrete")
        def idle(self, state, next_state):
            next_state["pair.x"] = 12.0
            return EventStatus.did_nothing()

        @cosim.at([0.5], does="discrete")
        def busy(self, state, next_state):
            next_state["pair.y"] = 1.0

    simulator = cosim.Simulator(system_of(pair=Pair), accuracy=1e-6)
    simulator.advance_to(1.0)
    assert (simulator.state["pair.x"], simulator.state["pair.y"]) == (0.0, 1.0)


def test_drake_9_10_there_is_no_short_step_at_the_end():
    simulator = cosim.Simulator(system_of(o=Oscillator), fixed_step=0.1)
    simulator.advance_to(1.0)
    assert simulator.statistics.steps == 10


def test_drake_9_12_a_failure_with_the_repr_of_its_component_is_a_simulation_error():
    class Failing(Clock):
        """Fails with its own name in the text."""

        @cosim.at([0.5], does="discrete")
        def fail(self, state, next_state):
            return EventStatus.failed(f"{self!r} is broken")

    simulator = cosim.Simulator(system_of(failing=Failing), accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match="<Failing 'failing': .*> is broken"):
        simulator.advance_to(1.0)
    with pytest.raises(cosim.SimulationError, match="in the past"):
        simulator.advance_to(0.1)


def test_drake_9_16_a_saved_state_is_not_a_pickle():
    simulator = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)
    simulator.advance_to(0.7)
    data = simulator.state.to_bytes()
    with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError)):
        pickle.loads(data)  # noqa: S301
    restored = simulator.system.state_from_bytes(data)
    assert restored.to_bytes() == data
