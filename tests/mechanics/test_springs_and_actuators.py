"""Springs, dampers, actuators and applied forces in models, against closed forms."""

import math

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody


def bob(**values):
    """Return a point mass that slides along x, with a spring to Ground."""
    model = Multibody("bob", gravity=(0, 0, 0))
    body = model.body("bob", mass=2.0, inertia=(0, 0, 0))
    model.joint("slider", child=body, q=0.7)
    model.add("mechanics.two_point_spring", "spring", body1="ground", body2=body, **values)
    return model


def test_a_two_point_spring_pulls_along_its_line():
    state = bob(stiffness=50.0, free_length=0.5).build().default_state().realize(cosim.Stage.REPORT)
    assert state["spring.length"] == pytest.approx(0.7)
    assert state["spring.tension"] == pytest.approx(10.0)
    assert state["bob.ax"] == pytest.approx(-5.0)
    assert state["spring.potential_energy"] == pytest.approx(1.0)
    assert state["energy.total"] == pytest.approx(1.0)


def test_a_mass_on_a_two_point_spring_oscillates():
    simulator = cosim.Simulator(bob(stiffness=50.0, free_length=0.5).build(), accuracy=1e-9)
    simulator.initialize()
    simulator.advance_to(1.0)
    assert simulator.state["bob_joint.position"] == pytest.approx(0.5 + 0.2 * math.cos(5.0), abs=1e-7)


def test_a_damped_two_point_spring_balances_its_energy():
    model = Multibody("m")
    body = model.body("body", mass=2.0, inertia=(0.3, 0.2, 0.4), center_of_mass=(0.1, 0, 0))
    model.joint("free", child=body, u=(1, 2, 3, 0, 0, 1))
    values = {"station_on_body1": (0, 0, 1), "station_on_body2": (0, 0.2, 0.1)}
    model.add(
        "mechanics.two_point_spring",
        "s",
        body1="ground",
        body2=body,
        stiffness=80,
        damping=3,
        free_length=0.4,
        **values,
    )
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.initialize()
    start = simulator.state.realize(cosim.Stage.REPORT)["energy.total"]
    simulator.advance_to(1.0)
    state = simulator.state.realize(cosim.Stage.REPORT)
    assert state["s.dissipated_energy"] > 0.1
    assert state["energy.total"] == pytest.approx(start, abs=1e-6)


def test_coinciding_points_of_a_spring_are_an_error():
    state = bob(stiffness=1.0, free_length=0.0).build().default_state()
    state["bob_joint.q"] = 0.0
    with pytest.raises(cosim.CosimError, match="spring.*coincide"):
        state.realize(cosim.Stage.POSITION)


def test_a_coordinate_spring_acts_on_one_coordinate():
    model = Multibody("m", gravity=(0, 0, 0))
    body = model.body("b", mass=1.0, inertia=(2, 2, 2))
    model.joint("planar", child=body, q=(0.1, 0.2, 0.3), u=(1, 2, 3))
    model.add(
        "mechanics.coordinate_spring", "s", coordinate="b_joint[2]", stiffness=10.0, damping=0.5, neutral=0.1
    )
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    np.testing.assert_allclose(state["b_joint.tau"], [0, 0, -(10 * 0.2 + 0.5 * 3)])
    assert state["s.potential_energy"] == pytest.approx(0.2)
    assert state["s.dissipated_energy_dot"] == pytest.approx(4.5)


def test_an_applied_force_is_an_input_of_the_system():
    model = Multibody("m", gravity=(0, 0, 0))
    body = model.body("b", mass=2.0, inertia=(1, 1, 1))
    model.joint("free", child=body)
    model.add("mechanics.applied_force", "push", body=body, axis="y", station=(0.5, 0, 0))
    system = model.build()
    assert "push.force" in system.inputs
    state = system.default_state()
    state["push.force"] = 6.0
    state.realize(cosim.Stage.ACCELERATION)
    np.testing.assert_allclose(state["b.A_GB"], [0, 0, 3, 0, 3, 0])


def test_an_actuator_turns_a_pin():
    model = Multibody("m", gravity=(0, 0, 0))
    body = model.body("b", mass=2.0, inertia=(2, 2, 4))
    model.joint("pin", child=body)
    model.add("mechanics.actuator", "motor", coordinate="b_joint", effort=2.0)
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    assert state["b_joint.u_dot"] == pytest.approx(0.5)


def test_an_actuator_between_two_bodies_follows_a_signal_and_supplies_energy():
    model = Multibody("car", gravity=(0, 0, 0))
    for name, place in (("car", 1.0), ("wheel", 0.4)):
        model.body(name, mass=3.0 if name == "car" else 1.0, inertia=(0, 0, 0))
        model.joint("slider", child=name, q=place, name=f"{name}_guide")
    model.add("mechanics.two_point_actuator", "cylinder", body1="wheel", body2="car")
    model.add("signals.step", "demand", height=-6.0, start_time=0.5)
    model.connect("demand", "cylinder.pull")
    system = model.build()
    assert system.signal("demand").units == ("N",)
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(1.5)
    state = simulator.state.realize(cosim.Stage.REPORT)
    assert state["car_guide.q"] == pytest.approx(1.0 + 1.0)  # 6 N push 3 kg for 1 s
    assert state["wheel_guide.q"] == pytest.approx(0.4 - 3.0)
    assert state["cylinder.supplied_energy"] == pytest.approx(0.5 * 3.0 * 4.0 + 0.5 * 36.0)
    assert state["energy.kinetic"] == pytest.approx(24.0)
