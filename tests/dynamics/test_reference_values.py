"""The solver against values that other programs computed (tests/data/chain.md)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim_dynamics import (
    bias,
    center_of_mass,
    inverse_dynamics,
    joint_reactions,
    kinetic_energy,
    mass_matrix,
    momentum,
    potential_energy,
)

DATA = Path(__file__).parents[1] / "data"
MODELS = [m["name"] for m in json.loads((DATA / "chain.json").read_text())["models"]]
CASES = json.loads((DATA / "chain_drake.json").read_text())["cases"]
TOLERANCE = 1e-10  # relative: the files have 17 digits, and chains of bodies lose some


def difference(actual, expected):
    """Return the largest difference, relative to the largest value."""
    a, b = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape
    return abs(a - b).max(initial=0.0) / max(abs(b).max(initial=0.0), 1e-3)


def test_the_files_have_all_models_and_cases():
    assert len(MODELS) == 19
    assert len(CASES) == 9


@pytest.mark.few(12)
@pytest.mark.parametrize("name", MODELS)
def test_accelerations_and_motion_of_bodies(name, build_reference, put_case):
    reference, system = build_reference(name)
    for case in reference["states"]:
        state = system.default_state()
        put_case(reference, case, state)
        state.realize(cosim.Stage.ACCELERATION)
        assert difference(state.y_dot[: system.nq], case["qdot"]) < TOLERANCE
        assert difference(state.y_dot[system.nq :], case["udot"]) < TOLERANCE
        for body in case["bodies"]:
            i = body["index"]
            pose = [*np.ravel(body["X_GB"]["R"]), *body["X_GB"]["p"]]
            assert difference(state[f"b{i}.X_GB"], pose) < TOLERANCE
        for quantity in ("V_GB", "A_GB"):
            values = [state[f"b{body['index']}.{quantity}"] for body in case["bodies"]]
            assert difference(values, [body[quantity] for body in case["bodies"]]) < TOLERANCE


@pytest.mark.few(12)
@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix_bias_and_inverse_dynamics(name, build_reference, put_case):
    reference, system = build_reference(name)
    for case in reference["states"]:
        state = system.default_state()
        put_case(reference, case, state)
        state.realize(cosim.Stage.DYNAMICS)
        M = mass_matrix(system, state)
        assert difference(M, case["M"]) < TOLERANCE
        scale = max(abs(np.array(case["bias_tau"])).max(), abs(np.array(case["gravity_tau"])).max(), 1.0)
        assert abs(bias(system, state) - case["bias_tau"]).max() < TOLERANCE * scale
        # in the file, gravity is the only applied force
        applied = M @ case["udot"] + case["bias_tau"] - case["gravity_tau"]
        missing = inverse_dynamics(system, state, case["id_udot"]) + applied
        assert difference(missing, case["id_tau"]) < TOLERANCE


@pytest.mark.few(12)
@pytest.mark.parametrize("name", MODELS)
def test_energies_momenta_and_reactions(name, build_reference, put_case):
    reference, system = build_reference(name)
    for case in reference["states"]:
        state = system.default_state()
        put_case(reference, case, state)
        state.realize(cosim.Stage.ACCELERATION)
        assert difference(kinetic_energy(system, state), case["kinetic_energy"]) < TOLERANCE
        assert difference(potential_energy(system, state), case["potential_energy"]) < TOLERANCE
        assert difference(center_of_mass(system, state), case["system_com"]) < TOLERANCE
        assert difference(momentum(system, state), case["system_central_momentum"]) < TOLERANCE
        reactions = joint_reactions(system, state)
        expected = [body["reaction_on_B_at_M_in_G"] for body in case["bodies"]]
        assert difference([reactions[f"j{body['index']}"] for body in case["bodies"]], expected) < TOLERANCE


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['n']}-{c['state']}")
def test_pin_chains_of_drake(case, pin_chain):
    system = pin_chain(case["n"])
    state = system.default_state()
    state.set_q(case["q"])
    state.set_u(case["u"])
    state.realize(cosim.Stage.ACCELERATION)
    assert difference(state.y_dot[case["n"] :], case["vdot"]) < TOLERANCE
    assert difference(mass_matrix(system, state), case["M"]) < TOLERANCE
