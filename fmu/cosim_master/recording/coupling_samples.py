"""What a run shows of its coupling: outputs at the exchanges, and what the inputs were given instead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ParticipantDescription, compile_function, head_of
from cosim_master.coupling.connection import Link
from cosim_master.recording.collect_samples import (
    COUNTS,
    SAMPLES,
    SIGNATURE,
    STEPS_OF_ONE,
    STRIDE,
    Collected,
    collect_samples,
)

Port = tuple[str, str]
MOST_STATES = 32
"""Of a participant that are read although they are not recorded."""
MOST_SAMPLED = 120
"""Outputs and inputs of which samples are taken; beyond what is exchanged, so many more may be judged."""
CONSTANT = ("parameter", "calculatedParameter", "structuralParameter", "constant")


def judged_ports(
    descriptions: Mapping[str, ParticipantDescription],
    recorded: Iterable[Port],
    fed: Collection[Port],
    exchanged: Collection[Port],
    most: int,
) -> tuple[list[Port], list[str]]:
    """Recorded outputs and inner variables whose errors are estimated, and the paths of the others.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    recorded : iterable of (participant, variable)
    fed : collection of (participant, variable)
        Connected inputs: what they are given is the output that feeds them, which is judged.
    exchanged : collection of (participant, variable)
        Outputs that are judged anyway.
    most : int
        More have no bars.
    """
    judged, others = list[Port](), list[str]()
    for name, variable in recorded:
        kind = descriptions[name].variables[variable]
        if (name, variable) in fed or (name, variable) in exchanged or kind.causality in CONSTANT:
            continue
        if kind.type == "real" and kind.causality != "input" and len(judged) < most:
            judged.append((name, variable))
        elif kind.causality != "input":
            others.append(f"{name}.{variable}")
    return judged, others


def with_states(
    reads: Mapping[str, Sequence[str]],
    descriptions: Mapping[str, ParticipantDescription],
    links: Iterable[Link],
) -> dict[str, list[str]]:
    """What is read of each participant, and the states of those that inputs can disturb."""
    disturbed = {link.target for link in links}
    return {
        name: list(dict.fromkeys([*read, *_few_states(descriptions[name])]))
        if name in disturbed
        else list(read)
        for name, read in reads.items()
    }


def _few_states(description: ParticipantDescription) -> Sequence[str]:
    return description.states if len(description.states) <= MOST_STATES else ()


Vector = NDArray[np.float64]
ROWS = 1024
"""Added at once."""
VALUES = 1 << 19
"""Kept at most; beyond, every second sample is dropped (integrals lose nothing by that)."""
AT_THE_END = 4
"""Samples at most that are complete when a run ends."""
FEW = 1024
"""Values that are added in plain Python before compiled code is loaded."""

REMEMBERED = ("since", "steps", "means")


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
    since : float
        When the last sample ended, s.
    steps : dict of str to (float, float)
        For each participant since when and how far it has stepped since then, s.
    means : tuple of three lists of float
        Means, slopes and last values of the inputs since then.
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
        self.means: tuple[list[float], ...] = tuple([0.0] * len(self.inputs) for _ in range(3))
        self._added = 0
        self.start(0.0, [0.0] * size)

    def start(self, time: float, outputs: Sequence[float]) -> None:
        """The first exchange: outputs at the start (s)."""
        self.since = self._reached = time
        self._waiting, self._count = list[Vector](), 0
        n, m, b = self._size, len(self.inputs), len(self.bonds)
        self._parts = np.cumsum([1, n, m, m, b, m])
        width = int(self._parts[-1]) + m
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
    def begun(self) -> Collected:
        """What is known before the first exchange is added."""
        return self._collected

    @property
    def most(self) -> int:
        """So many samples are kept."""
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
            Their means, in the units of the inputs.
        slopes : ndarray, shape (n, inputs), optional
            Of the inputs, per s; all were held unless given.
        ends : ndarray, shape (n, inputs), optional
            With which outputs were read; their ends of these lines unless given.
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
        """Add what has come: one by one it would cost more to hand over than to add."""
        if self._waiting:
            rows, self._waiting, self._count = np.concatenate(self._waiting), [], 0
            self._collected, _ = self._add(self._collected, rows)

    def samples(self) -> Samples:
        """All samples until now; collecting may go on."""
        self._add_waiting()
        until_now = _copied(self._collected)
        until_now, count = self._add(until_now, np.zeros((0, 0)), ends=True)
        width = until_now.present.size
        table = until_now.kept[: count * width].reshape(count, width)
        columns = [np.ascontiguousarray(part) for part in np.split(table, self._parts, axis=1)]
        return Samples(columns[0].ravel(), *columns[1:])

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
            **{name: getattr(self, name) for name in REMEMBERED},
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Go on from what another run has collected."""
        for name in REMEMBERED:
            setattr(self, name, memory[name])
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
        """Add exchanges; what is known then, and how many samples are kept."""
        self._added += rows.size
        collect = collect_samples if self._added < FEW else _compiled()
        collected = self._with_room(collected, len(rows))
        with np.errstate(all="ignore"):  # what is not a number is reported where it is passed on
            head = head_of(collected)
            return collected, int(collect(int(head.ctypes.data), rows.ravel(), int(ends)))

    def _with_room(self, collected: Collected, more: int) -> Collected:
        """The same with room for so many more exchanges, up to all that may be kept."""
        counts, width = collected.counts, collected.present.size
        used = int(counts[SAMPLES]) // int(counts[STRIDE]) + 1
        wanted = min(self._room, used + more + AT_THE_END)
        if collected.kept.size >= wanted * width:
            return collected
        kept = np.zeros(min(self._room, max(wanted, 2 * used)) * width)
        kept[: used * width] = collected.kept[: used * width]
        return collected._replace(kept=kept)


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


def _copied(arrays: Iterable[Any]) -> Collected:
    """The same numbers in arrays of their own."""
    return Collected(*[array.copy() for array in arrays])
