"""Trees of joints: order, numbering and faults."""

from __future__ import annotations

import pytest

import cosim
from cosim_dynamics.tree import Tree
from cosim_mechanics import Multibody

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def model(*bodies):
    made = Multibody("tree")
    for name in bodies:
        made.body(name, **SOLID)
    return made


def faults(made):
    with pytest.raises(cosim.ModelError) as caught:
        made.build()
    return {problem.where: problem.text for problem in caught.value.problems}


def test_a_chain_is_numbered_without_a_gap_and_a_branch_starts_a_new_run():
    made = model("a", "b", "c", "side")
    made.joint("pin", child="side", parent="a")
    made.joint("pin", child="c", parent="b")
    made.joint("free", child="a")
    made.joint("weld", child="b", parent="a")
    attached = lambda joint, end: made.parts[joint.values.attachments[end]]  # noqa: E731
    tree = Tree.of(made.parts.values(), attached, lambda where, text: pytest.fail(text))
    assert [link.body.name for link in tree.links] == ["a", "side", "b", "c"]
    assert [link.parent for link in tree.links] == [-1, 0, 0, 2]
    assert tree.before == [-1, 0, 1, 2, 3, 4, 5, 5]
    assert tree.run == [0, 0, 0, 0, 0, 0, 0, 7]
    assert tree.depth == [1, 2, 3, 4, 5, 6, 7, 7]


def test_a_body_without_a_joint_is_reported():
    found = faults(_with(model("arm", "lost"), ("pin", "arm", "ground")))
    assert list(found) == ["lost"]
    assert "joint with child='lost'" in found["lost"]


def test_two_joints_for_one_body_are_reported():
    made = _with(model("arm"), ("pin", "arm", "ground"))
    made.joint("slider", child="arm", name="second")
    text = faults(made)["second"]
    assert "joints: ground → arm →" in text
    assert "constraint" in text


def test_a_loop_is_reported_with_its_bodies():
    found = faults(
        _with(
            model("a", "b", "c", "d"),
            ("pin", "a", "c"),
            ("pin", "b", "a"),
            ("pin", "c", "b"),
            ("pin", "d", "a"),
        )
    )
    assert len(found) == 1
    text = next(iter(found.values()))
    assert "tree of joints" in text
    assert all(name in text for name in ("a", "b", "c"))
    assert "never reaches Ground" in text


def test_bodies_that_hang_together_in_the_air_are_reported_once():
    found = faults(_with(model("a", "b", "c"), ("pin", "a", "b"), ("pin", "c", "b")))
    assert list(found) == ["a"]
    assert "'a', 'b', 'c' hang together" in found["a"]


def test_wrong_ends_are_reported():
    made = model("arm", "leg", "foot")
    made.joint("pin", child="ground", parent="arm", name="upside_down")
    made.joint("pin", child="leg", parent="gravity", name="on_gravity")
    made.joint("pin", child="foot", parent="foot", name="on_itself")
    made.joint("free", child="arm")
    found = faults(made)
    assert "ground → arm → ground" in found["arm_joint"]
    assert "which is not a body" in found["on_gravity"]
    assert "connects two bodies" in found["on_itself"]


def test_an_unknown_body_is_reported_with_the_nearest_name():
    made = _with(model("arm"), ("pin", "arm", "ground"))
    made.joint("weld", child="armm", name="typing_error")
    with pytest.raises(cosim.CosimError, match="arm"):
        made.build()


@pytest.mark.parametrize(
    ("kind", "center", "inertia", "loose"),
    [
        ("pin", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), "u[0]"),
        ("free", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "u[0], u[1], u[2]"),
        ("free", (0.0, 0.0, 0.0), (1.0, 1.0, 0.0), "u[2]"),
    ],
)
def test_a_tip_that_does_not_resist_its_joint_is_reported(kind, center, inertia, loose):
    made = Multibody("light")
    made.body("bob", mass=1.0, center_of_mass=center, inertia=inertia)
    made.joint(kind, child="bob")
    text = faults(made)["bob_joint"]
    assert "matrix is singular" in text
    assert "bob" in text
    if kind == "pin":
        assert loose in text


def test_a_point_mass_on_a_pin_is_sound():
    made = Multibody("pendulum")
    made.body("bob", mass=1.0, center_of_mass=(0.0, -1.0, 0.0), inertia=(0.0, 0.0, 0.0))
    made.joint("pin", child="bob")
    state = made.build().default_state().realize(cosim.Stage.ACCELERATION)
    assert state["bob_joint.u_dot"] == pytest.approx([0.0])


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_a_mass_matrix_that_becomes_singular_stops_with_a_sentence(solver):
    made = Multibody("light")
    made.settings["dynamics"] = solver
    made.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0))
    made.joint("pin", child="bob")
    state = made.build().default_state()
    state["bob.inertia"] = (0.0, 0.0, 0.0)
    with pytest.raises(cosim.SimulationError, match="matrix is singular"):
        state.realize(cosim.Stage.ACCELERATION)


def _with(made, *joints):
    for kind, child, parent in joints:
        made.joint(kind, child=child, parent=parent)
    return made


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_two_pins_about_one_axis_are_singular_together(solver):
    made = Multibody("redundant")
    made.settings["dynamics"] = solver
    made.body("ring", mass=1e-3, inertia=(0.0, 0.0, 0.0))
    made.body("wheel", mass=3.0, inertia=(0.1, 0.1, 0.2))
    made.joint("pin", child="ring")
    made.joint("pin", child="wheel", parent="ring")
    state = made.build().default_state()
    with pytest.raises(cosim.SimulationError, match="matrix is singular"):
        state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.parametrize(
    ("solver", "pins", "said"),
    [
        ("dynamics.sval", 2, "mass matrix of composite rigid bodies (below 5 speeds in a row); 2 speeds"),
        ("dynamics.sval", 5, "recursion over articulated bodies (from 5 speeds in a row on); 5 speeds"),
        ("dynamics.composite_rigid_body", 5, "mass matrix of composite rigid bodies; 5 speeds, at most 5"),
        ("dynamics.articulated_body", 2, "recursion over articulated bodies; 2 speeds, at most 2"),
    ],
)
def test_a_system_says_how_it_is_solved(solver, pins, said):
    model = Multibody("chain", dynamics=solver)
    for i in range(pins):
        model.body(f"b{i}", mass=1.0, center_of_mass=(0, 1, 0), inertia=(1, 1, 1))
        model.joint("pin", child=f"b{i}", parent=f"b{i - 1}" if i else "ground")
    assert model.build().dynamics.startswith(said)
