"""What can go wrong in a run: what is said, what is left, how to go on."""

import math

import numpy as np
import pytest
from kernel_parts import BouncingBall, Oscillator, system_of

import cosim


class Root(cosim.Component):
    """A speed whose derivative ends to exist at 0.5 s, and a position that follows it."""

    x = cosim.position()
    v = cosim.speed()

    @cosim.kernel
    def derivatives(t, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = math.sqrt(0.5 - t)


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince"])
def test_a_derivative_that_is_nan_names_the_variable_and_leaves_the_last_good_state(method):
    simulator = cosim.Simulator(system_of(root=Root), integrator=f"integrators.{method}", accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"root\.v.*derivative is nan.*= 0\.5") as caught:
        simulator.advance_to(1.0)
    # it was tried again smaller and smaller: all of the time in which there is a solution was used
    assert 0.4999 < simulator.state.time <= 0.5
    assert caught.value.time == simulator.state.time
    assert simulator.state["root.v"] == pytest.approx(2.0 / 3.0 * 0.5**1.5, abs=1e-6)
    assert np.isfinite(simulator.state.y_dot).all()
    assert simulator.status.reason is cosim.Reason.INTEGRATION_FAILED
    assert simulator.statistics.rejections > 3


def test_a_derivative_that_is_nan_under_fixed_steps():
    simulator = cosim.Simulator(
        system_of(root=Root), integrator="integrators.runge_kutta_merson", fixed_step=0.2
    )
    with pytest.raises(cosim.SimulationError, match=r"root\.v.*derivative is nan"):
        simulator.advance_to(1.0)
    assert simulator.state.time == 0.4
    assert np.isfinite(simulator.state.y).all()


class Bounded(cosim.Component):
    """A state whose derivative is there for small values alone; a handler makes it large."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = x if x < 1e10 else math.nan

    @cosim.at([0.5], does="unrestricted")
    def jump(x_next):
        x_next[0] = 1e12


@pytest.mark.parametrize("method", ["runge_kutta_merson", "bdf"])
def test_a_derivative_that_is_nan_where_a_step_begins_is_named_too(method):
    simulator = cosim.Simulator(system_of(part=Bounded), integrator=f"integrators.{method}", accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"part\.x.*derivative is nan.*= 0\.5"):
        simulator.advance_to(1.0)
    simulator.state["part.x"] = 1.0
    assert simulator.advance_to(1.0).succeeded


class Raising(Oscillator):
    """A handler that raises while it is told to."""

    armed = True
    kept = cosim.discrete()

    @cosim.at([0.5], does="discrete")
    def count(self, state, next_state):
        next_state["part.kept"] = 7.0
        if self.armed:
            raise ZeroDivisionError("no divisor")
        next_state["part.kept"] = 1.0


def test_a_handler_that_raises_leaves_the_state_before_it_and_can_be_mended(monkeypatch):
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


def test_a_failed_monitor_does_not_poison_the_next_call():
    simulator = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6)
    simulator.set_monitor(lambda state: 1 / 0 if state.time > 0.3 else None)
    with pytest.raises(cosim.SimulationError, match="monitor: ZeroDivisionError"):
        simulator.advance_to(1.0)
    time = simulator.state.time
    simulator.clear_monitor()
    assert simulator.advance_to(1.0).succeeded
    assert time < 1.0
    untouched = cosim.Simulator(system_of(o=Oscillator), accuracy=1e-6)
    untouched.advance_to(1.0)
    assert simulator.state["o.x"] == pytest.approx(untouched.state["o.x"], abs=1e-12)


def test_an_interrupt_in_a_monitor_leaves_a_state_at_the_end_of_a_step():
    simulator = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)

    def interrupt(state):
        if state.time > 0.6:
            raise KeyboardInterrupt

    simulator.set_monitor(interrupt)
    with pytest.raises(KeyboardInterrupt):
        simulator.advance_to(1.0)
    simulator.clear_monitor()
    simulator.advance_to(1.2)
    whole = cosim.Simulator(system_of(ball=BouncingBall), accuracy=1e-6)
    whole.advance_to(1.0)
    whole.advance_to(1.2)
    assert simulator.state["ball.bounces"] == whole.state["ball.bounces"]
    assert simulator.state["ball.height"] == pytest.approx(whole.state["ball.height"], abs=1e-6)


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


def test_cascades_are_bounded_and_named():
    simulator = cosim.Simulator(system_of(game=LongCycle), accuracy=1e-6)
    simulator.advance_to(0.1)
    simulator.state["game.ping"] = 1
    with pytest.raises(cosim.SimulationError, match=r"without end: game\.p[io]ng still set after 100 rounds"):
        simulator.advance_to(0.2)
    assert simulator.state.time == 0.1
