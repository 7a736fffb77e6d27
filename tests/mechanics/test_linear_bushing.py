"""The kernel functions of the linear bushing against Simbody and against its law; values that are refused."""

import math

import numpy as np
import pytest
from bushing_references import CASES, QUANTITIES, RENAMED, tolerance
from hypothesis import given
from hypothesis import strategies as st
from reference_values import assert_agrees, flat, twelve

import cosim
from cosim_mechanics import LinearBushing
from cosim_mechanics.spatial import IDENTITY, compose, cross, dot, plus, pose_from_angles, rotate

SIZES = {
    "frames_turned": 2,
    "X_GF": 12, "X_GM": 12, "X_FM": 12, "q": 6, "potential_energy": 1,
    "V_GF": 6, "V_GM": 6, "V_FM": 6, "qdot": 6,
    "f": 6, "F_GM": 6, "F_GF": 6, "power_dissipation": 1, "dissipated_energy_dot": 1, "F_GB1": 6, "F_GB2": 6,
}  # fmt: skip


def evaluate(inputs):
    """Return all quantities of a bushing by calling its kernel functions in order.

    `inputs` has X_GB1, V_GB1, X_GB2, V_GB2, frame_on_body1, frame_on_body2, stiffness, damping as arrays.
    """
    slots = {name: np.zeros(size) for name, size in SIZES.items()} | inputs
    for name in ("turning", "pose", "energy", "velocity", "coordinate_forces", "force"):
        kernel = LinearBushing.kernels[name]
        kernel(*(slots[argument] for argument in kernel.arguments))
    return slots


def inputs_of(case):
    """Return the inputs of a case as arrays."""
    values = case["inputs"]
    return {
        "X_GB1": twelve(values["X_GB1"]),
        "X_GB2": twelve(values["X_GB2"]),
        "V_GB1": flat(values["V_GB1"]),
        "V_GB2": flat(values["V_GB2"]),
        "frame_on_body1": twelve(values["X_B1F"]),
        "frame_on_body2": twelve(values["X_B2M"]),
        "stiffness": flat(values["k"]),
        "damping": flat(values["c"]),
    }


reals = st.floats(-2.0, 2.0, allow_subnormal=False)
vectors = st.tuples(reals, reals, reals)
spatial_vectors = st.tuples(reals, reals, reals, reals, reals, reals)
moderate = st.tuples(st.floats(-3.0, 3.0), st.floats(-1.2, 1.2), st.floats(-3.0, 3.0))
poses = st.builds(pose_from_angles, moderate, vectors)
STIFFNESS = np.array([3.0, 5.0, 7.0, 110.0, 130.0, 170.0])
DAMPING = np.array([0.2, 0.3, 0.5, 1.1, 1.3, 1.7])


def moved_pose(X, V, h):
    """Return a pose after a time h with a constant velocity."""
    w = h * V[:3]
    angle = math.sqrt(w @ w)
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    R = np.eye(3)
    if angle > 0.0:
        R = R + math.sin(angle) / angle * W + (1 - math.cos(angle)) / angle**2 * W @ W
    return (*np.ravel(R @ np.reshape(X[:9], (3, 3))), *(np.array(X[9:]) + h * V[3:]))


def displaced(inputs, h):
    """Return the poses of both bodies after a short time h with their velocities."""
    return {f"X_GB{i}": np.array(moved_pose(inputs[f"X_GB{i}"], inputs[f"V_GB{i}"], h)) for i in (1, 2)}


def at_right_angle(stiffness, damping):
    """Return inputs with a middle angle of 90 degrees and a displacement of 0.1 m along x."""
    X = (0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.1, 0.0, 0.0)
    return {
        "X_GB1": np.array(IDENTITY),
        "X_GB2": np.array(X),
        "V_GB1": np.zeros(6),
        "V_GB2": np.array([0.1, 0.2, 0.3, 1.0, 0.0, 0.0]),
        "frame_on_body1": np.array(IDENTITY),
        "frame_on_body2": np.array(IDENTITY),
        "stiffness": np.array(stiffness, dtype=float),
        "damping": np.array(damping, dtype=float),
    }


def test_the_reference_has_every_kind_of_case():
    kinds = {case["kind"] for case in CASES}
    assert kinds >= {
        "generic",
        "small_displacement",
        "near_pi_wrap",
        "near_singular",
        "identity_at_rest",
        "body1_ground",
    }


@pytest.mark.few(60)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_agrees_with_simbody(case, quantity):
    actual = evaluate(inputs_of(case))[RENAMED.get(quantity, quantity)]
    assert_agrees(actual, flat(case["outputs"][quantity]), tolerance(case))


@given(poses, spatial_vectors, moderate, vectors, spatial_vectors)
def test_power_is_stored_or_dissipated(X_GB1, V_GB1, angles, p_FM, V_GB2):
    inputs = {
        "X_GB1": np.array(X_GB1),
        "X_GB2": np.array(compose(X_GB1, pose_from_angles(angles, p_FM))),
        "V_GB1": np.array(V_GB1),
        "V_GB2": np.array(V_GB2),
        "frame_on_body1": np.array(IDENTITY),
        "frame_on_body2": np.array(IDENTITY),
        "stiffness": STIFFNESS,
        "damping": DAMPING,
    }
    quantities = evaluate(inputs)
    power = quantities["F_GB1"] @ inputs["V_GB1"] + quantities["F_GB2"] @ inputs["V_GB2"]
    h = 1e-6
    energies = [evaluate(inputs | displaced(inputs, s * h))["potential_energy"][0] for s in (1.0, -1.0)]
    stored = (energies[0] - energies[1]) / (2 * h)
    assert power == pytest.approx(-stored - quantities["power_dissipation"][0], rel=1e-5, abs=1e-4)
    assert quantities["power_dissipation"][0] >= 0.0
    assert quantities["dissipated_energy_dot"][0] == quantities["power_dissipation"][0]


