"""The memory in which a run stores held witnesses, and the rows that the integrator then walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.preparation.held_system import HeldSystem
from cosim.preparation.method import Method
from cosim.preparation.witness_entry import WitnessEntry
from cosim.preparation.witness_rates import rates_of_block
from cosim.step.sliding_field import BLOCK_WIDTH, HELD_WIDTH, SIDES, SWITCHED_WIDTH, SlidingRow
from cosim.system.blocks import Slot
from cosim.system.system import System
from cosim_compiler.record import width_of, words_of

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class HeldTables:
    """Rooms for as many holds as there are witnesses; `cosim.step.realize` fills them.

    Parameters
    ----------
    system : System
    integrator : Method
    witnesses : list of WitnessEntry
    switchable : int
        How many variables the handlers of one witness may switch at most.
    pushed : frozenset of int
        The witnesses whose handlers may change states.

    Attributes
    ----------
    method : Method
        The same method, prepared for a system in which witnesses are held.
    row : int
        Where in `ints` the row of `sliding_field` starts.
    ints, table : ndarray
        Those of the system, with what follows them.
    copies : list of (str, int, int)
        Where in "held_ints" and "held_table" (flat) the address of a row of the system's table stands again.
    rates : list of (int, function)
        Where in "held_ints" the address of a function stands that computes the rate of a witness.
    """

    system: System
    integrator: Method
    witnesses: list[WitnessEntry]
    switchable: int
    pushed: frozenset[int]
    method: Method = field(init=False)
    row: int = field(init=False)
    ints: Integers = field(init=False)
    table: Integers = field(init=False)
    copies: list[tuple[str, int, int]] = field(init=False)
    rates: list[tuple[int, Any]] = field(init=False)

    def __post_init__(self) -> None:
        system, count = self.system, len(self.witnesses)
        derivatives = list(range(*system.derivative_range))
        corrections = range(system.corrections.estimates, system.corrections.displaced)
        head = self._head(len(derivatives), len(corrections))
        listed = [*derivatives, *corrections]
        computed = ((i, self._rate_of(self.witnesses[i])) for i in sorted(self.pushed))
        rates = {i: rate for i, rate in computed if rate is not None}
        row = system.ints.size
        ints = [
            *system.ints,
            *words_of(head),
            *system.table[listed].reshape(-1),
            *self._rows_of_rates(rates).reshape(-1),
            *[0] * (HELD_WIDTH * count + count * (1 + SWITCHED_WIDTH * self.switchable)),
        ]
        at_blocks, at_table = row + width_of(SlidingRow), 3 * len(system.table)
        fields: dict[str, Any] = {
            "row": row,
            "ints": np.array(ints, dtype=np.int64),
            "table": np.vstack([system.table, system.table[derivatives], [[0, row, 1]]]),
            "copies": [
                *(("held_ints", at_blocks + BLOCK_WIDTH * i, block) for i, block in enumerate(listed)),
                *(("held_table", at_table + 3 * i, block) for i, block in enumerate(derivatives)),
            ],
            "rates": [(head.rates_at + BLOCK_WIDTH * i, rate) for i, rate in rates.items()],
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        held = HeldSystem(system, self.table, self.ints, self.sides)
        object.__setattr__(self, "method", self.integrator.while_held(held))

    def _head(self, blocks: int, corrections: int) -> SlidingRow:
        """The row of `sliding_field`: what follows it in `ints`, and where each list begins."""
        system, count = self.system, len(self.witnesses)
        corrections_at = system.ints.size + width_of(SlidingRow) + BLOCK_WIDTH * blocks
        rates_at = corrections_at + BLOCK_WIDTH * corrections
        witnesses_at = rates_at + BLOCK_WIDTH * count
        return SlidingRow(
            states=system.ny,
            witnesses=count,
            blocks=blocks,
            corrections=corrections,
            witnesses_at=witnesses_at,
            switches_at=witnesses_at + HELD_WIDTH * count,
            corrections_at=corrections_at,
            rates_at=rates_at,
            cache_size=system.new_cache().size,
        )

    def _rows_of_rates(self, rates: Mapping[int, Any]) -> Integers:
        """A `ListedBlock` for each witness: the rows of the block whose tangent is its rate, if any."""
        first, _ = self.system.derivative_range
        rows = np.zeros((len(self.witnesses), BLOCK_WIDTH), dtype=np.int64)
        for i in rates:
            rows[i, 1:] = self.system.table[first + self.witnesses[i].own_block, 1:]
        return rows

    def _rate_of(self, witness: WitnessEntry) -> Any:
        """A function that computes the rate of a witness; None where differences have to do."""
        declared = witness.rate >= 0 or witness.is_condition
        if declared or witness.is_straight or witness.own_block < 0 or witness.kernel.is_python:
            return None
        first, _ = self.system.derivative_range
        return rates_of_block(self.system.blocks[first + witness.own_block].function)

    @property
    def numbers(self) -> int:
        """The count of numbers behind the cache."""
        n, count = self.system.ny, len(self.witnesses)
        vectors = 2 * count * n + 2 * count * count + 5 * count + 4 * n
        of_field = vectors + 2 * self.system.new_cache().size + 2 * count * self.switchable
        return of_field + SIDES * count

    @property
    def sides(self) -> Slot:
        """Where in the cache, at its end, `sliding_field` stores how far holds are from their ends."""
        size = SIDES * len(self.witnesses)
        return Slot("c", self.system.new_cache().size + self.numbers - size, size)
