"""The report of a coupling from the error bars of outputs: scales, connections, exploded values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.exchange.coupled_participants import ADVICE, CoupledParticipants
from cosim_master.recording.coupling_errors import UNSTABLE, CouplingReport, EstimatedError
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.advice import advise
from cosim_master.trust.explained_run import spans_of
from cosim_master.trust.verdict import put_scales

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
RESIDUAL = "energy.residual"
NOTHING_BUT_ERROR = 0.5
"""An error above this part of the range may come from an unstable exchange."""
EXPLODED, EXPLODED_UNKNOWN = 1e5, 1e12
"""The growth of an output from the first to the second half of a run that means an unstable exchange, if the
error is known, and if it is not."""


def report_of_bars(
    coupled: CoupledParticipants,
    samples: Samples,
    bars: Vector,
    algorithm: cosim.MasterAlgorithm,
    step: float,
    how: str,
) -> CouplingReport:
    """A report of these bars, one for each output that is sampled.

    Parameters
    ----------
    coupled : CoupledParticipants
        After the run.
    samples : Samples
        The samples of the run.
    bars : ndarray, shape (outputs,)
        The largest errors, each in the unit of its output.
    algorithm : MasterAlgorithm
    step : float
        Communication step, s.
    how : str
        How the bars were determined.
    """
    signals = signal_errors(coupled, samples, bars)
    connections = connection_errors(coupled, samples, signals)
    for errors in (connections, signals):
        errors.sort(key=lambda error: -error.relative)
    jumps = {".".join(coupled.sampled.ports[place]) for place in coupled.samples.jumping.tolist()}
    # an output that jumps one exchange late has the error of its jump, however short the step is
    smooth = [signal for signal in signals if signal.name not in jumps] or signals
    worst = max((signal.relative for signal in smooth), default=0.0)
    word, advice = advise(worst, step, algorithm, coupled.descriptions)
    if worst >= NOTHING_BUT_ERROR and (name := exploded_output(coupled, samples, EXPLODED)):
        word, advice = UNSTABLE, f"{name}, all of it error: the exchange is unstable; {ADVICE}"
    energy = created_energy(coupled, samples)
    return CouplingReport(
        connections, energy, word, advice, how, signals, list(coupled.sampled.not_judged), jumps
    )


def report_without_bars(
    coupled: CoupledParticipants, samples: Samples, verdict: str, reason: str
) -> CouplingReport:
    """A report of a run of which no error is known, with the reason."""
    names = [*(".".join(port) for port in coupled.sampled.judged), *coupled.sampled.not_judged]
    return CouplingReport([], created_energy(coupled, samples), verdict, reason, not_judged=names)


def connection_errors(
    coupled: CoupledParticipants, samples: Samples, signals: Sequence[EstimatedError]
) -> list[EstimatedError]:
    """For each sampled connection the error of the output that feeds it, and its mean defect."""
    by_name = {signal.name: signal for signal in signals}
    span = samples.times[-1] - samples.times[0]
    defects = np.abs(np.diff(samples.defects, axis=0)).sum(axis=0) / max(span, 1e-300)
    return [
        replace(
            by_name[".".join(coupled.sampled.ports[sampled.source])],
            name=sampled.name,
            defect=float(defects[i]),
        )
        for i, sampled in enumerate(coupled.samples.inputs)
    ]


def exploded_output(coupled: CoupledParticipants, samples: Samples, growth: float) -> str:
    """The output that has grown most, and its size, if that is by more than `growth`."""
    middle = samples.times.size // 2
    early, late = (
        np.abs(half).max(axis=0) for half in (samples.outputs[: middle + 1], samples.outputs[middle:])
    )
    place = int(late.argmax())
    if not late[place] > growth * max(early[place], 1e-300):
        return ""
    return f"{'.'.join(coupled.sampled.ports[place])} reaches {late[place]:.2g}"


def signal_errors(coupled: CoupledParticipants, samples: Samples, bars: Vector) -> list[EstimatedError]:
    """The error of each output that is exchanged or recorded."""
    units, scales, judged = units_of(coupled), output_scales(coupled, samples), set(coupled.sampled.judged)
    return [
        EstimatedError(".".join(port), float(bars[i]), float(scales[i]), units[i])
        for i, port in enumerate(coupled.sampled.ports)
        if port in judged
    ]


def output_scales(coupled: CoupledParticipants, samples: Samples) -> Vector:
    """The sizes that errors of outputs are relative to (`put_scales`)."""
    scales = spans_of(samples.outputs)
    put_scales(scales, *groups_of(coupled), np.zeros_like(scales))
    return scales


def groups_of(coupled: CoupledParticipants) -> tuple[Integers, Integers]:
    """A number for each output, equal for one participant and unit; and 1 for residuals of energies."""
    units = units_of(coupled)
    kinds = [(name, unit) for (name, _), unit in zip(coupled.sampled.ports, units, strict=True)]
    numbers = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    residual = [port.endswith(RESIDUAL) for _, port in coupled.sampled.ports]
    return np.array([numbers[kind] for kind in kinds], dtype=np.int64), np.array(residual, dtype=np.int64)


def units_of(coupled: CoupledParticipants) -> list[str]:
    """The units of the sampled outputs."""
    return [coupled.descriptions[name].variables[port].unit or "1" for name, port in coupled.sampled.ports]


def created_energy(coupled: CoupledParticipants, samples: Samples) -> dict[str, float]:
    """Energy that the coupling has created by the end of the run, by bond."""
    names: Sequence[str] = [coupled.samples.inputs[first].name for first, _ in coupled.samples.bonds]
    return dict(zip(names, map(float, samples.energy[-1]), strict=True))
