"""The error of a coupling from a second run with shorter steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim_master.recording.co_simulation_result import CoSimulationResult, CouplingReport
from cosim_master.trust.judge_coupling import reported
from cosim_master.trust.second_run import RunAgain, compare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cosim_master.exchange.coupled_participants import CoupledParticipants
    from cosim_master.recording.coupling_samples import Samples

    Vector = NDArray[np.float64]

SAFETY = 1.25
"""Bar over difference, calibrated: `benchmarks/masters/error_bars.py`."""


def verified_coupling(
    result: CoSimulationResult, step: float, algorithm: cosim.MasterAlgorithm, run_again: RunAgain
) -> CouplingReport:
    """Run again with half the step, or a tenth of the tolerance, and compare all that is recorded.

    Raises
    ------
    CosimError
        The run fails, or has no point in common with the first.
    """
    first = result.evidence
    if first is None:
        raise cosim.CosimError("the result is not that of a run of this co-simulation")
    found = compare(first, step, algorithm, run_again)
    samples = first.samples.samples()
    bars = SAFETY * found.factor * found.differences
    report = reported(first, samples, bars, algorithm, step, found.how)
    deaf = [name for name in first.participants if _is_deaf(first, samples, found.differences, name)]
    if deaf:
        report = report.unknown(
            f"the second run gives the same to the last bit for {', '.join(deaf)}, although inputs differ: "
            "steps inside seem to be longer than communication steps, and no second run shows what they do"
        )
    result.judged_by(lambda: report)
    return report


def _is_deaf(coupled: CoupledParticipants, samples: Samples, differences: Vector, name: str) -> bool:
    """Whether a participant answers in no bit to defects of its inputs, which a second run has changed."""
    mine = [i for i, (owner, _) in enumerate(coupled.sampled_ports) if owner == name]
    given = [i for i, each in enumerate(coupled.samples.inputs) if each.target == name]
    if not mine or not given or differences[mine].any():
        return False
    defects = np.abs(np.diff(samples.defects[:, given], axis=0)).max(axis=0)
    return bool((defects > 0.0).all() and np.ptp(samples.outputs[:, mine], axis=0).any())
