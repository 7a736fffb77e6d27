"""Dense output with additional stages: they are computed on demand, and do not change the State."""

import numpy as np
import pytest

import cosim
from cosim.testing.known_solution import exact, known_system
from cosim_integrators.dormand_prince_853 import DormandPrince853
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson


def started(system, method=DormandPrince853, **options):
    """Return an initialized integrator and the State that it steps."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = method(**options)
    integrator.initialize(system, state)
    return integrator, state


class Sampled(cosim.Component):
    """A mass whose force is its position at the start of the step, held by an update."""

    x = cosim.position(start=1.0)
    v = cosim.speed()
    held = cosim.discrete(start=1.0)

    @cosim.kernel
    def motion(v, held, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -held

    @cosim.update
    def hold(x, held_next):
        held_next[0] = x


class Watched(cosim.Component):
    """An oscillator with a witness that never triggers; its force is the number of steps."""

    x = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state()
    steps = cosim.discrete()

    @cosim.kernel
    def derivatives(x, v, steps, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x + steps

    @cosim.witness
    def far(x):
        return x + 1e6

    @cosim.on(far, does="discrete")
    def keep(steps, steps_next):
        steps_next[0] = steps

    @cosim.update
    def count(steps, steps_next):
        steps_next[0] = steps + 1.0


def evaluations(interval: float) -> tuple[int, np.ndarray]:
    """Return the evaluations of two steps of 0.5 s that are recorded at an interval, and the rows."""
    model = cosim.Model("m")
    model.add(Watched, "part")
    simulator = cosim.Simulator(model.build(), integrator=RungeKuttaMerson, fixed_step=0.5, accuracy=1e-6)
    simulator.advance_to(0.5)
    before = simulator.statistics.evaluations
    simulator.record(
        ["part.x", "part.v", "part.steps"], "grid", interval=interval, point=0.5 / interval + 1.0
    )
    simulator.record_now()
    simulator.advance_to(1.5)
    return simulator.statistics.evaluations - before, simulator.take_rows()


class Decay(cosim.Component):
    """x' = -rate x."""

    x = cosim.auxiliary_state(start=1.0)
    rate = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(x, rate, x_dot):
        x_dot[0] = -rate * x


def test_stages_are_computed_once_for_each_interpolated_step() -> None:
    system, out = known_system(), np.zeros(3)
    integrator, state = started(system, accuracy=1e-10)
    integrator.step(system, state, 10.0)
    integrator.step(system, state, 10.0)
    before = integrator.statistics.evaluations
    arrays = [a.tobytes() for a in system.arrays(state)]
    middle = 0.5 * (integrator.previous_time + state.time)
    integrator.interpolate(middle, out)
    assert integrator.statistics.evaluations == before + 3
    assert np.abs(out - exact(middle)).max() < 1e-9
    integrator.interpolate(middle, out)
    integrator.dense()
    assert integrator.statistics.evaluations == before + 3
    assert [a.tobytes() for a in system.arrays(state)] == arrays
    integrator.redo(system, state, middle)
    integrator.interpolate(0.5 * (integrator.previous_time + state.time), out)
    # stages of the first interpolation, of the redone step, and of its interpolation
    assert integrator.statistics.evaluations == before + 3 + 12 + 3


def test_interpolation_does_not_change_the_run() -> None:
    system, out = known_system(), np.zeros(3)
    plain, state = started(system, accuracy=1e-9)
    interpolating, interpolated_state = started(system, accuracy=1e-9)
    while state.time < 10.0:
        plain.step(system, state, 10.0)
        interpolating.step(system, interpolated_state, 10.0)
        interpolating.interpolate(0.5 * (interpolating.previous_time + interpolated_state.time), out)
        assert state.to_bytes() == interpolated_state.to_bytes()


def test_an_update_at_the_end_of_a_step_does_not_change_its_dense_output() -> None:
    model = cosim.Model("m")
    model.add(Sampled, "sampled")
    simulator = cosim.Simulator(model.build(), integrator=DormandPrince853, fixed_step=0.5)
    simulator.advance_to(0.5)
    begin = simulator.state.y.copy()
    held = simulator.state["sampled.held"]
    simulator.step(1.0)
    assert simulator.state["sampled.held"] != held
    out = np.zeros(2)
    simulator.integrator.interpolate(0.75, out)
    expected = [begin[0] + 0.25 * begin[1] - 0.5 * held * 0.0625, begin[1] - 0.25 * held]
    assert out == pytest.approx(expected, abs=1e-13)


def test_a_lifted_cubic_costs_one_evaluation_for_each_interpolated_step() -> None:
    system, out = known_system(), np.zeros(3)
    integrator, state = started(system, RungeKuttaMerson, accuracy=1e-8)
    integrator.step(system, state, 10.0)
    before = integrator.statistics.evaluations
    integrator.step(system, state, 10.0)
    assert integrator.statistics.evaluations == before + 5
    middle = 0.5 * (integrator.previous_time + state.time)
    integrator.interpolate(middle, out)
    integrator.interpolate(middle, out)
    assert integrator.statistics.evaluations == before + 6
    assert np.abs(out - exact(middle)).max() < 1e-9


def test_witnesses_and_updates_do_not_pay_for_a_lifted_cubic() -> None:
    coarse_evaluations, coarse_rows = evaluations(0.5)
    fine_evaluations, fine_rows = evaluations(0.125)
    assert fine_evaluations == coarse_evaluations + 2
    # the force inside a step is the one at its start: the update at its end does not change it
    assert fine_rows[::4] == pytest.approx(coarse_rows)
    for start, row in ((coarse_rows[0], fine_rows[2]), (coarse_rows[1], fine_rows[6])):
        s, position, speed, steps = row[0] - start[0], *start[1:]
        expected = steps + (position - steps) * np.cos(s) + speed * np.sin(s)
        assert row[1] == pytest.approx(expected, abs=2e-4)


def test_dense_output_is_that_of_the_state_that_was_stepped_last() -> None:
    model, out = cosim.Model("m"), np.zeros(1)
    model.add(Decay, "decay")
    system = model.build()
    integrator, slow = started(system, accuracy=1e-10)
    fast = system.default_state()
    fast["decay.rate"] = 3.0
    integrator.initialize(system, fast.realize(cosim.Stage.ACCELERATION))
    for stepped, rate in ((fast, 3.0), (slow, 1.0), (fast, 3.0)):
        integrator.step(system, stepped, 10.0)
        middle = 0.5 * (integrator.previous_time + stepped.time)
        integrator.interpolate(middle, out)
        assert abs(out[0] - np.exp(-rate * middle)) < 1e-9


def test_states_that_one_integrator_steps_alternately_do_not_disturb_each_other() -> None:
    system = known_system()
    ends = []
    for turns in ([0] * 5 + [1] * 5, [0, 1] * 5):
        method = RungeKuttaMerson(fixed_step=0.1)
        states = [started(system, RungeKuttaMerson, fixed_step=0.1)[1] for _ in range(2)]
        for state in states:
            method.initialize(system, state)
        for turn in turns:
            method.step(system, states[turn], 1.0 + turn, 0.05 if turn else np.inf)
        ends.append([state.to_bytes() for state in states])
        assert method.steps == 10
    assert ends[0] == ends[1] and ends[0][0] != ends[0][1]
