"""Equilibria and linear systems against closed forms."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_dynamics import Tangent, equilibrium, linearize, start_values
from cosim_mechanics import Multibody


class Filter(cosim.Component):
    """A low-pass filter: x' = (in - x) / T, with the output 2 x + 3 in."""

    signal_in = cosim.input(unit="1")
    time_constant = cosim.parameter(unit="s", default=0.5)
    x = cosim.auxiliary_state(unit="1")
    signal_out = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(x, signal_in, time_constant, x_dot):
        x_dot[0] = (signal_in - x) / time_constant

    @cosim.kernel
    def result(x, signal_in, signal_out):
        signal_out[0] = 2.0 * x + 3.0 * signal_in


MOUNT_FILE = """
[model]
name = "mount"
[bodies.engine]
mass = 10.0
inertia = [1, 1, 1]
joint = "free"
[elements.rubber]
type = "mechanics.linear_bushing"
body1 = "ground"
body2 = "engine"
stiffness = [100, 200, 300, 1e4, 2e4, 3e4]
damping = [0, 0, 0, 0, 0, 40]
"""

ROD_FILE = """
[model]
name = "rod"
gravity = [0, -9.81, 0]
[bodies.rod]
mass = 1.0
center_of_mass = [1, 0, 0]
inertia = [0, 0.1, 0.1]
joint = {{ type = "pin", q = {} }}
"""


def mount(damping=40.0):
    """Return 10 kg on a bushing that is stiff in all six directions."""
    model = Multibody("mount")
    model.body("engine", mass=10.0, inertia=(1.0, 1.0, 1.0))
    model.joint("free", name="joint", child="engine")
    model.add(
        "mechanics.linear_bushing",
        "rubber",
        body1="ground",
        body2="engine",
        stiffness=[100.0, 200.0, 300.0, 1e4, 2e4, 3e4],
        damping=[0.0, 0.0, 0.0, 0.0, 0.0, damping],
    )
    return model


def rod(angle):
    """Return a physical pendulum at an angle; at a right angle it stands upright."""
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    body = model.body("rod", mass=1.0, center_of_mass=(1, 0, 0), inertia=(0, 0.1, 0.1))
    model.joint("pin", name="hinge", child=body, q=angle)
    return model


def test_matrices_of_a_linear_system():
    model = cosim.Model("filter")
    model.add(Filter, "low_pass")
    linear = linearize(model.build(), inputs=["low_pass.signal_in"], outputs=["low_pass.signal_out"])
    assert (linear.states, linear.inputs, linear.outputs) == (
        ["low_pass.x"],
        ["low_pass.signal_in"],
        ["low_pass.signal_out"],
    )
    assert pytest.approx(np.array([[-2.0]]), rel=1e-11) == linear.A
    assert pytest.approx(np.array([[2.0]]), rel=1e-11) == linear.B
    assert pytest.approx(np.array([[2.0]]), rel=1e-11) == linear.C
    assert pytest.approx(np.array([[3.0]]), rel=1e-11) == linear.D
    (mode,) = linear.modes()
    assert not mode.oscillates
    assert mode.time_constant == pytest.approx(0.5)


def test_a_filter_settles_at_its_input():
    model = cosim.Model("filter")
    model.add(Filter, "low_pass")
    system = model.build()
    state = system.default_state()
    state["low_pass.signal_in"] = 3.0
    at_rest = equilibrium(system, state)
    assert at_rest["low_pass.x"] == pytest.approx(3.0, rel=1e-12)
    assert start_values(at_rest) == {"low_pass.x": pytest.approx(3.0)}


def test_a_model_of_fixed_bodies_has_no_modes():
    model = Multibody("fixed")
    model.body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("weld", child="block")
    system = model.build()
    linear = linearize(system, equilibrium(system))
    assert (linear.states, linear.modes()) == ([], [])


def test_an_engine_sinks_into_its_mount_and_swings_there():
    system = mount().build()
    at_rest = equilibrium(system)
    assert at_rest["joint.q"] == pytest.approx([1, 0, 0, 0, 0, 0, -98.1 / 3e4], abs=1e-12)
    modes = [mode for mode in linearize(system, at_rest).modes() if mode.oscillates]
    expected = sorted(math.sqrt(k) for k in (100.0, 200.0, 300.0, 1e3, 2e3, 3e3))
    assert [2 * math.pi * m.frequency for m in modes] == pytest.approx(expected, rel=1e-8)
    assert modes[-1].damping_ratio == pytest.approx(40.0 / (2.0 * math.sqrt(3e4 * 10.0)), rel=1e-8)
    assert modes[0].damping_ratio == pytest.approx(0.0, abs=1e-9)


def test_a_pendulum_on_a_ball_hangs_down_wherever_it_starts():
    model = Multibody("pendulum")
    model.body("bob", mass=1.0, center_of_mass=(0, 0, 1), inertia=(0.5, 0.5, 0.1))
    model.joint("ball", name="ball", child="bob", q=(0.99, 0.1, 0.05, 0.0))
    system = model.build()
    at_rest = equilibrium(system)
    assert at_rest["bob.X_GB"][8] == pytest.approx(-1.0, abs=1e-12)
    assert np.linalg.norm(at_rest["ball.q"]) == pytest.approx(1.0)
    linear = linearize(system, at_rest)
    assert linear.states[:3] == [f"integral of ball.u[{i}]" for i in range(3)]
    swinging = [mode.frequency * 2 * math.pi for mode in linear.modes() if mode.oscillates]
    assert swinging == pytest.approx([math.sqrt(9.81 / 1.5)] * 2, rel=1e-9)


