"""Collects samples of a coupling: outputs at the exchanges, and integrals of the inputs between them.

`CouplingSamples` gathers exchanges in Python and passes them on together to the kernel function
`collect_samples`, whose memory, `Collected`, it makes and enlarges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function, head_of
from cosim_master.coupling.link import Link
from cosim_master.recording.collect_samples import (
    BEGAN,
    CLOCK,
    COUNTS,
    REACHED,
    SIGNATURE,
    STEPS_OF_ONE,
    STORED,
    STRIDE,
    Collected,
    collect_samples,
)

Vector = NDArray[np.float64]
EXCHANGES_TOGETHER = 1024
"""Exchanges that wait until they are added together."""
MOST_NUMBERS = 1 << 19
"""The largest number of numbers in all samples. Beyond it every second sample is dropped; since samples hold
integrals, nothing of them is lost."""
AT_THE_END = 4
"""The largest number of samples that the end of a run completes."""
NUMBERS_IN_PYTHON = 1024
"""Numbers that are added in plain Python, so that a short run need not load compiled code."""


class SampledInput(NamedTuple):
    """A real input on a connection.

    Attributes
    ----------
    target : str
        The participant.
    place : int
        Its number among the connected inputs of this participant.
    source : int
        The number of the output that feeds it.
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
        """The name of the input in its participant."""
        return self.name.rpartition(" → ")[2].removeprefix(f"{self.target}.")


class Samples(NamedTuple):
    """Outputs and inputs of a run at n + 1 times.

    Attributes
    ----------
    times : ndarray, shape (n + 1,), s
    outputs : ndarray, shape (n + 1, outputs)
    inputs : ndarray, shape (n + 1, inputs)
        Integrals of the inputs over time, in the units of the outputs that feed them.
    defects : ndarray, shape (n + 1, inputs)
        Integrals of input minus output.
    energy : ndarray, shape (n + 1, bonds)
        Energy that the coupling has created, J where the units are those of the SI.
    ends : ndarray, shape (n + 1, inputs)
        The last input before each of these times, in the units of the outputs.
    teeth : ndarray, shape (n + 1, inputs)
        Integrals of the saw teeth of the defects. In each exchange that is the first moment of the defect
        about the middle, divided by the length.
    """

    times: Vector
    outputs: Vector
    inputs: Vector
    defects: Vector
    energy: Vector
    ends: Vector
    teeth: Vector

    def with_zeros(self, places: Sequence[int]) -> Samples:
        """The samples with 0 for the outputs at these places."""
        if not places:
            return self
        outputs = self.outputs.copy()
        outputs[:, places] = 0.0
        return self._replace(outputs=outputs)


class InputLines(NamedTuple):
    """The straight lines that the inputs followed since the last sample, one number for each input.

    Attributes
    ----------
    means, slopes, ends : list of float
        Mean values, slopes (per s) and last values.
    """

    means: list[float]
    slopes: list[float]
    ends: list[float]


