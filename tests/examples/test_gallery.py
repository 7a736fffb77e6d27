"""The parts of the gallery keep their contract, and are what their laws say."""

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
from cosim_mechanics.testing import ForceElementContract

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "gallery"))
from hydraulic_cylinder import HydraulicCylinder  # noqa: E402
from lugre_friction import LuGreFriction  # noqa: E402
from map_2d import Map2d  # noqa: E402
from tyre import Tyre  # noqa: E402

TABLE: dict[str, Any] = {"x_points": [0, 1, 3], "y_points": [0, 2], "table": [[0, 2], [1, 5], [7, 3]]}


class TestLuGreFriction(ForceElementContract):
    make = staticmethod(lambda: LuGreFriction(coulomb=1.0, breakaway=1.5))


class TestTyre(ComponentContract):
    make = staticmethod(Tyre)


class TestHydraulicCylinder(ComponentContract):
    make = staticmethod(HydraulicCylinder)


class TestMap2d(ComponentContract):
    make = staticmethod(lambda: Map2d(**TABLE))
    inputs = {"x": 0.5, "y": 1.0}  # noqa: RUF012


def sled(force: float, speed: float = 0.0) -> cosim.Result:
    model = Multibody("sled", gravity=(0, 0, 0))
    body = model.body("sled", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", body, name="slide", u=speed)
    model.add(LuGreFriction, "friction", coordinate="slide", coulomb=1.0, breakaway=1.5)
    model.add("mechanics.actuator", "push", coordinate="slide", effort=force)
    return model.simulate(until=0.5, accuracy=1e-6)


def test_the_sled_sticks_below_its_friction() -> None:
    stuck, slips = sled(0.8), sled(2.0)
    bend = 0.8 / 1e5
    assert stuck["friction.bend"][-1] == pytest.approx(bend, rel=0.02)
    assert abs(stuck["slide.u"][-1]) < 1e-4
    assert slips["slide.u"][-1] == pytest.approx(0.5 * (2.0 - 1.0), rel=0.2)


def test_a_tyre_at_rest_slip_follows_the_magic_formula() -> None:
    model = cosim.Model("tyre")
    model.add(Tyre, "tyre", slip_angle="4 deg")
    result = model.simulate(until=1.0, accuracy=1e-8)
    x = 10.0 * math.radians(4.0)
    wanted = 4000.0 * math.sin(1.3 * math.atan(x + (x - math.atan(x))))
    assert result["tyre.side_force"][-1] == pytest.approx(wanted, rel=1e-6)
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


def test_a_map_whose_points_do_not_grow_is_refused() -> None:
    with pytest.raises(cosim.CosimError, match="x_points do not grow"):
        model = cosim.Model("map")
        model.add(Map2d, "map", **{**TABLE, "x_points": [0, 1, 1]})
        model.simulate(until=0.1)
