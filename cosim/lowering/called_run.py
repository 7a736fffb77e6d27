"""A simulation that compiled code goes on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.compiled.native import c_address
from cosim.contracts.compiled_integrator import COUNTS, CompiledIntegrator
from cosim.integration.projection import END, NORMALIZE
from cosim.lowering import called, layout
from cosim.lowering.arrays import ARRAYS
from cosim.lowering.program import Program
from cosim.simulation.simulator import Simulator
from cosim.stage import Stage

SHARED = "ypdkhc"


class CalledRun:
    """The run of a Simulator, for callers in compiled code: three functions as C calls them.

    What they do is what the Simulator does, to the last bit, as long as nothing out of the ordinary happens:
    where a handler runs, a step fails or a history is full they answer `called.NOT_DONE`, with the state just
    before; then the Simulator goes on from there (`give_back`, and `take_over` when it is done). The first
    `take_over` begins it.

    Parameters
    ----------
    simulator : Simulator
        Initialized.

    Attributes
    ----------
    handle : int
        What the functions take first.
    set, step, get : int
        Addresses of ``set(handle, inputs, count, values, size)``, ``step(handle, start, length, …)`` and
        ``get(handle, outputs, count, values, size)``.

    Raises
    ------
    ModelError
        What cannot run without Python, and why.
    """

    def __init__(self, simulator: Simulator) -> None:
        program = Program(simulator.system, simulator.integrator, None, simulator.state, "stop")
        program.require()
        self.program, self._simulator = program, simulator
        self._arrays = program.instance()
        self._agenda = simulator._stepping.agenda
        kept = sum(self._arrays[name].size for name in ("y", "p", "d", "memory", "clock"))
        self._kept = np.zeros(max(1, kept))
        self._kept_k = np.zeros(self._arrays["k"].size + self._arrays["agenda"].size, dtype=np.int64)
        self._head = np.zeros(called.HEAD, dtype=np.int64)
        self._head[called.SMOOTH] = self._is_smooth()
        self._head[called.KEPT : called.HEAD] = (
            *(self._kept.ctypes.data, self._kept.size),
            *(self._kept_k.ctypes.data, self._kept_k.size),
        )
        self.handle = int(self._head.ctypes.data)
        self.set, self.step, self.get = (
            c_address(called.called_set, called.ARRAY_CALL),
            c_address(called.called_step, called.STEP_CALL),
            c_address(called.called_get, called.ARRAY_CALL),
        )

    @property
    def is_ahead(self) -> bool:
        """Whether the compiled functions go on; else the Simulator has the present state."""
        return bool(self._head[called.AHEAD])

    def inputs(self, paths: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What `set` takes as `inputs`, and the values that were written last (NaN: none)."""
        system = self.program.system
        known = np.full(len(paths), np.nan)
        rows = [int(known.ctypes.data)]
        for path in paths:
            slot = system.written_slot(path)
            slope = system._course_slots(path, system.signal(path))[0]
            low = layout.NOTHING if system.stage_invalidated(slot) <= Stage.INSTANCE else layout.INSTANCE
            rows += [slot.offset, slope.offset, low]
        return np.array(rows, dtype=np.int64), known

    def outputs(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """What `get` takes as `outputs`."""
        system = self.program.system
        slots = [system.signal(path).slot for path in paths]
        stage = max((system.stage_of(slot) for slot in slots), default=Stage.EMPTY)
        rows = [layout.REPORT if stage > Stage.ACCELERATION else layout.MOTION]
        for slot in slots:
            rows += ["ypdc".index(slot.array), slot.offset]
        return np.array(rows, dtype=np.int64)

    def take_over(self, simulator: Simulator | None = None) -> None:
        """From here on the functions have the present state; not while a witness is held.

        Parameters
        ----------
        simulator : Simulator, optional
            One that has taken the place of the former, for the same system and integrator.
        """
        self._simulator = simulator or self._simulator
        self._agenda = self._simulator._stepping.agenda
        state, arrays, agenda = self._simulator.state, self._arrays, self._agenda
        self._head[called.AHEAD] = 0
        if agenda.holds(state).size or state.integrator_memory.size > arrays["memory"].size:
            return
        arrays.update((name, state._arrays[name]) for name in SHARED)
        arrays["memory"][: state.integrator_memory.size] = state.integrator_memory
        count, clock = len(agenda.entries), arrays["clock"]
        arrays["agenda"][: layout.FIRST_ENTRY + count] = state.agenda[: layout.FIRST_ENTRY + count]
        numbers = clock[layout.CLOCK_HEADER :][: layout.ENTRY_NUMBERS * count]
        numbers = numbers.reshape(count, layout.ENTRY_NUMBERS)
        numbers[:] = np.nan
        numbers[:, layout.SERVED] = -np.inf
        for entry in agenda.scheduled:
            if entry.handler.timer:
                numbers[entry.index - layout.FIRST_ENTRY, layout.SERVED] = agenda._served(state, entry)
        following = [entry.index - layout.FIRST_ENTRY for entry in agenda.following]
        numbers[following, layout.GRID_PERIOD : layout.GRID_OFFSET + 1] = agenda.grids(state)
        self._witnesses[:] = agenda.memory(state).ravel()
        clock[layout.TIME], clock[layout.JUMPED] = state.time, state.jumped
        arrays["places"][layout.STAGE] = layout.NOTHING
        self._head[: called.AHEAD] = [
            number for name, _, _ in ARRAYS for number in (arrays[name].ctypes.data, arrays[name].shape[0])
        ]
        self._head[called.AHEAD] = 1

    def give_back(self) -> None:
        """From here on the Simulator has the present state; nothing happens when it has it."""
        if not self.is_ahead:
            return
        self._head[called.AHEAD] = 0
        state, arrays, agenda = self._simulator.state, self._arrays, self._agenda
        clock = arrays["clock"]
        state._time, state.jumped = float(clock[layout.TIME]), bool(clock[layout.JUMPED])
        state.invalidate(Stage.INSTANCE, "compiled steps")
        state.integrator_memory[:] = arrays["memory"][: state.integrator_memory.size]
        count = len(agenda.entries)
        state.agenda[: layout.FIRST_ENTRY + count] = arrays["agenda"][: layout.FIRST_ENTRY + count]
        numbers = clock[layout.CLOCK_HEADER :][: layout.ENTRY_NUMBERS * count]
        numbers = numbers.reshape(count, layout.ENTRY_NUMBERS)
        for entry in agenda.scheduled:
            if entry.handler.timer:
                served = numbers[entry.index - layout.FIRST_ENTRY, layout.SERVED]
                agenda._set_served(state, entry, float(served))
        following = [entry.index - layout.FIRST_ENTRY for entry in agenda.following]
        agenda.grids(state)[:] = numbers[following, layout.GRID_PERIOD : layout.GRID_OFFSET + 1]
        agenda.memory(state)[:] = self._witnesses.reshape(agenda.memory(state).shape)
        agenda.stamp(state)
        integrator: Any = self._simulator.integrator
        if isinstance(integrator, CompiledIntegrator):
            integrator._counts += arrays["work"][COUNTS]
            arrays["work"][COUNTS] = 0.0

    def _is_smooth(self) -> bool:
        """Whether a step is nothing but integration."""
        system, program, slots = self.program.system, self._arrays["program"], self._arrays["slots"]
        counts = (layout.IN_STEPS, layout.HAS_SCHEDULE, layout.WITNESSES, layout.KINKS, layout.BREAKS)
        free = not program[list(counts)].any() and slots[NORMALIZE] == slots[END]
        return bool(free and system.ny > 0 and not system.has_updates)

    @property
    def _witnesses(self) -> NDArray[np.float64]:
        """The memory of the witnesses in `clock`."""
        at = int(self._arrays["program"][layout.WITNESS_MEMORY])
        size = self._agenda.memory(self._simulator.state).size
        found: NDArray[np.float64] = self._arrays["clock"][at : at + size]
        return found
