"""The structure of the Jacobian in the form that kernels read: columns, rows and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim_integrators.implicit.bands import find_band
from cosim_integrators.implicit.implicit_method import Pattern

if TYPE_CHECKING:
    System = Any


LARGEST_DENSE = 200
"""With more states than that, matrices that are no bands are sparse, and SciPy's."""
MOSTLY_FULL = 0.2
"""With a larger share of entries, dense matrices are faster than sparse ones."""


def is_sparse(shape: Pattern) -> bool:
    """Whether matrices with this structure are left to a sparse solver."""
    n = shape.size
    return bool(n > LARGEST_DENSE and not shape.is_band and shape.entries <= MOSTLY_FULL * n * n)


def jacobian_pattern(system: System) -> NDArray[np.int64]:
    """The pattern of a system, with a colour for each column; see `implicit_method`.

    Two columns get the same colour only if they have no row in common; a column takes the first
    colour that it fits.
    """
    starts, rows = system.derivative_structure()
    ny = int(system.ny)
    colour_rows: list[int] = []  # for each colour the rows that are in use, one bit each
    colours = np.zeros(ny, dtype=np.int64)
    for column in range(ny):
        used = 0
        for row in rows[starts[column] : starts[column + 1]].tolist():
            used |= 1 << row
        if not used:
            colours[column] = -1  # nothing depends on this state
            continue
        colour = next(
            (i for i, rows_of_colour in enumerate(colour_rows) if not rows_of_colour & used), len(colour_rows)
        )
        if colour == len(colour_rows):
            colour_rows.append(0)
        colour_rows[colour] |= used
        colours[column] = colour
    header = Pattern(size=ny, entries=rows.size, colours=len(colour_rows))
    by_colour = np.repeat(colours, np.diff(starts))
    colour_starts = np.searchsorted(np.sort(by_colour), np.arange(header.colours + 1))
    parts = [colours, starts, rows, colour_starts, np.argsort(by_colour, kind="stable")]
    band = find_band(starts, rows, may_reorder=ny > LARGEST_DENSE)
    if band is not None:
        header.is_band, header.lower, header.upper = 1, band.lower, band.upper
        header.is_reordered = int((np.diff(band.order) != 1).any())
        parts.append(band.order)
    return np.concatenate([np.frombuffer(header, dtype=np.int64), *parts]).astype(np.int64)
