"""The arrays of a wiring, on which kernel functions work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.linear_equations import WEIGHTS
from cosim_master.trust.run_in_intervals import Wired
from cosim_master.trust.sampled_wiring import Wiring

Integers = NDArray[np.int64]


def wired_arrays(wiring: Wiring, outputs: int) -> Wired:
    """The arrays of a wiring with this number of sampled outputs; scratch memory is zero."""
    n, m = outputs, len(wiring.sources)
    owners, targets = np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
    sampled_parts = [part for part in wiring.parts if part.outputs or part.inputs]
    for number, part in enumerate(sampled_parts):
        owners[part.outputs], targets[part.inputs] = number, number
    return Wired(
        owners=owners,
        sources=np.array(wiring.sources, dtype=np.int64),
        targets=targets,
        direct=_dependency_table(wiring.direct, n, m),
        surely_direct=_dependency_table(wiring.surely_direct, n, m),
        driven=_flags(n, wiring.driven),
        holds=_flags(n, wiring.held),
        runs_straight=_flags(n, wiring.straight),
        states=np.zeros(n, dtype=np.int64),
        part_states=np.zeros(n, dtype=np.int64),
        part_inputs=np.zeros(m, dtype=np.int64),
        answers=np.zeros(2 * len(WEIGHTS) * n),
        bars=np.zeros(3 * n),
        spans=np.zeros(n),
    )


def _dependency_table(inputs_of: Sequence[Sequence[int]], outputs: int, inputs: int) -> Integers:
    """1 where an output depends on an input, by rows of outputs, as one array."""
    table = np.zeros((outputs, inputs), dtype=np.int64)
    for output, places in enumerate(inputs_of):
        table[output, places] = 1
    return table.ravel()


def _flags(count: int, places: object) -> Integers:
    """1 at these places, 0 elsewhere."""
    flags = np.zeros(count, dtype=np.int64)
    flags[np.asarray(places, dtype=np.intp)] = 1
    return flags
