"""Ranges of coordinates, from the force elements that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import cosim
from cosim_mechanics import contracts


@dataclass(frozen=True)
class Range:
    """The range of a coordinate: its name, its place in y and that of its speed in u, and both ends."""

    name: str
    coordinate: int
    speed: int
    lower: float
    upper: float


def ranges_of(system: cosim.System, state: cosim.State) -> list[Range]:
    """Ranges that force elements with a coordinate, `lower` and `upper` hold in a State."""
    ranges = []
    for name, part in system.parts.items():
        declared = part.declarations
        if not isinstance(part, contracts.Force) or not {"coordinate", "lower", "upper"} <= declared.keys():
            continue
        if not state[f"{name}.enabled"]:
            continue
        path = system.assembly.attached_path(part, "coordinate")
        joint, _, index = path.partition("[")
        joint, i = joint.partition(".")[0], int(index.rstrip("]") or 0)
        q, u = (system.variables[f"{joint}.{x}"].slot for x in "qu")
        lower, upper = (float(state[f"{name}.{end}"]) for end in ("lower", "upper"))
        ranges.append(Range(path, q.offset + i, u.offset - system.nq + i, lower, upper))
    return ranges
