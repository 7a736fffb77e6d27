"""Methods for second-order form: q' = N(q) u, damping, evaluations, systems that they refuse."""

import math

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_integrators.second_order.semi_implicit_euler import SemiImplicitEuler
from cosim_integrators.second_order.velocity_verlet import VelocityVerlet
from cosim_integrators.second_order.yoshida_4 import Yoshida4

METHODS = [SemiImplicitEuler, VelocityVerlet, Yoshida4]


class Top(cosim.Component):
    """A free rigid body with moments 1, 2, 3: quaternion and angular speed in body axes, drag of the air."""

    q = cosim.position(shape=4, start=[1.0, 0.0, 0.0, 0.0])
    w = cosim.speed(shape=3, start=[0.3, 1.0, 0.2])
    heat = cosim.auxiliary_state()
    damping = cosim.parameter(default=0.0)

    @cosim.kernel
    def motion(q, w, damping, q_dot, w_dot, heat_dot):
        q_dot[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2])
        q_dot[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1])
        q_dot[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2])
        q_dot[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])
        w_dot[0] = (2.0 - 3.0) / 1.0 * w[1] * w[2] - damping * w[0]
        w_dot[1] = (3.0 - 1.0) / 2.0 * w[2] * w[0] - damping * w[1]
        w_dot[2] = (1.0 - 2.0) / 3.0 * w[0] * w[1] - damping * w[2]
        heat_dot[0] = damping * (w[0] * w[0] + 2.0 * w[1] * w[1] + 3.0 * w[2] * w[2])


class Lathe(cosim.Component):
    """An angle whose rate is the speed only where the angle is 0: the first steps look as if q' = u."""

    angle = cosim.position(start=0.0)
    speed = cosim.speed(start=1.0)

    @cosim.kernel
    def motion(angle, speed, angle_dot, speed_dot):
        angle_dot[0] = speed / math.cos(angle) if angle > 0.3 else speed
        speed_dot[0] = -angle


def system_of(part, **values):
    """Return a system of one part."""
    model = cosim.Model("m")
    model.add(part, "part", **values)
    return model.build()


def end(method, system, step, until):
    """Return the integrator and the State at the end of a run with fixed steps."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = method(fixed_step=step)
    integrator.initialize(system, state)
    assert integrator.advance(system, state, until) is kit.StepCode.DONE
    return integrator, state


@pytest.mark.by_turns
@pytest.mark.parametrize("damping", [0.0, 0.4])
@pytest.mark.parametrize("method", METHODS)
def test_order_with_quaternions_and_damping(method, damping) -> None:
    system = system_of(Top, damping=damping)
    simulator = cosim.Simulator(system, integrator="integrators.dormand_prince_853", accuracy=1e-13)
    simulator.advance_to(2.0)
    errors = []
    for number in (20, 40, 80):
        _, state = end(method, system, 2.0 / number, 2.0)
        errors.append(np.abs(state.y - simulator.state.y).max())
    slope = -np.polyfit(np.log([20, 40, 80]), np.log(errors), 1)[0]
    assert slope == pytest.approx(method.order, abs=0.35)


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_free_body_returns_to_its_start_with_reversed_speeds(method) -> None:
    system = system_of(Top)
    integrator, state = end(method, system, 0.1, 5.0)
    start = system.default_state()
    assert np.abs(state.q - start.q).max() > 0.1
    state.set_u(-state.u)
    state.realize(cosim.Stage.ACCELERATION)
    integrator.restart(system, state)
    integrator.advance(system, state, 10.0)
    assert np.abs(state.q - start.q).max() < 1e-11


@pytest.mark.parametrize("method", METHODS)
def test_rates_that_stop_being_the_speeds_are_detected(method) -> None:
    system = system_of(Lathe)
    _, state = end(method, system, 0.1, 0.25)
    assert state.integrator_memory[-1] == 0.0
    integrator, state = end(method, system, 0.1, 0.5)
    assert state.integrator_memory[-1] == 1.0
    # the step across uses the rates of both ends like later ones, so redoing it gives the same bytes
    y = state.y.copy()
    assert integrator.redo(system, state, 0.45) is kit.StepCode.DONE
    assert integrator.redo(system, state, 0.5) is kit.StepCode.DONE
    assert state.y.tobytes() == y.tobytes()


def test_evaluations_without_damping() -> None:
    class Free(cosim.Component):
        """Forces depend on the position alone."""

        x = cosim.position(start=1.0)
        v = cosim.speed()

        @cosim.kernel
        def motion(x, v, x_dot, v_dot):
            x_dot[0] = v
            v_dot[0] = -x * x * x

    counts = [end(method, system_of(Free), 0.1, 10.0)[0].statistics.evaluations for method in METHODS]
    assert counts == [100, 200, 600]


def test_strong_damping_is_reported() -> None:
    class Brake(cosim.Component):
        """A brake much too strong for the step."""

        x = cosim.position()
        v = cosim.speed(start=1.0)

        @cosim.kernel
        def motion(v, x_dot, v_dot):
            x_dot[0] = v
            v_dot[0] = -1e3 * v

    simulator = cosim.Simulator(system_of(Brake), integrator=VelocityVerlet, fixed_step=0.1)
    with pytest.raises(cosim.SimulationError, match="solved: shorten"):
        simulator.advance_to(1.0)
    assert simulator.state["part.v"] == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_refused_without_second_order_form(method) -> None:
    class Tank(cosim.Component):
        """Only z."""

        level = cosim.auxiliary_state(start=1.0)

        @cosim.kernel
        def flow(level, level_dot):
            level_dot[0] = -level

    class Drifting(cosim.Component):
        """A position that moves by itself."""

        x = cosim.position()
        v = cosim.speed()

        @cosim.kernel
        def motion(v, x_dot, v_dot):
            x_dot[0] = v + 1.0
            v_dot[0] = 0.0

    with pytest.raises(cosim.SimulationError, match=f"{method.__name__} is for .* has no coordinates"):
        cosim.Simulator(system_of(Tank), integrator=method, fixed_step=0.1).advance_to(1.0)
    with pytest.raises(cosim.SimulationError, match="part.x changes.*0"):
        cosim.Simulator(system_of(Drifting), integrator=method, fixed_step=0.1).advance_to(1.0)
