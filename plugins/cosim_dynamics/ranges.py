"""Ranges of coordinates, from the force elements that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import cosim
from cosim_mechanics import contracts


@dataclass(frozen=True)
class Range:
    """The range of a coordinate.

    Attributes
    ----------
    name : str
        Of the coordinate: ``joint``, ``joint[1]`` or ``joint.q[1]``, as the force element names it.
    coordinate, speed : int
        Its place in y, and that of its speed in u.
    lower, upper : float
        In the unit of the coordinate.
    """

    name: str
    coordinate: int
    speed: int
    lower: float
    upper: float


def ranges_of(system: cosim.System, state: cosim.State) -> list[Range]:
    """Ranges that enabled force elements with a coordinate, `lower` and `upper` hold in a State."""
    ranges = []
    for name, part in system.parts.items():
        if not _holds_range(part) or not state[f"{name}.enabled"]:
            continue
        path = system.assembly.attached_path(part, "coordinate")
        joint, index = _joint_and_index(path)
        q, u = (system.variables[f"{joint}.{variable}"].slot for variable in ("q", "u"))
        first_speed = u.offset - system.nq  # y consists of q, u and z
        lower, upper = (float(state[f"{name}.{end}"]) for end in ("lower", "upper"))
        ranges.append(Range(path, q.offset + index, first_speed + index, lower, upper))
    return ranges


def _holds_range(part: cosim.Component) -> bool:
    """Whether a part is a force element that declares a coordinate and the ends of its range."""
    return isinstance(part, contracts.Force) and {"coordinate", "lower", "upper"} <= part.declarations.keys()


def _joint_and_index(path: str) -> tuple[str, int]:
    """The joint of a coordinate and its number there.

    >>> _joint_and_index("arm.q[1]"), _joint_and_index("arm")
    (('arm', 1), ('arm', 0))
    """
    joint, _, index = path.partition("[")
    return joint.partition(".")[0], int(index.rstrip("]") or 0)
