"""A witness that is held at its zero: what of it lies in the State."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.event_log import EventRecord
from cosim.simulation.sliding_field import PUSHED, SWITCHED
from cosim.system.system import System

SWITCHABLE = "dkp"


@dataclass(frozen=True)
class Hold:
    """How one witness is held.

    Attributes
    ----------
    witness : int
        Its index.
    kind : int
        `PUSHED`: its handlers reset the state; `SWITCHED`: they switched discrete variables.
    side : float
        Where it came from: 1 from above, -1 from below.
    data : tuple of float
        Pushed: the direction, ny numbers. Switched: for each variable its array (place in `SWITCHABLE`),
        its offset, its present value and the other one.
    """

    witness: int
    kind: int
    side: float
    data: tuple[float, ...]


def pack_holds(holds: list[Hold]) -> NDArray[np.float64]:
    """The numbers that stand for the holds in the agenda of a State."""
    numbers: list[float] = []
    for hold in holds:
        numbers += [hold.witness, hold.kind, hold.side, len(hold.data), *hold.data]
    return np.array(numbers, dtype=np.float64)


def unpack_holds(numbers: NDArray[np.float64]) -> list[Hold]:
    """The holds that `pack_holds` wrote down."""
    found, at = [], 0
    while at < numbers.size:
        witness, kind, side, size = numbers[at : at + 4].tolist()
        data = tuple(numbers[at + 4 : at + 4 + int(size)].tolist())
        found.append(Hold(int(witness), int(kind), side, data))
        at += 4 + int(size)
    return found


def hold_of(
    system: System, witness: int, side: float, sign: float, records: list[EventRecord]
) -> Hold | None:
    """How a witness can be held whose handlers did this; None when they did nothing to hold it by."""
    push = sum((r.state_after - r.state_before for r in records if r.state_after.size), np.zeros(system.ny))
    largest = float(np.max(np.abs(push), initial=0.0))
    if largest > 0.0:
        return Hold(witness, PUSHED, side, tuple((sign * push / largest).tolist()))
    data: list[float] = []
    for record in records:
        for path in record.changed:
            slot = system.signal(path).slot
            before, after = np.ravel(record.before[path]), np.ravel(record.after[path])
            for i in np.flatnonzero(before != after).tolist() if slot.array in "dkp" else ():
                data += [SWITCHABLE.index(slot.array), slot.offset + i, float(after[i]), float(before[i])]
    return Hold(witness, SWITCHED, side, tuple(data)) if data else None


def is_switched_over(hold: Hold, arrays: dict[str, NDArray[np.float64]]) -> bool:
    """Whether somebody has given other values to the variables that a held witness switches."""
    if hold.kind == PUSHED:
        return False
    values = np.array(hold.data).reshape(-1, 4)
    return any(arrays[SWITCHABLE[int(a)]][int(i)] != present for a, i, present, _ in values)
