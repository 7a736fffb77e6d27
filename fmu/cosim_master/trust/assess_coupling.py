"""From the samples of a run, or from a second run with shorter steps, to a report and advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.exchange.coupled_participants import LARGEST, OTHER, CoupledParticipants
from cosim_master.recording.co_simulation_result import (
    FINE,
    UNSTABLE,
    CoSimulationResult,
    CouplingReport,
    EstimatedError,
)
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.coupling_error import LEAST, TOO_MANY, estimated_errors, explained_errors
from cosim_master.trust.sampled_wiring import late_by_an_exchange, wiring_of
from cosim_master.trust.second_run import RunAgain, SecondRun, compare

MOST_SHORTER = 20.0
"""Beyond so many times shorter steps another algorithm is worth it."""


def verdict(
    relative: float,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    descriptions: Iterable[ParticipantDescription],
) -> tuple[str, str]:
    """A word and a sentence.

    Parameters
    ----------
    relative : float
        The largest error over the range of its output.
    step : float
        Communication step, s.
    algorithm : MasterAlgorithm
    descriptions : iterable of ParticipantDescription
        Of all participants.
    """
    if relative <= FINE:
        return "fine", ""
    if algorithm.tightened() is not None:
        return "tighter tolerance", f"Divide the tolerance by {_rounded(relative / FINE):g}."
    shorter = (relative / FINE) ** (1.0 / algorithm.order)
    smaller = f"{_one_digit(step / shorter):g} s"
    described = list(descriptions)
    other = better_algorithm(algorithm, described)
    if other and (shorter > MOST_SHORTER or relative > 1.0):
        return "other algorithm", f"Take {other}, or a step of {smaller}."
    also = f", or {other}" if other else ""
    return "smaller step", f"Take a step of {smaller}{also}, for an error of {100.0 * FINE:g} % of the range."


def better_algorithm(algorithm: cosim.MasterAlgorithm, descriptions: list[ParticipantDescription]) -> str:
    """An algorithm that these participants allow and that errs less; empty when there is none."""
    restores = all(each.can_restore for each in descriptions)
    varies = all(each.variable_step for each in descriptions)
    if restores and varies:
        return 'algorithm = "adaptive" with options.iterations = 5'
    if restores and not algorithm.restores:
        return 'algorithm = "interface_newton"'
    if restores and algorithm.order == 1:
        return 'options.hold = "line"'
    if varies and algorithm.order == 1:
        return 'algorithm = "adaptive"'
    return "options.extrapolation = 1" if algorithm.order == 1 else ""


def _one_digit(number: float) -> float:
    """The number to one digit, and not above it."""
    power = floor(log10(number))
    return float(f"{floor(number / 10.0**power * (1.0 + 1e-9))}e{power}")


def _rounded(factor: float) -> float:
    """1, 2 or 5 times a power of ten, not below `factor`."""
    power = 10.0 ** floor(log10(factor))
    return next((power * n for n in (1.0, 2.0, 5.0) if factor <= power * n), 10.0 * power)


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
"""Bar over the error that a second run shows, and that over the difference at least: the error of a run that
switches, samples or bends does not have the order of the algorithm."""


def assess_coupling(
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
    wiring, jumping = wiring_of(coupled), _jumping(coupled)
    found = explained_errors(samples, wiring, jumping)
    second = None if found is not None and found.is_explained else second_run()
    if second is not None:
        return reported(coupled, samples, _bars_of(coupled, samples, second), algorithm, step, second.how)
    if found is None:
        found = estimated_errors(samples, wiring, jumping, len(coupled.judged))
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


def _jumping(coupled: CoupledParticipants) -> list[int]:
    """Places of discrete outputs; a thinned course may have lost the exchange that shows a tick."""
    return [] if coupled.samples.is_thinned else coupled.samples.jumping.tolist()


def _bars_of(coupled: CoupledParticipants, samples: Samples, second: SecondRun) -> Vector:
    """By a second run; of what follows a switch at least what that does in one exchange."""
    bars = SAFETY * max(second.factor, LEAST_FACTOR) * second.differences
    return np.maximum(bars, late_by_an_exchange(samples, wiring_of(coupled), _jumping(coupled)))


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
        if port in wanted  # they come first
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
    report = reported(first, samples, _bars_of(first, samples, found), algorithm, step, found.how)
    deaf = [name for name in first.participants if _is_deaf(first, samples, found.differences, name)]
    if deaf:
        report = report.unknown(
            f"the second run gives the same to the last bit for {', '.join(deaf)}, although inputs differ: "
            "steps inside seem to be longer than communication steps, and no second run shows what they do"
        )
    result.judged_by(lambda: report)
    return report


def _is_deaf(coupled: CoupledParticipants, samples: Samples, differences: Vector, name: str) -> bool:
    """Whether a participant answers in no bit to defects of its inputs, which a second run has changed.

    Discrete outputs say nothing: a switch that is at the same exchange in both runs answers so, too.
    """
    ports, jumping = enumerate(coupled.sampled_ports), set(coupled.samples.jumping.tolist())
    mine = [i for i, (owner, _) in ports if owner == name and i not in jumping]
    given = [i for i, each in enumerate(coupled.samples.inputs) if each.target == name]
    if not mine or not given or differences[mine].any():
        return False
    defects = np.abs(np.diff(samples.defects[:, given], axis=0)).max(axis=0)
    return bool((defects > 0.0).all() and np.ptp(samples.outputs[:, mine], axis=0).any())
