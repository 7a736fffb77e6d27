"""Closed loops that pass singular positions keep to their branch, or a finding says where they may not."""

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

import cosim
from cosim_dynamics import constraint_jacobian
from cosim_mechanics import Multibody


def errors(result: cosim.Result, loops: int, turned: float = 0.0, **how: float) -> np.ndarray:
    """Of the first and the last rod, and how far the couplers turn."""
    exact = exact_angle(loops, result.time, **how) + turned
    first, last = (np.asarray(result[f"pin{i}.angle"]) for i in (0, loops))
    coupler = first - turned + np.asarray(result[f"tip{loops - 1}.angle"])
    return np.abs([first - exact, last - exact, coupler]).max(axis=1)


def signals(loops: int) -> list[str]:
    return ["pin0.angle", f"pin{loops}.angle", f"tip{loops - 1}.angle"]


def singular(result: cosim.Result) -> list[tuple[float, str]]:
    return [(f.time, f.witness) for f in result.findings if f.witness.endswith(".singular")]


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
def test_at_every_accuracy(accuracy: float) -> None:
    result = four_bars(2).simulate(
        until=5.0, integrator="integrators.dormand_prince", accuracy=accuracy, signals=signals(2)
    )
    assert errors(result, 2).max() < 300 * accuracy


@pytest.mark.parametrize("turned", [0.3, 0.7, 2.0])
def test_where_an_equation_repeats_another_instead_of_vanishing(turned: float) -> None:
    """With Ground's axes turned both equations of a closure remain, and become one."""
    for method, loops in (("dormand_prince", 1), ("runge_kutta_merson", 2)):
        result = four_bars(loops, turned=turned).simulate(
            until=5.0, integrator=f"integrators.{method}", accuracy=1e-8, signals=signals(loops)
        )
        assert errors(result, loops, turned).max() < 3e-6


@pytest.mark.parametrize("length", [1e-3, 1e3])
def test_lengths_do_not_matter(length: float) -> None:
    speed, until = -1.0 / np.sqrt(length), 5.0 * np.sqrt(length)
    result = four_bars(2, speed, length).simulate(
        until=until, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(2)
    )
    assert errors(result, 2, speed=speed, length=length).max() < 3e-6


def test_fixed_steps() -> None:
    result = four_bars(2).simulate(
        until=5.0, integrator="integrators.runge_kutta_4", fixed_step=1e-3, signals=signals(2)
    )
    assert errors(result, 2).max() < 1e-6


def test_a_motion_that_comes_to_rest_there_is_a_finding() -> None:
    """It could go on along either branch; the finding names the constraint and the time."""
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
        (time, name), *_ = singular(result)
        assert name == "closure0.singular"
        assert abs(time - result.time[highest]) < 0.06


def test_a_step_that_ends_near_one_is_a_finding_with_its_time() -> None:
    result = four_bars(1).simulate(
        until=1.0, integrator="integrators.runge_kutta_4", fixed_step=2e-4, signals=["pin0.angle"]
    )
    ((time, name),) = singular(result)
    assert name == "closure0.singular"
    angle = exact_angle(1, [0.0, time])[-1]
    assert abs(np.sin(angle)) < 0.02
    (finding,) = (f for f in result.findings if f.witness == name)
    assert "motion meet" in finding.message


def test_a_slider_crank_with_equal_lengths_keeps_sliding() -> None:
    """With the crank across the line the slider is on its axis, and could stay there."""
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


def test_ordinary_positions_are_solved_as_ever() -> None:
    """Only below an angle of 0.01 does an equation count less: elsewhere nothing is damped."""
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
    closed = [bricard_corners(a)[-1] - CORNERS[-1] for a in np.linspace(-3.2, 0.05, 20)]
    assert np.abs(closed).max() < 1e-12
    model = bricard()
    for accuracy, most in ((1e-4, 150), (1e-6, 300), (1e-8, 800)):
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
        assert result.statistics["integrator_steps"] < most
        assert any(f.witness.endswith(".redundant") for f in result.findings)
        assert not singular(result)


@pytest.mark.by_turns
@pytest.mark.parametrize(("angle", "speed"), [(UPRIGHT, -1.0), (1e-6, -1.0), (0.0, -1.0), (0.0, 0.0)])
@pytest.mark.parametrize("rods", [3, 4])
def test_redundant_rods_that_start_upright_near_and_in_one(rods: int, angle: float, speed: float) -> None:
    result = parallel_rods(rods, angle, speed).simulate(
        until=5.0, accuracy=1e-8, signals=["pin0.angle", f"pin{rods - 1}.angle"]
    )
    exact = exact_parallel(rods, result.time, angle, speed)
    for name in ("pin0.angle", f"pin{rods - 1}.angle"):
        assert np.abs(np.asarray(result[name]) - exact).max() < 1e-6
    found = {f.witness for f in result.findings}
    assert {f"closure{i}.redundant" for i in range(1, rods)} <= found
    assert angle == UPRIGHT or any(name.endswith(".singular") for name in found)


@pytest.mark.parametrize("loops", [1, 2, 5])
def test_a_run_that_starts_in_one_says_so_and_which_branch_it_takes(loops: int) -> None:
    result = four_bars(loops, angle=0.0).simulate(
        until=1.0, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(loops)
    )
    assert errors(result, loops, angle=0.0).max() < 1e-6
    at_start = [f for f in result.findings if f.time == 0.0 and f.witness.endswith(".singular")]
    assert [f.witness for f in at_start] == [f"closure{i}.singular" for i in range(loops)]
    assert "along the branch" in at_start[0].message
    assert "pin0.u = -1" in at_start[0].message


