"""Whether a run has no coupling error at all: every input was exact at every instant.

That is so where all inputs come from values over time that are held, and that change at exchanges alone: the
input then is its source, and nothing is left that a second run could show but errors of integrators.
"""

from __future__ import annotations

import numpy as np

from cosim_master.abilities import ChangesAtTimes
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.model_exchange.system_calls_by_address import SAME_TIME
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.sampled_wiring import Wiring

ROUNDING = 1e-14
"""Integrals of defects over those of the outputs: no more than rounding of times and factors."""


def inputs_are_exact(coupled: CoupledParticipants, samples: Samples, wiring: Wiring) -> bool:
    """Whether no input ever differed from its source.

    Parameters
    ----------
    coupled : CoupledParticipants
        After the run.
    samples : Samples
        Of it.
    wiring : Wiring
        Of the samples.
    """
    if coupled.joint is not None or len(coupled.samples.inputs) < len(coupled.links):
        return False  # connections of which no samples are taken may carry errors, too
    sources = {link.source for link in coupled.links}
    return (
        all(_changes_at_exchanges(coupled, name, samples) for name in sources)
        and _has_no_defects(samples, wiring)
        and _direct_outputs_read_present_inputs(coupled, samples, wiring)
    )


def _changes_at_exchanges(coupled: CoupledParticipants, name: str, samples: Samples) -> bool:
    """Whether a participant is known to change its outputs at exchanges of this run and nowhere else."""
    participant, times = coupled.participants[name], samples.times
    changes = participant.change_times if isinstance(participant, ChangesAtTimes) else None
    if changes is None:
        return False
    inner = changes[(changes > times[0]) & (changes < times[-1])]
    after = np.searchsorted(times, inner)
    distances = np.minimum(times[after] - inner, inner - times[after - 1])
    return bool((distances <= SAME_TIME * (times[after] - times[after - 1])).all())


def _has_no_defects(samples: Samples, wiring: Wiring) -> bool:
    """Whether inputs were given their sources over each exchange, but for rounding."""
    lengths = np.diff(samples.times)[:, None]
    sizes = (np.abs(samples.outputs[1:, wiring.sources]) * lengths).sum(axis=0)
    return bool((np.abs(samples.defects).max(axis=0) <= ROUNDING * sizes).all())


def _direct_outputs_read_present_inputs(
    coupled: CoupledParticipants, samples: Samples, wiring: Wiring
) -> bool:
    """Whether outputs that follow inputs at once were read with the present inputs; states never do."""
    direct = {
        i
        for (name, output), inputs in zip(coupled.sampled_ports, wiring.direct, strict=True)
        if output not in coupled.descriptions[name].states
        for i in inputs
    }
    places = sorted(direct)
    present = samples.outputs[1:, wiring.sources[places]]
    return bool((samples.ends[1:, places] == present).all())
