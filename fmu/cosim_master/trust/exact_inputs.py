"""Whether a run has no coupling error at all: every input was exact at every instant.

That is so if all inputs come from values over time that are held and change at exchanges alone: each input is
then equal to its source at every instant, and a second run could only show errors of integrators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import SAME_TIME
from cosim_master.abilities import ChangesAtTimes
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.trust.sampled_wiring import Wiring

ROUNDING = 1e-14
"""The integral of a defect may be this part of that of the output: by rounding of times and factors."""


class PossiblyExact(NamedTuple):
    """The facts that `are_exact` needs of a coupling whose inputs may be exact.

    Attributes
    ----------
    changes : ndarray
        The times at which the sources change, s, ascending.
    at_once : ndarray of int, shape (inputs,)
        1 if an output that is not a state depends directly on an input.
    """

    changes: NDArray[np.float64]
    at_once: NDArray[np.int64]


def possibly_exact(coupled: CoupledParticipants, wiring: Wiring) -> PossiblyExact | None:
    """The facts, or None if a source may change at any time, or if a connection is not sampled.

    Parameters
    ----------
    coupled : CoupledParticipants
    wiring : Wiring
        The wiring of the samples.
    """
    if coupled.joint is not None or len(coupled.samples.inputs) < len(coupled.links):
        return None
    changes = []
    for name in dict.fromkeys(link.source for link in coupled.links):
        participant = coupled.participants[name]
        times = participant.change_times if isinstance(participant, ChangesAtTimes) else None
        if times is None:
            return None
        changes.append(np.asarray(times, dtype=np.float64))
    at_once = np.zeros(wiring.sources.size, dtype=np.int64)
    for (name, output), inputs in zip(coupled.sampled.ports, wiring.direct, strict=True):
        if output not in coupled.descriptions[name].states:
            at_once[inputs] = 1
    return PossiblyExact(np.unique(np.concatenate(changes)) if changes else np.zeros(0), at_once)


def are_exact(table, width, outputs, sources, changes, at_once):
    """1 if no input of a run ever differed from its source: a kernel function.

    Parameters
    ----------
    table : view
        Rows of samples (`run_in_intervals.resample_course`).
    width, outputs : int
        The width of a row; the number of outputs.
    sources : view
        The output that feeds each input.
    changes, at_once : view
        The fields of `PossiblyExact`.
    """
    last = len(table) - width
    m = len(sources)
    after = 0
    for i in range(len(changes)):
        time = changes[i]
        if time <= table[0] or time >= table[last]:
            continue
        while table[after] < time:
            after += width
        distance = min(table[after] - time, time - table[after - width])
        if not distance <= SAME_TIME * (table[after] - table[after - width]):
            return 0
    for u in range(m):
        y = 1 + sources[u]
        size = 0.0
        largest = 0.0
        for i in range(1, len(table) // width):
            row = width * i
            size += abs(table[row + y]) * (table[row] - table[row - width])
            largest = max(largest, abs(table[row + 1 + outputs + m + u]))
            # states do not follow inputs at once, others were read with the present ones
            if at_once[u] != 0 and table[row + width - 2 * m + u] != table[row + y]:
                return 0
        if not largest <= ROUNDING * size:
            return 0
    return 1
