"""Every joint: its maps against differences of its pose, and its pose against the law."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim
import cosim_mechanics
from cosim_mechanics import (
    Ball,
    Bushing,
    Cylinder,
    Free,
    Gimbal,
    Pin,
    Planar,
    Screw,
    Slider,
    Translation,
    Universal,
    Weld,
)
from cosim_mechanics.spatial import IDENTITY, pose_from_angles

MOVING = [Ball, Bushing, Cylinder, Free, Gimbal, Pin, Planar, Screw, Slider, Translation, Universal]
VALUES = {Screw: {"pitch": 0.37}}
numbers = st.floats(-2.0, 2.0, allow_subnormal=False)
rows = st.lists(numbers, min_size=7, max_size=7)


def make(kind, **values):
    """Return a joint between Ground and a body."""
    return kind(parent="ground", child="body", **(VALUES.get(kind, {}) | values))


def evaluate(kind, q, u):
    """Return X_FM, H_FM (6 x nu), HDotU_FM and q_dot by calling the kernel functions."""
    slots = {
        "q": q,
        "u": u,
        "X_FM": np.full(12, math.nan),
        "H_FM": np.full(6 * kind.nu, math.nan),
        "HDotU_FM": np.full(6, math.nan),
        "q_dot": np.full(kind.nq, math.nan),
    } | VALUES.get(kind, {})
    for name in ("across", "rates"):
        kernel = kind.kernels[name]
        kernel(*(slots[argument] for argument in kernel.arguments))
    return slots["X_FM"], slots["H_FM"].reshape(kind.nu, 6).T, slots["HDotU_FM"], slots["q_dot"]


def coordinates(kind, row):
    """Return coordinates from seven numbers; a quaternion is not zero."""
    q = np.array(row[: kind.nq])
    if kind in (Ball, Free):
        q[0] += math.copysign(0.5, q[0])
    return q


def rotation(X):
    """Return the rotation matrix of a pose."""
    return np.reshape(X[:9], (3, 3))


class NumberAlgebra:
    """Replaces the equations of motion: it has numbers in place of s-vals."""

    def __init__(self, slots, wrench):
        self.slots, self.transmitted = slots, wrench

    def wrench(self, joint):
        return list(self.transmitted)

    def value(self, name, index):
        return self.slots[name][index]


@pytest.mark.parametrize("kind", MOVING)
@given(rows, rows)
def test_velocity_is_the_derivative_of_the_pose(kind, row, speeds):
    q, u = coordinates(kind, row), np.array(speeds[: kind.nu])
    X, H, _, q_dot = evaluate(kind, q, u)
    h = 1e-6
    after, before = (evaluate(kind, q + s * q_dot, u)[0] for s in (h, -h))
    skew = (rotation(after) - rotation(before)) / (2 * h) @ rotation(X).T
    V_FM = H @ u
    np.testing.assert_allclose((skew[2, 1], skew[0, 2], skew[1, 0]), V_FM[:3], atol=1e-7)
    np.testing.assert_allclose((after[9:] - before[9:]) / (2 * h), V_FM[3:], atol=1e-7)


@pytest.mark.parametrize("kind", MOVING)
@given(rows, rows)
def test_the_bias_is_the_derivative_of_the_map(kind, row, speeds):
    q, u = coordinates(kind, row), np.array(speeds[: kind.nu])
    _, _, bias, q_dot = evaluate(kind, q, u)
    h = 1e-6
    after, before = (evaluate(kind, q + s * q_dot, u)[1] for s in (h, -h))
    np.testing.assert_allclose((after - before) @ u / (2 * h), bias, atol=1e-7)


@pytest.mark.parametrize("kind", MOVING)
@given(rows)
def test_rotations_are_orthonormal(kind, row):
    X = evaluate(kind, coordinates(kind, row), np.zeros(kind.nu))[0]
    np.testing.assert_allclose(rotation(X) @ rotation(X).T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation(X)) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", MOVING)
def test_the_frames_coincide_at_the_default_start(kind):
    X = evaluate(kind, make(kind).q, np.zeros(kind.nu))[0]
    np.testing.assert_array_equal(np.abs(X), IDENTITY)


@pytest.mark.parametrize(
    ("kind", "q", "expected"),
    [
        (Pin, [0.3], pose_from_angles((0, 0, 0.3), (0, 0, 0))),
        (Slider, [0.3], pose_from_angles((0, 0, 0), (0.3, 0, 0))),
        (Screw, [0.3], pose_from_angles((0, 0, 0.3), (0, 0, 0.37 * 0.3))),
        (Cylinder, [0.3, 0.4], pose_from_angles((0, 0, 0.3), (0, 0, 0.4))),
        (Planar, [0.3, 0.4, 0.5], pose_from_angles((0, 0, 0.3), (0.4, 0.5, 0))),
        (Translation, [0.3, 0.4, 0.5], pose_from_angles((0, 0, 0), (0.3, 0.4, 0.5))),
        (Universal, [0.3, 0.4], pose_from_angles((0.3, 0.4, 0), (0, 0, 0))),
        (Gimbal, [0.3, 0.4, 0.5], pose_from_angles((0.3, 0.4, 0.5), (0, 0, 0))),
        (Bushing, [0.3, 0.4, 0.5, 1, 2, 3], pose_from_angles((0.3, 0.4, 0.5), (1, 2, 3))),
        (Ball, [math.cos(0.2), math.sin(0.2), 0, 0], pose_from_angles((0.4, 0, 0), (0, 0, 0))),
        (Free, [math.cos(0.2), 0, 0, math.sin(0.2), 1, 2, 3], pose_from_angles((0, 0, 0.4), (1, 2, 3))),
    ],
)
def test_poses_follow_the_law(kind, q, expected):
    X = evaluate(kind, np.array(q, dtype=float), np.zeros(kind.nu))[0]
    np.testing.assert_allclose(X, expected, atol=1e-15)


def test_weld_has_no_coordinates():
    weld = make(Weld, frame_on_parent=(1, 2, 3))
    X_FM = np.full(12, math.nan)
    Weld.kernels["across"](X_FM)
    np.testing.assert_array_equal(X_FM, IDENTITY)
    assert (Weld.nq, Weld.nu) == (0, 0)
    assert weld.frame_on_parent[9:].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", [*MOVING, Weld])
def test_frames_are_read_as_poses(kind):
    joint = make(kind, frame_on_child={"position": ["1 cm", 0, 0], "angles": [0, 0, "90 deg"]})
    np.testing.assert_allclose(
        joint.frame_on_child, pose_from_angles((0, 0, math.pi / 2), (0.01, 0, 0)), atol=1e-15
    )
    np.testing.assert_array_equal(joint.frame_on_parent, IDENTITY)
    with pytest.raises(cosim.ModelError, match="frame_on_parent.*is not a pose"):
        make(kind, frame_on_parent="there")


def test_a_joint_without_all_results_is_refused():
    with pytest.raises(cosim.ContractError, match="kernel function writes H_FM, HDotU_FM, q_dot"):

        class Incomplete(cosim_mechanics.Joint):
            """It only has a pose."""

            q = cosim.position(shape=1)
            u = cosim.speed(shape=1)

            @cosim.kernel
            def across(q, X_FM):
                for i in range(12):
                    X_FM[i] = q[0]


def test_scalar_coordinates_are_refused():
    with pytest.raises(cosim.ContractError, match=r"q has shape \(\).*shape=1"):

        class Scalar(cosim_mechanics.Joint):
            """Declares a scalar."""

            q = cosim.position()


@pytest.mark.parametrize("kind", MOVING)
def test_the_equation_of_a_joint_projects_its_force_on_its_motion(kind):
    rng = np.random.default_rng(1)
    q, u = coordinates(kind, rng.normal(size=7)), rng.normal(size=kind.nu)
    H = evaluate(kind, q, u)[1]
    wrench, tau = rng.normal(size=6), rng.normal(size=kind.nu)
    residuals = make(kind).create_equations(NumberAlgebra({"H_FM": H.T.ravel(), "tau": tau}, wrench))
    np.testing.assert_allclose(residuals, H.T @ wrench - tau, atol=1e-14)


def test_a_weld_has_no_equation():
    assert make(Weld).create_equations(NumberAlgebra({}, np.zeros(6))) == []


def test_a_frame_of_an_authors_joint_may_be_a_position():
    class Fixed(cosim_mechanics.Joint):
        """A weld of an author."""

        @cosim.kernel(stage=cosim.Stage.INSTANCE)
        def across(X_FM):
            for i in range(12):
                X_FM[i] = 1.0 if i in (0, 4, 8) else 0.0

    assert Fixed(parent="ground", child="b", frame_on_child=(0, 0, 1)).frame_on_child.tolist() == [
        *IDENTITY[:9],
        0,
        0,
        1,
    ]
