"""What is wrong in the originals, measured there, and is not here."""

import math
import pickle

import pytest
from kernel_parts import BouncingBall, Clock, Oscillator, system_of
from test_isolation import Swing, noting_class

import cosim
from cosim import EventCause, EventStatus


class Causes(Clock):
    """Notes the causes TimeAdvanced, Signaled and Termination beside a witness and a period."""

    raised = cosim.signal()

    def __init__(self, **values):
        super().__init__(**values)
        self.notes = []

    @cosim.witness
    def half(t):
        return t - 0.5

    @cosim.on(half, does="unrestricted")
    def triggered(self, state, next_state):
        self.notes.append(("triggered", state.time))
        next_state["part.raised"] = 1

    @cosim.every(0.25, does="publish")
    def scheduled(self, state):
        self.notes.append(("scheduled", state.time))

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def advanced(self, state):
        self.notes.append(("advanced", state.time))

    @cosim.on(raised, does="discrete")
    def signaled(self, state, next_state):
        self.notes.append(("signaled", state.time))

    @cosim.on(EventCause.TERMINATION, does="publish")
    def ended(self, state):
        self.notes.append(("ended", state.time))


def test_simbody_7_every_cause_is_issued_also_around_steps_that_end_at_events():
    part = Causes()
    simulator = cosim.Simulator(system_of(part=part), accuracy=1e-9)
    ends = []
    simulator.set_monitor(lambda state: ends.append(state.time))
    simulator.advance_to(1.0)
    simulator.finish()
    advanced = [t for name, t in part.notes if name == "advanced"]
    assert advanced == ends  # none is lost, whatever ended the step
    names = [name for name, _ in part.notes]
    assert names.count("triggered") == names.count("signaled") == names.count("ended") == 1
    assert [t for name, t in part.notes if name == "scheduled"] == [0.0, 0.25, 0.5, 0.75, 1.0]


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
    assert part.notes[-1] == ("ended", 0.3)


def test_simbody_7_a_later_event_of_one_part_does_not_come_at_an_earlier_time_of_another():
    def ticking(period):
        class Ticking(Clock):
            """Notes its times."""

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


def test_simbody_7_a_sign_flipped_by_a_handler_fires_nothing():
    class Flipping(Clock):
        """A handler turns the sign of what a witness looks at."""

        sign = cosim.discrete(start=1.0)
        count = cosim.discrete(dtype=int)

        @cosim.witness
        def look(sign):
            return sign

        @cosim.at([0.5], does="discrete")
        def flip(sign, sign_next):
            sign_next[0] = -sign

        @cosim.on(look, does="discrete")
        def fired(count, count_next):
            count_next[0] = count + 1

    simulator = cosim.Simulator(system_of(part=Flipping), accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.state["part.sign"] == -1.0
    assert simulator.state["part.count"] == 0


def test_simbody_11_2_the_plain_ball_does_not_miss_its_second_impact():
    simulator = cosim.Simulator(system_of(ball=BouncingBall(restitution=0.7)), accuracy=1e-3)
    simulator.advance_to(2.0)
    fall = math.sqrt(2.0 / 9.81)
    exact = [fall * (1.0 + 2.0 * sum(0.7**i for i in range(1, k))) for k in range(1, 5)]
    times = [e.time for e in simulator.events if e.handler == "ball.bounce"]
    assert times[:4] == pytest.approx([t for t in exact if t < 2.0], abs=1e-3)


def test_simbody_11_4_isolation_does_not_replace_the_trajectory_by_interpolation():
    plain = cosim.Simulator(system_of(swing=Swing(level=2.0)), accuracy=1e-9)
    watched = cosim.Simulator(system_of(swing=Swing(level=0.3)), accuracy=1e-9)
    for each in (plain, watched):
        each.advance_to(10.0)
    assert len(watched.events) == 3
    assert watched.state["swing.x"] == pytest.approx(math.cos(10.0), abs=2e-8)
    assert plain.state["swing.x"] == pytest.approx(math.cos(10.0), abs=2e-8)


def test_simbody_11_5_settings_are_those_of_the_run_and_a_minimum_step_hides_nothing():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-8, minimum_step=1.0)
    with pytest.raises(cosim.SimulationError, match="lower minimum_step"):
        simulator.advance_to(2.0)
    simulator.reset_integrator("integrators.runge_kutta_merson", accuracy=1e-4)
    assert simulator.state.accuracy == 1e-4
    assert simulator.advance_to(2.0).succeeded


def test_drake_9_1_two_witnesses_in_one_step_without_isolation_both_fire():
    class Both(Clock):
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
    cosim.Simulator(system_of(part=Both), fixed_step=1.0).advance_to(1.0)
    assert fired == ["first", "second"]


def clock_at_one(t):
    return t - 1.0


def test_drake_9_2_a_zero_at_the_end_of_a_step_costs_no_extra_steps():
    part = noting_class(clock_at_one)()
    simulator = cosim.Simulator(system_of(part=part), fixed_step=1.0, accuracy=1e-12)
    simulator.advance_to(1.0)
    assert part.times == [1.0]
    assert simulator.statistics.steps == 1


@pytest.mark.parametrize("options", [{"accuracy": 1e-6}, {"fixed_step": 0.01, "accuracy": 1e-4}])
def test_drake_9_3_a_short_flight_is_not_missed(options):
    simulator = cosim.Simulator(system_of(ball=BouncingBall(height=10.0)), **options)
    low = [0.0]
    simulator.set_monitor(lambda state: low.append(state["ball.height"]))
    simulator.advance_to(5.0)
    assert simulator.state["ball.bounces"] > 15
    assert min(low) > -1e-5


def test_drake_9_5_a_failed_step_leaves_no_trial_state_and_one_can_go_on():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-8, minimum_step=0.5)
    before = simulator.state.y.tolist()
    with pytest.raises(cosim.SimulationError):
        simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state.y.tolist()) == (0.0, before)
    simulator.state.accuracy = 1e-2
    simulator.reset_integrator("integrators.runge_kutta_merson", accuracy=1e-2)
    assert simulator.advance_to(1.0).return_time == 1.0


def test_drake_9_7_what_a_handler_that_did_nothing_wrote_is_dropped_beside_one_that_succeeded():
    class Pair(Clock):
        """Two handlers of one instant, one of which did nothing."""

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


def test_drake_9_10_no_sliver_at_the_end():
    simulator = cosim.Simulator(system_of(o=Oscillator), fixed_step=0.1)
    simulator.advance_to(1.0)
    assert simulator.statistics.steps == 10


def test_drake_9_12_ordinary_exceptions_also_where_a_handler_names_itself():
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


def test_drake_9_16_a_state_is_bytes_and_no_pickle():
    simulator = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)
    simulator.advance_to(0.7)
    data = simulator.state.to_bytes()
    with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError)):
        pickle.loads(data)  # noqa: S301
    again = simulator.system.state_from_bytes(data)
    assert again.to_bytes() == data
