"""Tables of a model file: bodies, joints and elements are added to the model, and faults are reported."""

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody

ENGINE = {"mass": "120 kg", "center_of_mass": [0, 0, "0.1 m"], "inertia": [4.5, 6.0, 5.2], "joint": "free"}
MOUNT = {
    "type": "mechanics.linear_bushing",
    "body1": "ground",
    "body2": "engine",
    "frame_on_body1": {"position": ["-300 mm", 0, 0]},
    "frame_on_body2": {"position": ["-300 mm", 0, 0]},
    "damping": [0, 0, 0, 300, 300, 600],
    "stiffness": [0, 0, 0, "120 N/mm", "120 N/mm", "240 N/mm"],
}


def read(document, settings=None):
    """Return the model that tables describe, and the problems with their paths."""
    model, problems = cosim.Model("file"), []
    readers = {e.cls.table: e.cls() for e in cosim.registry().entries("model_table")}
    for table, entries in document.items():
        readers[table].begin(model, {**readers[table].settings, **(settings or {})})
        for name, entry in entries.items():

            def report(key, text, place=f"{table}.{name}"):
                problems.append((f"{place}.{key}", text))

            readers[table].read(model, name, entry, report)
    return model, problems


def test_a_file_gives_the_model_of_python():
    model, problems = read({"bodies": {"engine": ENGINE}, "elements": {"mount": MOUNT}})
    assert problems == []
    expected = Multibody("file")
    engine = expected.body("engine", mass=120, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    expected.joint("free", child=engine)
    expected.add(
        "mechanics.linear_bushing",
        "mount",
        body1="ground",
        body2=engine,
        frame_on_body1=(-0.3, 0, 0),
        frame_on_body2=(-0.3, 0, 0),
        stiffness=[0, 0, 0, 1.2e5, 1.2e5, 2.4e5],
        damping=[0, 0, 0, 300, 300, 600],
    )
    assert model.to_dict() | {"parts": []} == expected.to_dict() | {"parts": []}
    states = [m.build().default_state().realize(cosim.Stage.REPORT) for m in (model, expected)]
    np.testing.assert_array_equal(states[0]["engine.A_GB"], states[1]["engine.A_GB"])
    assert list(model.parts) == list(expected.parts)


def test_gravity_is_a_setting_of_the_model():
    model, _ = read({"bodies": {"engine": ENGINE}}, {"gravity": [0, "-9.8 m/s2", 0]})
    assert model.parts["gravity"].gravity.tolist() == [0.0, -9.8, 0.0]


def test_a_wrong_gravity_is_a_fault_of_the_setting():
    with pytest.raises(cosim.ModelError, match="gravity has shape") as caught:
        read({"bodies": {}}, {"gravity": [0, -9.8]})
    assert [problem.where for problem in caught.value.problems] == ["gravity"]


def test_joints_may_have_a_table_of_their_own():
    body = {"mass": 1, "inertia": [1, 1, 1]}
    bodies = {
        "arm": body,
        "hand": {**body, "joint": {"type": "pin", "parent": "arm", "frame_on_parent": [0, 0, 1]}},
    }
    model, problems = read(
        {"bodies": bodies, "joints": {"shoulder": {"type": "pin", "child": "arm", "q": 0.3}}}
    )
    assert problems == []
    state = model.build().default_state().realize(cosim.Stage.POSITION)
    assert state["hand.z"] == 1.0
    assert state["shoulder.angle"] == 0.3


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ({"elements": {"m": MOUNT | {"stiffness": [1, 2, 3]}}}, "elements.m.stiffness", "translation alone"),
        (
            {"elements": {"m": MOUNT | {"type": "mechanics.linear_bushin"}}},
            "elements.m.type",
            "Nearest: mechanics.linear_bushing",
        ),
        ({"elements": {"m": {"stiffness": 1}}}, "elements.m.type", "type is missing"),
        (
            {"elements": {"m": MOUNT | {"frame_on_body1": "here"}}},
            "elements.m.frame_on_body1",
            "is not a pose",
        ),
        ({"bodies": {"b": ENGINE | {"mass": -1}}}, "bodies.b.mass", "needs more than 0"),
        ({"bodies": {"b": ENGINE | {"mas": 1}}}, "bodies.b.mas", "Nearest: mass"),
        ({"bodies": {"b": ENGINE | {"joint": "fre"}}}, "bodies.b.joint", "Nearest: mechanics.free"),
        ({"bodies": {"b": ENGINE | {"joint": 3}}}, "bodies.b.joint", "joint is 3"),
        ({"bodies": {"b": ENGINE | {"joint": {"type": "pin", "q": "3 m"}}}}, "bodies.b.joint.q", "rad"),
        ({"bodies": {"b": ENGINE | {"joint": {"parent": "a"}}}}, "bodies.b.joint.type", "type is missing"),
        ({"joints": {"j": {"type": "pin"}}}, "joints.j.child", "child is missing"),
        ({"joints": {"j": {"child": "b"}}}, "joints.j.type", "type is missing"),
    ],
)
def test_faults_are_reported_with_their_path(document, path, message):
    problems = dict(read(document)[1])
    assert message in problems[path]


def test_all_faults_are_reported():
    elements = {"m": MOUNT | {"stiffness": [1], "damping": [-1] * 6}, "n": {"type": "x.y"}}
    _, problems = read({"bodies": {"b": ENGINE | {"mass": 0}}, "elements": elements})
    assert {path for path, _ in problems} == {
        "bodies.b.mass",
        "elements.m.stiffness",
        "elements.m.damping",
        "elements.n.type",
    }