@given(poses, poses, poses, poses, spatial_vectors, spatial_vectors)
def test_forces_are_equal_and_opposite(X_GB1, X_GB2, X_B1F, X_B2M, V_GB1, V_GB2):
    quantities = evaluate(
        {
            "X_GB1": np.array(X_GB1),
            "X_GB2": np.array(X_GB2),
            "V_GB1": np.array(V_GB1),
            "V_GB2": np.array(V_GB2),
            "frame_on_body1": np.array(X_B1F),
            "frame_on_body2": np.array(X_B2M),
            "stiffness": STIFFNESS,
            "damping": DAMPING,
        }
    )
    # moments about Ground's origin
    at_ground = [
        plus(quantities[F][:3], cross(quantities[X][9:], quantities[F][3:]))
        for F, X in (("F_GB1", "X_GB1"), ("F_GB2", "X_GB2"))
    ]
    scale = 1.0 + float(np.abs(quantities["F_GB2"]).max())
    np.testing.assert_allclose(np.add(*at_ground), 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(quantities["F_GB1"][3:], -quantities["F_GB2"][3:], atol=1e-12 * scale)
    at_frames = [
        plus(quantities[F][:3], cross(quantities[X][9:], quantities[F][3:]))
        for F, X in (("F_GF", "X_GF"), ("F_GM", "X_GM"))
    ]
    np.testing.assert_allclose(at_frames, at_ground, atol=1e-11 * scale)


@given(poses, poses, poses, spatial_vectors, spatial_vectors)
def test_forces_move_with_the_whole_scene(X, X_GB1, X_GB2, V_GB1, V_GB2):
    inputs = {
        "X_GB1": np.array(X_GB1),
        "X_GB2": np.array(X_GB2),
        "V_GB1": np.array(V_GB1),
        "V_GB2": np.array(V_GB2),
        "frame_on_body1": np.array(IDENTITY),
        "frame_on_body2": np.array(IDENTITY),
        "stiffness": STIFFNESS,
        "damping": DAMPING,
    }
    moved = inputs | {f"X_GB{i}": np.array(compose(X, inputs[f"X_GB{i}"])) for i in (1, 2)}
    moved |= {
        f"V_GB{i}": np.array([*rotate(X, inputs[f"V_GB{i}"][:3]), *rotate(X, inputs[f"V_GB{i}"][3:])])
        for i in (1, 2)
    }
    first, second = evaluate(inputs), evaluate(moved)
    scale = 1.0 + float(np.abs(first["F_GB2"]).max())
    if (  # not at a jump of an angle
        abs(abs(first["q"][0]) - math.pi) > 1e-6
        and abs(abs(first["q"][2]) - math.pi) > 1e-6
        and abs(first["q"][1]) < 1.5
    ):
        np.testing.assert_allclose(second["q"], first["q"], atol=1e-9)
        np.testing.assert_allclose(second["F_GB2"][3:], rotate(X, first["F_GB2"][3:]), atol=1e-8 * scale)
        np.testing.assert_allclose(second["F_GB2"][:3], rotate(X, first["F_GB2"][:3]), atol=1e-8 * scale)


def test_a_moment_at_the_singular_angle_is_an_error():
    with pytest.raises(ValueError, match=r"middle rotation angle.*\+-90"):
        evaluate(at_right_angle([1, 1, 1, 0, 0, 0], [0] * 6))


def test_springs_in_translation_alone_have_no_singular_angle():
    quantities = evaluate(at_right_angle([0, 0, 0, 100, 100, 100], [0, 0, 0, 1, 1, 1]))
    np.testing.assert_allclose(quantities["F_GM"], [0, 0, 0, -11, 0, 0], atol=1e-12)


def test_a_spring_along_one_axis_pulls_along_it():
    quantities = evaluate(at_right_angle([0, 0, 0, 100, 0, 0], [0] * 6))
    assert quantities["potential_energy"][0] == pytest.approx(0.5)
    assert dot(quantities["F_GB2"][3:], (1, 0, 0)) == pytest.approx(-10.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stiffness": [1, 2, 3]}, r"stiffness has shape \(3,\), needs \(6,\) .*translation alone write"),
        ({"stiffness": [0, 0, 0, -1, 0, 0]}, r"stiffness\[3\] is -1 N/m, needs at least 0"),
        ({"damping": [0, 0, 0, 0, 0, math.nan]}, r"damping\[5\] is nan"),
        ({"damping": [0, 0, 0, 0, 0, "3 kg"]}, "kg"),
        ({"frame_on_body1": [1, 2]}, "is not a pose"),
        ({"frame_on_body2": [1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0]}, "left-handed"),
        ({"stifness": [0] * 6}, "stiffness"),
    ],
)
def test_wrong_values_are_refused(values, message):
    valid = {"stiffness": [0] * 6, "damping": [0] * 6}
    with pytest.raises(cosim.ModelError, match=message):
        LinearBushing(**(valid | values))


def test_all_faults_are_reported_at_once():
    with pytest.raises(cosim.ModelError) as caught:
        LinearBushing(stiffness=[1, 2, 3], damping=[-1] * 6, frame_on_body1="there")
    assert {problem.where for problem in caught.value.problems} == {"stiffness", "damping", "frame_on_body1"}


def test_every_quantity_of_the_law_is_a_readable_slot():
    declared = LinearBushing.declarations
    assert set(QUANTITIES) & set(declared) >= set(QUANTITIES) - set(RENAMED)
    assert declared["dissipated_energy"].kind == "auxiliary"
    assert all(d.description for d in declared.values())
