"""What of a coupling the samples are of, and the samples on an even grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.recording.coupling_samples import Samples

if TYPE_CHECKING:
    from cosim_master.exchange.coupled_participants import CoupledParticipants


Part = tuple[list[int], list[int], list[int]]
"""Of a participant: outputs, inputs, direct inputs."""


class Wiring(NamedTuple):
    """Which outputs and inputs belong together, by their places among the samples.

    Attributes
    ----------
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    parts : list of (outputs, inputs, direct inputs)
        Of each participant; direct are those on which one of its outputs depends at the same instant.
    direct : list of list of int
        The same for each output.
    surely : list of list of int
        The same without what is only possible: many FMUs declare that all outputs depend on all inputs.
    held, straight : ndarray of int
        Outputs that stay over an exchange as they were at its beginning, and those that run along lines.
    """

    sources: NDArray[np.intp]
    parts: list[Part]
    direct: list[list[int]]
    surely: list[list[int]]
    held: NDArray[np.intp]
    straight: NDArray[np.intp]

    @property
    def driven(self) -> list[int]:
        """Places of outputs of participants that have inputs."""
        return [place for mine, given, _ in self.parts if given for place in mine]


def wiring_of(coupled: CoupledParticipants) -> Wiring:
    """Of what is sampled."""
    inputs = coupled.samples.inputs
    at: dict[tuple[str, str], list[int]] = {}
    for i, each in enumerate(inputs):
        at.setdefault((each.target, each.input), []).append(i)
    direct = [
        sorted(i for u in direct_inputs(coupled.descriptions[name], y) for i in at.get((name, u), ()))
        for name, y in coupled.sampled_ports
    ]
    if coupled.joint is not None:  # inside it, outputs may follow inputs of other members at once
        inner = set(coupled.joint.names)
        every = [i for i, each in enumerate(inputs) if each.target in inner]
        for place, (name, y) in enumerate(coupled.sampled_ports):
            if name in inner and direct_inputs(coupled.descriptions[name], y):
                direct[place] = every
    surely = [
        [] if _is_doubtful(coupled.descriptions[n], y) else d
        for (n, y), d in zip(coupled.sampled_ports, direct, strict=True)
    ]
    parts = []
    for name, members in coupled.units.items():
        mine = [i for i, owner in enumerate(coupled.sampled_owners) if owner == name]
        given = [i for i, each in enumerate(inputs) if each.target in members]
        passed = sorted({i for place in mine for i in direct[place]})
        parts.append((mine, given, passed))
    held = coupled.samples.jumping
    over_time = [i for i, (n, _) in enumerate(coupled.sampled_ports) if coupled.descriptions[n].over_time]
    straight = np.setdiff1d(np.array(over_time, dtype=np.intp), held)
    return Wiring(
        np.array([each.source for each in inputs], dtype=np.intp), parts, direct, surely, held, straight
    )


def _is_doubtful(description: ParticipantDescription, output: str) -> bool:
    """Whether it is not known that an output depends on inputs directly."""
    known = description.feedthrough is not None and output in description.feedthrough
    return not known or output in description.possible_feedthrough | description.assumed_feedthrough


Vector = NDArray[np.float64]


class Resampled(NamedTuple):
    """A course on an even grid of n intervals.

    Attributes
    ----------
    interval : float, s
    outputs : ndarray, shape (n + 1, outputs)
    inputs, defects : ndarray, shape (n, inputs)
        Means over the intervals.
    ends, end_defects : ndarray, shape (n + 1, inputs)
        What inputs were given last before each point, and by how much it missed their outputs there.
    teeth : ndarray, shape (n, inputs)
        Means of the defects' first moments over the intervals.
    """

    interval: float
    outputs: Vector
    inputs: Vector
    defects: Vector
    ends: Vector
    end_defects: Vector
    teeth: Vector


def resampled(samples: Samples, sources: NDArray[np.intp], most: int) -> Resampled:
    """Outputs at the points of an even grid, and means of inputs and defects between them.

    Integrals are interpolated, so that a grid coarser than the exchanges loses nothing of them.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    most : int
        Intervals of the grid; as many as there are samples, if these are fewer.
    """
    times = samples.times
    count = min(most, times.size - 1)
    grid = np.linspace(times[0], times[-1], count + 1)
    interval = float(grid[1] - grid[0])
    missed = samples.ends - samples.outputs[:, sources]
    missed[0] = missed[1]  # nothing was given before the first
    if count == times.size - 1 and np.allclose(grid, times, rtol=0.0, atol=1e-9 * interval):
        outputs, inputs, defects, teeth = samples.outputs, samples.inputs, samples.defects, samples.teeth
    else:
        from scipy.interpolate import CubicSpline

        outputs, inputs = (CubicSpline(times, column)(grid) for column in (samples.outputs, samples.inputs))
        straight = [
            np.array([np.interp(grid, times, column) for column in columns.T]).reshape(-1, count + 1).T
            for columns in (samples.defects, missed, samples.teeth)
        ]
        defects, missed, teeth = straight
    means, mean_defects, mean_teeth = (
        np.diff(integral, axis=0) / interval for integral in (inputs, defects, teeth)
    )
    ends = outputs[:, sources] + missed
    return Resampled(interval, outputs, means, mean_defects, ends, missed, mean_teeth)
