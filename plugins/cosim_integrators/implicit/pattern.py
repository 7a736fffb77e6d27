"""The structure of the Jacobian as kernels take it: columns, rows and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim_integrators.implicit.layout import P_COLOUR, P_COLOURS, P_ENTRIES, P_SIZE

if TYPE_CHECKING:
    System = Any


def jacobian_pattern(system: System) -> NDArray[np.int64]:
    """The pattern of a system, with a colour for each column; see `layout`.

    Two columns get the same colour only if they have no row in common; a column takes the first
    colour that it fits.
    """
    starts, rows = system.derivative_structure()
    ny = int(system.ny)
    taken: list[int] = []  # for each colour the rows that are in use, one bit each
    colours = np.zeros(ny, dtype=np.int64)
    for column in range(ny):
        used = 0
        for row in rows[starts[column] : starts[column + 1]].tolist():
            used |= 1 << row
        if not used:
            colours[column] = -1  # nothing depends on this state
            continue
        colour = next((i for i, others in enumerate(taken) if not others & used), len(taken))
        if colour == len(taken):
            taken.append(0)
        taken[colour] |= used
        colours[column] = colour
    header = np.zeros(P_COLOUR, dtype=np.int64)
    header[P_SIZE], header[P_ENTRIES], header[P_COLOURS] = ny, rows.size, len(taken)
    return np.concatenate([header, colours, starts, rows]).astype(np.int64)
