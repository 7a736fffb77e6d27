"""What a run shows of its coupling: outputs at the exchanges, and what the inputs were given instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_fmu.master.wiring.link import Link

Vector = NDArray[np.float64]
ROWS = 1024
"""Worked off at once."""
VALUES = 1 << 17
"""Kept at most; beyond, every second row is dropped (integrals lose nothing by that)."""

REMEMBERED = (
    "_stride",
    "_since",
    "_steps",
    "_mean",
    "_slope",
    "_rows",
    "_rest",
    "_waiting",
    "_count",
    "_earlier",
    "_last_tooth",
)


class SampledInput(NamedTuple):
    """A real input on a connection.

    Attributes
    ----------
    target : str
        The participant.
    place : int
        Among its connected inputs.
    source : int
        Of its output among the values of the interface.
    factor, offset : float
        The input's value is factor * output + offset.
    name : str
        ``source.output → target.input``.
    """

    target: str
    place: int
    source: int
    factor: float
    offset: float
    name: str

    @property
    def input(self) -> str:
        """Its name in the participant."""
        return self.name.rpartition(" → ")[2].removeprefix(f"{self.target}.")


class Samples(NamedTuple):
    """A course of outputs and inputs, at n + 1 times.

    Attributes
    ----------
    times : ndarray, shape (n + 1,), s
    outputs : ndarray, shape (n + 1, outputs)
    inputs : ndarray, shape (n + 1, inputs)
        Integrals over time of what the inputs were given, in the units of their outputs.
    defects : ndarray, shape (n + 1, inputs)
        Integrals of what they were given beyond the outputs.
    energy : ndarray, shape (n + 1, bonds)
        That the coupling has created, J where the units are those of the SI.
    ends : ndarray, shape (n + 1, inputs)
        What the inputs were given last before each of these times, in the units of their outputs.
    teeth : ndarray, shape (n + 1, inputs)
        Integrals of the defects' first moments about the middles of exchanges, over their lengths.
    """

    times: Vector
    outputs: Vector
    inputs: Vector
    defects: Vector
    energy: Vector
    ends: Vector
    teeth: Vector


class CouplingSamples:
    """Collects a sample for each exchange; costs no call of a participant.

    The defect of a connection is what its input was given beyond the output that it stands for. In an
    exchange of length h its mean is that of the input less that of the output,
    (y0 + y1)/2 - h² y''/12 with y'' from the last three values. An input that is held while the output
    goes on has a saw tooth beside; with its slope s this acts as -d/dt (s h²/12), and lets the mean of a
    participant's own outputs differ from that of a smooth course through their values (`Samples.teeth`,
    `IdentifiedCoupling`).

    Parameters
    ----------
    inputs : sequence of SampledInput
    size : int
        Number of values of the interface.
    group : int
        So many communication steps are one sample: a multiple of the longer steps of slow participants.
    bonds : sequence of (int, int)
        Places of the two inputs of each power bond.
    jumping : sequence of int
        Places of discrete outputs: they stay as they were until an exchange.

    Attributes
    ----------
    by_rows : bool
        Whether rows come from compiled code (`extend`).
    """

    def __init__(
        self,
        inputs: Sequence[SampledInput],
        size: int,
        group: int = 1,
        bonds: Sequence[tuple[int, int]] = (),
        jumping: Sequence[int] = (),
    ) -> None:
        self.inputs, self.bonds, self.by_rows = list(inputs), list(bonds), False
        self._group, self.jumping = group, np.array(jumping, dtype=np.intp)
        self._sources = np.array([each.source for each in inputs], dtype=np.intp)
        self._factors = np.array([each.factor for each in inputs])
        self._offsets = np.array([each.offset for each in inputs])
        self._of: dict[str, list[tuple[int, int]]] = {}
        for i, each in enumerate(inputs):
            self._of.setdefault(each.target, []).append((i, each.place))
        self._most = max(2 * ROWS, VALUES // (1 + size + 2 * len(self.inputs) + len(self.bonds)))
        self._since = 0.0
        self._steps: dict[str, tuple[float, float]] = {}
        self._mean, self._slope = [0.0] * len(self.inputs), [0.0] * len(self.inputs)
        self._rows: list[tuple[float, Sequence[float], list[float], list[float]]] = []
        self.start(0.0, [0.0] * size)

    def start(self, time: float, outputs: Sequence[float]) -> None:
        """The first exchange: outputs at the start (s)."""
        self._since = time
        zero = np.zeros((1, len(self.inputs)))
        now = np.asarray(outputs, dtype=np.float64).reshape(1, -1)
        kept = Samples(
            *(np.array([time]), now, zero, zero, np.zeros((1, len(self.bonds)))),
            *(now[:, self._sources], zero),
        )
        self._kept, self._pieces = kept, [kept]
        self._count = self._stride = 1
        self._earlier: tuple[float, Vector] | None = None
        self._rest = [np.zeros(0), np.zeros((0, now.size)), np.zeros((0, len(self.inputs)))]
        self._waiting: list[tuple[Vector, ...]] = []
        self._last_tooth = zero[0]

    def begin(self, time: float, outputs: Callable[[], Sequence[float]]) -> None:
        """Participants are about to step from `time` (s): what was before is a sample, if all are there."""
        if not self.by_rows and time > self._since and self._all_at(time):
            self._close(time, outputs())

    def drove(self, name: str, start: float, size: float, values: Sequence[Any], slopes: Any) -> None:
        """What the connected inputs of a participant did in a step from `start` by `size` (s).

        A step that is taken again replaces the one before.
        """
        mine = self._of.get(name)
        if self.by_rows:
            return
        before = self._steps.get(name)
        goes_on = (
            before is not None and start > before[0] and start >= self._since and before[0] >= self._since
        )
        self._steps[name] = (before[0] if goes_on and before is not None else start), start + size
        if mine is None:
            return
        part = size / (start + size - before[0]) if goes_on and before is not None else 1.0
        for i, place in mine:
            slope = 0.0 if slopes is None else float(slopes[place])
            mean = float(values[place]) + 0.5 * size * slope
            self._mean[i] = mean if part == 1.0 else (1.0 - part) * self._mean[i] + part * mean
            self._slope[i] = slope if part == 1.0 else 0.0

    def finish_step(self, time: float, outputs: Callable[[], Sequence[float]]) -> None:
        """A communication step has ended at `time` (s)."""
        if not self.by_rows and time > self._since:
            self._close(time, outputs())

    def extend(self, times: Vector, outputs: Vector, inputs: Vector, slopes: Vector | None = None) -> None:
        """Samples of several exchanges.

        Parameters
        ----------
        times : ndarray, shape (n,), s
        outputs : ndarray, shape (n, outputs)
        inputs : ndarray, shape (n, inputs)
            Their means, in the units of the inputs.
        slopes : ndarray, shape (n, inputs), optional
            Of the inputs, per s; all were held unless given.
        """
        if slopes is not None:
            self._waiting.append(tuple(map(np.ascontiguousarray, (times, outputs, inputs, slopes))))
            self._take_waiting(ROWS)
            return
        rest = [np.concatenate(both) for both in zip(self._rest, (times, outputs, inputs), strict=True)]
        # in pieces that end where points are dropped: what is kept does not depend on how rows come
        while taken := self._taken(rest[0]):
            times, outputs, inputs = (column[:taken] for column in rest)
            rest = [column[taken:] for column in rest]
            if self._stride > 1 and self._even(times) == taken:
                self._take_sums(times, outputs, inputs)
            else:
                self._take(times, outputs, inputs, np.zeros_like(inputs))
        self._rest = rest

    def _take_waiting(self, at_once: int) -> None:
        """Work off rows in pieces as `_flush` does: what is kept does not depend on how they come."""
        while self._waiting and sum(piece[0].size for piece in self._waiting) >= at_once:
            columns = [np.concatenate(column) for column in zip(*self._waiting, strict=True)]
            self._take(*(column[:ROWS] for column in columns))
            rest = tuple(column[ROWS:] for column in columns)
            self._waiting = [rest] if rest[0].size else []

    def _taken(self, times: Vector) -> int:
        """How many of these rows are worked off at once; 0 where more are needed for a group."""
        even = self._even(times) if self._stride > 1 else 0
        room = max(1, self._most + 1 - self._count)
        if even >= self._stride:
            return min(even // self._stride, room) * self._stride
        if self._stride > 1 and even == times.size and self._group == 1:
            return 0
        return min(times.size // self._group, room) * self._group

    def samples(self) -> Samples:
        """All that was kept."""
        self._flush(last=True)
        self._take_waiting(1)
        if self._rest[0].size:
            rest, self._rest = self._rest, [column[:0] for column in self._rest]
            self._take(rest[0], rest[1], rest[2], np.zeros_like(rest[2]))
        self._join()
        return self._kept

    @property
    def is_thinned(self) -> bool:
        """Whether points were dropped."""
        return self._stride > 1

    def memory(self) -> dict[str, Any]:
        """Everything collected so far, for `put_back`."""
        self._join()
        return {"kept": tuple(self._kept), **{name: getattr(self, name) for name in REMEMBERED}}

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Go on from what another run has collected."""
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        self._kept = Samples(*memory["kept"])
        self._pieces = [self._kept]

    def _all_at(self, time: float) -> bool:
        small = 1e-9 * (time - self._since)
        return all(end >= time - small for _, end in self._steps.values())

    def _close(self, time: float, outputs: Sequence[float]) -> None:
        self._rows.append((time, outputs, self._mean.copy(), self._slope.copy()))
        self._since = time
        if len(self._rows) >= ROWS:
            self._flush()

    def _flush(self, *, last: bool = False) -> None:
        """Work off rows; of a group that is not complete only at the end."""
        count = len(self._rows)
        if not last:
            count -= count % self._group
        rows, self._rows = self._rows[:count], self._rows[count:]
        if rows:
            times, outputs, means, slopes = (
                np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)
            )
            self._take(times, outputs.reshape(count, -1), means, slopes)

    def _take(self, times: Vector, outputs: Vector, means: Vector, slopes: Vector) -> None:
        start = float(self._pieces[-1].times[-1])
        lengths = np.diff(times, prepend=start)
        means = (means - self._offsets) / self._factors
        slopes = slopes / self._factors
        ends = means + 0.5 * lengths[:, None] * slopes
        if self._group > 1:
            last = np.minimum(np.arange(0, times.size, self._group) + self._group, times.size) - 1
            ends = ends[last]
            times, lengths, outputs, means, slopes = _grouped(
                self._group, times, lengths, outputs, means, slopes
            )
        h = lengths[:, None]
        before = self._pieces[-1].outputs[-1]
        begins = np.vstack([before[None], outputs[:-1]])
        rates = (outputs - begins) / h
        rates[:, self.jumping] = 0.0
        mean_outputs = begins + 0.5 * h * rates
        mean_outputs -= h**2 / 12.0 * self._curvature(rates, h, start)
        defects = means - mean_outputs[:, self._sources]
        teeth = (slopes - rates[:, self._sources]) * h**2 / 12.0
        defects -= np.diff(teeth, axis=0, prepend=self._last_tooth[None]) / h
        self._last_tooth = teeth[-1]
        self._earlier = (float(times[-2]) if times.size > 1 else start, rates[-1])
        end = self._pieces[-1]
        created = [
            means[:, a] * mean_outputs[:, self._sources[b]] - means[:, b] * mean_outputs[:, self._sources[a]]
            for a, b in self.bonds
        ]
        energy = np.array(created).reshape(len(self.bonds), times.size).T
        self._pieces.append(
            Samples(
                times,
                outputs,
                end.inputs[-1] + np.cumsum(means * h, axis=0),
                end.defects[-1] + np.cumsum(defects * h, axis=0),
                end.energy[-1] + np.cumsum(energy * h, axis=0),
                ends,
                end.teeth[-1] + np.cumsum(teeth * h, axis=0),
            )
        )
        self._count += times.size
        self._thin()

    def _thin(self) -> None:
        """Drop every second point when there are too many."""
        if self._count > self._most:
            self._join()
            keep = (
                np.arange(self._count - 1, -1, -2)[::-1]
                if self._count % 2
                else np.r_[0, np.arange(1, self._count, 2)]
            )
            self._kept = Samples(*(column[keep] for column in self._kept))
            self._pieces, self._count, self._stride = [self._kept], keep.size, 2 * self._stride

    def _even(self, times: Vector) -> int:
        """How many of the next steps are as long as the one before; 0 where that is of no use."""
        if self._group > 1 or self.bonds or self._earlier is None or not times.size:
            return 0
        start = float(self._pieces[-1].times[-1])
        length = start - self._earlier[0]
        odd = np.abs(np.diff(times, prepend=start) - length) > 1e-6 * length
        return int(np.argmax(odd)) if odd.any() else times.size

    def _take_sums(self, times: Vector, outputs: Vector, inputs: Vector) -> None:
        """As `_take` for held inputs and steps of one length, at every so many points alone.

        What `_take` sums up telescopes: of outputs and inputs only the sums are needed.
        """
        assert self._earlier is not None
        kept, count = self._pieces[-1], times.size
        length = (float(times[-1]) - float(kept.times[-1])) / count
        first = np.arange(0, count, self._stride)
        last = np.minimum(first + self._stride, count) - 1
        ends, before_ends = outputs[last], outputs[last - 1]
        if last[0] == 0:
            before_ends[0] = kept.outputs[-1]
        rates = (ends - before_ends) / length
        rates[:, self.jumping] = 0.0
        bends = np.diff(rates, axis=0, prepend=self._earlier[1][None]) * length / 12.0
        begins = np.vstack([kept.outputs[-1:], ends[:-1]])
        areas = np.add.reduceat(outputs, first, axis=0) - 0.5 * (ends - begins) - bends
        areas[:, self.jumping] -= 0.5 * (ends - begins)[:, self.jumping]
        sizes = (last - first + 1)[:, None]
        given = (np.add.reduceat(inputs, first, axis=0) - sizes * self._offsets) / self._factors
        defects = given - (areas - bends)[:, self._sources]
        gone = ends - begins
        gone[:, self.jumping] = 0.0
        teeth = -(length**2) / 12.0 * gone[:, self._sources]
        self._earlier = (float(times[-1]) - length, rates[-1])
        self._last_tooth = -rates[-1, self._sources] * length**2 / 12.0
        self._pieces.append(
            Samples(
                times[last],
                ends,
                kept.inputs[-1] + length * np.cumsum(given, axis=0),
                kept.defects[-1] + length * np.cumsum(defects, axis=0),
                np.zeros((last.size, 0)),
                (inputs[last] - self._offsets) / self._factors,
                kept.teeth[-1] + np.cumsum(teeth, axis=0),
            )
        )
        self._count += last.size
        self._thin()

    def _curvature(self, rates: Vector, h: Vector, start: float) -> Vector:
        """Second derivatives of the outputs where each sample begins; of the first one, where it ends."""
        found = np.zeros_like(rates)
        found[1:] = 2.0 * np.diff(rates, axis=0) / (h[1:] + h[:-1])
        if self._earlier is not None:
            found[0] = 2.0 * (rates[0] - self._earlier[1]) / (h[0] + start - self._earlier[0])
        elif len(found) > 1:
            found[0] = found[1]
        return found

    def _join(self) -> None:
        self._kept = Samples(*(np.concatenate(columns) for columns in zip(*self._pieces, strict=True)))
        self._pieces = [self._kept]


