"""What `judge_samples` works on, of a coupling that is about to run."""

from __future__ import annotations

import numpy as np

import cosim
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.trust.advice import better_algorithm
from cosim_master.trust.coupling_report import RESIDUAL
from cosim_master.trust.judge_samples import BARS_OF_ONE, FACTS, HAS_OTHER, IS_TIGHTENED, ORDER, Judged
from cosim_master.trust.sampled_wiring import wiring_of


def judged_of(coupled: CoupledParticipants, algorithm: cosim.MasterAlgorithm) -> Judged:
    """The arrays of `Judged`.

    Parameters
    ----------
    coupled : CoupledParticipants
    algorithm : MasterAlgorithm
        Of the master.
    """
    wiring, ports = wiring_of(coupled), list(coupled.sampled_ports)
    n, m, units = len(ports), len(wiring.sources), list(coupled.units)
    owners, targets = np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for i, (mine, given, _) in enumerate(wiring.parts):
        owners[mine], targets[given] = i, i
    tables = []
    for listed in (wiring.direct, wiring.surely):
        table = np.zeros((n, m), dtype=np.int64)
        for y, inputs in enumerate(listed):
            table[y, inputs] = 1
        tables.append(table.ravel())
    kinds = [(name, coupled.descriptions[name].variables[port].unit or "1") for name, port in ports]
    groups = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    facts = np.zeros(FACTS)
    facts[ORDER], facts[IS_TIGHTENED] = algorithm.order, algorithm.tightened() is not None
    facts[HAS_OTHER] = bool(better_algorithm(algorithm, list(coupled.descriptions.values())))
    assert len(units) == len(wiring.parts)
    return Judged(
        owners=owners,
        sources=np.array(wiring.sources, dtype=np.int64),
        targets=targets,
        direct=tables[0],
        surely=tables[1],
        driven=_flags(n, wiring.driven),
        holds=_flags(n, wiring.held),
        runs_straight=_flags(n, wiring.straight),
        wanted=np.array([port in set(coupled.judged) for port in ports], dtype=np.int64),
        is_residual=np.array([port.endswith(RESIDUAL) for _, port in ports], dtype=np.int64),
        groups=np.array([groups[kind] for kind in kinds], dtype=np.int64),
        facts=facts,
        states=np.zeros(n, dtype=np.int64),
        own=np.zeros(n, dtype=np.int64),
        given=np.zeros(m, dtype=np.int64),
        bars=np.zeros(BARS_OF_ONE * n),
        found=np.zeros(2 + n),
    )


def _flags(count: int, places: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    flags = np.zeros(count, dtype=np.int64)
    flags[np.asarray(places, dtype=np.intp)] = 1
    return flags
