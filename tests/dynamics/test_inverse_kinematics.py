"""Inverse kinematics: against analytic solutions of arms, in ranges, with closed loops."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_dynamics import inverse_kinematics, start_values
from cosim_mechanics import Multibody

SHOULDER, UPPER, FORE, HAND = 0.4, 0.5, 0.45, 0.1
TURNS = {"z": (0, 0, 0), "y": ("-90 deg", 0, 0), "x": (0, "90 deg", 0)}
"""Angles that bring z into an axis."""
TIP = {"link6": (HAND, 0, 0)}
SAMPLE = (0.4, -0.7, 1.1, 0.5, 0.8, -0.3)


def turn(axis: str, angle: float) -> Any:
    """Return the rotation about an axis."""
    c, s = math.cos(angle), math.sin(angle)
    i = "xyz".index(axis)
    R = np.eye(3)
    j, k = (i + 1) % 3, (i + 2) % 3
    R[j, j] = R[k, k] = c
    R[j, k], R[k, j] = -s, s
    return R


def arm(**ranges: tuple[float, float]) -> Multibody:
    """Return an arm with axes z, y, y, a wrist x y x whose axes meet, and a hand of 0.1 m along x.

    `ranges` are limits of joints by name.
    """
    model = Multibody("arm")
    parent, steps = "ground", [(0, 0, SHOULDER), (0, 0, 0), (UPPER, 0, 0), (FORE, 0, 0), (0, 0, 0), (0, 0, 0)]
    for number, (axis, step) in enumerate(zip("zyyxyx", steps, strict=True), 1):
        model.body(f"link{number}", mass=1.0, inertia=(0.01, 0.01, 0.01))
        frames = {"frame_on_parent": (step, TURNS[axis]), "frame_on_child": ((0, 0, 0), TURNS[axis])}
        model.joint("pin", name=f"j{number}", child=f"link{number}", parent=parent, **frames)
        parent = f"link{number}"
    for joint, (lower, upper) in ranges.items():
        values = {"coordinate": joint, "lower": lower, "upper": upper, "stiffness": 1e3}
        model.add("mechanics.coordinate_stop", f"{joint}_stop", **values)
    return model


def forward(q: Any) -> tuple[Any, Any]:
    """Return rotation and position of the hand's tip."""
    R = turn("z", q[0]) @ turn("y", q[1])
    p = np.array([0, 0, SHOULDER]) + R @ [UPPER, 0, 0]
    R = R @ turn("y", q[2])
    p = p + R @ [FORE, 0, 0]
    R = R @ turn("x", q[3]) @ turn("y", q[4]) @ turn("x", q[5])
    return R, p + R @ [HAND, 0, 0]


