"""The four-bar linkage of the examples."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim

FILE = Path(__file__).parents[2] / "examples" / "four_bar" / "four_bar.toml"


def test_the_motor_keeps_its_speed_and_the_power_adds_up():
    system = cosim.Model.from_file(FILE).build()
    simulator = cosim.Simulator(system, accuracy=1e-8)
    simulator.initialize()
    simulator.state.realize(cosim.Stage.REPORT)
    start = simulator.state["energy.kinetic"] + simulator.state["energy.potential"]
    work, last = 0.0, None
    for i in range(1, 2001):
        simulator.advance_to(i * 5e-4)
        state = simulator.state
        power = 6.0 * float(state["motor.force_on_coordinate"][0])
        work += 5e-4 * (power if last is None else 0.5 * (power + last))
        last = power
    state.realize(cosim.Stage.REPORT)
    assert state["crank_joint.rate"] == pytest.approx(6.0, abs=1e-9)
    assert abs(state["closure.position_error"]).max() < 1e-9
    assert {f.kind for f in simulator.findings} == {"moved start"}  # the angles of the file are guesses
    end = state["energy.kinetic"] + state["energy.potential"]
    assert work == pytest.approx(end - start, abs=5e-3)
