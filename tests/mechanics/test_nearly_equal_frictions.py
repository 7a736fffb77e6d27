"""Motions that are continuous in the accuracy and in the difference of static and dynamic friction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from applied_loads import push
from contact_formulas import GRAVITY, hertz_depth

import cosim
from cosim_mechanics import Multibody

CRATE_FILE = Path(__file__).parents[2] / "examples" / "thrown_crate" / "thrown_crate.toml"


def test_the_place_of_a_box_that_tumbles_follows_the_accuracy() -> None:
    """Corners touch one after the other; damping does not depend on the located depth of a touch."""
    places = []
    for accuracy in (1e-6, 1e-8):
        simulator = cosim.Simulator(cosim.Model.from_file(CRATE_FILE).build(), accuracy=accuracy)
        simulator.advance_to(1.0)
        places.append(np.asarray(simulator.state.y)[4:7])
    assert np.abs(places[1] - places[0]).max() < 1e-5


@pytest.mark.by_turns
@pytest.mark.parametrize("modulus", ["2 MPa", "100 MPa"])
def test_a_tumbling_box_with_equal_and_nearly_equal_frictions(modulus: str, tmp_path: Path) -> None:
    """Some of its corners slide while others hold."""
    text = CRATE_FILE.read_text(encoding="utf-8").replace("2 MPa", modulus)
    places = []
    for difference in (0.0, 1e-9, 1e-4):
        frictions = f"static_friction = 0.5\ndynamic_friction = {0.5 * (1.0 - difference)!r}"
        changed = text.replace("static_friction = 0.7\ndynamic_friction = 0.5", frictions)
        assert changed.count(frictions) == 4
        (tmp_path / "crate.toml").write_text(changed, encoding="utf-8")
        simulator = cosim.Simulator(cosim.Model.from_file(tmp_path / "crate.toml").build(), accuracy=1e-8)
        simulator.advance_to(1.0)
        places.append(np.asarray(simulator.state.y)[4:7])
    assert np.abs(places[1] - places[0]).max() < 1e-8
    assert 1e-8 < np.abs(places[2] - places[0]).max() < 1e-4


@pytest.mark.parametrize("course", ["jump", "ramp"])
@pytest.mark.parametrize("modulus", [1e5, 1e8])
def test_a_block_that_breaks_loose_with_equal_and_nearly_equal_frictions(modulus: float, course: str) -> None:
    speeds = []
    for difference in (0.0, 1e-9, 1e-4):
        model = Multibody("block")
        body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
        model.joint("translation", child=body, q=[0, 0, 0.1 - hertz_depth(GRAVITY, modulus, 0.1)])
        model.add(
            "mechanics.sphere_contact", "floor", body1="ground", body2=body, radius=0.1, stiffness=modulus,
            static_friction=0.5, dynamic_friction=0.5 * (1.0 - difference),
        )  # fmt: skip
        loads = {"jump": [(0.1, 0.0, 2.0), (0.3, 0.0, 4.0), (0.5, 0.2, -12.0)], "ramp": [(0.1, 0.5, 12.0)]}
        push(model, "block", loads[course])
        speeds.append(model.simulate(until=1.0, accuracy=1e-9)["block.vx"][-1])
    assert abs(speeds[1] - speeds[0]) < 1e-8
    assert 1e-5 < abs(speeds[2] - speeds[0]) < 1e-3
