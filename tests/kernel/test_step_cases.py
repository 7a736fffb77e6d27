"""The order of one step, the behaviour cases 10 to 31: triggered, scheduled, then time-advanced events."""

import math

import pytest
from event_table import Recorder, names
from kernel_parts import Oscillator, system_of

import cosim
from cosim import EventCause, EventStatus, Reason

TERMINATION, FAILED = EventStatus.reached_termination, EventStatus.failed


def initialized_run(*prefixes, **options):
    """A recorder whose simulator is initialized at 0.125 s, with an empty log and counts of 0."""
    run = Recorder(*prefixes, time=0.125, **options)
    run.simulator.initialize()
    run.take_log()
    run.simulator.reset_statistics()
    return run


def test_case_12_log_of_two_steps():
    run = initialized_run()
    run.simulator.advance_to(0.75)
    order, times = run.take_log()
    assert order == names("sp tp monitor su sd tp monitor")
    assert times == [0.5] * 9 + [0.75] * 3
    assert run.counts == (1, 1, 2, 2)


def test_case_13_handlers_that_did_nothing():
    run = initialized_run()
    run.answer_nothing()
    run.simulator.advance_to(0.75)
    assert run.take_log()[0] == names("sp tp monitor su sd tp monitor")
    assert run.counts == (0, 0, 0, 2)


def test_case_14_updates_wait_where_a_publish_asks_to_stop():
    run = initialized_run(monitored=False)
    run.answers["sp0"] = TERMINATION("enough")
    status = run.simulator.advance_to(0.75)
    assert run.take_log() == (names("sp tp"), [0.5] * 4)
    assert status.reason is Reason.REACHED_TERMINATION
    assert (status.return_time, status.boundary_time) == (0.5, 0.75)
    assert run.counts == (0, 0, 1, 1)
    run.simulator.advance_pending_events()
    assert run.take_log() == (names("su sd tp"), [0.5] * 6)
    assert run.counts == (1, 1, 2, 2)


def test_cases_15_and_16_an_update_asks_to_stop_and_is_not_applied_twice():
    run = initialized_run()
    run.answers["su1"] = TERMINATION("enough")
    status = run.simulator.advance_to(0.75)
    order, times = run.take_log()
    assert order == names("sp tp monitor su sd")
    assert set(times) == {0.5}
    assert status.reason is Reason.REACHED_TERMINATION
    assert run.simulator.state.time == 0.5
    assert run.counts == (1, 1, 1, 1)
    run.answers.clear()
    run.simulator.advance_to(0.75)
    assert run.take_log() == (names("tp monitor"), [0.75] * 3)


@pytest.mark.parametrize(
    ("answers", "message", "log", "counts"),
    [
        ({"su1": TERMINATION("t"), "sd0": FAILED("d")}, "d", "sp tp su sd0", (1, 0, 1)),
        ({"su1": FAILED("u")}, "u", "sp tp su", (0, 0, 1)),
        ({"sp0": FAILED("p")}, "p", "sp tp", (0, 0, 0)),
        ({"sp0": FAILED("p"), "sp1": FAILED("q")}, "p", "sp tp", (0, 0, 0)),
    ],
)
def test_case_17_which_handlers_run_before_a_failure(answers, message, log, counts):
    run = initialized_run(monitored=False)
    run.answers.update(answers)
    with pytest.raises(cosim.SimulationError, match=f"failed: {message}$"):
        run.simulator.advance_to(0.75)
    assert run.take_log()[0] == names(log)
    assert run.counts[:3] == counts
    assert run.simulator.state.time == 0.5


def test_case_18_two_parts_by_cause_then_in_order_of_parts():
    run = initialized_run("P", "Q", init=False, monitored=False)
    run.simulator.advance_to(0.625)
    order, times = run.take_log()
    assert order == names("Psp Qsp Ptp Qtp Psu Qsu Psd Qsd Ptp Qtp")
    assert times == [0.5] * 16 + [0.625] * 4


