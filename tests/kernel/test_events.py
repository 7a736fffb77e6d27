"""Event causes: the order of handlers, signals, termination, what handlers may change, records of events."""

import pytest
from kernel_parts import BouncingBall, Clock, Oscillator, system_of

import cosim
from cosim import EventCause, EventStatus, Reason

LOG: list = []


@pytest.fixture(autouse=True)
def empty_log():
    LOG.clear()


def test_causes_have_the_numbers_of_simbody():
    assert [int(c) for c in EventCause] == [1, 2, 3, 4, 5, 6, -1]
    assert EventCause() is EventCause.INVALID
    assert [c.is_valid for c in EventCause] == [True] * 6 + [False]
    with pytest.raises(ValueError, match="7"):
        EventCause(7)


class Chain(cosim.Component):
    """At 0.5 s it raises the signal `one`, whose handler raises `two`; each handler is logged."""

    one = cosim.signal()
    two = cosim.signal()
    count = cosim.discrete(dtype=int)

    @cosim.at([0.5], does="discrete")
    def start(self, state, next_state):
        LOG.append("start")
        next_state["chain.one"] = 1

    @cosim.on(one, does="publish")
    def show(self, state):
        LOG.append("show")

    @cosim.on(one, does="discrete")
    def first(self, state, next_state):
        LOG.append("first")
        next_state["chain.two"] = 1

    @cosim.on(two, does="unrestricted")
    def second(self, state, next_state):
        LOG.append("second")
        next_state["chain.count"] = state["chain.count"] + 1

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def step(self, state):
        LOG.append(f"step {state.time:g}")


def test_signals_are_handled_before_the_step_and_published_at_its_end():
    simulator = cosim.Simulator(system_of(chain=Chain, oscillator=Oscillator), accuracy=1e-6)
    simulator.advance_to(0.5)
    simulator.step(0.6)
    start = LOG.index("start")
    assert LOG[start - 1] == "step 0.5"
    assert LOG[start : start + 3] == ["start", "first", "second"]
    assert LOG[start + 3].startswith("step")
    assert LOG[start + 4 :] == ["show"]
    state = simulator.state
    assert (state["chain.one"], state["chain.two"], state["chain.count"]) == (0, 0, 1)


def test_a_signal_set_by_the_user_is_handled_in_the_next_step():
    simulator = cosim.Simulator(system_of(chain=Chain, oscillator=Oscillator), accuracy=1e-6)
    simulator.advance_to(0.1)
    simulator.state["chain.two"] = 1
    simulator.advance_to(0.2)
    assert LOG.count("second") == 1
    assert simulator.state["chain.count"] == 1


class Endless(cosim.Component):
    """A signal that raises itself."""

    again = cosim.signal()

    @cosim.at([0.5], does="discrete")
    def start(self, state, next_state):
        next_state["endless.again"] = 1

    @cosim.on(again, does="discrete")
    def repeat(self, state, next_state):
        next_state["endless.again"] = 1


def test_signals_without_end_are_named():
    simulator = cosim.Simulator(system_of(endless=Endless), fixed_step=0.1)
    with pytest.raises(cosim.SimulationError, match=r"endless\.again.*set after 100"):
        simulator.advance_to(1.0)


class Ending(Clock):
    """Logs its termination, and raises a signal there that is not handled any more."""

    last_words = cosim.signal()
    ended = cosim.discrete(dtype=int)

    @cosim.on(EventCause.TERMINATION, does="discrete")
    def end(self, state, next_state):
        LOG.append(("end", state.time))
        next_state["ending.ended"] = state["ending.ended"] + 1
        next_state["ending.last_words"] = 1

    @cosim.on(EventCause.TERMINATION, does="publish")
    def farewell(self, state):
        LOG.append(("farewell", state.time, state["ending.ended"]))

    @cosim.on(last_words, does="publish")
    def hear(self, state):
        LOG.append("heard")


def test_final_time_issues_termination():
    simulator = cosim.Simulator(system_of(ending=Ending), accuracy=1e-6, final_time=0.75)
    simulator.advance_to(0.5)
    assert LOG == []
    status = simulator.advance_to(2.0)
    assert LOG == [("end", 0.75), ("farewell", 0.75, 1)]
    assert status.return_time == simulator.state.time == 0.75
    assert simulator.state["ending.last_words"] == 1


def test_finish_issues_termination():
    simulator = cosim.Simulator(system_of(ending=Ending), accuracy=1e-6)
    simulator.advance_to(0.5)
    simulator.finish()
    assert LOG == [("end", 0.5), ("farewell", 0.5, 1)]


def test_a_request_to_stop_issues_termination():
    simulator = cosim.Simulator(system_of(ending=Ending), accuracy=1e-6)
    simulator.set_monitor(
        lambda state: EventStatus.reached_termination("enough") if state.time > 0.2 else None
    )
    status = simulator.advance_to(1.0)
    assert status.reason is Reason.REACHED_TERMINATION
    assert [entry[0] for entry in LOG] == ["end", "farewell"]


class Order(Clock):
    """Handlers of three causes at 0.5 s, in an order that is not that of their causes."""

    @cosim.witness
    def due(t):
        return t - 0.5

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def advanced_discrete(self, state, next_state):
        self.note(state)

    @cosim.every(0.5, offset=0.5, does="discrete")
    def scheduled_discrete(self, state, next_state):
        self.note(state)

    @cosim.on(due, does="discrete")
    def triggered_discrete(self, state, next_state):
        self.note(state)

    @cosim.on(EventCause.TIME_ADVANCED, does="unrestricted")
    def advanced_unrestricted(self, state, next_state):
        self.note(state)

    @cosim.every(0.5, offset=0.5, does="unrestricted")
    def scheduled_unrestricted(self, state, next_state):
        self.note(state)

    @cosim.on(due, does="unrestricted")
    def triggered_unrestricted(self, state, next_state):
        self.note(state)

    @staticmethod
    def note(state):
        LOG.append(state.time)


