"""The solver of constrained chains follows from their length and their equations, and a system shows it."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_dynamics import kinetic_energy, potential_energy
from cosim_mechanics import Multibody


def closed_chain(links: int) -> cosim.System:
    """Return a chain of links on pins whose tip is held: three equations."""
    model = Multibody("chain", gravity=(0, -9.81, 0))
    for i in range(links):
        model.body(f"b{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
        carrier = {"parent": f"b{i - 1}", "frame_on_parent": (1, 0, 0)} if i else {}
        model.joint("pin", child=f"b{i}", q=0.2, **carrier)
    model.add("mechanics.ball_constraint", "tip", body1="ground", body2=f"b{links - 1}", point1=(2, 1, 0))
    return model.build()


def energy(state: cosim.State) -> float:
    return kinetic_energy(state.system, state) + potential_energy(state.system, state)


def test_short_chains_are_solved_by_a_mass_matrix() -> None:
    assert closed_chain(12).dynamics.startswith(
        "mass matrix of composite rigid bodies (below 13 speeds in a row), multipliers of 3"
    )


def test_long_chains_are_solved_by_recursion() -> None:
    """Corrections after steps use the recursion, too: the tip stays and the energy is constant."""
    system = closed_chain(13)
    assert system.dynamics.startswith(
        "recursion over articulated bodies (from 13 speeds in a row on), multipliers of 3"
    )
    simulator = cosim.Simulator(system, accuracy=1e-7)
    simulator.initialize()
    before = energy(simulator.state)
    simulator.advance_to(0.5)
    assert np.abs(simulator.state["tip.position_error"]).max() < 1e-9
    assert energy(simulator.state) == pytest.approx(before, abs=1e-4 * abs(before))
