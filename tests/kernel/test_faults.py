"""Failures of a run: the message, the state that is left, and how the run can go on."""

import math

import numpy as np
import pytest
from kernel_parts import BouncingBall, Oscillator, system_of

import cosim


class Root(cosim.Component):
    """Law: x' = v, v' = sqrt(0.5 - t), which is NaN after 0.5 s."""

    x = cosim.position()
    v = cosim.speed()

    @cosim.kernel
    def derivatives(t, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = math.sqrt(0.5 - t)


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince"])
def test_a_nan_derivative_names_the_variable_and_leaves_the_last_good_state(method):
    simulator = cosim.Simulator(system_of(root=Root), integrator=f"integrators.{method}", accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"root\.v.*derivative is nan.*= 0\.5") as caught:
        simulator.advance_to(1.0)
    # ever shorter steps were tried, so the run ends close to where the solution ends
    assert 0.4999 < simulator.state.time <= 0.5
    assert caught.value.time == simulator.state.time
    assert simulator.state["root.v"] == pytest.approx(2.0 / 3.0 * 0.5**1.5, abs=1e-6)
    assert np.isfinite(simulator.state.y_dot).all()
    assert simulator.status.reason is cosim.Reason.INTEGRATION_FAILED
    assert simulator.statistics.rejections > 3


def test_a_nan_derivative_in_a_fixed_step_leaves_the_state_before_the_step():
    simulator = cosim.Simulator(
        system_of(root=Root), integrator="integrators.runge_kutta_merson", fixed_step=0.2
    )
    with pytest.raises(cosim.SimulationError, match=r"root\.v.*derivative is nan"):
        simulator.advance_to(1.0)
    assert simulator.state.time == 0.4
    assert np.isfinite(simulator.state.y).all()


class Bounded(cosim.Component):
    """A state whose derivative is NaN for large values; a handler makes it large at 0.5 s."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = x if x < 1e10 else math.nan

    @cosim.at([0.5], does="unrestricted")
    def jump(x_next):
        x_next[0] = 1e12


@pytest.mark.parametrize("method", ["runge_kutta_merson", "bdf"])
def test_a_nan_derivative_at_the_start_of_a_step_names_the_variable(method):
    simulator = cosim.Simulator(system_of(part=Bounded), integrator=f"integrators.{method}", accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"part\.x.*derivative is nan.*= 0\.5"):
        simulator.advance_to(1.0)
    simulator.state["part.x"] = 1.0
    assert simulator.advance_to(1.0).succeeded


class Raising(Oscillator):
    """A handler at 0.5 s that raises while `armed` is true."""

    armed = True
    kept = cosim.discrete()

    @cosim.at([0.5], does="discrete")
    def count(self, state, next_state):
        next_state["part.kept"] = 7.0
        if self.armed:
            raise ZeroDivisionError("no divisor")
        next_state["part.kept"] = 1.0


def test_a_handler_that_raises_changes_nothing_and_may_be_tried_again(monkeypatch):
    part = Raising()
    simulator = cosim.Simulator(system_of(part=part), accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"part\.count: ZeroDivisionError: no divisor") as caught:
        simulator.advance_to(1.0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (simulator.state.time, simulator.state["part.kept"]) == (0.5, 0.0)
    (record,) = simulator.events
    assert (record.handler, record.severity) == ("part.count", cosim.Severity.FAILED)
    monkeypatch.setattr(Raising, "armed", False)
    simulator.advance_to(1.0)
    assert simulator.state["part.kept"] == 1.0


def test_a_run_with_a_failed_monitor_goes_on_as_one_without():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6)
    simulator.set_monitor(lambda state: 1 / 0 if state.time > 0.3 else None)
    with pytest.raises(cosim.SimulationError, match="monitor: ZeroDivisionError"):
        simulator.advance_to(1.0)
    failure_time = simulator.state.time
    simulator.clear_monitor()
    assert simulator.advance_to(1.0).succeeded
    assert failure_time < 1.0
    untouched = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6)
    untouched.advance_to(1.0)
    assert simulator.state["o.x"] == pytest.approx(untouched.state["o.x"], abs=1e-12)


def test_a_run_that_was_interrupted_in_a_monitor_goes_on_without_loss():
    simulator = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)

    def interrupt(state):
        if state.time > 0.6:
            raise KeyboardInterrupt

    simulator.set_monitor(interrupt)
    with pytest.raises(KeyboardInterrupt):
        simulator.advance_to(1.0)
    simulator.clear_monitor()
    simulator.advance_to(1.2)
    uninterrupted = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)
    uninterrupted.advance_to(1.0)
    uninterrupted.advance_to(1.2)
    assert simulator.state["ball.bounces"] == uninterrupted.state["ball.bounces"]
    assert simulator.state["ball.height"] == pytest.approx(uninterrupted.state["ball.height"], abs=1e-6)


class LongCycle(cosim.Component):
    """Two signals that raise each other, the first one set by a user."""

    ping = cosim.signal()
    pong = cosim.signal()
    count = cosim.discrete(dtype=int)

    @cosim.on(ping, does="discrete")
    def answer(count, count_next, pong_next):
        count_next[0] = count + 1
        pong_next[0] = 1

    @cosim.on(pong, does="discrete")
    def serve(ping_next):
        ping_next[0] = 1


def test_endless_signals_are_an_error_that_names_them():
    simulator = cosim.Simulator(system_of(game=LongCycle), accuracy=1e-6)
    simulator.advance_to(0.1)
    simulator.state["game.ping"] = 1
    with pytest.raises(cosim.SimulationError, match=r"without end: game\.p[io]ng still set after 100 rounds"):
        simulator.advance_to(0.2)
    assert simulator.state.time == 0.1