def analytic(R: Any, p: Any) -> list[Any]:
    """Return all eight solutions, after Pieper: three axes place the wrist's centre, three turn the hand."""
    x, y, z = p - R @ [HAND, 0, 0] - [0, 0, SHOULDER]
    solutions = []
    for back, elbow, flip in itertools.product((0, 1), (1, -1), (1, -1)):
        q1 = math.atan2(y, x) + math.pi * back
        r = math.hypot(x, y) * (1 - 2 * back)
        c3 = (r * r + z * z - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
        q3 = elbow * math.acos(c3)
        q2 = math.atan2(-z, r) - math.atan2(FORE * math.sin(q3), UPPER + FORE * math.cos(q3))
        W = (turn("z", q1) @ turn("y", q2 + q3)).T @ R
        q5 = flip * math.acos(W[0, 0])
        q4 = math.atan2(flip * W[1, 0], -flip * W[2, 0])
        q6 = math.atan2(flip * W[0, 1], flip * W[0, 2])
        solutions.append(np.array([q1, q2, q3, q4, q5, q6]))
    return solutions


def wrapped(angles: Any) -> Any:
    """Return angles between -pi and pi."""
    return (np.asarray(angles) + math.pi) % (2 * math.pi) - math.pi


def coordinates(state: cosim.State) -> Any:
    """Return the six angles of the arm."""
    return np.array([float(state[f"j{i}.q"][0]) for i in range(1, 7)])


def placed(system: cosim.System, q: Any) -> cosim.State:
    """Return a State of the arm with these angles."""
    state = system.default_state()
    for i, value in enumerate(q, 1):
        state[f"j{i}.q"] = [value]
    return state


def test_the_analytic_solutions_reach_the_pose() -> None:
    R, p = forward(SAMPLE)
    solutions = analytic(R, p)
    assert len(solutions) == 8
    for q in solutions:
        np.testing.assert_allclose(np.column_stack(forward(q)), np.column_stack([R, p]), atol=1e-14)
    assert min(np.abs(wrapped(q - SAMPLE)).max() for q in solutions) < 1e-14


@pytest.mark.parametrize("branch", range(8))
def test_each_solution_of_a_six_axis_arm(branch: int) -> None:
    """A search that starts near a solution ends at it."""
    R, p = forward(SAMPLE)
    system, expected = arm().build(), analytic(R, p)[branch]
    start = placed(system, expected + 0.12 * np.array([1, -1, 1, 1, -1, -1]))
    solution = inverse_kinematics(system, {"link6": [*R.ravel(), *p]}, start, frames=TIP)
    np.testing.assert_allclose(wrapped(coordinates(solution.state) - expected), 0, atol=1e-9)
    assert (solution.tries, len(solution.moved)) == (1, 6)
    assert solution.position_error <= 1e-10
    assert solution.angle_error <= 1e-10
    assert float(start["j1.q"][0]) == expected[0] + 0.12  # the start is not changed


@pytest.mark.thorough
def test_random_poses_from_one_start() -> None:
    """Each of 40 poses is reached from the same start, at one of the eight analytic solutions."""
    system, random = arm().build(), np.random.default_rng(7)
    for _ in range(40):
        R, p = forward(random.uniform(-2.5, 2.5, 6))
        solution = inverse_kinematics(system, {"link6": [*R.ravel(), *p]}, frames=TIP)
        angles = coordinates(solution.state)
        assert min(np.abs(wrapped(angles - q)).max() for q in analytic(R, p)) < 1e-7


def test_only_solutions_within_the_ranges() -> None:
    """The ranges of the joints allow one of the eight solutions."""
    R, p = forward(SAMPLE)
    solutions = analytic(R, p)
    expected = solutions[5]
    ranges = {f"j{i}": (x - 0.3, x + 0.4) for i, x in enumerate(expected, 1)}
    solution = inverse_kinematics(arm(**ranges).build(), {"link6": [*R.ravel(), *p]}, frames=TIP)
    np.testing.assert_allclose(coordinates(solution.state), expected, atol=1e-9)
    assert solution.at_limits == []


def test_a_target_out_of_reach_is_an_error() -> None:
    with pytest.raises(cosim.SimulationError, match=r"nearest is off.*1\.95.*0"):
        inverse_kinematics(arm().build(), {"link6": (3.0, 0, SHOULDER)}, frames=TIP, tries=3)


def test_a_joint_at_its_limit_is_named() -> None:
    model = Multibody("rail")
    model.body("cart", mass=1.0, inertia=(0, 0, 0))
    model.joint("slider", name="rail", child="cart")
    values = {"coordinate": "rail", "lower": -1.0, "upper": 2.0, "stiffness": 1.0}
    model.add("mechanics.coordinate_stop", "stop", **values)
    system = model.build()
    at_end = inverse_kinematics(system, {"cart": (2.0, 0, 0)})
    assert at_end.state["rail.q"] == pytest.approx([2.0], abs=1e-10)
    assert at_end.at_limits == ["rail"]
    assert "rail stands" in str(at_end)
    with pytest.raises(cosim.SimulationError, match="1.*0.*ranges of rail"):
        inverse_kinematics(system, {"cart": (3.0, 0, 0)})
    assert inverse_kinematics(system, {"cart": (3.0, 0, 0)}, within_limits=False).state[
        "rail.q"
    ] == pytest.approx([3.0], abs=1e-10)
    without_stop = system.default_state()
    without_stop["stop.enabled"] = 0
    assert inverse_kinematics(system, {"cart": (3.0, 0, 0)}, without_stop).state["rail.q"] == pytest.approx(
        [3.0], abs=1e-10
    )


def test_a_state_at_the_target_does_not_move() -> None:
    system = arm().build()
    R, p = forward(SAMPLE)
    solution = inverse_kinematics(system, {"link6": [*R.ravel(), *p]}, placed(system, SAMPLE), frames=TIP)
    assert (solution.moved, solution.iterations, str(solution)) == ({}, 0, "nothing moved")


def test_joints_that_are_fixed_stay() -> None:
    system = arm().build()
    solution = inverse_kinematics(system, {"link6": (0.5, 0.3, 0.6)}, fixed=["j4", "j6"], frames=TIP)
    assert {"j4.q", "j6.q"} & solution.moved.keys() == set()
    np.testing.assert_allclose(forward(coordinates(solution.state))[1], [0.5, 0.3, 0.6], atol=1e-10)


def test_a_closed_loop_stays_closed() -> None:
    """A parallelogram: the coupler's middle goes on a circle, its constraint holds."""
    model = Multibody("four_bar", gravity=(0, -9.81, 0))
    for name in ("crank", "coupler", "rocker"):
        model.body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    model.joint("pin", child="crank", q=1.0)
    model.joint("pin", child="coupler", parent="crank", frame_on_parent=(0.5, 0, 0), q=-1.0)
    model.joint("pin", child="rocker", frame_on_parent=(1.0, 0, 0), q=1.0)
    model.constraint(
        "ball_constraint", "closure", body1="coupler", body2="rocker", point1=(1, 0, 0), point2=(0.5, 0, 0)
    )
    system = model.build()
    angle = 1.4
    target = (0.5 * math.cos(angle) + 0.5, 0.5 * math.sin(angle), 0.0)
    solution = inverse_kinematics(system, {"coupler": target}, frames={"coupler": (0.5, 0, 0)})
    assert solution.state["crank_joint.q"] == pytest.approx([angle], abs=1e-9)
    assert solution.state["rocker_joint.q"] == pytest.approx([angle], abs=1e-9)
    assert np.abs(solution.state["closure.position_error"]).max() < 1e-10
    assembled = inverse_kinematics(system, {})  # no target: assembly alone
    assert np.abs(assembled.state["closure.position_error"]).max() < 1e-10


def test_a_free_body_reaches_any_pose() -> None:
    """Its quaternion has length 1, and start values from the result place the model there."""
    model = Multibody("box")
    model.body("box", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("free", name="flight", child="box")
    R = turn("z", 3.0) @ turn("x", -2.0)
    solution = inverse_kinematics(model.build(), {"box": [*R.ravel(), 1, 2, 3]})
    for path, value in start_values(solution.state).items():
        model.set_start(path, value)
    X = model.build().default_state().realize(cosim.Stage.POSITION)["box.X_GB"]
    np.testing.assert_allclose(np.ravel(X), [*R.ravel(), 1, 2, 3], atol=1e-10)
    assert abs(np.linalg.norm(solution.state["flight.q"][:4]) - 1.0) < 1e-12


def test_two_targets_at_once() -> None:
    system = arm().build()
    q = np.array(SAMPLE)
    state = placed(system, q).realize(cosim.Stage.POSITION)
    targets = {name: np.ravel(state[f"{name}.X_GB"]) for name in ("link3", "link6")}
    solution = inverse_kinematics(system, targets, placed(system, q + 0.1))
    np.testing.assert_allclose(coordinates(solution.state), q, atol=1e-9)


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ({"link7": (0, 0, 0)}, {}, "no body 'link7'.*link6"),
        ({"link6": (0, 0, 0)}, {"fixed": ["j9"]}, "no joint 'j9'"),
        ({"link6": (0, 0, 0)}, {"frames": {"link5": (0, 0, 0)}}, "no target 'link5'"),
    ],
)
def test_unknown_names(targets: Any, options: Any, message: str) -> None:
    with pytest.raises(cosim.LookUpError, match=message):
        inverse_kinematics(arm().build(), targets, **options)
