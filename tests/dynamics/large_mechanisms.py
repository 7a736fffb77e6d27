"""Mechanisms of many loops: pairs of pendulums with a rod each, and ladders of rods between two chains."""

from __future__ import annotations

from typing import Any

from cosim_mechanics import Multibody

AXES = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
LINK = {"mass": 1.0, "center_of_mass": (0.0, -0.5, 0.0), "inertia": (1 / 12, 0.01, 1 / 12)}
TIP = (0.0, -1.0, 0.0)


def hang(model: Multibody, name: str, parent: str, x: float, y: float, **start: float) -> None:
    """Add a link of 1 m that hangs on a pin at a point of its parent."""
    model.body(name, **LINK)
    model.joint(
        "pin", name=f"pin_{name}", child=name, parent=parent, frame_on_parent=(*AXES, x, y, 0.0), **start
    )


def pairs(count: int, q: float = 0.3) -> Multibody:
    """Return pairs of pendulums side by side, a rod between the tips of each pair."""
    model = Multibody("pairs", gravity=(0.0, -9.81, 0.0))
    for i in range(count):
        hang(model, f"left{i}", "ground", 3.0 * i, 0.0, q=q)
        hang(model, f"right{i}", "ground", 3.0 * i + 1.0, 0.0, q=q)
        model.constraint(
            "rod", f"rod{i}", body1=f"left{i}", body2=f"right{i}", point1=TIP, point2=TIP, length=1.0
        )
    return model


def ladder(
    rods: int, q: float = 0.1, rod_height: float = -0.5, first_rod: int = 0, **values: Any
) -> Multibody:
    """Return two chains of links with a rod between each link and its neighbour of the other chain.

    Parameters
    ----------
    rod_height : float, m
        Where on the links, measured from their pins, the rods end.
    first_rod : int
        The first link with a rod.
    **values
        Parameters of the rods.
    """
    model = Multibody("ladder", gravity=(0.0, -9.81, 0.0))
    for side, x in (("left", 0.0), ("right", 1.0)):
        for i in range(rods):
            if i == 0:
                hang(model, f"{side}0", "ground", x, 0.0, q=q)
            else:
                hang(model, f"{side}{i}", f"{side}{i - 1}", 0.0, -1.0)
    for i in range(first_rod, rods):
        ends = {"point1": (0.0, rod_height, 0.0), "point2": (0.0, rod_height, 0.0)}
        model.constraint("rod", f"rod{i}", body1=f"left{i}", body2=f"right{i}", length=1.0, **ends, **values)
    return model
