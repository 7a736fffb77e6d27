"""Derivatives of the exchanged values by each other, from directional derivatives of participants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.coupling.instant_graph import Port
from cosim_master.coupling.link import Link


def interface_derivatives(
    participants: Mapping[str, cosim.Participant],
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    interface: Mapping[Port, int],
    guarded: Callable[..., Any],
) -> NDArray[np.float64] | None:
    """Derivatives of the values of an interface by each other, by directional derivatives.

    Parameters
    ----------
    participants, descriptions : mapping of str
    links : sequence of Link
    interface : mapping of (str, str) to int
        The place of each connected output.
    guarded : callable
        Calls a participant, whose exceptions become errors of the co-simulation.

    Returns
    -------
    ndarray, shape (n, n), or None
        None if a participant has no derivatives, or none at this point.
    """
    matrix = np.zeros((len(interface), len(interface)))
    for link in links:
        name, column = link.target, interface.get(link.start)
        outputs = [y for owner, y in interface if owner == name]
        outputs = [y for y in outputs if link.input in direct_inputs(descriptions[name], y)]
        if column is None or not outputs:
            continue
        if not descriptions[name].has_derivatives:
            return None
        derivatives = _derivative(participants[name], descriptions[name].can_restore, outputs, link, guarded)
        if derivatives is None:
            return None
        for output, value in zip(outputs, derivatives, strict=True):
            matrix[interface[name, output], column] += value
    return matrix if np.all(np.isfinite(matrix)) else None


def _derivative(
    participant: cosim.Participant,
    can_restore: bool,
    outputs: Sequence[str],
    link: Link,
    guarded: Callable[..., Any],
) -> Sequence[float] | None:
    """Derivatives of outputs by an input; None if the participant has none at this point."""
    token = participant.save() if can_restore else None
    try:
        slopes: Sequence[float] = guarded(
            link.target, participant.directional_derivative, outputs, [link.input], [link.factor]
        )
    except CoSimulationError:
        try:
            participant.restore(token)  # after an error an instance can only continue from a saved state
        except Exception:
            token = None
        if token is None:
            raise
        return None
    return slopes
