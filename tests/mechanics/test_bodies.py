"""Bodies, gravity, directions and measures: valid values, and their laws called as plain functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim
import cosim_mechanics
from cosim_mechanics import Gravity, Ground, Position, RigidBody, Velocity
from cosim_mechanics.direction import direction
from cosim_mechanics.mass_properties import central_inertia, fault_of_mass_properties
from cosim_mechanics.spatial import IDENTITY, pose_from_angles

reals = st.floats(-2.0, 2.0, allow_subnormal=False)
vectors = st.tuples(reals, reals, reals)
poses = st.builds(pose_from_angles, vectors, vectors)
points = st.lists(st.tuples(reals, reals, reals, st.floats(0.1, 2.0)), min_size=1, max_size=6)


def cloud_inertia(cloud):
    """Return the central inertia of point masses."""
    masses = np.array([p[3] for p in cloud])
    r = np.array([p[:3] for p in cloud])
    r = r - masses @ r / masses.sum()
    return sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))


@given(points)
def test_the_inertia_of_any_point_masses_is_accepted(cloud):
    matrix = cloud_inertia(cloud)
    six = central_inertia(matrix)
    np.testing.assert_array_equal(six, central_inertia(list(six)))
    np.testing.assert_allclose(six[3:], [matrix[0, 1], matrix[0, 2], matrix[1, 2]])


@pytest.mark.parametrize("inertia", [(0, 0, 0), (0.1, 0.1, 0), (1, 2, 3), (0.1, 0.2, 0.1 + 0.2)])
def test_points_rods_and_plates_are_accepted(inertia):
    assert RigidBody(mass=1, inertia=inertia).inertia.tolist() == [*inertia, 0, 0, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mass": 0}, "mass is 0 kg, needs more than 0"),
        ({"mass": -1}, "mass is -1 kg"),
        ({"mass": float("nan")}, "mass is nan"),
        ({"mass": "3 m"}, "'?m'?"),
        ({"inertia": (1, 1, 2.1)}, r"2\.1 is more than 1 \+ 1.*about the centre of mass"),
        ({"inertia": (-1, 1, 1)}, "-1 is negative"),
        ({"inertia": (1, 1, 1, 5, 0, 0)}, "is negative"),
        ({"inertia": (1, 1)}, r"inertia has shape \(2,\), needs three principal moments"),
        ({"inertia": 3.0}, r"inertia has shape \(\)"),
        ({"inertia": "round"}, "inertia"),
        ({"inertia": None}, "inertia"),
        ({"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"inertia": [1, 1, float("inf")]}, "not finite"),
        ({"center_of_mass": (0, 0)}, r"center_of_mass has shape \(2,\), needs \(3,\)"),
    ],
)
def test_impossible_bodies_are_refused(values, message):
    with pytest.raises(cosim.ModelError, match=message):
        RigidBody(**({"mass": 1.0, "inertia": (1, 1, 1)} | values))


def test_the_message_names_the_body():
    with pytest.raises(cosim.ModelError, match=r"wheel\.inertia: .*5 is more than 1 \+ 1"):
        cosim.Model("car").add(RigidBody, "wheel", mass=1.0, inertia=(1, 1, 5))


def test_inertia_is_read_with_units():
    assert RigidBody(mass="500 g", inertia=["1 kg.m2"] * 3).inertia[:3].tolist() == [1.0, 1.0, 1.0]


def test_ground_is_at_rest():
    X, V, A, inverse_mass, inverse_inertia = np.ones(12), np.ones(6), np.ones(6), np.ones(1), np.ones(9)
    Ground.kernels["rest"](X, V, A, inverse_mass, inverse_inertia)
    assert X.tolist() == list(IDENTITY)
    assert not V.any() and not A.any() and not inverse_mass.any() and not inverse_inertia.any()


@given(poses, vectors, st.floats(0.1, 5.0), vectors)
def test_the_force_of_gravity_is_the_slope_of_its_potential(X_GB, center, mass, g):
    X_GB, center, g = np.array(X_GB), np.array(center), np.array(g)

    def potential(X):
        energy = np.zeros(1)
        Gravity.kernels["energy"](X, mass, 1.0, center, g, energy)
        return energy[0]

    F_GB = np.zeros(6)
    Gravity.kernels["force"](X_GB, mass, 1.0, center, g, F_GB)
    h = 1e-5
    for axis in range(3):
        step = np.zeros(12)
        step[9 + axis] = h
        assert (potential(X_GB - step) - potential(X_GB + step)) / (2 * h) == pytest.approx(
            F_GB[3 + axis], abs=1e-6
        )
    np.testing.assert_allclose(F_GB[:3], np.cross(X_GB[:9].reshape(3, 3) @ center, mass * g), atol=1e-12)


@given(points, poses, vectors, vectors)
def test_kinetic_energy_is_that_of_the_points(cloud, X_GB, w, v):
    masses, r = np.array([p[3] for p in cloud]), np.array([p[:3] for p in cloud])
    R = np.reshape(X_GB[:9], (3, 3))
    expected = 0.5 * sum(
        m * np.sum((np.array(v) + np.cross(w, R @ x)) ** 2) for m, x in zip(masses, r, strict=True)
    )
    kinetic = np.zeros(1)
    center, inertia = masses @ r / masses.sum(), central_inertia(cloud_inertia(cloud))
    RigidBody.kernels["energy"](np.array(X_GB), np.array([*w, *v]), masses.sum(), center, inertia, kinetic)
    assert kinetic[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(poses, vectors, vectors, vectors, vectors, vectors)
def test_measured_acceleration_is_that_of_the_station(X_GB, w, v, alpha, a, station):
    value, value_dot = np.zeros(1), np.zeros(1)
    X_GB, station, axis = np.array(X_GB), np.array(station), direction((1, 2, -2))
    Velocity.kernels["velocity"](X_GB, np.array([*w, *v]), axis, station, value)
    Velocity.kernels["acceleration"](
        X_GB, np.array([*w, *v]), np.array([*alpha, *a]), axis, station, value_dot
    )
    r = X_GB[:9].reshape(3, 3) @ station
    assert value[0] == pytest.approx(axis @ (v + np.cross(w, r)), abs=1e-12)
    assert value_dot[0] == pytest.approx(
        axis @ (a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))), abs=1e-11
    )
    Position.kernels["place"](X_GB, axis, station, value)
    Position.kernels["rate"](X_GB, np.array([*w, *v]), axis, station, value_dot)
    assert value[0] == pytest.approx(axis @ (X_GB[9:] + r), abs=1e-12)
    assert value_dot[0] == pytest.approx(axis @ (v + np.cross(w, r)), abs=1e-12)


@pytest.mark.parametrize("value", ["w", "", "--x", "xy", (0, 0, 0), (1, 2), 3.0, None, (1, 0, float("nan"))])
def test_invalid_directions_are_refused(value):
    with pytest.raises(ValueError, match="axis is"):
        direction(value)


def test_elements_that_are_set_one_by_one_are_checked_together():
    model = cosim_mechanics.Multibody("m")
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.joint("pin", child="b")
    state = model.build().default_state()
    for i, moment in enumerate((4.0, 5.0, 6.0)):
        state[f"b.inertia[{i}]"] = moment
    state.realize(cosim.Stage.INSTANCE)
    state["b.inertia[0]"] = 20.0
    with pytest.raises(cosim.CosimError, match="b.*at most the sum"):
        state.realize(cosim.Stage.INSTANCE)
    state["b.inertia"] = (1, 1, 1)
    state["b_joint.frame_on_parent[4]"] = -1.0
    with pytest.raises(cosim.CosimError, match="b_joint.*not orthonormal and right-handed"):
        state.realize(cosim.Stage.INSTANCE)


@given(points)
def test_the_check_of_the_kernel_accepts_point_masses(cloud):
    assert fault_of_mass_properties(1.0, central_inertia(cloud_inertia(cloud))) == 0.0
