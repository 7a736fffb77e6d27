"""Closed loops against values that another program computed (tests/data/constraint.md)."""

from __future__ import annotations

import numpy as np
import pytest
from constraint_references import REFERENCES, model_of, put

import cosim

TOLERANCE = 1e-9


def difference(actual, expected):
    """Return the largest difference, relative to the largest value."""
    a, b = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape
    return abs(a - b).max(initial=0.0) / max(abs(b).max(initial=0.0), 1e-3)


@pytest.mark.parametrize("name", REFERENCES)
def test_accelerations_multipliers_and_forces(name):
    reference = REFERENCES[name]
    system = model_of(reference).build()
    for case in reference["states"]:
        state = system.default_state()
        put(reference, case, system, state)
        state.realize(cosim.Stage.ACCELERATION)
        assert difference(state.y_dot[: system.nq], case["qdot"]) < TOLERANCE
        assert difference(state.y_dot[system.nq :], case["udot"]) < TOLERANCE
        assert difference(np.atleast_1d(state["c0.multipliers"]), case["multipliers"]) < TOLERANCE
        accelerations = [state[f"b{entry['index']}.A_GB"] for entry in reference["bodies"]]
        assert difference(accelerations, case["A_GB"]) < TOLERANCE
        assert abs(np.atleast_1d(state["c0.position_error"])).max() < 1e-13
        assert abs(np.atleast_1d(state["c0.velocity_error"])).max() < 1e-13
        forces = np.zeros((len(reference["bodies"]), 6))
        constraint = system.parts["c0"]
        for attachment in ("body1", "body2"):
            body = constraint.values.attachments[attachment]
            if body != "ground":
                forces[int(str(body)[1:])] -= state[f"c0.force_on_{attachment}"]
        assert difference(forces, case["constraint_body_forces"]) < TOLERANCE
        assert state["c0.redundant"] == 0.0


@pytest.mark.parametrize("name", REFERENCES)
def test_motion_stays_on_the_constraints_and_keeps_its_energy(name):
    reference = REFERENCES[name]
    samples = reference["trajectory"]["samples"]
    system = model_of(reference).build()
    state = system.default_state()
    put(reference, samples[0], system, state)
    simulator = cosim.Simulator(system, state, accuracy=1e-9)
    for sample in samples:
        simulator.advance_to(sample["t"])
        state = simulator.state
        state.realize(cosim.Stage.REPORT)
        assert difference(state.q, sample["q"]) < 2e-6
        assert difference(state.u, sample["u"]) < 2e-6
        assert abs(np.atleast_1d(state["c0.position_error"])).max() < 1e-9
        assert abs(np.atleast_1d(state["c0.velocity_error"])).max() < 1e-9
        assert state["energy.kinetic"] + state["energy.potential"] == pytest.approx(
            sample["energy"], rel=1e-6
        )
