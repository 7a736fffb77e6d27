"""The error of a coupling from a second run with shorter steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim_master.results.co_simulation_result import CoSimulationResult
from cosim_master.results.coupling_report import CouplingReport
from cosim_master.trust.judge_coupling import reported
from cosim_workbench.agreement import difference_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cosim_master.exchange.coupled_participants import CoupledParticipants
    from cosim_master.samples.coupling_samples import Samples

    Vector = NDArray[np.float64]

SAFETY = 1.25
"""Bar over difference, calibrated: `benchmarks/masters/error_bars.py`."""
TIGHTER = 10.0 / 9.0
"""Error over the difference to a run with a tenth of the tolerance, where the error follows it."""


def verified_coupling(
    result: CoSimulationResult,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    run_again: Callable[[float, cosim.MasterAlgorithm], CoSimulationResult],
) -> CouplingReport:
    """Run again with half the step, or a tenth of the tolerance, and compare the exchanged values.

    The error of order p falls to 2^-p of itself with half the step, so that it is 2^p / (2^p - 1) times the
    difference (Richardson).

    Raises
    ------
    CosimError
        The run fails, or has no point in common with the first.
    """
    first = result.evidence
    if first is None:
        raise cosim.CosimError("the result is not that of a run of this co-simulation")
    tightened = algorithm.tightened()
    again = run_again(step if tightened is not None else 0.5 * step, tightened or algorithm)
    second = again.evidence
    assert second is not None
    before, after = first.samples.samples(), second.samples.samples()
    place = np.minimum(np.searchsorted(after.times, before.times - 1e-6 * step), after.times.size - 1)
    common = np.abs(after.times[place] - before.times) <= 1e-6 * step
    if np.count_nonzero(common) < 2:
        raise cosim.CosimError("the two runs have no points in common")
    times, one, other = before.times[common], before.outputs[common], after.outputs[place[common]]
    differences = np.array(
        [difference_of(times, one[:, i], other[:, i], counted=False).largest for i in range(one.shape[1])]
    )
    factor = TIGHTER if tightened is not None else 2.0**algorithm.order / (2.0**algorithm.order - 1.0)
    how = "against a tenth of the tolerance" if tightened is not None else "against half the step"
    bars = SAFETY * factor * differences
    report = reported(first, before, bars, algorithm, step, how)
    deaf = [name for name in first.participants if _is_deaf(first, before, differences, name)]
    if deaf:
        why = (
            f"the second run gives the same to the last bit for {', '.join(deaf)}, although inputs differ: "
            "steps inside seem to be longer than communication steps, and no second run shows what they do"
        )
        report = CouplingReport(report.connections, report.energy, "unknown", why, how)
    result.judged_by(lambda: report)
    return report


def _is_deaf(coupled: CoupledParticipants, samples: Samples, differences: Vector, name: str) -> bool:
    """Whether a participant answers in no bit to defects of its inputs, which a second run has changed."""
    mine = [i for i, path in enumerate(coupled.interface_names) if path.partition(".")[0] == name]
    given = [i for i, each in enumerate(coupled.samples.inputs) if each.target == name]
    if not mine or not given or differences[mine].any():
        return False
    defects = np.abs(np.diff(samples.defects[:, given], axis=0)).max(axis=0)
    return bool((defects > 0.0).all() and np.ptp(samples.outputs[:, mine], axis=0).any())
