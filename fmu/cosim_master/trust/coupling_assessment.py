"""The arrays of `assess_samples` for a coupling that is about to run."""

from __future__ import annotations

import numpy as np

import cosim
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.trust.assess_samples import FIRST_BAR, Assessment
from cosim_master.trust.coupling_report import groups_of
from cosim_master.trust.exact_inputs import possibly_exact
from cosim_master.trust.run_in_intervals import Wired
from cosim_master.trust.sampled_wiring import wiring_of
from cosim_master.trust.verdict import facts_of
from cosim_master.trust.wired_arrays import wired_arrays


def assessment_of(coupled: CoupledParticipants, algorithm: cosim.MasterAlgorithm) -> tuple[Wired, Assessment]:
    """The wiring and the assessment arrays that `assess_samples` reads.

    Parameters
    ----------
    coupled : CoupledParticipants
    algorithm : MasterAlgorithm
        The algorithm of the master.
    """
    ports = list(coupled.sampled.ports)
    groups, is_residual = groups_of(coupled)
    wiring, judged = wiring_of(coupled), set(coupled.sampled.judged)
    exact = possibly_exact(coupled, wiring)
    assessed = Assessment(
        judged=np.array([port in judged for port in ports], dtype=np.int64),
        is_residual=is_residual,
        groups=groups,
        facts=facts_of(algorithm, coupled.descriptions, may_be_exact=exact is not None),
        changes=np.zeros(0) if exact is None else exact.changes,
        at_once=np.zeros(wiring.sources.size, dtype=np.int64) if exact is None else exact.at_once,
        largest=np.zeros(len(ports)),
        outcome=np.zeros(FIRST_BAR + len(ports)),
    )
    return wired_arrays(wiring, len(ports)), assessed
