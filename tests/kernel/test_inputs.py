"""Inputs of a system are held, or follow a ramp from the present time on."""

import math

import numpy as np
import pytest

import cosim


class Integrating(cosim.Component):
    """The integrals of an input vector, and its derivative, which is NaN where the input is held."""

    u = cosim.input(unit="m/s", shape=2)
    x = cosim.auxiliary_state(unit="m", shape=2)
    rate = cosim.output(unit="m/s2", shape=2)

    @cosim.kernel
    def derivatives(u, x_dot):
        x_dot[0] = u[0]
        x_dot[1] = u[1]

    @cosim.kernel
    def slope(u_dot, rate):
        rate[0] = u_dot[0]
        rate[1] = u_dot[1]


def build_system() -> cosim.System:
    model = cosim.Model("inputs")
    model.add(Integrating, "part", u=(1.0, 2.0))
    return model.build()


def test_an_input_follows_a_ramp_until_it_is_held() -> None:
    system = build_system()
    state = system.default_state()
    state.set_time(3.0)
    simulator = cosim.Simulator(system, state, accuracy=1e-9)
    simulator.initialize()
    system.write_slope(state, "part.u[1]", 4.0)
    simulator.advance_to(3.5)
    assert state["part.x"] == pytest.approx([0.5, 2.0 * 0.5 + 4.0 * 0.125])
    assert state["part.u"].tolist() == [1.0, 4.0]
    assert np.array_equal(state["part.rate"], [math.nan, 4.0], equal_nan=True)
    system.write_slope(state, "part.u", [0.0, -8.0])  # from its present value
    simulator.advance_to(4.0)
    assert state["part.u"].tolist() == [1.0, 0.0]
    assert state["part.x"] == pytest.approx([1.0, 1.5 + 1.0])
    system.hold_inputs(state)
    simulator.advance_to(5.0)
    assert state["part.u"].tolist() == [1.0, 0.0]
    assert state["part.x"] == pytest.approx([2.0, 2.5])
    assert np.isnan(state["part.rate"]).all()


def test_writing_an_element_ends_its_ramp() -> None:
    system = build_system()
    state = system.default_state()
    system.write_slope(state, "part.u", [1.0, 1.0])
    state["part.u[0]"] = 5.0
    state.set_time(2.0)
    state.realize(cosim.Stage.ACCELERATION)
    assert state["part.u"].tolist() == [5.0, 4.0]


def test_a_ramp_is_part_of_the_state() -> None:
    system = build_system()
    state = system.default_state()
    system.write_slope(state, "part.u", [1.0, -1.0])
    restored = system.state_from_bytes(state.to_bytes())
    for each in (state, restored):
        simulator = cosim.Simulator(system, each, accuracy=1e-6)
        simulator.initialize()
        simulator.advance_to(1.0)
    assert state.y.tobytes() == restored.y.tobytes()
    assert state["part.x"] == pytest.approx([1.5, 1.5])


def test_a_slope_of_another_variable_or_shape_is_refused() -> None:
    system = build_system()
    state = system.default_state()
    for path, slope, message in (
        ("part.x", [0.0, 0.0], "part.x: only an input can follow a ramp"),
        ("part.u", 1.0, "part.u: its slope is 1.0, needs 2 finite numbers"),
        ("part.u[0]", math.nan, "needs 1 finite numbers"),
    ):
        with pytest.raises(cosim.StateError, match=message.replace("(", r"\(")):
            system.write_slope(state, path, slope)
