"""What a notebook shows of models, systems, States, parts and results, and slices of results by time."""

import inspect

import numpy as np
import pytest

import cosim
import cosim_mechanics


@pytest.fixture(scope="module")
def model():
    model = cosim_mechanics.Multibody("swing")
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), center_of_mass=(0.0, -1.0, 0.0))
    model.joint("pin", child=bob, q=0.5)
    return model


@pytest.fixture(scope="module")
def result(model):
    return model.simulate("1 s", output_interval=0.1)


def test_each_object_is_shown_as_text_and_as_a_table(model, result):
    system = model.build()
    state = system.default_state()
    simulator = cosim.Simulator(system, state)
    assert repr(model).startswith("<Multibody 'swing': ")
    assert repr(system).startswith("<System 'swing': ") and "2 continuous states" in repr(system)
    assert repr(state).endswith("at t = 0 s, realized to MODEL>")
    assert repr(simulator).endswith("at t = 0 s, RungeKuttaMerson>")
    texts = ((model, "bob_joint"), (system, "bob.mass"), (state, "bob_joint.q"), (result, "rad"))
    for shown_object, text in texts:
        table = shown_object._repr_html_()
        assert table.startswith("<p>&lt;") and text in table
    assert "evaluations" in simulator._repr_html_()


def test_names_are_completed(model, result):
    assert {"time", "bob_joint.q"} <= set(result._ipython_key_completions_())
    assert "bob_joint.q" in model.build().default_state()._ipython_key_completions_()


def test_help_shows_what_a_component_takes():
    parameters = inspect.signature(cosim_mechanics.TwoPointSpring).parameters
    assert parameters["stiffness"].default is inspect.Parameter.empty
    assert parameters["damping"].default == 0.0
    assert "body1" in parameters and "tension" not in parameters


def test_a_result_is_iterated_by_names(result):
    assert list(result) == result.names
    assert dict(zip(result, map(result.__getitem__, result), strict=True)).keys() == result.signals.keys()


def test_a_result_is_cut_by_time(result):
    part = result[0.25:"600 ms"]
    assert isinstance(part, cosim.Result)
    np.testing.assert_allclose(part.time, [0.3, 0.4, 0.5, 0.6])
    np.testing.assert_array_equal(part["bob_joint.q"], result["bob_joint.q"][3:7])
    assert part.unit("bob_joint.q") == "rad"
    assert len(result[:]) == len(result) and len(result[2.0:]) == 0
    with pytest.raises(cosim.ModelError, match="no step"):
        result[0.0:1.0:0.1]
    with pytest.raises(cosim.ModelError, match="end of the slice"):
        result[0.0:"2 m"]


def test_a_part_shows_its_values_and_is_named_in_messages():
    model = cosim_mechanics.Multibody("swing")
    body = model.body("bob", mass=2.0, center_of_mass=(0, "-50 cm", 0), inertia=(1, 1, 1))
    hinge = model.joint("pin", name="hinge", child=body, q="90 deg")
    assert repr(body).startswith(
        "<RigidBody 'bob': mass = 2 kg, center_of_mass = (0, -0.5, 0) m, inertia = (1, "
    )
    assert repr(hinge) == "<Pin 'hinge': parent = 'ground', child = 'bob', q = (1.5708) rad, u = (0) rad/s>"
    assert cosim.kit.quote(body) == "<RigidBody 'bob'>"
    choice = model.add("signals.logic", "both", first="z", second="z", operator="and")
    assert repr(choice).startswith("<Logic 'both': first = 'z', second = 'z', operator = 'and'")
    table = model.add("signals.time_table", "t", times=list(range(9)), samples=list(range(9)))
    assert "times = (0, 1, 2, 3, 4, 5, … 9" in repr(table)
    assert len(repr(table)) < 400