@pytest.mark.parametrize(("turned", "start"), [(0.7, 0.0), (0.0, 1e-9), (2.0, np.pi)])
def test_where_an_equation_repeats_another_a_start_is_told_as_well(turned: float, start: float) -> None:
    simulator = cosim.Simulator(four_bars(2, turned=turned, angle=start).build(), accuracy=1e-6)
    simulator.initialize()
    assert {f.witness for f in simulator.findings if "lower here than around" in f.message} == {
        "closure0.singular",
        "closure1.singular",
    }


def test_the_folded_branch_is_a_branch_too() -> None:
    """The first rod stands still, its tip on the axis of the second, which turns with the coupler."""
    model = four_bars(1, angle=0.0)
    for path, speed in {"pin0.u": 0.0, "tip0.u": -1.0, "pin1.u": -1.0}.items():
        model.set_start(path, speed)
    simulator = cosim.Simulator(model.build(), accuracy=1e-8)
    simulator.initialize()
    (finding,) = (f for f in simulator.findings if f.witness == "closure0.singular")
    assert finding.time == 0.0
    branches = finding.message.partition("(")[2].partition(")")[0].split(", and ")
    assert {branch.replace("-", "") for branch in branches} == {
        "pin0.u : pin1.u : tip0.u = 1 : 1 : 1",
        "pin1.u : tip0.u = 1 : 1",
    }
    assert "its speeds show: pin1.u = -1, tip0.u = -1" in finding.message


def test_from_rest_the_finding_says_where_forces_push() -> None:
    result = four_bars(1, speed=0.0, angle=0.0).simulate(
        until=1.0, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(1)
    )
    (finding,) = (f for f in result.findings if f.time == 0.0 and f.witness == "closure0.singular")
    assert "branch is possible" in finding.message and "pin0.u_dot = -" in finding.message
    assert errors(result, 1, speed=0.0, angle=0.0).max() < 1e-6


def test_what_nothing_moves_stays_there() -> None:
    model = four_bars(1, speed=0.0, angle=-UPRIGHT, turned=UPRIGHT)  # hanging, seen from a turned Ground
    result = model.simulate(until=0.1, accuracy=1e-6, signals=signals(1))
    assert not singular(result)  # upright rods are no line
    lying = Multibody("lying", gravity=(0, 0, 0))
    for part in ("one", "two", "three"):
        lying.body(part, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    lying.joint("pin", name="a", child="one")
    lying.joint("pin", name="b", child="two", parent="one", frame_on_parent=(1, 0, 0))
    lying.joint("pin", name="c", child="three", frame_on_parent=(1, 0, 0))
    lying.constraint(
        "ball_constraint", "closure", body1="two", body2="three", point1=(1, 0, 0), point2=(1, 0, 0)
    )
    result = lying.simulate(until=1.0, accuracy=1e-6, signals=["a.angle", "c.angle"])
    assert [(f.time, f.witness) for f in result.findings if "stays there" in f.message] == [
        (0.0, "closure.singular")
    ]
    assert np.abs(result["a.angle"]).max() < 1e-9


@pytest.mark.parametrize("method", [{"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01}, {}])
def test_speeds_along_no_branch_are_refused(method: dict[str, object]) -> None:
    """With steps of 0.01 s such a run used to leap onto one of the branches, and said nothing."""
    model = four_bars(1, angle=0.0)
    for path, speed in {"pin0.u": 1.0, "tip0.u": -1.2, "pin1.u": -0.2}.items():
        model.set_start(path, speed)
    simulator = cosim.Simulator(model.build(), **{"accuracy": 1e-6, **method})
    for _ in range(2):  # the second time, too
        with pytest.raises(cosim.SimulationError, match="closure0.*singular position.*No"):
            simulator.advance_to(0.1)


def test_equations_that_repeat_others_everywhere_are_no_singular_position() -> None:
    for model in (bricard(), four_bars(3), four_bars(2, turned=0.7, angle=0.3)):
        simulator = cosim.Simulator(model.build(), accuracy=1e-6)
        simulator.initialize()
        assert any(f.witness.endswith(".redundant") for f in simulator.findings)
        assert not any(f.witness.endswith(".singular") for f in simulator.findings)


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
def test_a_method_that_cannot_pass_one_names_it_and_those_that_can(
    method: str, options: dict[str, float]
) -> None:
    with pytest.raises(cosim.SimulationError) as caught:
        four_bars(1).simulate(until=2.0, integrator=f"integrators.{method}", signals=signals(1), **options)
    message = str(caught.value)
    assert re.search(r"At about t = \S+ s closure0 is in a singular position", message), message
    assert "integrators.runge_kutta_merson" in message
    exact = exact_angle(1, [0.0, caught.value.time])[-1]
    assert abs(np.sin(exact)) < 0.25


@pytest.mark.parametrize("second", [2.0, 1.0])
def test_accelerations_that_contradict_each_other_are_refused(second: float) -> None:
    """Least squares met neither: 1 and 2 m/s2 gave 1.5."""
    model = Multibody("pulled", gravity=(0, 0, 0))
    model.body("block", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", name="guide", child="block")
    for name, acceleration in (("one", 1.0), ("two", second)):
        model.constraint("constant_acceleration", name, coordinate="guide", acceleration=acceleration)
    if second != 1.0:
        with pytest.raises(cosim.SimulationError, match="accelerations contradict"):
            model.simulate(until=1.0)
        return
    assert model.simulate(until=1.0)["guide.position"][-1] == pytest.approx(0.5)


def test_a_state_is_realized_for_what_only_closed_loops_have() -> None:
    pendulum = Multibody("pendulum")
    pendulum.joint("pin", name="pin", child=pendulum.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    assert not pendulum.build().solver.describes_start
    assert four_bars(1).build().solver.describes_start
