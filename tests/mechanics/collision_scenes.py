"""Balls in a scene of shapes, for tests of `mechanics.collisions`."""

from __future__ import annotations

from typing import Any

from cosim_mechanics import Multibody, shapes

LAW: dict[str, Any] = {"stiffness": 1e7, "restitution": 0.5}
FLOOR = {"ground": shapes.HalfSpace()}


def balls(places: Any, radii: Any, u: Any = None, fixed: Any = None, **law: Any) -> Multibody:
    """Return balls of 1 kg at their places, and shapes on Ground: a floor unless `fixed` has others."""
    model = Multibody("balls")
    for i, place in enumerate(places):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, *place], u=(0,) * 6 if u is None else u[i])
    moving = {f"ball{i}": shapes.Sphere(radius) for i, radius in enumerate(radii)}
    model.collisions("scene", {**(FLOOR if fixed is None else fixed), **moving}, **{**LAW, **law})
    return model
