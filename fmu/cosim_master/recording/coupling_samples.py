"""Samples of a coupling: the outputs at the exchanges, and the integrals of the inputs between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function, head_of
from cosim_master.coupling.link import Link
from cosim_master.recording.collect_samples import (
    COUNTS,
    SAMPLES,
    SIGNATURE,
    STEPS_OF_ONE,
    STRIDE,
    Collected,
    collect_samples,
)

Vector = NDArray[np.float64]
ROWS = 1024
"""Exchanges that wait until they are added together."""
VALUES = 1 << 19
"""Numbers of all samples; beyond, every second sample is dropped (the integrals lose nothing by that)."""
AT_THE_END = 4
"""Samples at most that the end of a run completes."""
FEW = 1024
"""Numbers that are added in plain Python before compiled code is loaded."""


class SampledInput(NamedTuple):
    """A real input on a connection.

    Attributes
    ----------
    target : str
        The participant.
    place : int
        Which of the connected inputs of this participant it is.
    source : int
        Which value of the interface feeds it.
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
        Integrals of the defects' first moments about the middles of exchanges, over their lengths.
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
    """The lines that the inputs followed since the last sample, one number for each input.

    Attributes
    ----------
    means, slopes, ends : list of float
        Means, slopes (per s) and last values.
    """

    means: list[float]
    slopes: list[float]
    ends: list[float]


class CouplingSamples:
    """Collects a sample for each exchange; costs no call of a participant.

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
        Number of values of the interface.
    group : int
        Communication steps in one sample: a multiple of the longer steps of slow participants.
    bonds : sequence of (int, int)
        Places of the two inputs of each power bond.
    jumping : sequence of int
        Places of discrete outputs, which are constant between exchanges.

    Attributes
    ----------
    since : float
        When the last sample ended, s.
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
        self.lines = InputLines(*([0.0] * len(self.inputs) for _ in InputLines._fields))
        self._added = 0
        self.start(0.0, [0.0] * size)

    def start(self, time: float, outputs: Sequence[float]) -> None:
        """Begin at a time (s) with these outputs."""
        self.since = self._reached = time
        self._waiting, self._count = list[Vector](), 0
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
        most = max(2 * ROWS, VALUES // (1 + n + 2 * m + b))
        self._room = 2 * (most // 2) + 2
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
            kept=np.zeros(width),
        )
        self._collected.counts[[STEPS_OF_ONE, STRIDE]] = self._group, 1
        self._collected.present[: 1 + n] = [time, *outputs]
        self._collected.kept[:width] = self._collected.present

    @property
    def collected(self) -> Collected:
        """The arrays of all exchanges that were added; some may still wait."""
        return self._collected

    @property
    def capacity(self) -> int:
        """The number of samples from which on every second one is dropped."""
        return self._room

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
        self._count += len(rows)
        if self._count >= ROWS:
            self._add_waiting()

    def _add_waiting(self) -> None:
        """Add the waiting exchanges together: passing them on one by one would cost more than adding them."""
        if self._waiting:
            rows, self._waiting, self._count = np.concatenate(self._waiting), [], 0
            self._collected, _ = self._add(self._collected, rows)

    def samples(self) -> Samples:
        """All samples so far; further exchanges may be added afterwards."""
        self._add_waiting()
        until_now = _copied(self._collected)
        until_now, count = self._add(until_now, np.zeros((0, 0)), ends=True)
        width = until_now.present.size
        table = until_now.kept[: count * width].reshape(count, width)
        columns = np.split(table, np.cumsum([*self._widths.values()])[:-1], axis=1)
        by_name = dict(zip(self._widths, map(np.ascontiguousarray, columns), strict=True))
        return Samples(**{**by_name, "times": by_name["times"].ravel()})

    @property
    def is_thinned(self) -> bool:
        """Whether samples were dropped."""
        self._add_waiting()
        return int(self._collected.counts[STRIDE]) > 1

    def memory(self) -> dict[str, Any]:
        """Everything collected so far, for `put_back`."""
        self._add_waiting()
        return {
            "collected": tuple(array.copy() for array in self._collected),
            "since": self.since,
            "steps": self.steps,
            "means": tuple(self.lines),
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Continue with the samples of another run."""
        self.since, self.steps = memory["since"], memory["steps"]
        self.lines = InputLines(*memory["means"])
        self._collected = collected = _copied(memory["collected"])
        counts, width = collected.counts, collected.present.size
        if (
            min(counts) < 0
            or counts[STRIDE] < 1
            or counts[SAMPLES] // counts[STRIDE] * width > collected.kept.size
        ):
            raise ValueError("counts of samples that are not there")
        self._waiting, self._count = [], 0
        self._reached = float(self._collected.clock[0])

    def _add(self, collected: Collected, rows: Vector, *, ends: bool = False) -> tuple[Collected, int]:
        """Add exchanges. Returns the arrays, which may be larger ones, and the number of samples in them."""
        self._added += rows.size
        collect = collect_samples if self._added < FEW else _compiled()
        collected = self._with_room(collected, len(rows))
        with np.errstate(all="ignore"):  # a value that is not a number is reported where it is passed on
            head = head_of(collected)
            return collected, int(collect(int(head.ctypes.data), rows.ravel(), int(ends)))

    def _with_room(self, collected: Collected, more: int) -> Collected:
        """The arrays with room for `more` exchanges, but for no more samples than the capacity."""
        counts, width = collected.counts, collected.present.size
        used = int(counts[SAMPLES]) // int(counts[STRIDE]) + 1
        needed = min(self._room, used + more + AT_THE_END)
        if collected.kept.size >= needed * width:
            return collected
        larger = np.zeros(min(self._room, max(needed, 2 * used)) * width)
        larger[: used * width] = collected.kept[: used * width]
        return collected._replace(kept=larger)


@cache
def _compiled() -> Callable[..., int]:
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


def _copied(arrays: Iterable[Any]) -> Collected:
    """A copy of all arrays."""
    return Collected(*[array.copy() for array in arrays])
