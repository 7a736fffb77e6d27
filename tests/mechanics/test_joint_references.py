"""Every joint in chains and trees against Simbody."""

import json
from pathlib import Path

import numpy as np
import pytest
from reference_values import assert_agrees, twelve

import cosim
import cosim_mechanics
from cosim_mechanics import Multibody

CHAIN = json.loads((Path(__file__).parents[1] / "data" / "chain.json").read_text())


class Wrench(cosim.Component):
    """A constant spatial force on a body, about its origin, in Ground."""

    body = cosim_mechanics.body()
    wrench = cosim.parameter(shape=6, default=np.zeros(6))

    @cosim.kernel
    def force(wrench, F_GB):
        for i in range(6):
            F_GB[i] += wrench[i]


class Motor(cosim.Component):
    """A constant generalized force on a coordinate."""

    coordinate = cosim_mechanics.coordinate()
    force = cosim.parameter(default=0.0)

    @cosim.kernel
    def drive(force, tau):
        tau[0] += force


def tree(reference):
    """Return a model of the reference file, with a force on every body and every speed."""
    model = Multibody("tree", gravity=reference["gravity"])
    for body in reference["bodies"]:
        name = f"b{body['index']}"
        properties = body["body"]
        model.body(
            name, mass=properties["mass"], center_of_mass=properties["com"], inertia=properties["inertia_com"]
        )
        values = {"pitch": body["pitch"]} if "pitch" in body else {}
        parent = "ground" if body["parent"] < 0 else f"b{body['parent']}"
        model.joint(
            body["joint"],
            child=name,
            parent=parent,
            frame_on_parent=twelve(body["X_PF"]),
            frame_on_child=twelve(body["X_BM"]),
            **values,
        )
        model.add(Wrench, f"{name}_wrench", body=name)
        for i in range(body["nu"]):
            model.add(Motor, f"{name}_motor{i}", coordinate=f"{name}_joint[{i}]")
    return model


@pytest.mark.parametrize("reference", CHAIN["models"], ids=lambda reference: reference["name"])
def test_joints_agree_with_simbody(reference):
    system = tree(reference).build()
    assert len(reference["states"]) > 0
    for expected in reference["states"]:
        state = system.default_state()
        for body in reference["bodies"]:
            joint = f"b{body['index']}_joint"
            if body["nu"]:
                state[f"{joint}.q"] = expected["q"][body["q_start"] : body["q_start"] + body["nq"]]
                state[f"{joint}.u"] = expected["u"][body["u_start"] : body["u_start"] + body["nu"]]
                for i in range(body["nu"] if "applied_tau" in expected else 0):
                    state[f"b{body['index']}_motor{i}.force"] = expected["applied_tau"][body["u_start"] + i]
        for i, wrench in enumerate(expected.get("applied_body_wrench", [])):
            state[f"b{i}_wrench.wrench"] = wrench
        state.realize(cosim.Stage.REPORT)
        for body in expected["bodies"]:
            name = f"b{body['index']}"
            assert_agrees(state[f"{name}_joint.X_FM"], twelve(body["X_FM"]), 1e-11)
            assert_agrees(state[f"{name}.X_GB"], twelve(body["X_GB"]), 1e-11)
            assert_agrees(state[f"{name}.V_GB"], body["V_GB"], 1e-10)
            assert_agrees(state[f"{name}.A_GB"], body["A_GB"], 1e-9)
        for body in reference["bodies"]:
            if body["nu"]:
                joint = f"b{body['index']}_joint"
                assert_agrees(
                    state[f"{joint}.q_dot"],
                    expected["qdot"][body["q_start"] : body["q_start"] + body["nq"]],
                    1e-11,
                )
                assert_agrees(
                    state[f"{joint}.u_dot"],
                    expected["udot"][body["u_start"] : body["u_start"] + body["nu"]],
                    1e-9,
                )
        assert_agrees(state["energy.kinetic"], expected["kinetic_energy"], 1e-11)
        assert_agrees(state["energy.potential"], expected["potential_energy"], 1e-11)


def test_the_reference_has_every_joint():
    kinds_of_file = {body["joint"] for reference in CHAIN["models"] for body in reference["bodies"]}
    kinds_of_framework = {
        entry.id.split(".")[1]
        for entry in cosim.registry().entries("component")
        if issubclass(entry.cls, cosim_mechanics.Joint)
    }
    assert kinds_of_file <= kinds_of_framework