def test_handlers_run_by_kind_and_then_by_cause():
    simulator = cosim.Simulator(system_of(order=Order), fixed_step=0.5)
    simulator.advance_to(0.5)
    simulator.advance_pending_events()
    at_half = [e.handler.removeprefix("order.") for e in simulator.events if e.time == 0.5]
    causes = ["triggered", "scheduled", "advanced"]
    assert at_half == [f"{c}_{k}" for k in ("unrestricted", "discrete") for c in causes]


class Swap(cosim.Component):
    """Handlers of one cause read the state at its start; a later cause reads the copy."""

    a = cosim.discrete(start=1.0)
    b = cosim.discrete(start=2.0)

    @cosim.at([0.5], does="discrete")
    def a_from_b(a, b, a_next):
        a_next[0] = b

    @cosim.at([0.5], does="discrete")
    def b_from_a(a, b, b_next):
        b_next[0] = a

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def later(self, state, next_state):
        LOG.append((state.time, state["swap.a"], state["swap.b"]))


def test_handlers_of_one_cause_exchange_values():
    simulator = cosim.Simulator(system_of(swap=Swap), fixed_step=0.5)
    simulator.advance_to(1.0)
    assert (simulator.state["swap.a"], simulator.state["swap.b"]) == (2.0, 1.0)
    assert LOG == [(0.0, 1.0, 2.0), (0.5, 2.0, 1.0)]


class Misbehaving(Clock):
    """A handler that breaks one of the rules, by its `deed`."""

    kept = cosim.discrete()
    deed: str = ""

    @cosim.at([0.5], does="discrete")
    def discrete(self, state, next_state):
        if self.deed == "state":
            next_state["misbehaving.phase"] = 3.0
        elif self.deed == "time":
            next_state.set_time(9.0)
        elif self.deed == "read only":
            state["misbehaving.kept"] = 1.0
        elif self.deed == "answer":
            return 42
        return None

    @cosim.every(0.5, does="publish")
    def publish(self, state):
        if self.deed == "publish" and state.time > 0.0:
            state["misbehaving.kept"] = 1.0


@pytest.mark.parametrize(
    ("deed", "text"),
    [
        (
            "state",
            r'misbehaving\.discrete: a discrete handler changed misbehaving\.phase; only does="unrestricted"',
        ),
        ("time", "cannot change time"),
        ("read only", "write to next_state"),
        ("answer", "None or an EventStatus, not 42"),
        ("publish", "a publish changes nothing"),
    ],
)
def test_a_handler_that_breaks_a_rule_fails_and_changes_nothing(deed, text):
    part = Misbehaving()
    part.deed = deed
    system = system_of(misbehaving=part)
    simulator = cosim.Simulator(system, fixed_step=0.25)
    with pytest.raises(cosim.SimulationError, match=text):
        simulator.advance_to(1.0)
    assert simulator.state["misbehaving.kept"] == 0.0
    assert simulator.state.time == 0.5


def test_an_event_is_recorded_with_cause_witness_window_and_changes():
    simulator = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)
    simulator.advance_to(1.2)
    bounces = [e for e in simulator.events if e.handler == "ball.bounce"]
    assert len(bounces) == 3
    first = bounces[0]
    assert (first.cause, first.does, first.witness) == (EventCause.TRIGGERED, "unrestricted", "ball.floor")
    assert first.window[0] <= first.window[1] == first.time
    assert first.window[1] - first.window[0] <= simulator.witness_time_isolation * 1.001
    assert first.changed == ("ball.speed", "ball.bounces")


def test_a_speed_that_a_handler_reverses_at_zero_height_is_not_a_new_crossing():
    simulator = cosim.Simulator(system_of(ball=BouncingBall(restitution=1.0)), accuracy=1e-8)
    simulator.advance_to(2.0)
    times = [e.time for e in simulator.events if e.handler == "ball.bounce"]
    fall = (2.0 / 9.81) ** 0.5
    assert times == pytest.approx([fall, 3.0 * fall], abs=1e-6)


@pytest.mark.parametrize("parts", [10, 100])
def test_small_intervals_do_not_change_the_trajectory_more_than_the_accuracy(parts):
    in_one_call, in_parts = (cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6) for _ in range(2))
    in_one_call.advance_to(2.0)
    for i in range(1, parts + 1):
        in_parts.advance_to(2.0 * i / parts)
    assert in_parts.state["o.x"] == pytest.approx(in_one_call.state["o.x"], abs=1e-5)


def test_a_released_state_can_be_put_back():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6)
    simulator.advance_to(0.5)
    state = simulator.release_state()
    assert not simulator.has_state
    with pytest.raises(cosim.SimulationError, match="replace_state"):
        simulator.advance_to(1.0)
    simulator.replace_state(state)
    simulator.initialize()
    assert simulator.advance_to(1.0).succeeded


def test_case_75_a_replaced_integrator_counts_its_steps_from_zero():
    simulator = cosim.Simulator(
        system_of(o=Oscillator), integrator="integrators.explicit_euler", fixed_step=1e-3
    )
    simulator.advance_to(0.5)
    assert simulator.statistics.steps == 500
    simulator.reset_integrator("integrators.runge_kutta_merson", fixed_step=1e-3)
    simulator.advance_to(1.0)
    assert simulator.state.time == 1.0
    assert simulator.statistics.steps == 500