def _grouped(
    group: int, times: Vector, lengths: Vector, outputs: Vector, means: Vector, slopes: Vector
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Several steps as one: mean of the inputs, and the slope of the line that fits them."""
    first = np.arange(0, times.size, group)
    last = np.minimum(first + group, times.size) - 1
    whole = np.add.reduceat(lengths, first)
    mean = np.add.reduceat(means * lengths[:, None], first, axis=0) / whole[:, None]
    centres = times - 0.5 * lengths - np.repeat(times[last] - 0.5 * whole, np.diff(np.r_[first, times.size]))
    moment = np.add.reduceat(
        (means * (centres * lengths)[:, None] + slopes * lengths[:, None] ** 3 / 12.0), first, axis=0
    )
    return times[last], whole, outputs[last], mean, 12.0 * moment / whole[:, None] ** 3


def sampled_inputs(
    feeding: Mapping[str, Sequence[Link]], interface: Mapping[tuple[str, str], int]
) -> list[SampledInput]:
    """Those inputs that real outputs feed, over time.

    Parameters
    ----------
    feeding : mapping of str to sequence of Link
        By participant, in the order of its connected inputs.
    interface : mapping of (participant, output) to int
    """
    return [
        SampledInput(name, place, interface[link.start], link.factor, link.offset, str(link))
        for name, into in feeding.items()
        for place, link in enumerate(into)
        if link.start in interface and link.factor != 0.0
    ]
