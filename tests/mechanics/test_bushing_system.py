"""A bushing in a model: the values of Simbody, stages, measures, the energy balance, files."""

import json

import numpy as np
import pytest
from bushing_references import CASES, QUANTITIES, REFERENCE, RENAMED, tolerance
from reference_values import assert_agrees, flat, twelve

import cosim
from cosim_mechanics import Multibody


def two_bodies(inputs, body1_is_ground):
    """Return the model of a reference case: free bodies and one bushing."""
    model = Multibody("reference", gravity=inputs["gravity"])
    for name in ("body2",) if body1_is_ground else ("body1", "body2"):
        properties = inputs[name]
        model.body(
            name, mass=properties["mass"], center_of_mass=properties["com"], inertia=properties["inertia_com"]
        )
        model.joint("free", child=name)
    model.add(
        "mechanics.linear_bushing",
        "mount",
        body1="ground" if body1_is_ground else "body1",
        body2="body2",
        frame_on_body1=twelve(inputs["X_B1F"]),
        frame_on_body2=twelve(inputs["X_B2M"]),
        stiffness=inputs["k"],
        damping=inputs["c"],
    )
    return model


def state_of(case):
    """Return the State of a reference case."""
    inputs = case["inputs"]
    state = two_bodies(inputs, inputs["body1_is_ground"]).build().default_state()
    for i in (1, 2):
        name = f"body{i}"
        if i == 2 or not inputs["body1_is_ground"]:
            state[f"{name}_joint.q"] = [*inputs[f"quat_GB{i}"], *inputs[f"X_GB{i}"]["p"]]
            state[f"{name}_joint.u"] = inputs[f"V_GB{i}"]
    return state


def quaternion(R):
    """Return the quaternion of a rotation matrix, from its axis and angle."""
    R = np.array(R)
    vector = np.linalg.eig(R)[1][:, np.argmin(np.abs(np.linalg.eig(R)[0] - 1))].real
    sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) @ vector / 2
    half = 0.5 * np.arctan2(sine, (np.trace(R) - 1) / 2)
    return [np.cos(half), *(np.sin(half) * vector)]


