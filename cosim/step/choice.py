"""What is recorded, as the table that `recording` goes by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.step.recording import CHOICE_HEADER, INNER, OUTER, VALUES
from cosim.system.system import System


def choice_of(system: System, paths: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The table for these variables, and how many numbers they have."""
    slots = [system.signal(path).slot for path in paths]
    values = [("ypdkc".index(s.array), s.offset + i) for s in slots for i in range(s.size)]
    inner = system.needed_blocks({offset for array, offset in values if array == "ypdkc".index("c")})
    last = system.block_range(Stage.TIME, Stage.ACCELERATION)[1]
    numbers = [0] * CHOICE_HEADER
    for place, count, listed in (
        (VALUES, len(values), [number for value in values for number in value]),
        (INNER, len(inner), inner),
        (OUTER, len([i for i in inner if i >= last]), [i for i in inner if i >= last]),
    ):
        numbers[place : place + 2] = [count, len(numbers)]
        numbers += listed
    return np.array(numbers, dtype=np.int64), len(values)
