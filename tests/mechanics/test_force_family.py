"""Single force elements by their laws: gravity, stops, dampers, inputs; energies by element."""

from __future__ import annotations

import math

import numpy as np
import pytest
from carts import cart, state_at

import cosim
from cosim_mechanics import Multibody
from cosim_workbench.energy_balance import energy_balance


def test_gravity_leaves_out_bodies_that_do_not_feel_it() -> None:
    model = Multibody("two")
    for name, feels in (("stone", True), ("balloon", False)):
        model.body(name, mass=2.0, inertia=(1, 1, 1), feels_gravity=feels)
        model.joint("free", child=name, q=[1, 0, 0, 0, 0, 0, 3.0])
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["stone.az"] == pytest.approx(-9.81) and state["balloon.az"] == 0.0
    assert state["gravity.potential_energy"] == pytest.approx(2.0 * 9.81 * 3.0)
    state["balloon.feels_gravity"] = 1
    assert state.realize(cosim.Stage.REPORT)["balloon.az"] == pytest.approx(-9.81)
    with pytest.raises(cosim.ModelError, match=r"2\.0.*switch"):
        model.body("third", mass=1, inertia=(1, 1, 1), feels_gravity=2.0)


def test_a_stop_pushes_and_never_pulls() -> None:
    model = cart()
    stop = {"lower": -0.1, "upper": 0.4, "stiffness": 100.0, "dissipation": 0.5}
    model.add("mechanics.coordinate_stop", "stop", coordinate="rail", **stop)
    assert state_at(model, q=0.3, u=9.0)["rail.tau"] == 0.0
    assert state_at(model, q=0.5, u=1.0)["rail.tau"] == pytest.approx(-100 * 0.1 * 1.5)
    assert state_at(model, q=0.5, u=-3.0)["rail.tau"] == 0.0
    assert state_at(model, q=-0.3, u=-1.0)["rail.tau"] == pytest.approx(100 * 0.2 * 1.5)
    state = state_at(model, q=0.5, u=-3.0)
    assert state["stop.potential_energy"] == pytest.approx(0.5)
    assert state["stop.dissipated_energy_dot"] == pytest.approx(30.0)


def test_a_stop_with_an_empty_range_is_refused() -> None:
    model = cart()
    model.add("mechanics.coordinate_stop", "stop", coordinate="rail", lower=-0.1, upper=-0.2, stiffness=100.0)
    with pytest.raises(cosim.CosimError, match="stop.*lower.*range lies above"):
        model.build().default_state().realize(cosim.Stage.INSTANCE)


def test_the_speed_after_a_stop_follows_from_hunt_and_crossley() -> None:
    """The force k x (1 + d v) gives v / (1 + d v) dv = -k/m x dx, whose integral is equal for both speeds."""
    speed, d = 0.8, 0.9
    model = cart(q=0.0, u=speed, mass=1.5)
    model.add("mechanics.coordinate_stop", "stop", coordinate="rail", upper=0.1, stiffness=3e3, dissipation=d)
    result = model.simulate(until=0.4, accuracy=1e-10)
    speed_after = -result["rail.speed"][-1]

    def integral(v: float) -> float:
        return d * v - math.log(1.0 + d * v)

    assert integral(speed) == pytest.approx(integral(-speed_after), rel=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-9


def test_a_global_damper_acts_on_every_speed() -> None:
    model = cart(u=2.0)
    model.body("ball", mass=1.0, inertia=(1, 1, 1))
    model.joint("ball", child="ball", u=(1, 2, 3), name="socket")
    model.add("mechanics.global_damper", "air", damping=0.5)
    state = state_at(model)
    assert state["rail.tau"] == pytest.approx(-1.0)
    np.testing.assert_allclose(state["socket.tau"], [-0.5, -1.0, -1.5])
    assert state["air.dissipated_energy_dot"] == pytest.approx(0.5 * (4 + 1 + 4 + 9))


@pytest.mark.parametrize(
    ("element", "coordinate", "message"),
    [
        (
            "coordinate_damper",
            "socket[3]",
            r"coordinate is 'socket\[3\]', there are socket\[0\] … socket\[2\]",
        ),
        ("coordinate_damper", "rail[1]", r"there are rail\[0\]$"),
        ("coordinate_spring", "socket[1]", "4 coordinates for 3 speeds"),
    ],
)
def test_coordinates_that_do_not_exist_are_refused(element: str, coordinate: str, message: str) -> None:
    model = cart()
    model.body("ball", mass=1.0, inertia=(1, 1, 1))
    model.joint("ball", child="ball", name="socket")
    values = {"damping": 1.0} if "damper" in element else {"stiffness": 1.0}
    model.add(f"mechanics.{element}", "element", coordinate=coordinate, **values)
    with pytest.raises(cosim.ModelError, match=message):
        model.build()


def test_inputs_supply_energy() -> None:
    model = Multibody("pushed", gravity=(0, 0, 0))
    body = model.body("body", mass=2.0, inertia=(1, 2, 3))
    model.joint("free", child=body, u=(0.1, 0.2, 0.3, 0, 0, 0))
    model.add(
        "mechanics.applied_wrench", "fluid", body=body, station=(0.1, 0, 0), f=(1, 2, 0), torque=(0, 0, 0.5)
    )
    model.add("mechanics.applied_force", "push", body=body, axis="z", force=3.0)
    model.add("mechanics.constant_torque", "motor", body=body, torque=(0.3, 0, 0))
    system = model.build()
    assert system.inputs == ("fluid.f", "fluid.torque", "push.force")
    result = model.simulate(until=2.0, accuracy=1e-10)
    gain = result["energy.kinetic"][-1] - result["energy.kinetic"][0]
    assert gain == pytest.approx(result["energy.supplied"][-1], rel=1e-9)
    assert gain > 1.0
    total = sum(result[f"{name}.supplied_energy"][-1] for name in ("fluid", "push", "motor"))
    assert total == pytest.approx(result["energy.supplied"][-1], rel=1e-14)


def test_the_energy_balance_has_a_row_for_each_element(tmp_path) -> None:
    model = cart(u=1.0)
    model.add("mechanics.coordinate_damper", "brake", coordinate="rail", damping=1.0)
    model.add("mechanics.actuator", "motor", coordinate="rail", effort=2.0)
    result = model.simulate(until=1.0, accuracy=1e-9)
    for name in (
        "cart.kinetic_energy",
        "brake.dissipated_energy",
        "motor.supplied_energy",
        "energy.residual",
    ):
        assert name in result.names
    lines = energy_balance(result)
    assert lines[0].split() == ["kinetic", "potential", "dissipated", "supplied"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert float(rows["brake"][0]) == pytest.approx(result["brake.dissipated_energy"][-1], rel=1e-5)
    assert float(rows["motor"][0]) == pytest.approx(result["motor.supplied_energy"][-1], rel=1e-5)
    assert float(rows["residual"][0]) < 1e-8
    assert result.plot("energy.*", "*_energy", path=tmp_path / "energy.png").exists()
    assert energy_balance(result.select("rail.*")) == []
