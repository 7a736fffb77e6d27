"""Integration in a run: the numbered cases 37, 38, 53, 54 and 64 to 80 of the Simulator's behavior."""

import math

import pytest
from kernel_parts import Clock, Oscillator, system_of
from located_parts import witness_part

import cosim

MERSON, DORMAND = "integrators.runge_kutta_merson", "integrators.dormand_prince"


def unit_oscillator(x=1.0, **options):
    """q'' = -q from (x, 0)."""
    return cosim.Simulator(system_of(o=Oscillator(x=x, stiffness=1.0)), **options)


def clock_at_a_third(t):
    return t - 1.0 / 3.0


class Ramp(cosim.Component):
    """Law: z' = 2.4; z is logged at 10 Hz."""

    z = cosim.auxiliary_state()

    def __init__(self, **values):
        super().__init__(**values)
        self.log = []

    @cosim.kernel
    def derivatives(z_dot):
        z_dot[0] = 2.4

    @cosim.every(0.1, does="publish")
    def note(self, state):
        self.log.append((state.time, state["ramp.z"]))


def test_case_37_samples_at_exact_times():
    ramp = Ramp()
    simulator = cosim.Simulator(system_of(ramp=ramp), accuracy=1e-4, initial_step=1e-4, maximum_step=0.1)
    simulator.advance_to(1.0)
    assert [t for t, _ in ramp.log] == [i / 10 for i in range(11)]
    assert ramp.log[-1][1] == pytest.approx(2.4, abs=1e-12)


class ImmediateTimer(cosim.Component):
    """Sets a timer to the present time at initialization."""

    wake = cosim.timer()

    def __init__(self, **values):
        super().__init__(**values)
        self.calls = []

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def ask(t, wake_next):
        wake_next[0] = t

    @cosim.on(wake, does="publish")
    def answer(self, state):
        self.calls.append(state.time)


class Periodic(cosim.Component):
    """A publish with a period of 1 s."""

    def __init__(self, **values):
        super().__init__(**values)
        self.calls = []

    @cosim.every(1.0, does="publish")
    def note(self, state):
        self.calls.append(state.time)


@pytest.mark.parametrize(("start", "periodic_times"), [(0.0, [0.0]), (-1.0, [])])
def test_case_38_a_timer_of_the_present_time_hides_no_periodic_event(start, periodic_times):
    system = system_of(timer=ImmediateTimer(), periodic=Periodic())
    state = system.default_state()
    state.set_time(start)
    cosim.Simulator(system, state, fixed_step=0.1).initialize()
    assert system.parts["timer"].calls == [start]
    assert system.parts["periodic"].calls == periodic_times


def test_case_38_a_next_time_of_nan_is_an_error():
    class Lost(Clock):
        """Sets its timer to NaN."""

        wake = cosim.timer(start=0.5)

        @cosim.on(wake, does="discrete")
        def again(wake_next):
            wake_next[0] = math.nan

    simulator = cosim.Simulator(system_of(lost=Lost), fixed_step=0.1)
    with pytest.raises(cosim.SimulationError, match=r"lost\.wake.*next time"):
        simulator.advance_to(1.0)


def test_case_53_the_list_of_witnesses_is_made_once():
    part = witness_part(clock_at_a_third)
    simulator = cosim.Simulator(system_of(part=part), accuracy=1e-6)
    listed = simulator.compiled_step.tables.events.witnesses
    simulator.advance_to(1.0)
    assert simulator.compiled_step.tables.events.witnesses is listed
    assert part.times == pytest.approx([1.0 / 3.0], abs=1e-8)


def test_case_54_isolation_ends_just_past_the_zero():
    part = witness_part(clock_at_a_third)
    simulator = cosim.Simulator(system_of(part=part), fixed_step=1.0, accuracy=1.0)
    assert simulator.witness_time_isolation == 0.01
    simulator.advance_to(1.0)
    assert 0.0 <= part.times[0] - 1.0 / 3.0 <= 0.01


def test_case_64_an_error_of_a_call_leaves_the_simulator_usable():
    simulator = unit_oscillator(accuracy=1e-6)
    simulator.advance_to(1.0)
    with pytest.raises(cosim.SimulationError, match="in the past"):
        simulator.advance_to(0.5)
    assert simulator.advance_to(1.5).succeeded


def test_case_65_the_defaults_of_a_simulator():
    simulator = unit_oscillator()
    assert type(simulator.integrator).__name__ == "RungeKuttaMerson"
    assert simulator.integrator.fixed_step is None
    assert simulator.integrator.minimum_step == 0.0
    assert simulator.state.accuracy is None
    assert simulator.target_realtime_rate == 0.0


@pytest.mark.parametrize(("method", "order"), [(MERSON, 4), (DORMAND, 5), ("integrators.explicit_euler", 1)])
def test_case_66_the_observed_order_and_steps_without_a_short_last_one(method, order):
    errors = []
    for n in (10, 20, 40):
        simulator = unit_oscillator(integrator=method, fixed_step=1.0 / n)
        simulator.advance_to(1.0)
        assert simulator.statistics.steps == n
        errors.append(
            math.hypot(simulator.state["o.x"] - math.cos(1.0), simulator.state["o.v"] + math.sin(1.0))
        )
    assert math.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.35)


