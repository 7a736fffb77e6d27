"""What acts between two bodies."""

from __future__ import annotations

from typing import Any, ClassVar

from cosim.component.component import Component
from cosim.component.declarations import body, parameter


def _on_or_off(value: Any) -> float:
    number = float(value)
    if number not in (0.0, 1.0):
        raise ValueError(f"enabled is {value!r}, needs 1 (True) or 0 (False)")
    return number


class ForceElement(Component):
    """Base of force elements: they add spatial forces to bodies.

    A subclass has a kernel function that asks for ``X_GB1``, ``V_GB1``, ``X_GB2`` … (body 1 and body 2:
    pose, velocity about the body's origin, in Ground) and adds to ``F_GB1`` and ``F_GB2``, the
    spatial forces about the bodies' origins in Ground, rotation first.

    What it stores and loses shows in the energy balance under these names: a cache slot
    ``potential_energy`` (J) and an auxiliary state ``dissipated_energy`` (J).

    Attributes
    ----------
    enabled : parameter
        1 or 0 (True or False) in each State. An element that is off contributes nothing: its slots are 0 and
        its states stand still.
    """

    plain_methods: ClassVar[tuple[str, ...]] = ("force",)
    switch: ClassVar[str] = "enabled"

    enabled = parameter(default=1, convert=_on_or_off, description="0 turns the element off")

    body1 = body(description="the body that carries frame 1")
    body2 = body(description="the body that carries frame 2")