def test_small_changes_of_a_moving_state_grow_as_the_matrix_says():
    model = Multibody("top")
    model.body("top", mass=1.0, center_of_mass=(0, 0, 0.3), inertia=(0.1, 0.1, 0.05))
    model.joint("ball", name="ball", child="top", u=(0.4, -0.3, 5.0))
    system = model.build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    linear, tangent = linearize(system, state), Tangent(state)
    x = 1e-5 * np.arange(1.0, 7.0)
    h = 1e-5

    def change(time):
        """Return the difference of two neighbouring runs, in the tangent at the end of the first."""
        ends = []
        for y in (np.array(state.y), tangent.moved(np.array(state.y), x)):
            start = state.copy()
            start.set_y(y)
            simulator = cosim.Simulator(
                system, start, integrator="integrators.runge_kutta_merson", fixed_step=abs(time)
            )
            simulator.initialize()
            simulator.advance_to(time)
            ends.append(simulator.state)
        return Tangent(ends[0].realize(cosim.Stage.ACCELERATION)).inverse @ (ends[1].y - ends[0].y)

    growth_rate = (change(h) - tangent.inverse @ (tangent.moved(np.array(state.y), x) - state.y)) / h
    assert growth_rate == pytest.approx(linear.A @ x, abs=2e-4 * abs(linear.A @ x).max())


@pytest.mark.thorough
def test_a_state_that_does_not_settle_is_named():
    model = Multibody("falling")
    model.body("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("free", name="joint", child="stone")
    with pytest.raises(cosim.SimulationError, match=r"joint.u\[5\].*settle, its rate.*-9.81"):
        equilibrium(model.build())


def test_wrong_names_and_kinds_are_refused():
    system = mount().build()
    with pytest.raises(cosim.LookUpError, match="rubber.stiffness"):
        linearize(system, inputs=["rubber.stifness"])
    with pytest.raises(ValueError, match="engine.z.*linear system"):
        linearize(system, inputs=["engine.z"])


def test_the_commands_equilibrium_and_linearize(tmp_path, capsys):
    path = tmp_path / "mount.toml"
    path.write_text(MOUNT_FILE)
    assert main(["equilibrium", str(path), "-o", str(tmp_path / "starts.toml")]) == 0
    assert '"engine_joint.q" = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.00327]' in capsys.readouterr().out
    target = tmp_path / "linear.json"
    assert main(["linearize", str(path), "--outputs", "engine.z", "-o", str(target)]) == 0
    output = capsys.readouterr().out
    assert "13 states, 0 inputs, 1 output" in output
    assert "1.59155 Hz" in output
    linear = json.loads(target.read_text())
    assert linear["outputs"] == ["engine.z"]
    assert len(linear["A"]) == 13
    assert main(["linearize", str(path), "--about", "start", "--outputs", "engine.V*"]) == 0
    assert "0 inputs, 6 outputs" in capsys.readouterr().out
    assert main(["linearize", str(path), "--outputs", "engine.zz"]) == 2
    assert "engine.z" in capsys.readouterr().err


def test_the_equilibrium_of_a_closed_loop_meets_its_constraint():
    model = Multibody("four_bar", gravity=(0.0, -9.81, 0.0))
    for name, length in {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}.items():
        moment = length**3 / 12
        model.body(name, mass=length, center_of_mass=(length / 2, 0, 0), inertia=(0.001, moment, moment))
    model.joint("pin", child="crank", q=1.0)
    model.joint("pin", child="coupler", parent="crank", frame_on_parent=(0.4, 0, 0), q=-0.5)
    model.joint("pin", child="rocker", frame_on_parent=(1.0, 0, 0), q=1.5)
    ends = {"point1": (1, 0, 0), "point2": (0.8, 0, 0)}
    model.add("mechanics.ball_constraint", "closure", body1="coupler", body2="rocker", **ends)
    at_rest = equilibrium(model.build())
    assert abs(at_rest["closure.position_error"]).max() < 1e-9
    assert abs(at_rest.y_dot).max() < 1e-9


@pytest.mark.by_turns
@pytest.mark.parametrize("offset", [1e-9, 1e-8, 1e-6, 1e-4, 0.01, 0.5])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_beside_an_unstable_equilibrium_the_search_leaves_it(offset, side):
    at_rest = equilibrium(rod(0.5 * math.pi + side * offset).build())
    assert at_rest["hinge.q"][0] == pytest.approx(0.5 * math.pi + side * math.pi, abs=1e-9)


def test_a_search_that_starts_in_an_unstable_equilibrium_stays_and_reports_it(tmp_path, capsys):
    system = rod(0.5 * math.pi).build()
    at_rest = equilibrium(system)
    assert at_rest["hinge.q"][0] == 0.5 * math.pi
    ((state, mode),) = linearize(system, at_rest).growing()
    assert state == "hinge.u"
    assert mode.eigenvalue.real == pytest.approx(math.sqrt(9.81 / 1.1), rel=1e-8)
    assert linearize(system, equilibrium(rod(0.3).build())).growing() == []
    path = tmp_path / "rod.toml"
    for angle, is_stable in ((repr(0.5 * math.pi), False), ("1.0", True)):
        path.write_text(ROD_FILE.format(angle))
        assert main(["equilibrium", str(path)]) == 0
        output = capsys.readouterr().out
        assert output.startswith("[starts]") == is_stable
        assert ("equilibrium is unstable: rod_joint.u" in output) != is_stable


def test_a_model_without_states_is_in_equilibrium_and_has_empty_matrices() -> None:
    model = cosim.Model("signal")
    model.add("signals.ramp", "ramp", height=2.0)
    system = model.build()
    at_rest = equilibrium(system)
    assert start_values(at_rest) == {}
    linear = linearize(system, at_rest, [], [])
    assert linear.A.shape == (0, 0) and linear.C.shape == (0, 0) and linear.growing() == []
