"""Dense output with stages of its own: taken only when it is asked for, and never seen by the State."""

import numpy as np
import pytest

import cosim
from cosim.testing.known_solution import exact, known_system
from cosim_integrators.dormand_prince_853 import DormandPrince853


def started(system, **options):
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = DormandPrince853(**options)
    integrator.initialize(system, state)
    return integrator, state


def test_only_steps_that_are_looked_into_take_them() -> None:
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
    assert integrator.statistics.evaluations == before + 3 + 12 + 3


def test_a_run_that_is_looked_into_goes_the_same_way() -> None:
    system, out = known_system(), np.zeros(3)
    one, state = started(system, accuracy=1e-9)
    other, watched = started(system, accuracy=1e-9)
    while state.time < 10.0:
        one.step(system, state, 10.0)
        other.step(system, watched, 10.0)
        other.interpolate(0.5 * (other.previous_time + watched.time), out)
        assert state.to_bytes() == watched.to_bytes()


class Sampled(cosim.Component):
    """Its force is the position at the start of each step."""

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


def test_what_is_swapped_at_the_end_of_a_step_does_not_reach_into_it() -> None:
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