class CouplingSamples:
    """Collects a sample for each exchange, without a call of a participant.

    The defect of a connection is its input minus the output that feeds it. The mean of a defect over an
    exchange of length h is the mean of the input less the mean of the output,
    (y0 + y1)/2 - h² y''/12 with y'' from the last three values. If an input is held while the output
    changes with slope s, the defect also has a saw tooth, which acts as -d/dt (s h²/12). Then the mean of a
    participant's outputs differs from the mean of a smooth curve through their values (`Samples.teeth`,
    `IdentifiedCoupling`).

    Parameters
    ----------
    inputs : sequence of SampledInput
    size : int
        The number of sampled outputs.
    group : int
        Communication steps in one sample: a multiple of the longer steps of slow participants.
    bonds : sequence of (int, int)
        Places of the two inputs of each power bond.
    jumping : sequence of int
        Places of discrete outputs, which are constant between exchanges.

    Attributes
    ----------
    since : float
        The time at which the last sample ended, s.
    steps : dict of str to (float, float)
        For each participant that has stepped since then: the times at which its steps began and ended, s.
    lines : InputLines
    """

    def __init__(
        self,
        inputs: Sequence[SampledInput],
        size: int,
        group: int = 1,
        bonds: Sequence[tuple[int, int]] = (),
        jumping: Sequence[int] = (),
    ) -> None:
        self.inputs, self.bonds = list(inputs), list(bonds)
        self._group, self._size, self.jumping = group, size, np.array(jumping, dtype=np.intp)
        self.since = 0.0
        self.steps: dict[str, tuple[float, float]] = {}
        count = len(self.inputs)
        self.lines = InputLines(means=[0.0] * count, slopes=[0.0] * count, ends=[0.0] * count)
        self._numbers_added = 0
        self.start(0.0, [0.0] * size)

    def start(self, time: float, outputs: Sequence[float]) -> None:
        """Begin a run at a time (s) with these outputs; what was collected before is discarded."""
        self.since = self._reached = time
        self._waiting, self._waiting_count = list[Vector](), 0
        n, m, b = self._size, len(self.inputs), len(self.bonds)
        self._widths = {
            "times": 1,
            "outputs": n,
            "inputs": m,
            "defects": m,
            "energy": b,
            "ends": m,
            "teeth": m,
        }
        width = sum(self._widths.values())
        capacity = max(2 * EXCHANGES_TOGETHER, MOST_NUMBERS // (1 + n + 2 * m + b))
        self._capacity = 2 * (capacity // 2) + 2  # even, so that every second one can be dropped
        self._collected = self._new_collected(time, width)
        self._collected.present[: 1 + n] = [time, *outputs]
        self._collected.kept[:width] = self._collected.present

    def _new_collected(self, time: float, width: int) -> Collected:
        """The memory of a run that begins at a time (s), with room for one sample of this width."""
        n, m = self._size, len(self.inputs)
        jumps = np.zeros(n, dtype=np.int64)
        jumps[self.jumping] = 1
        counts = np.zeros(COUNTS, dtype=np.int64)
        counts[STEPS_OF_ONE], counts[STRIDE], counts[STORED] = self._group, 1, 1
        clock = np.zeros(CLOCK)
        clock[REACHED] = clock[BEGAN] = time
        return Collected(
            sources=np.array([sampled.source for sampled in self.inputs], dtype=np.int64),
            jumps=jumps,
            bonds=np.array(self.bonds, dtype=np.int64).ravel(),
            scales=np.array([(s.factor, s.offset) for s in self.inputs], dtype=float).ravel(),
            counts=counts,
            clock=clock,
            present=np.zeros(width),
            rates=np.zeros(n),
            bends=np.zeros(n),
            teeth=np.zeros(m),
            sample=np.zeros(n + 3 * m),
            first=np.zeros(n + 3 * m),
            kept=np.zeros(width),
        )

    @property
    def collected(self) -> Collected:
        """The memory of `collect_samples`, without the exchanges that still wait."""
        return self._collected

    @property
    def capacity(self) -> int:
        """The number of samples from which on every second one is dropped."""
        return self._capacity

    def extend(
        self,
        times: Vector,
        outputs: Vector,
        inputs: Vector,
        slopes: Vector | None = None,
        ends: Vector | None = None,
    ) -> None:
        """Add several exchanges.

        Parameters
        ----------
        times : ndarray, shape (n,), s
        outputs : ndarray, shape (n, outputs)
        inputs : ndarray, shape (n, inputs)
            Means over each exchange, in the units of the inputs.
        slopes : ndarray, shape (n, inputs), optional
            Slopes of the inputs, per s; by default all inputs were held.
        ends : ndarray, shape (n, inputs), optional
            Inputs with which the outputs were read; by default the ends of the lines.
        """
        slopes_of_rows = np.zeros_like(inputs) if slopes is None else slopes
        if ends is None:
            began = np.r_[self._reached, times[:-1]]
            ends = inputs + 0.5 * slopes_of_rows * (times - began)[:, None]
        self._reached = times[-1] if times.size else self._reached
        rows = np.hstack([times[:, None], outputs, inputs, slopes_of_rows, ends])
        self._waiting.append(rows)
        self._waiting_count += len(rows)
        if self._waiting_count >= EXCHANGES_TOGETHER:
            self._add_waiting()

    def _add_waiting(self) -> None:
        """Add the waiting exchanges together: a call for each would cost more than the addition."""
        if self._waiting:
            rows = np.concatenate(self._waiting)
            self._waiting, self._waiting_count = [], 0
            self._collected, _ = self._add(self._collected, rows)

    def samples(self) -> Samples:
        """All samples so far; further exchanges may be added afterwards."""
        self._add_waiting()
        no_rows = np.zeros((0, 0))
        ended, count = self._add(_copy(self._collected), no_rows, ends=True)
        width = ended.present.size
        table = ended.kept[: count * width].reshape(count, width)
        columns = np.split(table, np.cumsum([*self._widths.values()])[:-1], axis=1)
        by_name = dict(zip(self._widths, map(np.ascontiguousarray, columns), strict=True))
        return Samples(**{**by_name, "times": by_name["times"].ravel()})

    @property
    def is_thinned(self) -> bool:
        """Whether samples were dropped."""
        self._add_waiting()
        return int(self._collected.counts[STRIDE]) > 1

    def memory(self) -> dict[str, Any]:
        """Everything collected so far, for `put_back`; part of saved states, so its names stay."""
        self._add_waiting()
        return {
            "collected": tuple(array.copy() for array in self._collected),
            "since": self.since,
            "steps": self.steps,
            "means": tuple(self.lines),
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Continue from what `memory` has returned, in this run or in another one.

        Raises
        ------
        ValueError
            The counts in it do not fit its samples.
        """
        self.since, self.steps = memory["since"], memory["steps"]
        self.lines = InputLines(*memory["means"])
        self._collected = collected = _copy(memory["collected"])
        counts, width = collected.counts, collected.present.size
        is_complete = counts.size == COUNTS  # an earlier version stored fewer counts
        are_counts = is_complete and min(counts) >= 0 and counts[STRIDE] >= 1 and counts[STORED] >= 1
        if not are_counts or counts[STORED] * width > collected.kept.size:
            raise ValueError("the saved counts do not fit the saved samples: the state is damaged")
        self._waiting, self._waiting_count = [], 0
        self._reached = float(collected.clock[REACHED])

    def _add(self, collected: Collected, rows: Vector, *, ends: bool = False) -> tuple[Collected, int]:
        """Add exchanges to `collected`, and complete the last sample if the run `ends`.

        Returns the arrays, which are new ones where they had to grow, and the number of samples in them.
        """
        self._numbers_added += rows.size
        is_short = self._numbers_added < NUMBERS_IN_PYTHON
        collect = collect_samples if is_short else _compiled_collect_samples()
        collected = self._with_room(collected, len(rows))
        with np.errstate(all="ignore"):  # a value that is not a number is reported where it is passed on
            head = head_of(collected)
            return collected, int(collect(int(head.ctypes.data), rows.ravel(), int(ends)))

    def _with_room(self, collected: Collected, new_count: int) -> Collected:
        """The arrays with room for `new_count` more exchanges, up to the capacity."""
        counts, width = collected.counts, collected.present.size
        used = int(counts[STORED])
        needed = min(self._capacity, used + new_count + AT_THE_END)
        if collected.kept.size >= needed * width:
            return collected
        larger = np.zeros(min(self._capacity, max(needed, 2 * used)) * width)
        larger[: used * width] = collected.kept[: used * width]
        return collected._replace(kept=larger)


@cache
def _compiled_collect_samples() -> Callable[..., int]:
    """`collect_samples` as machine code."""
    return compile_function(collect_samples, SIGNATURE)


def sampled_inputs(
    feeding: Mapping[str, Sequence[Link]], interface: Mapping[tuple[str, str], int]
) -> list[SampledInput]:
    """The connected inputs that are fed by values of the interface.

    Parameters
    ----------
    feeding : mapping of str to sequence of Link
        The links into each participant, in the order of its connected inputs.
    interface : mapping of (participant, output) to int
        The place of each value of the interface.
    """
    return [
        SampledInput(name, place, interface[link.start], link.factor, link.offset, str(link))
        for name, into in feeding.items()
        for place, link in enumerate(into)
        if link.start in interface and link.factor != 0.0
    ]


def _copy(arrays: Iterable[Any]) -> Collected:
    """A copy of all arrays, which may come as a plain tuple from a saved state."""
    return Collected(*[array.copy() for array in arrays])
