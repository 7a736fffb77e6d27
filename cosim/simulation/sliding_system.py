"""A system as an integrator sees it while witnesses are held at their zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.compiled import native
from cosim.compiled.walker import WALK_SIGNATURE, walk
from cosim.integration.projection import DISPLACED, ESTIMATES
from cosim.simulation.hold import Hold
from cosim.simulation.sliding_field import PUSHED, SWITCHED, TABLE_AT, sliding_field
from cosim.simulation.witness import Witness
from cosim.system.state import State
from cosim.system.system import System


class SlidingSystem:
    """Everything of a system but its derivatives, to which the field of the held witnesses is added.

    Parameters
    ----------
    system : System
    witnesses : list of Witness
    holds : list of Hold
    """

    def __init__(self, system: System, witnesses: list[Witness], holds: list[Hold]) -> None:
        self._system, self.holds = system, holds
        first, last = system.derivative_range
        held, n, cache = len(holds), system.ny, system.new_cache().size
        self._cache_size = cache
        blocks = system.table[first:last]
        row_at = system.ints.size
        corrections = system.table[system.projection[ESTIMATES] : system.projection[DISPLACED]]
        corrections_at = row_at + TABLE_AT + blocks.size
        witness_at = corrections_at + corrections.size
        switch_at = witness_at + 3 * held
        numbers = [0.0] * held
        numbers += [x for hold in holds for x in (hold.data if hold.kind == PUSHED else [0.0] * n)]
        numbers += [0.0] * (held * n + held * held + 2 * held + 4 * n + cache)
        switches: list[int] = []
        for hold in holds:
            if hold.kind != SWITCHED:
                continue
            variables = np.array(hold.data).reshape(-1, 4)
            switches.append(len(variables))
            for place, offset, present, other in variables.tolist():
                switches += [int(place), int(offset), len(numbers)]
                numbers += [present, other]
        pushed = sum(hold.kind == PUSHED for hold in holds)
        row = [n, held, pushed, last - first, len(corrections)]
        row += [witness_at, switch_at, corrections_at, cache, cache]
        tables = [*blocks.reshape(-1), *corrections.reshape(-1)]
        places = []
        for hold in holds:
            places += [witnesses[hold.witness].offset, witnesses[hold.witness].rate, hold.kind]
        self.ints = np.array([*system.ints, *row, *tables, *places, *switches], dtype=np.int64)
        address = native.block_address(sliding_field)
        # All blocks stay at their places; those of an evaluation stand once more at the end, with ours.
        self.table = np.vstack([system.table, blocks, [[address, row_at, 1]]])
        self.derivative_range = (len(system.table), len(self.table))
        self._numbers = np.array(numbers)
        self._arrays: NDArray[np.float64] = np.concatenate([system.new_cache(), self._numbers])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def arrays(self, state: State) -> tuple[Any, Any, Any, Any, Any, Any]:
        """As `System.arrays`; the cache is followed by the numbers of the held witnesses."""
        y, p, d, k, h, c = self._system.arrays(state)
        if c.base is not self._arrays:
            self._arrays[: self._cache_size] = c
            state._arrays["c"] = self._arrays[: self._cache_size]
        return y, p, d, k, h, self._arrays

    def derivative_structure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As `System.derivative_structure`: what holds a witness may depend on every state."""
        n = self._system.ny
        return np.arange(0, n * n + 1, n, dtype=np.int64), np.tile(np.arange(n, dtype=np.int64), n)

    def realize(self, state: State) -> None:
        """The derivatives at the start of a step: a State by itself knows only those without the holds.

        Raises
        ------
        SimulationError
            A component cannot be evaluated.
        """
        realize = native.compile_function(walk, WALK_SIGNATURE)
        with np.errstate(all="ignore"):
            failed = realize(self.table, self.ints, *self.derivative_range, state.time, *self.arrays(state))
        if failed:
            block = failed - 1 - self.derivative_range[0] + self._system.derivative_range[0]
            raise self._system.failure(state, min(block, self._system.derivative_range[1] - 1))

    @property
    def multipliers(self) -> NDArray[np.float64]:
        """How strongly each witness is held: pushes, or parts of the switched derivatives (0 … 1)."""
        start = self._cache_size
        return self._arrays[start : start + len(self.holds)].copy()
