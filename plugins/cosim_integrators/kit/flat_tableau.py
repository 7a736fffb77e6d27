"""A tableau as one flat array, as compiled code reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim_integrators.kit.explicit_method import NODES_AT, Tableau

if TYPE_CHECKING:
    ButcherTableau = Any


def flat_tableau(tableau: ButcherTableau) -> NDArray[np.float64]:
    """The array that `cosim_integrators.kit.explicit_method` describes."""
    none = np.zeros(tableau.stages)
    error = none if tableau.error is None else tableau.error
    second = none if tableau.second_error is None else tableau.second_error
    rows = [*tableau.a, tableau.b, error, second, *stiffness_rows(tableau), *tableau.extra_rows]
    nodes = [*tableau.c, *tableau.extra_nodes]
    first_row = NODES_AT + len(nodes)
    place = first_row + len(rows)
    starts, body = [], []
    for row in rows:
        nonzero = np.flatnonzero(row)
        entry = [float(nonzero.size)] + [x for j in nonzero for x in (float(j), float(row[j]))]
        starts.append(float(place))
        body += entry
        place += len(entry)
    dense, degree = np.zeros(0), 0
    if tableau.dense is not None and tableau.lift is None:
        bends = bends_of(tableau.dense)
        dense, degree = bends.ravel(), bends.shape[1]
    shape = Tableau(
        stages=tableau.stages,
        first_same_as_last=tableau.first_same_as_last,
        has_error=tableau.error is not None,
        has_second_error=tableau.second_error is not None,
        degree=degree,
        dense_at=place,
        rows_at=first_row,
        extra_stages=tableau.extra,
        order=tableau.order,
        notices_stiffness=tableau.error is not None and bool(stiffness_rows(tableau)[0].any()),
        stability_limit=tableau.stability_limit,
    )
    return np.array([*np.frombuffer(shape), *nodes, *starts, *body, *dense])


def bends_of(dense: NDArray[np.float64]) -> NDArray[np.float64]:
    """The polynomials v by which the dense output bends away from the straight line.

    A row of `dense` is the weight w(s) = sum_j c_j s^j of a derivative, and w(s) - s w(1) = s (1 - s) v(s).
    """
    sums_of_higher_terms = np.cumsum(dense[:, ::-1], axis=1)[:, ::-1]
    return np.array(0.0 - sums_of_higher_terms[:, 1:])


def stiffness_rows(tableau: ButcherTableau) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of a difference of stages in which slow motion cancels, so that stiff parts remain.

    It is the difference between the solution and another stage at the end of the step if the method has one,
    otherwise the second difference over the last three nodes; all zero with fewer nodes.

    Returns
    -------
    states : ndarray, shape (stages,)
        The difference of states over the step, as weights of the stage derivatives.
    derivatives : ndarray, shape (stages + 1,)
        The difference of the derivatives there, as weights of the stage derivatives and of the derivative at
        the end of the step.
    """
    stages = tableau.stages
    nodes = [*tableau.c[: stages - tableau.first_same_as_last], 1.0]
    rows = [*tableau.a[: stages - tableau.first_same_as_last], tableau.b]
    latest = sorted(set(nodes), reverse=True)[:3]
    chosen = [len(nodes) - 1]
    if nodes[-2] == 1.0:
        chosen.append(len(nodes) - 2)
        weights = np.array([1.0, -1.0])
    elif len(latest) == 3:
        chosen += [nodes.index(node) for node in latest[1:]]
        gap, span = latest[0] - latest[1], latest[0] - latest[2]
        weights = np.array([1.0, -span / (span - gap), gap / (span - gap)])
    else:
        return np.zeros(stages), np.zeros(stages + 1)
    states, derivatives = np.zeros(stages), np.zeros(stages + 1)
    for weight, i in zip(weights, chosen, strict=True):
        states += weight * rows[i]
        derivatives[stages if i == len(nodes) - 1 else i] += weight
    return states, derivatives
