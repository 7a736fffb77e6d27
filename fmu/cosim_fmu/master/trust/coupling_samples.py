"""What a run shows of its coupling: outputs at the exchanges, and what the inputs were given instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function
from cosim_fmu.master.trust.collect_samples import (
    COUNTS,
    SIGNATURE,
    STEPS_OF_ONE,
    STRIDE,
    Collected,
    collect_samples,
)
from cosim_fmu.master.wiring.link import Link

Vector = NDArray[np.float64]
ROWS = 1024
"""Added at once."""
VALUES = 1 << 17
"""Kept at most; beyond, every second sample is dropped (integrals lose nothing by that)."""
FEW = 1024
"""Fewer values take longer to load compiled code for than to add in plain Python."""

REMEMBERED = ("_since", "_steps", "_mean", "_slope", "_rows")


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
        self._group, self._size, self.jumping = group, size, np.array(jumping, dtype=np.intp)
        self._of: dict[str, list[tuple[int, int]]] = {}
        for i, each in enumerate(inputs):
            self._of.setdefault(each.target, []).append((i, each.place))
        self._since = 0.0
        self._steps: dict[str, tuple[float, float]] = {}
        self._mean, self._slope = [0.0] * len(self.inputs), [0.0] * len(self.inputs)
        self._rows: list[list[float]] = []
        self.start(0.0, [0.0] * size)

    def start(self, time: float, outputs: Sequence[float]) -> None:
        """The first exchange: outputs at the start (s)."""
        self._since = time
        n, m, b = self._size, len(self.inputs), len(self.bonds)
        self._parts = np.cumsum([1, n, m, m, b, m])
        width = int(self._parts[-1]) + m
        most = max(2 * ROWS, VALUES // (1 + n + 2 * m + b))
        jumps = np.zeros(n, dtype=np.int64)
        jumps[self.jumping] = 1
        self._collected = Collected(
            sources=np.array([each.source for each in self.inputs], dtype=np.int64),
            jumps=jumps,
            bonds=np.array(self.bonds, dtype=np.int64).ravel(),
            scales=np.array([[each.factor, each.offset] for each in self.inputs], dtype=float).ravel(),
            counts=np.zeros(COUNTS, dtype=np.int64),
            clock=np.array([time, time, 0.0]),
            present=np.zeros(width),
            rates=np.zeros(n),
            bends=np.zeros(n),
            teeth=np.zeros(m),
            sample=np.zeros(n + 3 * m),
            first=np.zeros(n + 3 * m),
            kept=np.zeros((2 * (most // 2) + 2) * width),
        )
        self._collected.counts[[STEPS_OF_ONE, STRIDE]] = self._group, 1
        self._collected.present[: 1 + n] = [time, *outputs]
        self._collected.kept[:width] = self._collected.present

    def begin(self, time: float, outputs: Callable[[], Sequence[float]]) -> None:
        """Participants are about to step from `time` (s): an exchange has ended if all have come there."""
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
        """Add several exchanges.

        Parameters
        ----------
        times : ndarray, shape (n,), s
        outputs : ndarray, shape (n, outputs)
        inputs : ndarray, shape (n, inputs)
            Their means, in the units of the inputs.
        slopes : ndarray, shape (n, inputs), optional
            Of the inputs, per s; all were held unless given.
        """
        given = np.zeros_like(inputs) if slopes is None else slopes
        self._add(self._collected, np.hstack([times[:, None], outputs, inputs, given]))

    def samples(self) -> Samples:
        """All samples until now; collecting may go on."""
        until_now = Collected(*(array.copy() for array in self._collected))
        count = self._add(until_now, np.array(self._rows), ends=True)
        width = until_now.present.size
        table = until_now.kept[: count * width].reshape(count, width)
        columns = [np.ascontiguousarray(part) for part in np.split(table, self._parts, axis=1)]
        return Samples(columns[0].ravel(), *columns[1:])

    @property
    def is_thinned(self) -> bool:
        """Whether samples were dropped."""
        return int(self._collected.counts[STRIDE]) > 1

    def memory(self) -> dict[str, Any]:
        """Everything collected so far, for `put_back`."""
        return {
            "collected": tuple(array.copy() for array in self._collected),
            **{name: getattr(self, name) for name in REMEMBERED},
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Go on from what another run has collected."""
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        self._collected = Collected(*(array.copy() for array in memory["collected"]))

    def _all_at(self, time: float) -> bool:
        small = 1e-9 * (time - self._since)
        return all(end >= time - small for _, end in self._steps.values())

    def _close(self, time: float, outputs: Sequence[float]) -> None:
        self._rows.append([time, *outputs, *self._mean, *self._slope])
        self._since = time
        if len(self._rows) >= ROWS:
            rows, self._rows = self._rows, []
            self._add(self._collected, np.array(rows, dtype=np.float64))

    def _add(self, collected: Collected, rows: Vector, *, ends: bool = False) -> int:
        """Add exchanges; how many samples are kept then."""
        collect = collect_samples if rows.size < FEW else _compiled()
        with np.errstate(all="ignore"):  # what is no number is told where it is passed on
            return int(collect(*collected, rows.ravel(), int(ends)))


@cache
def _compiled() -> Callable[..., int]:
    """Long runs are worth loading it."""
    return compile_function(collect_samples, SIGNATURE)


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
