"""From the samples of a run to a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.exchange.coupled_participants import LARGEST, OTHER, CoupledParticipants
from cosim_master.results.coupling_report import CouplingReport
from cosim_master.results.estimated_error import EstimatedError
from cosim_master.samples.coupling_samples import CouplingSamples, Samples
from cosim_master.trust.coupling_error import LEAST, TOO_MANY, estimated_errors
from cosim_master.trust.coupling_verdict import verdict

Vector = NDArray[np.float64]
VERIFY = "run it with --verify (CoSimulation.verify)"


def judge_coupling(
    coupled: CoupledParticipants, algorithm: cosim.MasterAlgorithm, step: float
) -> CouplingReport:
    """What the samples of a run say of the error of its coupling.

    Parameters
    ----------
    coupled : CoupledParticipants
        After the run.
    algorithm : MasterAlgorithm
    step : float
        Communication step, s.
    """
    collected = coupled.samples
    samples = collected.samples()
    sources = np.array([each.source for each in collected.inputs], dtype=np.intp)
    outputs = [tuple(name.split(".", 1)) for name in coupled.interface_names]
    outputs += [] if coupled.joint is None else [link.start for link in coupled.joint.links]
    passed = {(name, u) for name, y in outputs for u in direct_inputs(coupled.descriptions[name], y)}
    parts = []
    for name, members in coupled.units.items():
        mine = [i for i, owner in enumerate(coupled.interface_owners) if owner == name]
        given = [i for i, each in enumerate(collected.inputs) if each.target in members]
        direct = [i for i in given if (collected.inputs[i].target, collected.inputs[i].input) in passed]
        parts.append((mine, given, direct))
    if not collected.inputs:
        how = "no real values are exchanged" if coupled.joint is None else "all is solved jointly"
        return CouplingReport([], verdict="fine", how=how)
    sizes = np.abs(samples.outputs).max(axis=0)
    if sizes.max() > LARGEST:
        largest = f"{coupled.interface_names[int(sizes.argmax())]} reaches {sizes.max():.2g}"
        why = f"{largest}: the exchange is unstable, or a participant has failed and does not say so; {OTHER}"
        return CouplingReport([], _energy(coupled, samples), "unknown", why)
    # a thinned course may have lost the exchange that shows a tick
    jumping = [] if collected.is_thinned else collected.jumping.tolist()
    found = estimated_errors(samples, sources, parts, jumping)
    if found is None:
        few = samples.times.size <= LEAST
        why = f"fewer than {LEAST} exchanges" if few else f"more than {TOO_MANY} values are exchanged"
        return CouplingReport([], _energy(coupled, samples), "unknown", f"{why}; {VERIFY}")
    bars, is_known = found
    report = reported(coupled, samples, bars, algorithm, step, "estimated")
    if is_known:
        return report
    why = f"the run does not show how the participants respond to their inputs; {VERIFY}"
    return CouplingReport(report.connections, report.energy, "unknown", why)


def reported(
    coupled: CoupledParticipants,
    samples: Samples,
    bars: Vector,
    algorithm: cosim.MasterAlgorithm,
    step: float,
    how: str,
) -> CouplingReport:
    """A report of these bars, one for each value of the interface."""
    connections = sorted(
        _connections(coupled.samples, samples, bars, coupled.descriptions, coupled.interface_names),
        key=lambda each: -each.relative,
    )
    worst = connections[0].relative if connections else 0.0
    word, advice = verdict(worst, step, algorithm, coupled.descriptions.values())
    return CouplingReport(connections, _energy(coupled, samples), word, advice, how)


def _connections(
    collected: CouplingSamples,
    samples: Samples,
    bars: Vector,
    descriptions: Mapping[str, ParticipantDescription],
    names: Sequence[str],
) -> list[EstimatedError]:
    ranges, sizes = np.ptp(samples.outputs, axis=0), np.abs(samples.outputs).max(axis=0)
    span = samples.times[-1] - samples.times[0]
    defects = np.abs(np.diff(samples.defects, axis=0)).sum(axis=0) / max(span, 1e-300)
    found = []
    for i, each in enumerate(collected.inputs):
        source, _, output = names[each.source].partition(".")
        place = each.source
        scale = float(ranges[place] if ranges[place] > 1e-12 * sizes[place] else sizes[place])
        unit = descriptions[source].variables[output].unit or "1"
        found.append(EstimatedError(each.name, float(bars[place]), scale, unit, float(defects[i])))
    return found


def _energy(coupled: CoupledParticipants, samples: Samples) -> dict[str, float]:
    """That the coupling has created by the end, by bond."""
    names = [coupled.samples.inputs[one].name for one, _ in coupled.samples.bonds]
    return dict(zip(names, map(float, samples.energy[-1]), strict=True))
