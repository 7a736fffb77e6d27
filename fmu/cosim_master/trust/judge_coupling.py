"""From the samples of a run to a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.exchange.coupled_participants import LARGEST, OTHER, CoupledParticipants
from cosim_master.recording.co_simulation_result import UNSTABLE, CouplingReport, EstimatedError
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.coupling_error import LEAST, TOO_MANY, estimated_errors
from cosim_master.trust.coupling_verdict import verdict
from cosim_master.trust.sampled_wiring import wiring_of
from cosim_master.trust.second_run import SecondRun
from cosim_master.trust.ticks import late_by_an_exchange

Vector = NDArray[np.float64]
VERIFY = "run it with --verify (CoSimulation.verify)"
ROUNDING = 1e-12
"""Of a larger output of the same participant and unit: what is smaller may be nothing but its rounding."""
RESIDUAL = "energy.residual"
NOTHING_BUT_ERROR = 0.5
"""Of the range: an error from here on may come from an exchange that is unstable."""
EXPLODED, EXPLODED_UNKNOWN = 1e5, 1e12
"""The size of an output in the second half of a run over that in the first one, of such an exchange; and
where the error is not known."""
SAFETY, LEAST_FACTOR = 2.0, 1.5
"""Bar over the error that a second run shows, and that over the difference, where none was asked for: a
run that shows too little switches, samples or bends, and its order is not that of the algorithm."""


def judge_coupling(
    coupled: CoupledParticipants,
    algorithm: cosim.MasterAlgorithm,
    step: float,
    second_run: Callable[[], SecondRun | None] = lambda: None,
) -> CouplingReport:
    """What the samples of a run say of the error of its coupling.

    Parameters
    ----------
    coupled : CoupledParticipants
        After the run.
    algorithm : MasterAlgorithm
    step : float
        Communication step, s.
    second_run : callable
        Makes a second run where the first one shows too little; None where that could be noticed, or fails.
    """
    collected = coupled.samples
    samples = collected.samples()
    left = list(coupled.not_judged)
    if not collected.inputs:
        how = "no real values are exchanged" if coupled.joint is None else "all is solved jointly"
        return CouplingReport([], verdict="fine", how=how, not_judged=left)
    sizes = np.abs(samples.outputs).max(axis=0)
    if not sizes.max() <= LARGEST:
        place = int(np.where(np.isfinite(sizes), sizes, np.inf).argmax())
        name = ".".join(coupled.sampled_ports[place])
        why = f"{name} reaches {sizes[place]:.2g}: the exchange is unstable, or a participant"
        why = f"{why} has failed and does not say so; {OTHER}"
        return CouplingReport([], _energy(coupled, samples), UNSTABLE, why, not_judged=_all_names(coupled))
    wiring = wiring_of(coupled)
    # a thinned course may have lost the exchange that shows a tick
    jumping = [] if collected.is_thinned else collected.jumping.tolist()
    found = estimated_errors(samples, wiring, jumping)
    second = None if found is not None and found.is_explained else second_run()
    if second is not None:
        bars = SAFETY * max(second.factor, LEAST_FACTOR) * second.differences
        bars = np.maximum(bars, late_by_an_exchange(samples, wiring, jumping))
        return reported(coupled, samples, bars, algorithm, step, second.how)
    if found is None:
        few = samples.times.size <= LEAST
        why = f"fewer than {LEAST} exchanges" if few else f"more than {TOO_MANY} values are exchanged"
        text = f"{why}; {VERIFY}"
        return CouplingReport([], _energy(coupled, samples), "unknown", text, not_judged=_all_names(coupled))
    report = reported(coupled, samples, found.bars, algorithm, step, "estimated")
    if found.is_known:
        return report
    if name := _exploded(coupled, samples, EXPLODED_UNKNOWN):
        return replace(report, verdict=UNSTABLE, advice=f"{name}: the exchange is unstable; {OTHER}")
    return report.unknown(f"the run does not show how the participants respond to their inputs; {VERIFY}")


def reported(
    coupled: CoupledParticipants,
    samples: Samples,
    bars: Vector,
    algorithm: cosim.MasterAlgorithm,
    step: float,
    how: str,
) -> CouplingReport:
    """A report of these bars, one for each output that is sampled."""
    signals = _signals(coupled, samples, bars)
    by_name = {each.name: each for each in signals}
    span = samples.times[-1] - samples.times[0]
    defects = np.abs(np.diff(samples.defects, axis=0)).sum(axis=0) / max(span, 1e-300)
    connections = []
    for i, each in enumerate(coupled.samples.inputs):
        source = by_name[".".join(coupled.sampled_ports[each.source])]
        connections.append(replace(source, name=each.name, defect=float(defects[i])))
    for errors in (connections, signals):
        errors.sort(key=lambda each: -each.relative)
    jumps = {".".join(coupled.sampled_ports[place]) for place in coupled.samples.jumping.tolist()}
    # what jumps an exchange later is off by its jump, however short the step is
    smooth = [each for each in signals if each.name not in jumps] or signals
    worst = max((each.relative for each in smooth), default=0.0)
    word, advice = verdict(worst, step, algorithm, coupled.descriptions.values())
    if worst >= NOTHING_BUT_ERROR and (name := _exploded(coupled, samples, EXPLODED)):
        word, advice = UNSTABLE, f"{name}, all of it error: the exchange is unstable; {OTHER}"
    return CouplingReport(
        connections, _energy(coupled, samples), word, advice, how, signals, list(coupled.not_judged), jumps
    )


def _exploded(coupled: CoupledParticipants, samples: Samples, growth: float) -> str:
    """The output that has grown most, and its size, if that is by more than `growth`."""
    middle = samples.times.size // 2
    early, late = (
        np.abs(half).max(axis=0) for half in (samples.outputs[: middle + 1], samples.outputs[middle:])
    )
    place = int(late.argmax())
    if not late[place] > growth * max(early[place], 1e-300):
        return ""
    return f"{'.'.join(coupled.sampled_ports[place])} reaches {late[place]:.2g}"


def _signals(coupled: CoupledParticipants, samples: Samples, bars: Vector) -> list[EstimatedError]:
    """The error of each output that is exchanged or recorded."""
    units = [coupled.descriptions[name].variables[port].unit or "1" for name, port in coupled.sampled_ports]
    scales, wanted = _scales(coupled, samples, units), set(coupled.judged)
    return [
        EstimatedError(".".join(port), float(bars[i]), float(scales[i]), units[i])
        for i, port in enumerate(coupled.sampled_ports)
        if port in wanted
    ]


def _scales(coupled: CoupledParticipants, samples: Samples, units: Sequence[str]) -> Vector:
    """The range of each output; of one that may be nothing but rounding of a larger one, that of the larger.

    The residual of the energies is an error itself: its scale is that of the energies.
    """
    ranges, sizes = np.ptp(samples.outputs, axis=0), np.abs(samples.outputs).max(axis=0)
    scales = np.where(ranges > ROUNDING * sizes, ranges, sizes)
    largest: dict[tuple[str, str], float] = {}
    for (name, _), unit, scale in zip(coupled.sampled_ports, units, scales.tolist(), strict=True):
        largest[name, unit] = max(scale, largest.get((name, unit), 0.0))
    for i, (name, port) in enumerate(coupled.sampled_ports):
        if scales[i] <= ROUNDING * largest[name, units[i]] or port.endswith(RESIDUAL):
            scales[i] = largest[name, units[i]]
    return scales


def _all_names(coupled: CoupledParticipants) -> list[str]:
    return [*(".".join(port) for port in coupled.judged), *coupled.not_judged]


def _energy(coupled: CoupledParticipants, samples: Samples) -> dict[str, float]:
    """That the coupling has created by the end, by bond."""
    names: Sequence[str] = [coupled.samples.inputs[one].name for one, _ in coupled.samples.bonds]
    return dict(zip(names, map(float, samples.energy[-1]), strict=True))
