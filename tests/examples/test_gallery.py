"""The parts of the gallery fulfil their contracts and obey their laws."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.testing import ComponentContract
from cosim_mechanics import Multibody
from cosim_mechanics.testing import ConstraintContract, ForceElementContract

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "gallery"))
from backlash import Backlash  # noqa: E402
from battery import Battery  # noqa: E402
from heated_rod import HeatedRod  # noqa: E402
from hydraulic_cylinder import HydraulicCylinder  # noqa: E402
from lead_screw import LeadScrew  # noqa: E402
from lugre_friction import LuGreFriction  # noqa: E402
from map_2d import Map2d  # noqa: E402
from muscle import Muscle  # noqa: E402
from tyre import Tyre  # noqa: E402

TABLE: dict[str, Any] = {"x_points": [0, 1, 3], "y_points": [0, 2], "table": [[0, 2], [1, 5], [7, 3]]}


class TestLuGreFriction(ForceElementContract):
    make = staticmethod(lambda: LuGreFriction(coulomb=1.0, breakaway=1.5))


class TestTyre(ComponentContract):
    make = staticmethod(Tyre)


class TestHydraulicCylinder(ComponentContract):
    make = staticmethod(HydraulicCylinder)


class TestMuscle(ForceElementContract):
    make = staticmethod(lambda: Muscle(excitation=0.7, insertion=(0.0, 0.02, 0.05)))


class TestLeadScrew(ConstraintContract):
    make = staticmethod(LeadScrew)


class TestBacklash(ForceElementContract):
    make = staticmethod(Backlash)


class TestBattery(ComponentContract):
    make = staticmethod(Battery)


class TestHeatedRod(ComponentContract):
    make = staticmethod(HeatedRod)


class TestMap2d(ComponentContract):
    make = staticmethod(lambda: Map2d(**TABLE))
    inputs = {"x": 0.5, "y": 1.0}  # noqa: RUF012


def push_sled(force: float, speed: float = 0.0) -> cosim.Result:
    model = Multibody("sled", gravity=(0, 0, 0))
    body = model.body("sled", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", body, name="slide", u=speed)
    model.add(LuGreFriction, "friction", coordinate="slide", coulomb=1.0, breakaway=1.5)
    model.add("mechanics.actuator", "push", coordinate="slide", effort=force)
    return model.simulate(until=0.5, accuracy=1e-6)


def test_the_sled_sticks_below_its_friction() -> None:
    sticking, sliding = push_sled(0.8), push_sled(2.0)
    bend = 0.8 / 1e5
    assert sticking["friction.bend"][-1] == pytest.approx(bend, rel=0.02)
    assert abs(sticking["slide.u"][-1]) < 1e-4
    assert sliding["slide.u"][-1] == pytest.approx(0.5 * (2.0 - 1.0), rel=0.2)


def test_a_tyre_follows_the_magic_formula_with_a_relaxation() -> None:
    model = cosim.Model("tyre")
    model.add(Tyre, "tyre", slip_angle="4 deg")
    result = model.simulate(until=1.0, accuracy=1e-8)
    x = 10.0 * math.radians(4.0)
    force = 4000.0 * math.sin(1.3 * math.atan(x + (x - math.atan(x))))
    assert result["tyre.side_force"][-1] == pytest.approx(force, rel=1e-6)
    slip = math.tan(math.radians(4.0)) * (1.0 - np.exp(-20.0 / 0.5 * result.time))
    assert np.allclose(result["tyre.slip"], slip, rtol=1e-5, atol=1e-9)


def test_flow_into_a_locked_cylinder_raises_its_pressure() -> None:
    model = cosim.Model("cylinder")
    model.add(HydraulicCylinder, "c", flow1="6 l/min", leakage=0.0)
    result = model.simulate(until=0.01)
    rise = 1.2e9 * 1e-4 * 0.01 / (50e-6 + 20e-4 * 0.1)
    assert result["c.pressure1"][-1] - 5e6 == pytest.approx(rise, rel=1e-9)
    assert result["c.force"][-1] == pytest.approx(20e-4 * (5e6 + rise) - 12e-4 * 5e6, rel=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "value"),
    [(0, 0, 0), (1, 2, 5), (3, 2, 3), (0.5, 1, 2.0), (2, 0, 4), (-5, 9, 2), (99, -9, 7), (3, 1, 5)],
)
def test_values_of_the_map(x: float, y: float, value: float) -> None:
    model = cosim.Model("map")
    model.add(Map2d, "map", x=x, y=y, **TABLE)
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["map.result"] == pytest.approx(value, abs=1e-15)


def test_a_map_with_equal_points_is_refused() -> None:
    model = cosim.Model("map")
    with pytest.raises(cosim.CosimError, match="x_points do not grow"):
        model.add(Map2d, "map", **{**TABLE, "x_points": [0, 1, 1]})
        model.simulate(until=0.1)


def test_a_muscle_holds_its_isometric_force_at_its_optimal_length() -> None:
    model = Multibody("arm", gravity=(0, 0, 0))
    model.body("bone", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", child="bone", name="slide", q=0.05)
    model.constraint("lock", "hold", coordinate="slide", value=0.05)
    model.add(
        Muscle,
        "muscle",
        body1="ground",
        body2="bone",
        origin=(-0.1, 0, 0),
        via=(0, 0, 0),
        insertion=(0.05, 0, 0),
        excitation=0.5,
    )
    result = model.simulate(until=0.3, accuracy=1e-8)
    assert result["muscle.length"][-1] == pytest.approx(0.2, rel=1e-12)
    assert result["muscle.tension"][-1] == pytest.approx(500.0 * (1.0 - math.exp(-0.3 / 0.03)), rel=1e-6)


def test_a_load_on_the_nut_turns_the_shaft() -> None:
    model = Multibody("press", gravity=(0, 0, 0))
    model.body("shaft", mass=1.0, inertia=(1, 1, 0.01))
    model.body("nut", mass=2.0, inertia=(1, 1, 1))
    model.joint("pin", child="shaft", name="rotation")
    model.joint("slider", child="nut", name="slide")
    model.add(LeadScrew, "screw", shaft="rotation", nut="slide", lead="5 mm")
    model.add("mechanics.actuator", "load", coordinate="slide", effort=100.0)
    result = model.simulate(until=1.0, accuracy=1e-8)
    gain = 0.005 / (2.0 * math.pi)
    assert result["rotation.u"][-1] == pytest.approx(100.0 * gain / (0.01 + 2.0 * gain * gain), rel=1e-6)
    assert result["slide.q"][-1] == pytest.approx(gain * result["rotation.q"][-1], rel=1e-9)


@pytest.mark.parametrize(
    ("angle", "torque"), [(0.0, 0.0), (0.01, 0.0), (-0.01, 0.0), (0.013, 30.0), (-0.015, -50.0)]
)
def test_teeth_touch_beyond_half_the_gap(angle: float, torque: float) -> None:
    model = Multibody("gears", gravity=(0, 0, 0))
    for name in ("motor", "load"):
        model.body(name, mass=1.0, inertia=(1, 1, 1))
        model.joint("pin", child=name, name=f"{name}_shaft", q=angle if name == "motor" else 0.0)
    model.add(Backlash, "teeth", driving="motor_shaft", driven="load_shaft", gap=0.02)
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["teeth.torque"] == pytest.approx(torque, abs=1e-9)


def test_an_empty_battery_is_cut_off() -> None:
    model = cosim.Model("flashlight")
    model.add(Battery, "cell", current=5.0, capacity="1 A.h", C1=100.0)
    result = model.simulate(until=1000.0, accuracy=1e-8)
    (cut,) = [event for event in result.events if event.handler.endswith("cut_off")]
    assert cut.time == pytest.approx(3600.0 / 5.0, rel=1e-9)
    assert abs(result["cell.charge"][-1]) < 1e-9
    row = int(np.searchsorted(result.time, 360.0))
    assert result["cell.charge"][row] == pytest.approx(1.0 - result.time[row] / 720.0, rel=1e-9)
    drop = 5.0 * (0.02 + 0.01)
    open_circuit = np.interp(result["cell.charge"][row], [0, 0.1, 0.5, 0.9, 1], [3, 3.5, 3.7, 4, 4.2])
    assert result["cell.voltage"][row] == pytest.approx(open_circuit - drop, abs=1e-7)


@pytest.mark.parametrize("cells", [1, 2, 40])
def test_the_temperature_of_a_heated_rod_is_linear(cells: int) -> None:
    model = cosim.Model("rod")
    model.add(HeatedRod, "rod", power=10.0, ambient=300.0, shares=[1.0] + [0.0] * (cells - 1))
    result = model.simulate(until=1e6, integrator="integrators.bdf", accuracy=1e-6)
    positions = (np.arange(cells) + 0.5) / cells
    temperatures = 300.0 + 10.0 * (1.0 - positions) / (400.0 * 1e-4)
    assert np.allclose(np.atleast_1d(result["rod.temperature"][-1]), temperatures, rtol=1e-5)
    assert result["rod.hottest"][-1] == pytest.approx(temperatures[0], rel=1e-5)
