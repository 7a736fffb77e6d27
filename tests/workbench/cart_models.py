"""A small mechanical model, and a result with two signals: what mistakes are made with."""

from __future__ import annotations

import cosim
from cosim_mechanics import Multibody


def cart_model() -> Multibody:
    """A cart of 2 kg on a slider along x."""
    model = Multibody("m")
    model.joint("slider", child=model.body("cart", mass=2.0, inertia=(1, 1, 1)))
    return model


def cart_result() -> cosim.Result:
    """A result of two points."""
    return cosim.Result([0.0, 1.0], {"cart.z": [0.0, 1.0], "joint.q": [1.0, 2.0]}, {"cart.z": "m"})