@pytest.mark.parametrize(
    ("answers", "log", "is_error"),
    [
        ({"Psp0": FAILED()}, "Psp Qsp Ptp Qtp", True),
        ({"Psd0": FAILED()}, "Psp Qsp Ptp Qtp Psu Qsu Psd0", True),
        ({"Psu0": TERMINATION()}, "Psp Qsp Ptp Qtp Psu Qsu Psd Qsd", False),
    ],
)
def test_case_18_which_handlers_run_beside_one_that_fails_or_asks_to_stop(answers, log, is_error):
    run = initialized_run("P", "Q", init=False, monitored=False)
    run.answers.update(answers)
    if is_error:
        with pytest.raises(cosim.SimulationError):
            run.simulator.advance_to(0.625)
    else:
        run.simulator.advance_to(0.625)
    assert run.take_log()[0] == names(log)


def test_case_19_updates_of_every_step():
    run = initialized_run(per_step="udp", monitored=False)
    run.simulator.advance_to(0.75)
    order, times = run.take_log()
    assert order == names("tu td sp tp su tu sd td tp")
    assert times == [0.125] * 4 + [0.5] * 12 + [0.75] * 2


class Writer(cosim.Component):
    """Writes a state and a discrete variable at 0.5 s; each handler gives or raises its answer."""

    x = cosim.auxiliary_state()
    kept = cosim.discrete()
    answers: dict = {}

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 0.0

    @cosim.at([0.5], does="unrestricted")
    def first(self, state, next_state):
        next_state["writer.x"] = 7.0
        return self.answers.get("first")

    @cosim.at([0.5], does="discrete")
    def second(self, state, next_state):
        next_state["writer.kept"] = 10.0
        return self.answers.get("second")

    @cosim.at([0.5], does="discrete")
    def third(self, state, next_state):
        next_state["writer.kept"] = state["writer.kept"] + 20.0
        answer = self.answers.get("third")
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answers", "x", "kept", "is_error"),
    [
        ({"first": FAILED()}, 0.0, 0.0, True),
        ({"third": FAILED()}, 7.0, 0.0, True),
        ({"third": KeyError("case 62")}, 7.0, 0.0, True),
        ({"first": EventStatus.did_nothing()}, 0.0, 20.0, False),
        ({"third": EventStatus.did_nothing()}, 7.0, 10.0, False),
    ],
)
def test_cases_21_and_62_what_is_left_of_the_writes(answers, x, kept, is_error):
    part = Writer()
    part.answers = answers
    system = system_of(writer=part)
    simulator = cosim.Simulator(system, fixed_step=0.25)
    if is_error:
        with pytest.raises(cosim.SimulationError) as raised:
            simulator.advance_to(1.0)
        assert raised.value.time == simulator.state.time == 0.5
    else:
        simulator.advance_to(1.0)
    assert (simulator.state["writer.x"], simulator.state["writer.kept"]) == (x, kept)


class Counter(cosim.Component):
    """x+ = x + t + 1 once a second."""

    x = cosim.discrete()

    @cosim.every(1.0, does="discrete")
    def tick(t, x, x_next):
        x_next[0] = x + (t + 1.0)


def test_case_25_updates_at_the_end_wait_for_the_next_step():
    simulator = cosim.Simulator(system_of(counter=Counter), fixed_step=0.1)

    def value_and_updates():
        return simulator.state["counter.x"], simulator.statistics.discrete_updates

    simulator.advance_to(0.0)
    assert value_and_updates() == (1.0, 1)
    simulator.advance_to(1.0)
    assert value_and_updates() == (1.0, 1)
    simulator.advance_pending_events()
    assert value_and_updates() == (3.0, 2)
    simulator.advance_pending_events()
    assert value_and_updates() == (3.0, 2)


def test_case_27_two_rates():
    counts = {"update": 0, "publish": 0}

    class Rates(cosim.Component):
        """Two clocks."""

        @cosim.every(0.001, does="discrete")
        def update(self, state, next_state):
            counts["update"] += 1

        @cosim.every(0.0025, does="publish")
        def publish(self, state):
            counts["publish"] += 1

    cosim.Simulator(system_of(rates=Rates), fixed_step=0.1).advance_to(0.5)
    assert counts == {"update": 500, "publish": 201}  # 201 with those at both ends


