"""The arrays of a wiring, on which kernel functions work."""

from __future__ import annotations

import numpy as np

from cosim_master.trust.linear_equations import WEIGHTS
from cosim_master.trust.run_in_intervals import Wired
from cosim_master.trust.sampled_wiring import Wiring


def wired_arrays(wiring: Wiring, outputs: int) -> Wired:
    """Those of so many outputs that are sampled."""
    n, m = outputs, len(wiring.sources)
    owners, targets = np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
    sampled = [(mine, given) for mine, given, _ in wiring.parts if mine or given]
    for i, (mine, given) in enumerate(sampled):
        owners[mine], targets[given] = i, i
    tables = []
    for listed in (wiring.direct, wiring.surely):
        table = np.zeros((n, m), dtype=np.int64)
        for y, inputs in enumerate(listed):
            table[y, inputs] = 1
        tables.append(table.ravel())
    return Wired(
        owners=owners,
        sources=np.array(wiring.sources, dtype=np.int64),
        targets=targets,
        direct=tables[0],
        surely=tables[1],
        driven=_flags(n, wiring.driven),
        holds=_flags(n, wiring.held),
        runs_straight=_flags(n, wiring.straight),
        states=np.zeros(n, dtype=np.int64),
        own=np.zeros(n, dtype=np.int64),
        given=np.zeros(m, dtype=np.int64),
        answers=np.zeros(2 * len(WEIGHTS) * n),
        bars=np.zeros(3 * n),
        spans=np.zeros(n),
    )


def _flags(count: int, places: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    flags = np.zeros(count, dtype=np.int64)
    flags[np.asarray(places, dtype=np.intp)] = 1
    return flags
