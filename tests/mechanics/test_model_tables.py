"""The tables of a model file: what they add to the model, and where their faults are reported."""

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
    """Read tables as the reader of model files does: the model and the problems with their paths."""
    model, problems = cosim.Model("file"), []
    readers = {e.cls.table: e.cls() for e in cosim.registry().entries("model_table")}
    for table, entries in document.items():
        readers[table].begin(model, {**readers[table].settings, **(settings or {})})
        for name, entry in entries.items():

            def report(key, text, at=f"{table}.{name}"):
                problems.append((f"{at}.{key}", text))

            readers[table].read(model, name, entry, report)
    return model, problems


def test_a_file_says_the_same_as_python():
    model, problems = read({"bodies": {"engine": ENGINE}, "elements": {"mount": MOUNT}})
    assert problems == []
    typed = Multibody("file")
    engine = typed.body("engine", mass=120, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    typed.joint("free", child=engine)
    typed.add(
        "mechanics.linear_bushing",
        "mount",
        body1="ground",
        body2=engine,
        frame_on_body1=(-0.3, 0, 0),
        frame_on_body2=(-0.3, 0, 0),
        stiffness=[0, 0, 0, 1.2e5, 1.2e5, 2.4e5],
        damping=[0, 0, 0, 300, 300, 600],
    )
    assert model.to_dict() | {"parts": []} == typed.to_dict() | {"parts": []}
    states = [m.build().default_state().realize(cosim.Stage.REPORT) for m in (model, typed)]
    np.testing.assert_array_equal(states[0]["engine.A_GB"], states[1]["engine.A_GB"])
    assert list(model.parts) == list(typed.parts)


def test_gravity_is_a_setting_of_the_model():
    model, _ = read({"bodies": {"engine": ENGINE}}, {"gravity": [0, "-9.8 m/s2", 0]})
    assert model.parts["gravity"].gravity.tolist() == [0.0, -9.8, 0.0]


def test_a_wrong_gravity_is_a_fault_of_the_setting():
    with pytest.raises(cosim.ModelError, match="gravity has shape") as caught:
        read({"bodies": {}}, {"gravity": [0, -9.8]})
    assert [problem.where for problem in caught.value.problems] == ["gravity"]


def test_joints_may_be_told_apart_from_bodies():
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
def test_faults_are_reported_where_they_stand(document, path, message):
    problems = dict(read(document)[1])
    assert message in problems[path]


def test_all_faults_are_reported():
    wrong = MOUNT | {"stiffness": [1], "damping": [-1] * 6}
    problems = read({"bodies": {"b": ENGINE | {"mass": 0}}, "elements": {"m": wrong, "n": {"type": "x.y"}}})[
        1
    ]
    assert {path for path, _ in problems} == {
        "bodies.b.mass",
        "elements.m.stiffness",
        "elements.m.damping",
        "elements.n.type",
    }