def test_case_29_handlers_of_every_step():
    times = {"unrestricted": [], "discrete": [], "publish": []}

    class EveryStep(Oscillator):
        """Stores when its handlers ran."""

        @cosim.on(EventCause.TIME_ADVANCED, does="unrestricted")
        def reset(self, state, next_state):
            times["unrestricted"].append(state.time)

        @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
        def count(self, state, next_state):
            times["discrete"].append(state.time)

        @cosim.on(EventCause.TIME_ADVANCED, does="publish")
        def show(self, state):
            times["publish"].append(state.time)

    simulator = cosim.Simulator(
        system_of(part=EveryStep), integrator="integrators.explicit_euler", fixed_step=1e-3
    )
    simulator.advance_to(0.1)
    counts = simulator.statistics
    assert (counts.steps, counts.publishes) == (100, 101)
    assert (counts.discrete_updates, counts.unrestricted_updates) == (100, 100)
    assert times["publish"] == pytest.approx([k * 1e-3 for k in range(101)], abs=1e-12)
    assert times["unrestricted"] == times["discrete"] == times["publish"][:-1]


def test_case_30_a_step_of_length_zero():
    run = initialized_run(scheduled=False)
    run.simulator.advance_to(0.125)
    assert run.take_log()[0] == names("tp monitor")
    assert run.counts[2:] == (1, 1)


def test_case_31_nothing_to_integrate_is_one_step():
    class Idle(cosim.Component):
        """Nothing."""

    simulator = cosim.Simulator(system_of(idle=Idle), fixed_step=1e-3)
    simulator.advance_to(1.0)
    assert (simulator.statistics.steps, simulator.statistics.evaluations) == (1, 0)


def test_case_10_writing_states_between_steps_needs_no_initialization():
    system = system_of(o=Oscillator(stiffness=1.0))
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(1.0)
    steps = simulator.statistics.steps
    simulator.state.set_y([1.0, 0.0])
    simulator.advance_to(1.0 + math.pi / 2.0)
    assert simulator.state.y == pytest.approx([0.0, -1.0], abs=1e-5)
    assert simulator.statistics.steps > steps


class Logged(cosim.Component):
    """x+ = x + 1 at 50 Hz, seen ten times larger, periodically and at every step."""

    x = cosim.discrete()
    out = cosim.output()

    def __init__(self, **values):
        super().__init__(**values)
        self.periodic, self.stepwise = [], []

    @cosim.kernel
    def tenfold(x, out):
        out[0] = 10.0 * x

    @cosim.every(0.02, does="discrete")
    def tick(x, x_next):
        x_next[0] = x + 1.0

    @cosim.every(0.02, does="publish")
    def log(self, state):
        self.periodic.append((state.time, state["logged"]))

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def log_step(self, state):
        self.stepwise.append((state.time, state["logged"]))


def test_case_23_logs_see_the_value_before_the_update():
    simulator = cosim.Simulator(system_of(logged=Logged), fixed_step=0.1)
    logged = simulator.system.parts["logged"]
    simulator.advance_to(0.06)
    expected = [(0.0, 0.0), (0.02, 10.0), (0.04, 20.0), (0.06, 30.0)]
    assert logged.periodic == logged.stepwise == expected
    simulator.advance_pending_events()
    assert logged.periodic == expected
    assert logged.stepwise == [*expected, (0.06, 40.0)]


class Accumulator(cosim.Component):
    """Adds an input that is 1 only at one instant, eight times a second."""

    when = cosim.parameter(unit="s")
    total = cosim.discrete()

    def __init__(self, **values):
        super().__init__(**values)
        self.seen = []

    @cosim.every(0.125, does="publish")
    def show(self, state):
        self.seen.append(state["sum.total"])

    @cosim.every(0.125, does="discrete")
    def add(t, when, total, total_next):
        total_next[0] = total + (1.0 if t == when else 0.0)


@pytest.mark.parametrize(
    ("periods", "totals"),
    [(0.0, [0, 1, 1, 1, 1, 1]), (3.0, [0, 0, 0, 0, 1, 1]), (2.7, [0, 0, 0, 0, 0, 0])],
)
def test_case_26_an_impulse_is_seen_one_period_later(periods, totals):
    system = system_of(sum=Accumulator(when=periods * 0.125))
    cosim.Simulator(system, fixed_step=0.1).advance_to(5 * 0.125)
    assert system.parts["sum"].seen == totals
