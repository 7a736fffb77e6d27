"""The algebra of frames: identities that hold for all poses, and the ways to write a pose."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim
from cosim_mechanics import spatial
from cosim_mechanics.spatial import (
    IDENTITY,
    add_force_at,
    add_spatial_force,
    angle_rates_123,
    angles_123,
    angular_velocity_123,
    compose,
    compose_inverse,
    cross,
    dot,
    inverse,
    minus,
    moment_123,
    moved,
    norm,
    plus,
    point_velocity,
    pose,
    pose_from_angles,
    pose_from_quaternion,
    position,
    quaternion_rates,
    rotate,
    rotate_inverse,
    rotation_of,
    scaled,
    station,
)

small = st.floats(-10.0, 10.0, allow_subnormal=False)
vectors = st.tuples(small, small, small)
turns = st.floats(-math.pi, math.pi)
angles = st.tuples(turns, turns, turns)
poses = st.builds(pose_from_angles, angles, vectors)
regular_angles = st.tuples(st.floats(-3.1, 3.1), st.floats(-1.4, 1.4), st.floats(-3.1, 3.1))
quaternions = st.tuples(small, small, small, small).filter(lambda q: sum(x * x for x in q) > 1e-3)


def matrix(X):
    """Return the 4x4 homogeneous matrix of a pose."""
    full = np.eye(4)
    full[:3, :3] = np.reshape(X[:9], (3, 3))
    full[:3, 3] = X[9:]
    return full


def assert_near(a, b, tolerance=1e-11):
    """Check that two arrays differ by a tolerance at most."""
    np.testing.assert_allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=0, atol=tolerance)


@given(vectors, vectors, small)
def test_vectors_agree_with_numpy(a, b, s):
    assert_near(plus(a, b), np.add(a, b))
    assert_near(minus(a, b), np.subtract(a, b))
    assert_near(scaled(s, a), np.multiply(s, a))
    assert_near(cross(a, b), np.cross(a, b))
    assert_near(dot(a, b), np.dot(a, b))
    assert_near(norm(a), np.linalg.norm(a))


@given(poses, poses, poses)
def test_composition_is_that_of_matrices(X_AB, X_BC, X_CD):
    assert_near(matrix(compose(X_AB, X_BC)), matrix(X_AB) @ matrix(X_BC))
    assert_near(compose(compose(X_AB, X_BC), X_CD), compose(X_AB, compose(X_BC, X_CD)))
    assert_near(compose_inverse(X_AB, compose(X_AB, X_BC)), X_BC)
    assert_near(compose(X_AB, inverse(X_AB)), IDENTITY)
    assert_near(inverse(inverse(X_AB)), X_AB)
    assert_near(compose_inverse(X_AB, X_BC), compose(inverse(X_AB), X_BC))


@given(poses, vectors)
def test_rotations_of_vectors_and_stations(X_AB, v):
    assert_near(rotate_inverse(X_AB, rotate(X_AB, v)), v)
    assert_near(norm(rotate(X_AB, v)), norm(v))
    assert_near(station(X_AB, v), plus(position(X_AB), rotate(rotation_of(X_AB), v)))


@given(regular_angles, vectors)
def test_angles_of_a_pose_from_angles(a, p):
    assert_near(angles_123(pose_from_angles(a, p)), a, 1e-9)


@given(angles)
def test_angles_give_the_rotation_even_near_the_singularity(a):
    X = pose_from_angles(a, (0.0, 0.0, 0.0))
    assert_near(pose_from_angles(angles_123(X), (0.0, 0.0, 0.0)), X, 1e-7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("first", "third"), [(0.3, 0.4), (-2.0, 1.5), (0.0, 0.0)])
def test_at_the_singularity_the_third_angle_is_zero(sign, first, third):
    s, c = math.sin(first + sign * third), math.cos(first + sign * third)
    X = (0.0, 0.0, sign, sign * s, c, 0.0, -sign * c, s, 0.0)
    a = angles_123(X)
    assert a[2] == 0.0
    assert a[1] == sign * math.pi / 2
    assert_near(pose_from_angles(a, (0.0, 0.0, 0.0))[:9], X)


@given(regular_angles, vectors)
def test_rates_are_the_derivative_of_the_angles(a, rates):
    h = 1e-6
    w = angular_velocity_123(a, rates)
    assert_near(angle_rates_123(a, w), rates, 1e-9)
    after = pose_from_angles(tuple(x + h * r for x, r in zip(a, rates, strict=True)), (0.0, 0.0, 0.0))
    before = pose_from_angles(tuple(x - h * r for x, r in zip(a, rates, strict=True)), (0.0, 0.0, 0.0))
    R_dot = (matrix(after) - matrix(before))[:3, :3] / (2 * h)
    skew = R_dot @ matrix(pose_from_angles(a, (0.0, 0.0, 0.0)))[:3, :3].T
    assert_near((skew[2, 1], skew[0, 2], skew[1, 0]), w, 1e-4)


@given(regular_angles, vectors, vectors)
def test_the_power_of_a_moment_is_that_of_forces_on_the_angles(a, rates, f):
    work = dot(f, rates)
    assert dot(moment_123(a, f), angular_velocity_123(a, rates)) == pytest.approx(work, abs=1e-9)


@given(quaternions, vectors)
def test_a_quaternion_of_any_length_gives_a_rotation(q, p):
    X = pose_from_quaternion(q, p)
    assert_near(matrix(X)[:3, :3] @ matrix(X)[:3, :3].T, np.eye(3))
    assert np.linalg.det(matrix(X)[:3, :3]) == pytest.approx(1.0)
    assert_near(X, pose_from_quaternion(tuple(-3.0 * x for x in q), p))


def test_a_quaternion_turns_counterclockwise():
    half = math.sqrt(0.5)
    assert_near(
        rotate(pose_from_quaternion((half, 0.0, 0.0, half), (0.0, 0.0, 0.0)), (1.0, 0.0, 0.0)),
        (0.0, 1.0, 0.0),
    )


def test_the_zero_quaternion_is_refused():
    with pytest.raises(ValueError, match="quaternion is zero"):
        pose_from_quaternion((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@given(quaternions, vectors)
def test_quaternion_rates_turn_the_frame_and_keep_the_length(q, w):
    h = 1e-6
    rates = quaternion_rates(q, w)
    assert sum(a * b for a, b in zip(q, rates, strict=True)) == pytest.approx(0.0, abs=1e-9)
    zero = (0.0, 0.0, 0.0)
    after = pose_from_quaternion(tuple(x + h * r for x, r in zip(q, rates, strict=True)), zero)
    before = pose_from_quaternion(tuple(x - h * r for x, r in zip(q, rates, strict=True)), zero)
    skew = (
        (matrix(after) - matrix(before))[:3, :3] / (2 * h) @ matrix(pose_from_quaternion(q, zero))[:3, :3].T
    )
    assert_near((skew[2, 1], skew[0, 2], skew[1, 0]), w, 1e-4)


@given(poses, st.tuples(small, small, small, small, small, small), vectors, vectors)
def test_the_power_of_a_force_is_that_at_its_point(X_GB, V_GB, p_GS, f):
    F_GB = np.zeros(6)
    add_force_at(F_GB, X_GB, p_GS, f)
    assert np.dot(F_GB, V_GB) == pytest.approx(dot(f, point_velocity(V_GB, X_GB, p_GS)), abs=1e-8)
    G = np.zeros(6)
    add_spatial_force(G, X_GB, p_GS, (1.0, 2.0, 3.0, *f))
    assert_near(G - F_GB, (1, 2, 3, 0, 0, 0))
    assert_near(moved(V_GB, minus(p_GS, position(X_GB)))[3:], point_velocity(V_GB, X_GB, p_GS))


@given(angles, vectors)
def test_a_pose_can_be_written_in_several_ways(a, p):
    X = pose_from_angles(a, p)
    assert_near(pose({"position": p, "angles": a}), X)
    assert_near(pose((p, a)), X)
    assert_near(pose(list(X)), X)
    assert_near(pose(np.array(X)), X)
    assert_near(pose(p), pose({"position": p}))
    assert_near(pose({"angles": a}), pose_from_angles(a, (0.0, 0.0, 0.0)))


def test_units_are_converted():
    assert_near(pose(["-300 mm", 0, "1 m"])[9:], (-0.3, 0.0, 1.0))
    assert_near(
        pose({"angles": [0, 0, "90 deg"]}), pose_from_angles((0.0, 0.0, math.pi / 2), (0.0, 0.0, 0.0))
    )


def test_a_matrix_with_seven_digits_is_made_orthonormal():
    s = 0.7071068
    R = matrix(pose([s, -s, 0, s, s, 0, 0, 0, 1, 1, 2, 3]))[:3, :3]
    assert_near(R.T @ R, np.eye(3), 1e-15)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "is not a pose"),
        ("ground", "is not a pose"),
        (5.0, "is not a pose"),
        (None, "is not a pose"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "is not a pose"),
        ({"positon": (1, 2, 3)}, "has 'positon', needs position"),
        ({}, "is empty"),
        ({"position": (1, 2)}, "needs three numbers"),
        ({"position": (1, 2, [3])}, "needs three numbers"),
        ((0, 0, math.nan), "needs a finite number"),
        ((0, 0, None), "needs a finite number"),
        ([1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0], "left-handed"),
        ([1, 0, 0, 0, 1, 0, 0, 0.1, 1, 0, 0, 0], "not orthonormal"),
        ([2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0], "not orthonormal"),
    ],
)
def test_invalid_poses_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        pose(value)


def test_a_wrong_unit_is_refused():
    with pytest.raises(cosim.CosimError, match="kg"):
        pose((0, 0, "3 kg"))


def test_every_public_function_has_a_docstring():
    functions = [
        value for name, value in vars(spatial).items() if callable(value) and not name.startswith("_")
    ]
    own_functions = [f for f in functions if getattr(f, "__module__", "").startswith("cosim_mechanics")]
    assert len(own_functions) > 25
    assert all(f.__doc__ for f in own_functions)
