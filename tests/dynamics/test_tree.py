"""Trees of joints: their order, the numbers of their speeds, and models without a tree."""

from __future__ import annotations

import pytest

import cosim
from cosim_dynamics.tree import Tree
from cosim_mechanics import Multibody

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def model_with(*bodies):
    """Return a model of bodies without joints."""
    model = Multibody("tree")
    for name in bodies:
        model.body(name, **SOLID)
    return model


def add_joints(model, *joints):
    """Add joints, each a kind, a child and a parent, and return the model."""
    for kind, child, parent in joints:
        model.joint(kind, child=child, parent=parent)
    return model


def faults(model):
    """Return the problems of a model that does not build: texts by part."""
    with pytest.raises(cosim.ModelError) as caught:
        model.build()
    return {problem.where: problem.text for problem in caught.value.problems}


def test_a_chain_is_one_run_of_numbers_and_a_branch_starts_another():
    model = model_with("a", "b", "c", "side")
    model.joint("pin", child="side", parent="a")
    model.joint("pin", child="c", parent="b")
    model.joint("free", child="a")
    model.joint("weld", child="b", parent="a")
    attached = lambda joint, end: model.parts[joint.values.attachments[end]]  # noqa: E731
    tree = Tree.of(model.parts.values(), attached, lambda where, text: pytest.fail(text))
    assert [link.body.name for link in tree.links] == ["a", "side", "b", "c"]
    assert [link.parent for link in tree.links] == [-1, 0, 0, 2]
    assert tree.before == [-1, 0, 1, 2, 3, 4, 5, 5]
    assert tree.run == [0, 0, 0, 0, 0, 0, 0, 7]
    assert tree.depth == [1, 2, 3, 4, 5, 6, 7, 7]


def test_a_body_without_a_joint_is_reported():
    problems = faults(add_joints(model_with("arm", "lost"), ("pin", "arm", "ground")))
    assert list(problems) == ["lost"]
    assert "joint with child='lost'" in problems["lost"]


def test_two_joints_for_one_body_are_reported():
    model = add_joints(model_with("arm"), ("pin", "arm", "ground"))
    model.joint("slider", child="arm", name="second")
    text = faults(model)["second"]
    assert "joints: ground → arm →" in text
    assert "constraint" in text


def test_a_loop_is_reported_with_its_bodies():
    problems = faults(
        add_joints(
            model_with("a", "b", "c", "d"),
            ("pin", "a", "c"),
            ("pin", "b", "a"),
            ("pin", "c", "b"),
            ("pin", "d", "a"),
        )
    )
    assert len(problems) == 1
    text = next(iter(problems.values()))
    assert "tree of joints" in text
    assert all(name in text for name in ("a", "b", "c"))
    assert "never reaches Ground" in text


def test_connected_bodies_without_ground_are_reported_once():
    problems = faults(add_joints(model_with("a", "b", "c"), ("pin", "a", "b"), ("pin", "c", "b")))
    assert list(problems) == ["a"]
    assert "'a', 'b', 'c' hang together" in problems["a"]


def test_invalid_ends_of_joints_are_reported():
    model = model_with("arm", "leg", "foot")
    model.joint("pin", child="ground", parent="arm", name="upside_down")
    model.joint("pin", child="leg", parent="gravity", name="on_gravity")
    model.joint("pin", child="foot", parent="foot", name="on_itself")
    model.joint("free", child="arm")
    problems = faults(model)
    assert "ground → arm → ground" in problems["arm_joint"]
    assert "which is not a body" in problems["on_gravity"]
    assert "connects two bodies" in problems["on_itself"]


def test_an_unknown_body_is_reported_with_the_nearest_name():
    model = add_joints(model_with("arm"), ("pin", "arm", "ground"))
    model.joint("weld", child="armm", name="typing_error")
    with pytest.raises(cosim.CosimError, match="arm"):
        model.build()


@pytest.mark.parametrize(
    ("kind", "center", "inertia", "loose"),
    [
        ("pin", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), "u[0]"),
        ("free", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "u[0], u[1], u[2]"),
        ("free", (0.0, 0.0, 0.0), (1.0, 1.0, 0.0), "u[2]"),
    ],
)
def test_a_tip_that_does_not_resist_its_joint_is_reported(kind, center, inertia, loose):
    model = Multibody("light")
    model.body("bob", mass=1.0, center_of_mass=center, inertia=inertia)
    model.joint(kind, child="bob")
    text = faults(model)["bob_joint"]
    assert "matrix is singular" in text
    assert "bob" in text
    if kind == "pin":
        assert loose in text


def test_a_point_mass_off_the_axis_of_a_pin_is_valid():
    model = Multibody("pendulum")
    model.body("bob", mass=1.0, center_of_mass=(0.0, -1.0, 0.0), inertia=(0.0, 0.0, 0.0))
    model.joint("pin", child="bob")
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    assert state["bob_joint.u_dot"] == pytest.approx([0.0])


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_a_mass_matrix_that_becomes_singular_is_an_error(solver):
    model = Multibody("light")
    model.settings["dynamics"] = solver
    model.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("pin", child="bob")
    state = model.build().default_state()
    state["bob.inertia"] = (0.0, 0.0, 0.0)
    with pytest.raises(cosim.SimulationError, match="matrix is singular"):
        state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_two_pins_about_one_axis_are_singular_together(solver):
    model = Multibody("redundant")
    model.settings["dynamics"] = solver
    model.body("ring", mass=1e-3, inertia=(0.0, 0.0, 0.0))
    model.body("wheel", mass=3.0, inertia=(0.1, 0.1, 0.2))
    model.joint("pin", child="ring")
    model.joint("pin", child="wheel", parent="ring")
    state = model.build().default_state()
    with pytest.raises(cosim.SimulationError, match="matrix is singular"):
        state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.parametrize(
    ("solver", "pins", "description"),
    [
        ("dynamics.sval", 2, "mass matrix of composite rigid bodies (below 5 speeds in a row); 2 speeds"),
        ("dynamics.sval", 5, "recursion over articulated bodies (from 5 speeds in a row on); 5 speeds"),
        ("dynamics.composite_rigid_body", 5, "mass matrix of composite rigid bodies; 5 speeds, at most 5"),
        ("dynamics.articulated_body", 2, "recursion over articulated bodies; 2 speeds, at most 2"),
    ],
)
def test_a_system_describes_its_solver(solver, pins, description):
    model = Multibody("chain", dynamics=solver)
    for i in range(pins):
        model.body(f"b{i}", mass=1.0, center_of_mass=(0, 1, 0), inertia=(1, 1, 1))
        model.joint("pin", child=f"b{i}", parent=f"b{i - 1}" if i else "ground")
    assert model.build().dynamics.startswith(description)
