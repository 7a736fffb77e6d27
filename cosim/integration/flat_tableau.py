"""A tableau as one flat array, as compiled code reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cosim.integration import explicit_stages as at

if TYPE_CHECKING:
    from cosim.contracts.butcher_tableau import ButcherTableau


def flat_tableau(tableau: ButcherTableau) -> NDArray[np.float64]:
    """The array that `cosim.integration.explicit_stages` describes."""
    none = np.zeros(tableau.stages)
    error = none if tableau.error is None else tableau.error
    second = none if tableau.second_error is None else tableau.second_error
    last = tableau.stage_at_end
    stiffness = none if last is None else tableau.b - tableau.a[last]
    rows = [*tableau.a, tableau.b, error, second, stiffness, *tableau.extra_rows]
    nodes = [*tableau.c, *tableau.extra_nodes]
    first_row = at.TABLEAU_HEADER + len(nodes)
    place = first_row + len(rows)
    starts, body = [], []
    for row in rows:
        nonzero = np.flatnonzero(row)
        entry = [float(nonzero.size)] + [x for j in nonzero for x in (float(j), float(row[j]))]
        starts.append(float(place))
        body += entry
        place += len(entry)
    header = np.zeros(at.TABLEAU_HEADER)
    header[at.STAGES] = tableau.stages
    header[at.SAME] = tableau.first_same_as_last
    header[at.HAS_ERROR] = tableau.error is not None
    header[at.HAS_SECOND] = tableau.second_error is not None
    header[at.EXTRA] = tableau.extra
    header[at.ORDER] = tableau.order
    header[at.AT_END] = 0 if last is None else last
    header[at.BOUNDARY] = tableau.stability_limit
    header[at.ROWS_AT] = first_row
    header[at.DENSE_AT] = place
    dense = np.zeros(0)
    if tableau.dense is not None:
        header[at.DEGREE] = tableau.dense.shape[1]
        dense = tableau.dense.ravel()
    return np.array([*header, *nodes, *starts, *body, *dense])
