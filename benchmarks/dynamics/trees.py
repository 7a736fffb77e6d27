"""The trees that all programs compute: every library gets the same description.

A tree is a list of bodies, parents first. Each body has a joint to its parent: "pin" about `axis` through
`position` in the parent's frame, or "free". At zero angles all frames are parallel; a body's frame is in its
joint. `inertia` is central and principal: Ixx, Iyy, Izz.
"""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]
GRAVITY = (0.0, 0.0, -9.81)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def chain(links: int) -> Tree:
    """Identical links of 1 m and 1 kg on hinges about y; at q = 0 they hang down."""
    bodies = [
        {
            "parent": i - 1,
            "joint": "pin",
            "axis": Y,
            "position": (0.0, 0.0, 0.0 if i == 0 else -1.0),
            "mass": 1.0,
            "center": (0.0, 0.0, -0.5),
            "inertia": (1.0025 / 12, 1.0025 / 12, 0.005 / 12),
        }
        for i in range(links)
    ]
    return {"name": f"chain {links}", "bodies": bodies, "q": 0.3, "u": 0.0}


def humanoid() -> Tree:
    """A free trunk with two legs and two arms of six hinges each: 25 bodies, 30 degrees of freedom."""
    bodies = [_body(-1, "free", Z, (0.0, 0.0, 1.0), 20.0, (0.0, 0.0, 0.25), (0.9, 0.8, 0.3))]
    for side in (-1.0, 1.0):
        # hip yaw, roll, pitch; knee; ankle pitch, roll
        leg = [
            (Z, (0.0, 0.1 * side, 0.0), 1.0, -0.02),
            (X, (0.0, 0.0, -0.05), 1.5, -0.02),
            (Y, (0.0, 0.0, -0.03), 6.0, -0.2),
            (Y, (0.0, 0.0, -0.4), 4.0, -0.18),
            (Y, (0.0, 0.0, -0.4), 0.5, -0.02),
            (X, (0.0, 0.0, -0.02), 1.2, -0.03),
        ]
        # shoulder pitch, roll, yaw; elbow; wrist yaw, pitch
        arm = [
            (Y, (0.0, 0.2 * side, 0.5), 1.0, -0.02),
            (X, (0.0, 0.02 * side, 0.0), 1.0, -0.02),
            (Z, (0.0, 0.0, -0.05), 1.8, -0.12),
            (Y, (0.0, 0.0, -0.25), 1.2, -0.1),
            (Z, (0.0, 0.0, -0.2), 0.4, -0.02),
            (Y, (0.0, 0.0, -0.04), 0.5, -0.05),
        ]
        for limb in (leg, arm):
            parent = 0
            for axis, position, mass, height in limb:
                inertia = (0.4 * mass * height**2 + 0.003, 0.4 * mass * height**2 + 0.002, 0.002)
                bodies.append(_body(parent, "pin", axis, position, mass, (0.01, 0.0, height), inertia))
                parent = len(bodies) - 1
    return {"name": "humanoid", "bodies": bodies, "q": 0.3, "u": 0.1}


def _body(
    parent: int, joint: str, axis: Any, position: Any, mass: float, center: Any, inertia: Any
) -> dict[str, Any]:
    """A body of a tree; see the head of this file."""
    return {
        "parent": parent,
        "joint": joint,
        "axis": axis,
        "position": position,
        "mass": mass,
        "center": center,
        "inertia": inertia,
    }
