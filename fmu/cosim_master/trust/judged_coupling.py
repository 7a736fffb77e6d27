"""What `judge_samples` works on, of a coupling that is about to run."""

from __future__ import annotations

import numpy as np

import cosim
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.trust.advice import better_algorithm
from cosim_master.trust.coupling_report import RESIDUAL
from cosim_master.trust.exact_inputs import possibly_exact
from cosim_master.trust.judge_samples import FACTS, HAS_OTHER, IS_TIGHTENED, MAY_BE_EXACT, ORDER, Judged
from cosim_master.trust.run_in_intervals import Wired
from cosim_master.trust.sampled_wiring import wiring_of
from cosim_master.trust.wired_arrays import wired_arrays


def judged_of(coupled: CoupledParticipants, algorithm: cosim.MasterAlgorithm) -> tuple[Wired, Judged]:
    """The arrays of both groups.

    Parameters
    ----------
    coupled : CoupledParticipants
    algorithm : MasterAlgorithm
        Of the master.
    """
    ports = list(coupled.sampled_ports)
    kinds = [(name, coupled.descriptions[name].variables[port].unit or "1") for name, port in ports]
    groups = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    facts = np.zeros(FACTS)
    facts[ORDER], facts[IS_TIGHTENED] = algorithm.order, algorithm.tightened() is not None
    facts[HAS_OTHER] = bool(better_algorithm(algorithm, list(coupled.descriptions.values())))
    wiring, wanted = wiring_of(coupled), set(coupled.judged)
    exact = possibly_exact(coupled, wiring)
    facts[MAY_BE_EXACT] = exact is not None
    judged = Judged(
        wanted=np.array([port in wanted for port in ports], dtype=np.int64),
        is_residual=np.array([port.endswith(RESIDUAL) for _, port in ports], dtype=np.int64),
        groups=np.array([groups[kind] for kind in kinds], dtype=np.int64),
        facts=facts,
        changes=np.zeros(0) if exact is None else exact.changes,
        at_once=np.zeros(wiring.sources.size, dtype=np.int64) if exact is None else exact.at_once,
        found=np.zeros(2 + len(ports)),
    )
    return wired_arrays(wiring, len(ports)), judged
