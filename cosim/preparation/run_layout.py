"""The layout of a run: where its parts lie in its arrays, and the constant numbers among them."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.run_data.records.clock import Agenda, Clock
from cosim.run_data.records.plan import PlacesHeader, Plan
from cosim.run_data.run import Run
from cosim.run_data.run_parts import DIRECTORY
from cosim_compiler.record import width_of, words_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


class RunLayout:
    """The array `program` as it grows, and how long the other arrays have to be.

    `program` begins with the plan and the directory, which has the place and the length of each part by its
    name in `Run.PARTS`; the tables follow.

    Parameters
    ----------
    accuracy : float or None
        Of the State.

    Attributes
    ----------
    plan : Plan
        Written into `program` at the end.
    numbers : list of float
        The array of this name: `Options`, then what tables add.
    """

    def __init__(self, accuracy: float | None) -> None:
        self.plan = Plan()
        self.numbers = [math.nan if accuracy is None else accuracy, 0.0]
        self._program = array("q", bytes(8 * (DIRECTORY + 2 * len(Run.PARTS))))
        self._lengths = {
            "scratch": 0,
            "places": width_of(PlacesHeader),
            "times": width_of(Clock),
            "indices": width_of(Agenda),
            "reach": 0,
            "probe": 0,
        }

    @property
    def program_length(self) -> int:
        """The length of `program` so far."""
        return len(self._program)

    def extend_program(self, numbers: list[int]) -> None:
        """Write numbers that other tables point to behind what is in `program`."""
        self._program.extend(numbers)

    def add_table(self, part: str, rows: Any) -> None:
        """Write a part of `program` behind the others."""
        values = np.asarray(rows, dtype=np.int64)
        self.enter(part, len(self._program), len(values))
        self._program.frombytes(values.tobytes())

    def add_records(self, part: str, records: list[Any]) -> None:
        """Write a part of `program` that consists of records."""
        self.add_table(part, [words_of(record) for record in records])

    def reserve(self, part: str, array_name: str, count: int, record: Any = None) -> int:
        """Reserve room for so many numbers, or records, in another array; where it begins."""
        begin = self._lengths[array_name]
        self.enter(part, begin, count)
        self._lengths[array_name] += count if record is None else count * width_of(record)
        return begin

    def enter(self, part: str, begin: int, length: int) -> None:
        """Write into the directory where a part begins, and how long it is."""
        place = Run.PARTS[part]
        self._program[place : place + 2] = array("q", [begin, length])

    def length_of(self, part: str) -> int:
        """The length of a part that was entered before."""
        return self._program[Run.PARTS[part] + 1]

    def length_of_array(self, name: str) -> int:
        """The length that an array needs for all parts in it."""
        return self._lengths[name]

    def program(self) -> Integers:
        """`program`, with the plan."""
        self._program[: width_of(Plan)] = array("q", words_of(self.plan))
        return np.array(self._program, dtype=np.int64)
