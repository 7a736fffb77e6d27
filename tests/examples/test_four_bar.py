"""The four-bar example: its motor, its constraint and its balance of energy."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim

FILE = Path(__file__).parents[2] / "examples" / "four_bar" / "four_bar.toml"


def test_the_speed_is_constant_and_the_work_of_the_motor_is_the_energy():
    system = cosim.Model.from_file(FILE).build()
    simulator = cosim.Simulator(system, accuracy=1e-8)
    simulator.initialize()
    simulator.state.realize(cosim.Stage.REPORT)
    start = simulator.state["energy.kinetic"] + simulator.state["energy.potential"]
    work, last_power = 0.0, None
    for i in range(1, 2001):
        simulator.advance_to(i * 5e-4)
        state = simulator.state
        power = 6.0 * float(state["motor.force_on_coordinate"][0])
        work += 5e-4 * (power if last_power is None else 0.5 * (power + last_power))
        last_power = power
    state.realize(cosim.Stage.REPORT)
    assert state["crank_joint.rate"] == pytest.approx(6.0, abs=1e-9)
    assert abs(state["closure.position_error"]).max() < 1e-9
    assert {finding.kind for finding in simulator.findings} == {
        "moved start"
    }  # the file has approximate angles
    end = state["energy.kinetic"] + state["energy.potential"]
    assert work == pytest.approx(end - start, abs=5e-3)
