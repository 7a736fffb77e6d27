"""Balls, blocks and boxes on a floor, and forces that push them."""

from __future__ import annotations

import math
from typing import Any

from applied_loads import push
from contact_formulas import GRAVITY, hertz_depth

from cosim_mechanics import Multibody, shapes

RADIUS = 0.1
SOLID = 0.4 * RADIUS * RADIUS
"""Moment of inertia of a solid ball of 1 kg."""


def rest_depth(modulus: float, load: float = GRAVITY) -> float:
    """Return the depth of a ball of `RADIUS` that carries a load, N."""
    return hertz_depth(load, modulus, RADIUS)


def ball_on_floor(
    modulus: float,
    height: float = RADIUS,
    u: Any = (0,) * 6,
    slope: float = 0.0,
    joint: str = "free",
    **values: Any,
) -> Multibody:
    """Return a solid ball of 1 kg, its centre `height` above a floor that falls along x by `slope` (rad)."""
    g = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    model = Multibody("ball", gravity=g)
    ball = model.body("ball", mass=1.0, inertia=(SOLID,) * 3)
    place = [0, 0, height] if joint == "translation" else [1, 0, 0, 0, 0, 0, height]
    model.joint(joint, child=ball, q=place, u=u)
    model.add(
        "mechanics.sphere_contact",
        "floor",
        body1="ground",
        body2=ball,
        radius=RADIUS,
        stiffness=modulus,
        **values,
    )
    return model


def block(slope: float, speed: float, static: float, dynamic: float, modulus: float = 1e8) -> Multibody:
    """Return a body of 1 kg that cannot turn, at its depth of rest on a slope."""
    height = RADIUS - rest_depth(modulus, GRAVITY * math.cos(slope))
    friction = {"static_friction": static, "dynamic_friction": dynamic}
    return ball_on_floor(modulus, height, [speed, 0, 0], slope, "translation", **friction)


def regimes(result: Any) -> list[tuple[float, float]]:
    """Return the times of changes of regime, and the regimes after them: 0 apart, 1 sticking, 2 sliding."""
    return [(e.time, e.after["floor.regime"]) for e in result.events if "floor.regime" in e.changed]


def box_on_slope(share: float, speed: float, static: float = 0.5, dynamic: float = 0.5) -> Multibody:
    """Return a box on four corners; `share` is the part of static friction that its weight needs."""
    slope, modulus = math.atan(static * share), 1e8
    model = Multibody("box", gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    box = model.body("box", mass=1.0, inertia=(0.01, 0.01, 0.02))
    depth = hertz_depth(0.25 * GRAVITY * math.cos(slope), modulus, 0.02)
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, 0.05 - depth], u=[0, 0, 0, speed, 0, 0])
    model.shape_contacts(
        "floor", "ground", shapes.HalfSpace(), box, shapes.Box((0.4, 0.4, 0.1), 0.02), stiffness=modulus,
        restitution=0.5, static_friction=static, dynamic_friction=dynamic,
    )  # fmt: skip
    return model


def pushed(model: Multibody, *loads: tuple[float, float, float]) -> Multibody:
    """Add forces along x on the body; each has a start, a duration of its rise and a height in weights."""
    push(model, "ball", [(start, duration, height * GRAVITY) for start, duration, height in loads])
    return model
