"""A system of one block, so that integrators are tested against closed forms and nothing else."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from cosim.contracts.method_layout import Corrections
from cosim.system.block_address import block_address
from cosim.walker import WALK_SIGNATURE, walk
from cosim_compiler.native import compile_function, is_plain


class BlockState:
    """Time and arrays, as an integrator sees a State."""

    def __init__(self, time: float, y: Any, parameters: Any) -> None:
        self.time = float(time)
        self.y = np.array(y, dtype=float)
        self.p = np.array(parameters, dtype=float)
        self.c = np.zeros(self.y.size + 1)
        self.integrator_memory = np.zeros(0)

    def arrive_at(self, time: float) -> None:
        self.time = time

    def copy(self) -> BlockState:
        """Another State with the same variables (and no cache)."""
        copied = BlockState(self.time, self.y, self.p)
        copied.integrator_memory = self.integrator_memory.copy()
        return copied


class BlockSystem:
    """y' = f(t, y, p), f being one block that writes c[0:ny]; c[ny] counts its calls."""

    def __init__(self, block: FunctionType, ny: int) -> None:
        self.ny = ny
        self.table = np.array([[block_address(block), 0, 1]], dtype=np.int64)
        self.ints = np.zeros(1, dtype=np.int64)
        self.derivative_range = self.inner_range = (0, 1)
        self.has_updates = False
        self.nq = self.nu = 0
        self.nominal_sizes = np.zeros(ny)
        self.corrections = Corrections()
        self.variables: dict[str, Any] = {}
        self.named: dict[str, list[Any]] = {}  # slots
        self._empty, self._no_ints = np.zeros(1), np.zeros(1, dtype=np.int64)

    def slots_named(self, name: str) -> list[Any]:
        """The slots of all quantities of this name."""
        return self.named.get(name, [])

    def derivative_structure(self) -> tuple[Any, Any]:
        """Every derivative depends on every state."""
        every = np.arange(self.ny, dtype=np.int64)
        return np.append(every, self.ny) * self.ny, np.tile(every, self.ny)

    def arrays(self, state: BlockState) -> tuple[Any, ...]:
        return state.y, state.p, self._empty, self._no_ints, self._empty, state.c

    def realize(self, state: BlockState) -> None:
        """Walk to Acceleration."""
        first, last = self.derivative_range
        with np.errstate(all="ignore" if is_plain() else "warn"):
            status = compile_function(walk, WALK_SIGNATURE)(
                self.table, self.ints, first, last, state.time, *self.arrays(state)
            )
        assert status == 0

    def state(self, y: Any, time: float = 0.0, parameters: Any = (0.0,)) -> BlockState:
        """A State realized to Acceleration."""
        state = BlockState(time, y, parameters)
        self.realize(state)
        state.c[self.ny] = 0.0
        return state


def run(
    integrator: Any, system: BlockSystem, state: BlockState, until: float, limit: float = np.inf
) -> list[float]:
    """Step until a time; the times that were reached."""
    times = []
    while state.time < until:
        code = integrator.step(system, state, until, limit)
        assert code == 0, (code, state.time)
        times.append(state.time)
    return times
