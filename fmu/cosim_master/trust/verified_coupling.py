"""The error of a coupling by a second run: on request, or if the samples of the first are not sufficient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_master.recording.coupling_errors import CouplingReport
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.clock_ticks import jumps_without_clock
from cosim_master.trust.coupling_report import report_of_bars
from cosim_master.trust.sampled_wiring import reliable_jumps, wiring_of
from cosim_master.trust.second_run import RunAgain, SecondRun, compare

Vector = NDArray[np.float64]
SAFETY, LEAST_FACTOR = 2.0, 1.5
"""Bar over the error by a second run, and the least factor from difference to error: with switches, samples
or kinks the error does not have the order of the algorithm."""


def report_of_second_run(
    coupled: CoupledParticipants,
    samples: Samples,
    second: SecondRun,
    algorithm: cosim.MasterAlgorithm,
    step: float,
) -> CouplingReport:
    """Bars by a second run; for outputs that depend on a switch, at least their change in one exchange."""
    by_difference = SAFETY * max(second.factor, LEAST_FACTOR) * second.differences
    by_switches = jumps_without_clock(samples, wiring_of(coupled), reliable_jumps(coupled))
    bars = np.maximum(by_difference, by_switches)
    return report_of_bars(coupled, samples, bars, algorithm, step, second.how)


def verified_coupling(
    result: CoSimulationResult, step: float, algorithm: cosim.MasterAlgorithm, run_again: RunAgain
) -> CouplingReport:
    """Run again with half the step, or a tenth of the tolerance, and compare all recorded outputs.

    Raises
    ------
    CosimError
        The run fails, or has no point in common with the first.
    """
    first = result.evidence
    if first is None:
        raise cosim.CosimError("the result is not that of a run of this co-simulation")
    second = compare(first, step, algorithm, run_again)
    samples = first.samples.samples()
    report = report_of_second_run(first, samples, second, algorithm, step)
    unresponsive = [
        name for name in first.participants if _is_unresponsive(first, samples, second.differences, name)
    ]
    if unresponsive:
        report = report.unknown(
            f"the second run gives the same to the last bit for {', '.join(unresponsive)}, although "
            "inputs differ: steps inside seem to be longer than communication steps, and no second run "
            "shows what they do"
        )
    result.assess_by(lambda: report)
    return report


def _is_unresponsive(coupled: CoupledParticipants, samples: Samples, differences: Vector, name: str) -> bool:
    """Whether the outputs of a participant are the same to the bit in both runs, although its inputs differ.

    Discrete outputs are ignored: a switch at the same exchange in both runs has equal values, too.
    """
    ports, jumping = enumerate(coupled.sampled.ports), set(coupled.samples.jumping.tolist())
    outputs = [i for i, (owner, _) in ports if owner == name and i not in jumping]
    inputs = [i for i, sampled in enumerate(coupled.samples.inputs) if sampled.target == name]
    if not outputs or not inputs or differences[outputs].any():
        return False
    defects = np.abs(np.diff(samples.defects[:, inputs], axis=0)).max(axis=0)
    return bool((defects > 0.0).all() and np.ptp(samples.outputs[:, outputs], axis=0).any())
