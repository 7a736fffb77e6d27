"""A point at the end of a rod, for integrators that keep constraints."""

from __future__ import annotations

import numpy as np

import cosim


def rod_system() -> cosim.System:
    """Three coordinates carry the point, a constraint keeps it 1 m from the origin.

    Bodies, joint and constraint come from the registry, by id.

    Raises
    ------
    LookUpError
        They are not installed.
    """
    model = cosim.Model("pendulum")
    model.add("mechanics.ground", "ground")
    model.add("mechanics.gravity", "gravity", gravity=(0.0, 0.0, -9.81))
    model.add("mechanics.rigid_body", "bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(
        "mechanics.translation", "joint", child="bob", parent="ground", q=(0.8, 0.0, -0.6), u=(0.3, 0.5, 0.4)
    )
    model.add("mechanics.rod", "rod", body1="ground", body2="bob", length=1.0)
    return model.build()


def rod_errors(state: cosim.State) -> float:
    """The distance of the point from its sphere, or its radial speed, whichever is larger."""
    return max(abs(float(np.linalg.norm(state.q)) - 1.0), abs(float(state.q @ state.u)))