@pytest.mark.few(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
def test_the_bushing_agrees_with_simbody(case):
    state = state_of(case).realize(cosim.Stage.REPORT)
    expected = case["outputs"]
    for quantity in QUANTITIES:
        name = RENAMED.get(quantity, quantity)
        if not name.startswith("F_GB"):
            assert_agrees(
                state[f"mount.{name}"],
                flat(expected[quantity]).reshape(np.shape(state[f"mount.{name}"])),
                tolerance(case),
            )
    assert_agrees(state["body2.A_GB"], expected["A_GB2"], 10 * tolerance(case))
    if not case["inputs"]["body1_is_ground"]:
        assert_agrees(state["body1.A_GB"], expected["A_GB1"], 10 * tolerance(case))
    assert_agrees(state["energy.kinetic"], expected["kinetic_energy"], 1e-11)
    assert_agrees(state["energy.potential"], expected["total_potential_energy"], tolerance(case))
    total = state["energy.kinetic"] + state["energy.potential"] + state["energy.dissipated"]
    assert state["energy.total"] == pytest.approx(total)


def test_without_gravity_the_bushing_exerts_all_forces():
    case = CASES[0]
    state = state_of(case)
    state["gravity.gravity"] = (0, 0, 0)
    state.realize(cosim.Stage.DYNAMICS)
    assert_agrees(state["body1.F_GB"], case["outputs"]["F_GB1_body_origin"], 1e-11)
    assert_agrees(state["body2.F_GB"], case["outputs"]["F_GB2_body_origin"], 1e-11)


def test_parameters_may_differ_between_states():
    state = state_of(CASES[0])
    changed_state = state.copy()
    changed_state["mount.stiffness"] = np.zeros(6)
    assert state.realize(cosim.Stage.REPORT)["mount.potential_energy"] > 0.0
    assert changed_state.realize(cosim.Stage.REPORT)["mount.potential_energy"] == 0.0


def test_quantities_are_refused_before_their_stage():
    state = state_of(CASES[0]).realize(cosim.Stage.POSITION)
    state["mount.X_FM"], state["mount.q"], state["mount.potential_energy"]
    with pytest.raises(cosim.StageError):
        state["mount.V_FM"]
    state.realize(cosim.Stage.VELOCITY)
    state["mount.V_FM"], state["mount.qdot"]
    with pytest.raises(cosim.StageError):
        state["mount.F_GM"]
    state.realize(cosim.Stage.DYNAMICS)
    state["mount.F_GM"], state["mount.power_dissipation"]


def test_energies_are_not_evaluated_before_the_report_stage():
    state = state_of(CASES[0]).realize(cosim.Stage.ACCELERATION)
    with pytest.raises(cosim.StageError):
        state["energy.total"]


def test_a_motion_agrees_with_simbody():
    motion = REFERENCE["trajectories"][0]
    model = two_bodies(motion, body1_is_ground=False)
    start = motion["samples"][0]
    system = model.build()
    state = system.default_state()
    for i in (1, 2):
        state[f"body{i}_joint.q"] = [*quaternion(start[f"X_GB{i}"]["R"]), *start[f"X_GB{i}"]["p"]]
        state[f"body{i}_joint.u"] = start[f"V_GB{i}"]
    simulator = cosim.Simulator(system, state, accuracy=1e-8)
    simulator.initialize()
    for sample in motion["samples"]:
        simulator.advance_to(sample["t"])
        state = simulator.state.realize(cosim.Stage.REPORT)
        np.testing.assert_allclose(state["mount.q"], sample["bushing_q"], atol=1e-6)
        np.testing.assert_allclose(state["mount.qdot"], sample["bushing_qdot"], atol=1e-5)
        np.testing.assert_allclose(state["body1.X_GB"], twelve(sample["X_GB1"]), atol=1e-6)
        assert state["energy.kinetic"] == pytest.approx(sample["kinetic_energy"], abs=1e-5)
        assert state["energy.potential"] == pytest.approx(sample["total_potential_energy"], abs=1e-5)


def test_the_energy_balance_contains_dissipated_energy():
    model = Multibody("mount")
    body = model.body("body", mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.01, 0.02, 0.1))
    model.joint("free", child=body, u=(1, -2, 0.5, 0.3, 0.2, -0.4))
    for name, place in (("left", (-0.3, 0, 0)), ("right", (0.3, 0, 0))):
        model.add(
            "mechanics.linear_bushing",
            name,
            body1="ground",
            body2=body,
            frame_on_body1=place,
            frame_on_body2=place,
            stiffness=[10, 10, 10, 3000, 4000, 5000],
            damping=[0.1, 0.1, 0.1, 5, 6, 7],
        )
    system = model.build()
    simulator = cosim.Simulator(system, accuracy=1e-8)
    simulator.initialize()
    start = simulator.state.realize(cosim.Stage.REPORT)["energy.total"]
    simulator.advance_to(1.0)
    end = simulator.state.realize(cosim.Stage.REPORT)
    assert end["energy.dissipated"] > 0.5
    assert end["energy.dissipated"] == pytest.approx(
        end["left.dissipated_energy"] + end["right.dissipated_energy"]
    )
    assert end["energy.total"] == pytest.approx(start, abs=1e-6)


def test_measures_of_a_body_through_the_model():
    model = Multibody("arm", gravity=(0, 0, 0))
    arm = model.body("arm", mass=1.0, inertia=(1, 1, 1))
    model.joint("pin", child=arm, q=np.pi / 2, u=2.0)
    model.measure("mechanics.velocity", "tip", of=arm, axis="x", station=(0.5, 0, 0))
    model.measure("mechanics.position", "height", of="arm", axis="-y", station=(0.5, 0, 0))
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["tip"] == pytest.approx(-1.0)
    assert state["tip.value_dot"] == pytest.approx(0.0, abs=1e-12)
    assert state["height"] == pytest.approx(-0.5)
    assert state["height.value_dot"] == pytest.approx(0.0, abs=1e-12)
    assert state["arm_joint.angle"] == pytest.approx(np.pi / 2)
    assert state["arm.wz"] == pytest.approx(2.0)


def test_a_model_survives_json():
    model = two_bodies(CASES[0]["inputs"], body1_is_ground=False)
    copy = cosim.Model.from_dict(json.loads(json.dumps(model.to_dict())))
    assert copy.to_dict() == model.to_dict()
    state, state_of_copy = (m.build().default_state().realize(cosim.Stage.REPORT) for m in (model, copy))
    np.testing.assert_array_equal(state["body1.A_GB"], state_of_copy["body1.A_GB"])


def test_the_singular_angle_is_reported_with_its_element():
    model = Multibody("mount", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.joint("weld", child=body, frame_on_parent={"position": (0, 0, 0)})
    model.add(
        "mechanics.linear_bushing",
        "mount",
        body1="ground",
        body2=body,
        frame_on_body2=[0, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0],
        stiffness=[1] * 6,
        damping=[0] * 6,
    )
    with pytest.raises(cosim.CosimError, match=r"mount.*\+-90 degrees"):
        model.build().default_state().realize(cosim.Stage.DYNAMICS)
