"""Closed loops that pass singular positions stay on their branch; a finding says where they may leave it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from singular_mechanisms import (
    CORNERS,
    GRAVITY,
    UPRIGHT,
    bricard,
    bricard_corners,
    exact_angle,
    exact_bricard,
    exact_parallel,
    four_bars,
    parallel_rods,
)
from singular_runs import errors, signals, singular_findings

import cosim
from cosim_dynamics import constraint_jacobian
from cosim_mechanics import Multibody


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["dormand_prince", "runge_kutta_merson"])
@pytest.mark.parametrize("loops", [1, 2, 5, *(pytest.param(n, marks=pytest.mark.thorough) for n in (10, 40))])
def test_four_bars_turn_through_one_line(loops: int, method: str) -> None:
    model = four_bars(loops)
    options = {"until": 5.0, "integrator": f"integrators.{method}", "output_interval": 0.01}
    result = model.simulate(accuracy=1e-8, signals=signals(loops), **options)
    assert np.ptp(result["pin0.angle"]) > 10.0
    assert errors(result, loops).max() < 3e-6


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-9, 1e-10])
def test_errors_follow_the_accuracy(accuracy: float) -> None:
    result = four_bars(2).simulate(
        until=5.0, integrator="integrators.dormand_prince", accuracy=accuracy, signals=signals(2)
    )
    assert errors(result, 2).max() < 300 * accuracy


@pytest.mark.parametrize("turned", [0.3, 0.7, 2.0])
def test_positions_where_an_equation_repeats_another(turned: float) -> None:
    """With turned axes of Ground the two equations of a closure become equal; none becomes empty."""
    for method, loops in (("dormand_prince", 1), ("runge_kutta_merson", 2)):
        result = four_bars(loops, turned=turned).simulate(
            until=5.0, integrator=f"integrators.{method}", accuracy=1e-8, signals=signals(loops)
        )
        assert errors(result, loops, turned).max() < 3e-6


@pytest.mark.parametrize("length", [1e-3, 1e3])
def test_rods_of_any_length_pass(length: float) -> None:
    speed, until = -1.0 / np.sqrt(length), 5.0 * np.sqrt(length)
    result = four_bars(2, speed, length).simulate(
        until=until, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(2)
    )
    assert errors(result, 2, speed=speed, length=length).max() < 3e-6


def test_fixed_steps_pass() -> None:
    result = four_bars(2).simulate(
        until=5.0, integrator="integrators.runge_kutta_4", fixed_step=1e-3, signals=signals(2)
    )
    assert errors(result, 2).max() < 1e-6


def test_a_motion_that_comes_to_rest_in_a_singular_position_is_a_finding() -> None:
    """It could continue along either branch; the finding names the constraint and the time."""
    weight, inertia = 2 * GRAVITY, 5 / 3
    speed = float(np.sqrt(2 * weight * np.sin(0.5) / inertia))
    for accuracy in (1e-6, 1e-8):
        result = four_bars(1, speed, angle=-0.5).simulate(
            until=0.6,
            integrator="integrators.dormand_prince",
            accuracy=accuracy,
            signals=["pin0.angle", "pin1.angle"],
        )
        highest = np.argmax(result["pin0.angle"])
        assert abs(result["pin0.angle"][highest]) < 1e-4
        (time, name), *_ = singular_findings(result)
        assert name == "closure0.singular"
        assert abs(time - result.time[highest]) < 0.06


def test_a_step_that_ends_near_a_singular_position_is_a_finding() -> None:
    result = four_bars(1).simulate(
        until=1.0, integrator="integrators.runge_kutta_4", fixed_step=2e-4, signals=["pin0.angle"]
    )
    ((time, name),) = singular_findings(result)
    assert name == "closure0.singular"
    angle = exact_angle(1, [0.0, time])[-1]
    assert abs(np.sin(angle)) < 0.02
    (finding,) = (f for f in result.findings if f.witness == name)
    assert "motion meet" in finding.message


def test_a_slider_crank_with_equal_lengths_keeps_sliding() -> None:
    """With the crank across the guide the slider is at the crank's axis and could stay there."""
    model = Multibody("slider_crank")
    for name in ("crank", "rod"):
        model.body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    model.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("pin", name="shaft", child="crank", q=0.3, u=2.0)
    model.joint("pin", name="knee", child="rod", parent="crank", frame_on_parent=(1, 0, 0), q=-0.6, u=-4.0)
    model.joint("slider", name="guide", child="block", q=2 * np.cos(0.3), u=-4.0 * np.sin(0.3))
    model.constraint("ball_constraint", "closure", body1="rod", body2="block", point1=(1, 0, 0))
    for accuracy in (1e-6, 1e-8, 1e-9):
        result = model.simulate(
            until=8.0,
            integrator="integrators.dormand_prince",
            accuracy=accuracy,
            signals=["shaft.angle", "knee.angle", "guide.position", "energy.total"],
        )
        shaft = np.asarray(result["shaft.angle"])
        assert shaft[-1] > 8.0
        assert np.abs(result["guide.position"] - 2 * np.cos(shaft)).max() < 1e3 * accuracy
        assert np.abs(np.asarray(result["knee.angle"]) + 2 * shaft).max() < 1e3 * accuracy
        assert np.ptp(result["energy.total"]) < 1e3 * accuracy


