"""The wiring of the sampled outputs and inputs, and the samples on an even grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.recording.coupling_samples import Samples

if TYPE_CHECKING:
    from cosim_master.exchange.coupled_participants import CoupledParticipants


class WiredPart(NamedTuple):
    """The sampled outputs and inputs of a participant, by their places among the samples.

    Attributes
    ----------
    outputs, inputs : list of int
    direct : list of int
        The inputs on which one of its outputs depends at the same instant.
    """

    outputs: list[int]
    inputs: list[int]
    direct: list[int]


class Wiring(NamedTuple):
    """The assignment of outputs and inputs to participants, by their places among the samples.

    Attributes
    ----------
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    parts : list of WiredPart
        One for each participant.
    direct : list of list of int
        For each output the inputs on which it depends at the same instant.
    surely_direct : list of list of int
        `direct` without dependencies that are only possible: many FMUs declare that all outputs depend on
        all inputs.
    held, straight : ndarray of int
        Outputs that stay over an exchange as they were at its beginning, and those that run along lines.
    """

    sources: NDArray[np.intp]
    parts: list[WiredPart]
    direct: list[list[int]]
    surely_direct: list[list[int]]
    held: NDArray[np.intp]
    straight: NDArray[np.intp]

    @property
    def driven(self) -> list[int]:
        """Places of outputs of participants that have inputs."""
        return [place for part in self.parts if part.inputs for place in part.outputs]


def wiring_of(coupled: CoupledParticipants) -> Wiring:
    """The wiring of the sampled outputs and inputs."""
    inputs = coupled.samples.inputs
    at: dict[tuple[str, str], list[int]] = {}
    for i, each in enumerate(inputs):
        at.setdefault((each.target, each.input), []).append(i)
    direct = [
        sorted(i for u in direct_inputs(coupled.descriptions[name], y) for i in at.get((name, u), ()))
        for name, y in coupled.sampled.ports
    ]
    if coupled.joint is not None:  # inside it, outputs may follow inputs of other members at once
        inner = set(coupled.joint.names)
        every = [i for i, each in enumerate(inputs) if each.target in inner]
        for place, (name, y) in enumerate(coupled.sampled.ports):
            if name in inner and direct_inputs(coupled.descriptions[name], y):
                direct[place] = every
    surely_direct = [
        [] if _is_doubtful(coupled.descriptions[n], y) else d
        for (n, y), d in zip(coupled.sampled.ports, direct, strict=True)
    ]
    unit_of = {member: name for name, members in coupled.units.items() for member in members}
    outputs_of: dict[str, list[int]] = {name: [] for name in coupled.units}
    inputs_of: dict[str, list[int]] = {name: [] for name in coupled.units}
    for i, owner in enumerate(coupled.sampled.owners):
        outputs_of[owner].append(i)
    for i, each in enumerate(inputs):
        inputs_of[unit_of[each.target]].append(i)
    parts = [part_of(direct, outputs_of[name], inputs_of[name]) for name in coupled.units]
    held = coupled.samples.jumping
    over_time = [i for i, (n, _) in enumerate(coupled.sampled.ports) if coupled.descriptions[n].over_time]
    straight = np.setdiff1d(np.array(over_time, dtype=np.intp), held)
    return Wiring(
        np.array([each.source for each in inputs], dtype=np.intp),
        parts,
        direct,
        surely_direct,
        held,
        straight,
    )


def reliable_jumps(coupled: CoupledParticipants) -> list[int]:
    """Places of discrete outputs; none where the course is thinned and may lack the exchange of a tick."""
    return [] if coupled.samples.is_thinned else coupled.samples.jumping.tolist()


def part_of(direct: Sequence[Sequence[int]], outputs: list[int], inputs: list[int]) -> WiredPart:
    """A participant with these outputs and inputs; `direct` holds the direct inputs of all outputs."""
    return WiredPart(outputs, inputs, sorted({i for place in outputs for i in direct[place]}))


def _is_doubtful(description: ParticipantDescription, output: str) -> bool:
    """Whether it is not known that an output depends on inputs directly."""
    is_declared = description.feedthrough is not None and output in description.feedthrough
    return not is_declared or output in description.possible_feedthrough | description.assumed_feedthrough


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


Places = NDArray[np.intp]
MOST_TICKS = 2000
"""Ticks at most, since more cost too much time, and a coarser grid would miss them."""
MOST_PARTS = 20
"""Periods at most between the closest changes, since a clock need not change an output at each tick."""
BENT = 0.1
"""Of the largest change between ticks: who goes so far off a line there forgets until the next one."""
LEAST_CHANGES, MOST_SILENT = 3, 2
"""Any two changes have a period, and many changes one of an exchange: a clock changes its output at each
second tick or more often."""
SAME = 1e-6
"""Times that differ by a smaller part of a period are one."""
NOTHING: Places = np.zeros(0, dtype=np.intp)


def late_by_an_exchange(samples: Samples, wiring: Wiring, jumping: Sequence[int]) -> Vector:
    """The largest change of outputs in an exchange, for those that jumps of no clock reach.

    Inputs change at exchanges, so that jumps that follow from them are late by up to one; a second run may
    be late by as much, and does not show it.
    """
    largest = np.zeros(samples.outputs.shape[1])
    changes = np.abs(np.diff(samples.outputs, axis=0))
    reached = {
        place
        for place in set(jumping) & set(wiring.driven)
        if changes[:, place].any() and not _is_clocked(samples.times, np.flatnonzero(changes[:, place]) + 1)
    }
    before = -1
    while len(reached) > before:
        before = len(reached)
        for part in wiring.parts:
            if reached & set(wiring.sources[part.inputs].tolist()):
                reached |= set(part.outputs)
    for place in reached:
        largest[place] = changes[:, place].max()
    return largest


def _is_clocked(times: Vector, ticks: Places) -> bool:
    """Whether a clock has made these changes; a switch may meet a grid of exchanges too, but seldom."""
    grid = _grid(times, ticks)
    between = int(np.count_nonzero((grid >= ticks[0]) & (grid <= ticks[-1])))
    return ticks.size >= LEAST_CHANGES and 0 < between <= MOST_SILENT * ticks.size


def at_ticks(
    samples: Samples, sources: Places, jumping: Places, sampled: Places, fed: Places = NOTHING
) -> list[tuple[Samples, Vector]]:
    """The points at which discrete outputs change: in between nothing reads the values of their inputs.

    An output that shows a change at the end of an exchange may have made it there, with the value that its
    input had last, or where the exchange began, unseen until its end: which one, the master is not told. A
    clock that ticks at the start of the run decides between them, unless it ticks at each exchange.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    jumping, sampled : ndarray of int
        Places of outputs and inputs of participants whose outputs are all discrete.
    fed : ndarray of int
        Places of other outputs, of participants that they feed.

    Returns
    -------
    list of (Samples, ndarray of shape (outputs,))
        One or two courses that the run may have been, and how far outputs may be behind between its points.
        None where exchanges do not meet the ticks of one clock, or too many of them.
    """
    changes = np.flatnonzero(np.diff(samples.outputs[:, jumping], axis=0).any(axis=1)) + 1
    if changes.size < 2:
        return []
    late, early = _grid(samples.times, changes), _grid(samples.times[:-1], changes - 1)
    begins = [grid.size > 0 and grid[0] == 0 for grid in (late, early)]
    courses = []
    if late.size and (begins[0] or not begins[1]):
        courses.append((_at(samples, late), np.zeros(samples.outputs.shape[1])))
    if early.size and (begins[1] or not begins[0]):
        course = _at(_earlier(samples, sources, jumping, sampled), early)
        courses.append((course, _behind(samples, course, fed)))
    return courses


def _at(samples: Samples, points: Places) -> Samples:
    return Samples(*(column[points] for column in samples))


def _grid(times: Vector, ticks: Places) -> Places:
    """The ticks among `times`; none if there are none of one period."""
    if ticks.size < 2:  # one change shows no clock
        return NOTHING
    gaps = np.diff(times[ticks])
    for part in range(1, MOST_PARTS + 1):
        counts = part * gaps / gaps.min()
        if np.abs(counts - np.round(counts)).max() < SAME * counts.max():
            break
    else:
        return NOTHING
    period = gaps.min() / part
    before, behind = times[ticks[0]] - times[0], times[-1] - times[ticks[0]]
    first, last = -int(before / period + SAME), int(behind / period + SAME)
    if last - first >= MOST_TICKS:
        return NOTHING
    expected = times[ticks[0]] + period * np.arange(first, last + 1)
    points = np.minimum(np.searchsorted(times, expected - SAME * period), times.size - 1)
    met = np.abs(times[points] - expected) < 10.0 * SAME * period
    return points if met.all() else NOTHING


def _earlier(samples: Samples, sources: Places, jumping: Places, sampled: Places) -> Samples:
    """The course where discrete outputs change at the beginning of the exchanges that show it."""
    outputs, ends, defects = (
        column[:-1].copy() for column in (samples.outputs, samples.ends, samples.defects)
    )
    outputs[:, jumping] = samples.outputs[1:, jumping]
    ends[:, sampled] = samples.ends[1:, sampled]
    fed = np.isin(sources, jumping)
    missed = np.diff(samples.outputs[:, sources[fed]], axis=0) * np.diff(samples.times)[:, None]
    defects[1:, fed] -= np.cumsum(missed[:-1], axis=0)
    shifted = samples._replace(outputs=outputs, ends=ends, defects=defects)
    return Samples(*(column[:-1] if column.shape[0] > outputs.shape[0] else column for column in shifted))


def _behind(samples: Samples, course: Samples, fed: Places) -> Vector:
    """The change of outputs in an exchange, if they forget a late change before the next tick."""
    largest = np.zeros(samples.outputs.shape[1])
    for k in fed.tolist():
        y, seen = samples.outputs[:, k], course.outputs[:, k]
        inside = samples.times <= course.times[-1]
        off = np.abs(y - np.interp(samples.times, course.times, seen))[inside].max()
        if off > BENT * np.abs(np.diff(seen)).max(initial=0.0):
            largest[k] = np.abs(np.diff(y)).max()
    return largest
