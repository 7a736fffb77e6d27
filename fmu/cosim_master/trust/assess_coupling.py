"""The size of the coupling error of a run, by the first of these rules that applies.

1. Nothing is exchanged, or all inputs were exact: there is no error.
2. Values exploded: the exchange is unstable.
3. Linear equations explain the whole run: they give the error.
4. A second run with shorter steps, where it has no effect outside, is compared with the first.
5. The error is estimated from the samples alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import cosim
from cosim_master.exchange.coupled_participants import ADVICE, LARGEST, CoupledParticipants
from cosim_master.recording.coupling_errors import UNSTABLE, CouplingReport
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.coupling_error import LEAST, TOO_MANY, Estimate, estimated_errors, explained_errors
from cosim_master.trust.coupling_report import (
    EXPLODED_UNKNOWN,
    exploded_output,
    report_of_bars,
    report_without_bars,
)
from cosim_master.trust.exact_inputs import possibly_exact
from cosim_master.trust.explained_run import inputs_are_exact
from cosim_master.trust.sampled_wiring import reliable_jumps, wiring_of
from cosim_master.trust.second_run import SecondRun
from cosim_master.trust.verified_coupling import report_of_second_run

EXACT_INPUTS = "inputs change at exchanges alone"
VERIFY = "run it with --verify (CoSimulation.verify)"


def assess_coupling(
    coupled: CoupledParticipants,
    algorithm: cosim.MasterAlgorithm,
    step: float,
    second_run: Callable[[], SecondRun | None] = lambda: None,
) -> CouplingReport:
    """Estimate the coupling error of a run from its samples.

    Parameters
    ----------
    coupled : CoupledParticipants
        After the run. Outputs without a value move from its judged ones to those that are not.
    algorithm : MasterAlgorithm
    step : float
        Communication step, s.
    second_run : callable
        Makes a second run if the samples of the first one are not sufficient. It returns None if a second run
        fails, or could have an effect outside.
    """
    if not coupled.samples.inputs:
        how = "no real values are exchanged" if coupled.joint is None else "all is solved jointly"
        return CouplingReport([], verdict="fine", how=how, not_judged=list(coupled.sampled.not_judged))
    samples = coupled.samples.samples()
    absent = _outputs_without_value(coupled, samples)
    coupled.sampled.leave_out([coupled.sampled.ports[place] for place in absent])
    samples = samples.with_zeros(absent)
    if text := _unbounded_output(coupled, samples):
        return report_without_bars(coupled, samples, UNSTABLE, text)
    wiring, jumping = wiring_of(coupled), reliable_jumps(coupled)
    exact_candidates = possibly_exact(coupled, wiring)
    if exact_candidates is not None and inputs_are_exact(samples, wiring, exact_candidates):
        no_errors = np.zeros(len(coupled.sampled.ports))
        return report_of_bars(coupled, samples, no_errors, algorithm, step, EXACT_INPUTS)
    explained = explained_errors(samples, wiring, jumping)
    if explained is not None and explained.is_explained:
        return _estimated_report(coupled, samples, explained, algorithm, step)
    second = second_run()
    if second is not None:
        return report_of_second_run(coupled, samples, second, algorithm, step)
    estimate = explained
    if estimate is None:
        estimate = estimated_errors(samples, wiring, jumping, len(coupled.sampled.judged))
    if estimate is None:
        is_short = samples.times.size <= LEAST
        reason = f"fewer than {LEAST} exchanges" if is_short else f"more than {TOO_MANY} values are exchanged"
        return report_without_bars(coupled, samples, "unknown", f"{reason}; {VERIFY}")
    return _estimated_report(coupled, samples, estimate, algorithm, step)


def _outputs_without_value(coupled: CoupledParticipants, samples: Samples) -> list[int]:
    """Places of sampled outputs that feed no input and are not finite at the start: they cannot be judged.

    A derivative that does not exist is not a number, the time of an event that does not come is infinite.
    """
    absent = ~np.isfinite(samples.outputs[0])
    absent[[sampled.source for sampled in coupled.samples.inputs]] = False
    return np.flatnonzero(absent).tolist()


def _unbounded_output(coupled: CoupledParticipants, samples: Samples) -> str:
    """A sentence about an output whose values have exploded; empty if there is none."""
    sizes = np.abs(samples.outputs).max(axis=0)
    if sizes.max() <= LARGEST:
        return ""
    place = int(np.where(np.isfinite(sizes), sizes, np.inf).argmax())
    name = ".".join(coupled.sampled.ports[place])
    reached = f"{name} reaches {sizes[place]:.2g}: the exchange is unstable, or a participant"
    return f"{reached} has failed and does not say so; {ADVICE}"


def _estimated_report(
    coupled: CoupledParticipants,
    samples: Samples,
    estimate: Estimate,
    algorithm: cosim.MasterAlgorithm,
    step: float,
) -> CouplingReport:
    """A report of an estimate; the verdict is "unknown" if the bars are as wide as the outputs' range."""
    report = report_of_bars(coupled, samples, estimate.bars, algorithm, step, "estimated")
    if estimate.is_known:
        return report
    if name := exploded_output(coupled, samples, EXPLODED_UNKNOWN):
        return replace(report, verdict=UNSTABLE, advice=f"{name}: the exchange is unstable; {ADVICE}")
    return report.unknown(f"the run does not show how the participants respond to their inputs; {VERIFY}")
