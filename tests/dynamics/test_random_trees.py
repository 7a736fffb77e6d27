"""Three solvers give random trees the same accelerations, and these meet the equations of motion."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import SOLVERS, random_state, random_tree

from cosim_dynamics import bias, inverse_dynamics, mass_matrix, torque_equations

FEW, MANY = range(12), range(12, 1012)


def check_accelerations(seed: int, most_bodies: int) -> None:
    """Build one random tree for each solver, and compare."""
    accelerations = {}
    for solver in SOLVERS:
        rng = np.random.default_rng(seed)
        system = random_tree(rng, solver, most_bodies).build()
        state = random_state(system, rng)
        accelerations[solver] = np.array(state.y_dot[system.nq : system.nq + system.nu])
    if not system.nu:
        return
    # the states of all three have the same values, so those of the last one will do
    M, V = mass_matrix(system, state), bias(system, state)
    udot = accelerations["dynamics.sval"]
    scale = (abs(M) @ abs(udot) + abs(V)).max() + 1.0
    for other in accelerations.values():
        assert abs(M @ (udot - other)).max() <= 1e-10 * scale
    # inverse dynamics: M udot + V - T = 0, with gravity in T
    assert abs(inverse_dynamics(system, state, udot)).max() <= 1e-10 * scale
    # equation i of the s-vals is row i of M and V_i
    for i, equation in torque_equations(system, state).items():
        assert abs(equation.row(system.nu) - M[i]).max() <= 1e-12 * abs(M).max()
        assert abs(equation.bias - V[i]) <= 1e-12 * (abs(V).max() + 1.0)
    assert abs(M - M.T).max() <= 1e-12 * abs(M).max()
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", FEW)
def test_a_few_random_trees(seed: int) -> None:
    check_accelerations(seed, 12)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", MANY)
def test_many_random_trees(seed: int) -> None:
    check_accelerations(seed, 40)
