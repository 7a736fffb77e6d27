"""A simulation that compiled code goes on with, by functions of numbers alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim import Simulator, SimulatorStatus, Stage
from cosim.kit import ARRAY_WIDTH, ARRAYS, LENGTH, c_address, records
from cosim_master.model_exchange import system_calls_by_address as by_address

HISTORY = [name for name, _, _ in ARRAYS].index("h")


class CalledSimulator:
    """Functions as C calls them that advance the State of a `Simulator`, where it stands.

    Parameters
    ----------
    simulator : Simulator
        Initialized.

    Attributes
    ----------
    set, set_slopes, step, get : int
        Addresses of ``set(handle, inputs, count, values, size)``, ``set_slopes(handle, inputs, count, orders,
        slopes)``, ``step(handle, start, length, …)``, at whose end all inputs are held, and ``get(handle,
        outputs, count, values, size)``. They answer 0, or 3 where Python has to go on: `go_on`.
    save, restore : int
        Addresses of ``save(handle, state, …)``, which copies the run to the address that lies at `state`, and
        ``restore(handle, saved, …)`` from that address.
    nothing : int
        Of a function with the same arguments that does nothing.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.step = c_address(by_address.called_step, by_address.STEP_CALL)
        self.set, self.set_slopes, self.get, self.nothing, self.save, self.restore = (
            c_address(function, by_address.ARRAY_CALL)
            for function in (
                *(by_address.called_set, by_address.called_slopes, by_address.called_get),
                *(by_address.called_nothing, by_address.called_save, by_address.called_restore),
            )
        )
        self._lines = np.stack(simulator.system.input_lines, axis=1).astype(np.int64)
        self.bind(simulator)

    @property
    def state(self) -> int:
        """The address at which that of a saved state lies; 0 where histories may grow, which need Python."""
        if self._head[ARRAY_WIDTH * HISTORY + LENGTH] > 1:
            return 0
        self._saved = np.zeros(self.size, dtype=np.int64)
        self._saved_at = np.array([self._saved.ctypes.data], dtype=np.int64)
        return int(self._saved_at.ctypes.data)

    @property
    def size(self) -> int:
        """Words of all arrays that change in a run."""
        return sum(int(self._head[ARRAY_WIDTH * i + LENGTH]) for i in by_address.CHANGING)

    @property
    def handle(self) -> int:
        """What the functions take first."""
        return int(self._head.ctypes.data)

    @property
    def is_bound(self) -> bool:
        """Whether the functions have the State; else it is Python's."""
        return bool(self._head[by_address.BOUND])

    @property
    def answer(self) -> int:
        """What the Step has answered last."""
        return int(self._head[by_address.ANSWER])

    def bind(self, simulator: Simulator) -> None:
        """From here on the functions work on the State of this simulator, of the same system."""
        self.simulator = simulator
        step, state = simulator.compiled_step, simulator.state
        step.stage_in(state)
        self._head = step.head
        self._head[by_address.BOUND] = 1
        self._head[by_address.LINES], self._head[by_address.LINES_AT] = (
            len(self._lines),
            self._lines.ctypes.data,
        )

    def release(self) -> None:
        """Python is going to read or write the State: what the Step left is told to it."""
        if self.is_bound:
            self._head[by_address.BOUND] = 0
            self.simulator.compiled_step.stage_out(self.simulator.state)

    def go_on(self, boundary: float, within: float) -> SimulatorStatus:
        """Where `step` has answered 3: go on from what the Step has answered; as `Simulator.advance_to`."""
        return self.simulator.resume(self.answer, boundary, within)

    def inputs(self, paths: Sequence[str | None]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What `set` takes as `inputs`, and the values that were written last (NaN: none).

        None stands for an input that Python writes where it has changed.
        """
        system = self.simulator.system
        known = np.full(len(paths), np.nan)
        rows = [int(known.ctypes.data)]
        for path in paths:
            if path is None:
                rows += [-1] * by_address.INPUT_WIDTH
                continue
            slot = system.written_slot(path)
            low = records.NOTHING if system.stage_invalidated(slot) <= Stage.INSTANCE else records.INSTANCE
            rows += [slot.offset, *system.course_offsets(path), low]
        return np.array(rows, dtype=np.int64), known

    def outputs(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """What `get` takes as `outputs`."""
        system = self.simulator.system
        slots = [system.signal(path).slot for path in paths]
        stage = max((system.stage_of(slot) for slot in slots), default=Stage.EMPTY)
        rows = [records.REPORT if stage > Stage.ACCELERATION else records.MOTION]
        for slot in slots:
            rows += ["ypdc".index(slot.array), slot.offset]
        return np.array(rows, dtype=np.int64)