@pytest.mark.by_turns
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("method", [MERSON, DORMAND])
def test_case_67_error_follows_the_accuracy(method, accuracy):
    simulator = unit_oscillator(integrator=method, accuracy=accuracy, maximum_step=10.0)
    simulator.advance_to(10.0)
    assert abs(simulator.state["o.x"] - math.cos(10.0)) <= 10.0 * accuracy
    # as many as the original needs
    most_steps = {1e-3: 62, 1e-6: 612, 1e-9: 6115}[accuracy]
    assert simulator.statistics.steps <= most_steps


@pytest.mark.parametrize(
    ("method", "count"),
    [("integrators.explicit_euler", 1), (DORMAND, 6), ("integrators.bogacki_shampine", 3)],
)
def test_case_68_evaluations_of_a_fixed_step(method, count):
    simulator = unit_oscillator(integrator=method, fixed_step=0.01)
    simulator.advance_to(0.1)
    before = simulator.statistics.evaluations
    simulator.advance_to(0.2)
    assert simulator.statistics.evaluations - before == 10 * count


def test_case_70_a_step_cut_by_an_event_leaves_the_next_one_alone():
    class Often(Oscillator):
        """Events that cut the steps short."""

        @cosim.every(1e-3, offset=1.0, does="publish")
        def note(self, state):
            pass

    simulator = cosim.Simulator(system_of(o=Often), accuracy=1e-6)
    simulator.advance_to(0.999)
    step_size_before = simulator.state.integrator_memory[0]
    simulator.advance_to(1.05)
    # it has not shrunk to the millisecond between the events
    assert simulator.state.integrator_memory[0] >= 0.9 * step_size_before


class Blowup(cosim.Component):
    """Law: z' = z^2; from z = 1 it is infinite at 1 s."""

    z = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(z, z_dot):
        z_dot[0] = z * z


def test_case_71_a_solution_that_ends_is_never_a_success():
    simulator = cosim.Simulator(system_of(part=Blowup), accuracy=1e-4)
    with pytest.raises(cosim.SimulationError, match=r"part\.z"):
        simulator.advance_to(2.0)
    assert simulator.state.time == pytest.approx(1.0, abs=1e-4)
    assert simulator.statistics.steps < 2000


def test_case_72_a_step_that_would_have_to_be_shorter_than_the_minimum_is_an_error():
    simulator = unit_oscillator(x=0.1, accuracy=1e-8, minimum_step=1.0 - 1e-8)
    with pytest.raises(cosim.SimulationError, match="smallest one allowed"):
        simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state["o.x"], simulator.state["o.v"]) == (0.0, 0.1, 0.0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"maximum_step": 0.1, "minimum_step": 0.2}, "below minimum_step"),
        ({"initial_step": 0.2, "maximum_step": 0.1}, "initial_step is 0.2"),
        ({"integrator": "integrators.explicit_euler", "accuracy": 1e-3}, "no error estimate"),
        ({"integrator": "integrators.runge_kuta"}, "integrators.runge_kutta"),
    ],
)
def test_case_73_contradictory_options_are_refused(options, text):
    with pytest.raises(cosim.CosimError, match=text):
        unit_oscillator(**options)


def test_case_74_the_loosest_accuracy_is_a_tenth():
    for accuracy in (10.0, math.nextafter(0.1, 1.0)):
        with pytest.raises(cosim.ModelError, match=r"number above 0.*0\.1"):
            unit_oscillator(accuracy=accuracy)
    counts = []
    for accuracy in (0.1, 1e-3):
        simulator = unit_oscillator(accuracy=accuracy)
        simulator.advance_to(10.0)
        counts.append(simulator.statistics.steps)
    assert counts[0] < counts[1]


def test_case_77_dense_output_of_the_last_step():
    simulator = unit_oscillator(accuracy=1e-6)
    with pytest.raises(ValueError, match="no last step"):
        simulator.integrator.interpolate(0.0, simulator.state.y.copy())
    out, worst = simulator.state.y.copy(), 0.0
    while simulator.state.time < 2.0:
        simulator.step(2.0)
        start, end = simulator.integrator.previous_time, simulator.state.time
        for part in (0.25, 0.5, 0.75):
            t = start + part * (end - start)
            simulator.integrator.interpolate(t, out)
            worst = max(worst, abs(out[0] - math.cos(t)))
    assert worst < 2e-6


class Kink(cosim.Component):
    """Law: z' = 0 until 0.5 s, then 1; no witness shows the jump."""

    z = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(t, z_dot):
        z_dot[0] = 0.0 if t < 0.5 else 1.0


@pytest.mark.parametrize("method", [MERSON, DORMAND])
def test_case_79_a_jump_of_the_derivative_without_a_witness(method):
    simulator = cosim.Simulator(system_of(kink=Kink), integrator=method, accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.state["kink.z"] == pytest.approx(0.5, abs=1e-4)


class Growth(cosim.Component):
    """Law: z' = z."""

    z = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(z, z_dot):
        z_dot[0] = z


@pytest.mark.parametrize("start", [1e6, 1.0, 1e-2])
def test_case_80_error_control_is_relative(start):
    simulator = cosim.Simulator(system_of(part=Growth(z=start)), accuracy=1e-4)
    simulator.advance_to(1.0)
    assert simulator.state["part.z"] / start == pytest.approx(math.e, rel=1e-3)
    assert simulator.statistics.steps < 60
