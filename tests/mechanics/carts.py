"""A body on a slider, on which force elements act."""

from __future__ import annotations

import cosim
from cosim_mechanics import Multibody


def cart(q: float = 0.5, u: float = 0.0, mass: float = 2.0) -> Multibody:
    """Return a body on a slider along x, without gravity."""
    model = Multibody("cart", gravity=(0, 0, 0))
    body = model.body("cart", mass=mass, inertia=(0.1, 0.1, 0.1))
    model.joint("slider", child=body, q=q, u=u, name="rail")
    return model


def state_at(model: Multibody, **values) -> cosim.State:
    """Return a State with these q and u of the slider, realized to Report."""
    state = model.build().default_state()
    for name, value in values.items():
        state[f"rail.{name}"] = value
    return state.realize(cosim.Stage.REPORT)
