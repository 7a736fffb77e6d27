"""The appearance of a body."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import pose_parameter

NAMED = {
    "red": (0.84, 0.15, 0.16),
    "green": (0.17, 0.63, 0.17),
    "blue": (0.12, 0.47, 0.71),
    "orange": (1.0, 0.5, 0.05),
    "yellow": (0.95, 0.8, 0.15),
    "purple": (0.58, 0.4, 0.74),
    "grey": (0.5, 0.5, 0.5),
    "white": (0.95, 0.95, 0.95),
    "black": (0.1, 0.1, 0.1),
}


def color(value: Any) -> Any:
    """Red, green and blue from 0 to 1: three numbers, ``"#1f77b4"`` or a name.

    >>> color("#ff0080")
    (1.0, 0.0, 0.5019607843137255)
    """
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"#[0-9a-fA-F]{6}", value):
        return tuple(int(value[i : i + 2], 16) / 255 for i in (1, 3, 5))
    if value.lower() not in NAMED:
        raise ValueError(
            f'color is "{value}", needs "#rrggbb", three numbers from 0 to 1, or {", ".join(NAMED)}'
        )
    return NAMED[value.lower()]


class Look(cosim.Component):
    """Base of shapes that show where a body is; they have no mass and no contact.

    Parameters
    ----------
    body : body
    frame : pose, default identity
        Of the shape on the body.
    color : three numbers, ``"#rrggbb"`` or a name
    """

    shape: ClassVar[str] = ""
    """What the page draws: box, sphere, cylinder, capsule, cone, mesh."""

    body = contracts.body(description="the body that it is fixed on")
    frame = pose_parameter("pose of the shape on the body")
    color = cosim.parameter(
        shape=3, default=(0.12, 0.47, 0.71), minimum=0.0, maximum=1.0, convert=color, elements=("r", "g", "b")
    )

    def sizes(self) -> list[float]:
        """The factors of the shape: three sides, or radius and length."""
        raise NotImplementedError