def test_positions_that_are_not_singular_are_solved_exactly() -> None:
    """Equations are weakened only below an angle of 0.01."""
    for angle in (0.05, 0.5, 1.5):
        system = four_bars(2, angle=angle).build()
        state = system.default_state().realize(cosim.Stage.ACCELERATION)
        u_dot = np.asarray(state.y_dot[system.nq : system.nq + system.nu])
        G = constraint_jacobian(system, state)
        weight, inertia = (1.5 + 2.0) * GRAVITY, 1.0 + 2.0
        expected = -weight * np.cos(angle) / inertia
        assert np.allclose(u_dot, expected * np.array([1, 1, 1, -1, -1]), rtol=1e-12, atol=1e-10)
        assert np.linalg.matrix_rank(G) == 4
        assert not state["closure0.singular"]


@pytest.mark.thorough
def test_bricards_mechanism() -> None:
    """A redundant equation everywhere is reported, but is no singular position."""
    closed = [bricard_corners(a)[-1] - CORNERS[-1] for a in np.linspace(-3.2, 0.05, 20)]
    assert np.abs(closed).max() < 1e-12
    model = bricard()
    for accuracy, most_steps in ((1e-4, 150), (1e-6, 300), (1e-8, 800)):
        result = model.simulate(
            until=10.0,
            integrator="integrators.dormand_prince",
            accuracy=accuracy,
            output_interval=0.02,
            signals=["hinge0.angle", "hinge1.angle", "hinge4.angle", "energy.total"],
        )
        exact = exact_bricard(result.time)
        assert np.ptp(exact) > 3.1
        assert np.abs(result["hinge0.angle"] - exact).max() < 100 * accuracy
        assert np.abs(result["hinge4.angle"] - exact).max() < 100 * accuracy
        assert result.statistics["integrator_steps"] < most_steps
        assert any(f.witness.endswith(".redundant") for f in result.findings)
        assert not singular_findings(result)


@pytest.mark.by_turns
@pytest.mark.parametrize(("angle", "speed"), [(UPRIGHT, -1.0), (1e-6, -1.0), (0.0, -1.0), (0.0, 0.0)])
@pytest.mark.parametrize("rods", [3, 4])
def test_redundant_rods_pass_singular_positions(rods: int, angle: float, speed: float) -> None:
    result = parallel_rods(rods, angle, speed).simulate(
        until=5.0, accuracy=1e-8, signals=["pin0.angle", f"pin{rods - 1}.angle"]
    )
    exact = exact_parallel(rods, result.time, angle, speed)
    for signal in ("pin0.angle", f"pin{rods - 1}.angle"):
        assert np.abs(np.asarray(result[signal]) - exact).max() < 1e-6
    witnesses = {f.witness for f in result.findings}
    assert {f"closure{i}.redundant" for i in range(1, rods)} <= witnesses
    assert angle == UPRIGHT or any(name.endswith(".singular") for name in witnesses)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("velocity_verlet", {"fixed_step": 1e-3}),
        ("velocity_verlet", {"fixed_step": 0.03}),
        ("generalized_alpha", {"fixed_step": 0.01}),
        ("implicit_euler", {"fixed_step": 0.01}),
        ("bdf", {"accuracy": 1e-8}),
    ],
)
def test_the_error_of_a_method_that_cannot_pass_names_methods_that_can(
    method: str, options: dict[str, float]
) -> None:
    with pytest.raises(cosim.SimulationError) as caught:
        four_bars(1).simulate(until=2.0, integrator=f"integrators.{method}", signals=signals(1), **options)
    message = str(caught.value)
    assert re.search(r"At about t = \S+ s closure0 is in a singular position", message), message
    assert "integrators.runge_kutta_merson" in message
    exact = exact_angle(1, [0.0, caught.value.time])[-1]
    assert abs(np.sin(exact)) < 0.25


@pytest.mark.parametrize("second_acceleration", [2.0, 1.0])
def test_accelerations_that_contradict_each_other_are_refused(second_acceleration: float) -> None:
    """Equal accelerations are met; least squares would answer 1 and 2 m/s2 with 1.5."""
    model = Multibody("pulled", gravity=(0, 0, 0))
    model.body("block", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", name="guide", child="block")
    for name, acceleration in (("one", 1.0), ("two", second_acceleration)):
        model.constraint("constant_acceleration", name, coordinate="guide", acceleration=acceleration)
    if second_acceleration != 1.0:
        with pytest.raises(cosim.SimulationError, match="accelerations contradict"):
            model.simulate(until=1.0)
        return
    assert model.simulate(until=1.0)["guide.position"][-1] == pytest.approx(0.5)
