"""Simulations that compiled code continues: of systems, and of Model Exchange FMUs."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import Simulator, SimulatorStatus, Stage
from cosim.kit import ARRAY_WIDTH, ARRAYS, LENGTH, STEPPED, c_address, evaluation
from cosim_fmi.variables.variable_access import Access
from cosim_fmu.abilities import NativeCalls
from cosim_master.model_exchange import model_exchange_calls as calls
from cosim_master.model_exchange import system_calls_by_address as by_address
from cosim_master.model_exchange.model_exchange_solver import ModelExchangeSolver

HISTORY = [name for name, _, _ in ARRAYS].index("h")


class CalledSimulator:
    """Functions for C that advance the State of a `Simulator` in place.

    Parameters
    ----------
    simulator : Simulator
        Initialized.

    Attributes
    ----------
    set, set_slopes, step, get : int
        Addresses of ``set(handle, inputs, count, values, size)``, ``set_slopes(handle, inputs, count, orders,
        slopes)``, ``step(handle, start, length, …)``, at whose end all inputs are held, and ``get(handle,
        outputs, count, values, size)``. They return 0, or 3 if Python has to continue with `resume`.
    save, restore : int
        Addresses of ``save(handle, state, …)``, which copies the run to the address that is stored at
        `state`, and ``restore(handle, saved, …)``, which copies it back from the address `saved`.
    nothing : int
        The address of a function with the same arguments that does nothing.
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
        """The place of the address of a saved state; 0 if histories may grow, which only Python can save."""
        if self._head[ARRAY_WIDTH * HISTORY + LENGTH] > 1:
            return 0
        self._saved = np.zeros(self.size, dtype=np.int64)
        self._saved_at = np.array([self._saved.ctypes.data], dtype=np.int64)
        return int(self._saved_at.ctypes.data)

    @property
    def size(self) -> int:
        """The number of words of all arrays that change in a run."""
        return sum(int(self._head[ARRAY_WIDTH * i + LENGTH]) for i in by_address.CHANGING)

    @property
    def handle(self) -> int:
        """The first argument of the functions."""
        return int(self._head.ctypes.data)

    @property
    def is_bound(self) -> bool:
        """Whether the functions use the State; otherwise Python does."""
        return bool(self._head[by_address.BOUND])

    @property
    def answer(self) -> int:
        """The last return value of the Step."""
        return int(self._head[by_address.ANSWER])

    def bind(self, simulator: Simulator) -> None:
        """Let the functions work on the State of this simulator, of the same system."""
        self.simulator = simulator
        step, state = simulator.compiled_step, simulator.state
        step.stage_in(state)
        self._head = step.head
        self._head[by_address.BOUND] = 1
        self._head[by_address.LINES], self._head[by_address.LINES_AT] = (
            len(self._lines),
            self._lines.ctypes.data,
        )

    def unbind(self) -> None:
        """Write the results of the Step to the State, since Python is going to use it."""
        if self.is_bound:
            self._head[by_address.BOUND] = 0
            self.simulator.compiled_step.stage_out(self.simulator.state)

    def resume(self, boundary: float, within: float) -> SimulatorStatus:
        """Continue after `step` has returned 3, as `Simulator.advance_to` does."""
        return self.simulator.resume(self.answer, boundary, within)

    def inputs(self, paths: Sequence[str | None]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The argument `inputs` of `set`, and the values that were written last, NaN before the first.

        The path of an input that Python writes when it has changed is None.
        """
        system = self.simulator.system
        last_values = np.full(len(paths), np.nan)
        rows = [int(last_values.ctypes.data)]
        for path in paths:
            if path is None:
                rows += [-1] * by_address.INPUT_WIDTH
                continue
            slot = system.written_slot(path)
            invalidates_instance = system.stage_invalidated(slot) <= Stage.INSTANCE
            stage_left = evaluation.NOTHING if invalidates_instance else evaluation.INSTANCE
            rows += [slot.offset, *system.course_offsets(path), stage_left]
        return np.array(rows, dtype=np.int64), last_values

    def outputs(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """The argument `outputs` of `get`."""
        system = self.simulator.system
        slots = [system.signal(path).slot for path in paths]
        stage = max((system.stage_of(slot) for slot in slots), default=Stage.EMPTY)
        rows = [evaluation.REPORT if stage > Stage.ACCELERATION else evaluation.MOTION]
        for slot in slots:
            rows += ["ypdc".index(slot.array), slot.offset]
        return np.array(rows, dtype=np.int64)


Values = dict[Any, float]


class CalledModelExchange:
    """The `Simulator` of Model Exchange FMUs, and functions for C that continue it.

    Parameters
    ----------
    solver : ModelExchangeSolver
        Initialized.

    Attributes
    ----------
    record : MembersRun
        See `model_exchange_calls`.
    """

    def __init__(self, solver: ModelExchangeSolver) -> None:
        simulator, instance, known = solver.simulator, solver.instance, solver.known
        self._instance, self._known = instance, known
        self.run = CalledSimulator(simulator)
        self.members: list[MemberCalls] = []
        self._compared: list[Any] = []
        system, evaluation_address = simulator.system, instance.evaluation.address
        places = [system.written_slot(f"fmu.{name}").offset for name in ("z", "scale", "u")]
        self.record = calls.MembersRun(self.run.handle, evaluation_address, *places, len(known))
        self.set, self.set_slopes, self.get, self.step, self.save, self.restore = (
            c_address(function, signature) for function, signature in calls.ENTRIES.items()
        )

    @classmethod
    def of(cls, solver: ModelExchangeSolver) -> CalledModelExchange:
        """The calls of a solver, which has the State; `ContractError` if nothing is compiled."""
        if solver.called is None:
            solver.called = cls(solver)
        called: CalledModelExchange = solver.called
        called.bind()
        return called

    def unbind(self) -> None:
        """Give the State and the values of inputs back to Python."""
        if self.run.is_bound:
            for member in self.members:
                member.write_back(self._known)
            self.run.unbind()

    def bind(self) -> None:
        """Let compiled code continue from the State of the simulator."""
        if not self.run.is_bound:
            for member in self.members:
                member.resume(self._known)
            self.record.is_settled = 0
            self.run.bind(self.run.simulator)

    def add(self, member: MemberCalls) -> None:
        """Add a member whose inputs compiled code writes."""
        self.members.append(member)
        inputs = [member.last_inputs for member in self.members]
        self._input_lists = np.array([(v.ctypes.data, v.size) for v in inputs], dtype=np.int64).reshape(-1)
        self.record.input_lists, self.record.input_lists_at = len(inputs), self._input_lists.ctypes.data

    def compare(self, accesses: Sequence[Access]) -> None:
        """Compare values that are passed on at events alone; Python takes a step after one has changed."""
        record: Any = calls.EventOutputs
        rows = (record * len(accesses))()
        for i, access in enumerate(accesses):
            present, last = np.zeros(access.count), np.zeros(access.count)
            rows[i] = record(*access.words(present.ctypes.data), last.ctypes.data)
            self._compared.append((access, present, last))
        self._compared.append((rows, None, np.zeros(0)))
        self.record.event_outputs, self.record.event_outputs_at = len(accesses), ctypes.addressof(rows)
        self.clear_compared()

    def clear_compared(self) -> None:
        """Forget the compared values, since values were passed on at an event."""
        for *_, last in self._compared:
            last[:] = math.nan

    @property
    def has_begun(self) -> bool:
        """Whether `step` has begun the last step; otherwise Python takes all of it."""
        self.record.needs_python = 0
        return bool(self.run.answer != STEPPED)

    def end_step(self, end: float) -> None:
        """Finish a step that compiled code has begun, which ends at `end` (s)."""
        if self.run.resume(end, 0.0).succeeded and not self.record.is_at_boundary:
            self.run.simulator.advance_pending_events()

    def check_settled(self) -> None:
        """Raise the error of moving to the present point in the last `get`, if there was one."""
        if self.record.settle_answer:
            self._instance.check_settled(int(self.record.settle_answer))


class KeptState:
    """A saved state of a member in compiled code.

    Parameters
    ----------
    functions : tuple of int, optional
        Addresses of the functions of the FMU that save, restore and free its state, of its instance, and of
        the place of the state; None if time, states and inputs are the whole state.
    called : CalledModelExchange, optional
        For the last member: the run that is saved as well.
    arrays : sequence of ndarray
        Further arrays to be saved.
    """

    def __init__(
        self,
        functions: tuple[int, int, int, int, int] | None,
        called: CalledModelExchange | None = None,
        arrays: Sequence[NDArray[Any]] = (),
    ) -> None:
        self._run = np.zeros(0 if called is None else called.run.size, dtype=np.int64)
        self._copies = [(array, np.zeros_like(array)) for array in arrays]
        rows = [(array.ctypes.data, array.size, copy.ctypes.data) for array, copy in self._copies]
        self._rows = np.array(rows, dtype=np.int64).reshape(-1)
        run_copy = int(self._run.ctypes.data) if called is not None else 0
        fmu_calls = functions or (0,) * 5
        self.record = calls.SavedMember(0, *fmu_calls, run_copy, len(rows), int(self._rows.ctypes.data))
        self.address = self.record.at = ctypes.addressof(self.record)


class MemberCalls:
    """The calls of one member from compiled code.

    Parameters
    ----------
    called : CalledModelExchange
    inputs : mapping of str to (hashable, str or None)
        For each input its key in `ModelExchangeSolver.known`, and its path in the system, None for one that
        is written in event mode.
    written : callable
        Returns the last values of inputs that are written in event mode, by their names.
    reads : Access
        The access to the variables that are read of the FMU.
    places : sequence of int
        For each requested value its place among these variables, or -1 - its address.
    """

    def __init__(
        self,
        called: CalledModelExchange,
        inputs: Mapping[str, tuple[Any, str | None]],
        written: Callable[[], Mapping[str, Any]],
        reads: Access,
        places: Sequence[int],
    ) -> None:
        self._called, self._inputs, self._written, self._reads = called, inputs, written, reads
        self._rows, self.last_inputs = called.run.inputs([path for _, path in inputs.values()])
        self._buffer = np.zeros(reads.count)
        at = int(self._buffer.ctypes.data)
        addresses = [at + calls.REAL * place if place >= 0 else -1 - place for place in places]
        self._places = np.array(addresses, dtype=np.int64)
        is_plain = list(places) == list(range(reads.count))
        *call, _, count = reads.words(0)
        self._reading = calls.Reading(*call, 0 if is_plain else at, count, self._places.ctypes.data)
        self._unused = np.zeros(1, dtype=np.int64)
        self.resume(called._known)
        called.add(self)

    def calls(self, kept: KeptState | None, **hooks: Any) -> NativeCalls:
        """The functions for the interpreter of exchanges; `hooks` are further fields of `NativeCalls`."""
        called, nothing = self._called, self._called.run.nothing
        return NativeCalls(
            instance=ctypes.addressof(called.record),
            set=called.set,
            step=called.step,
            get=called.get,
            input_references=int(self._rows.ctypes.data),
            output_references=ctypes.addressof(self._reading),
            same_size=False,
            keep=(called, self, kept),
            set_slopes=called.set_slopes,
            save=nothing if kept is None else called.save,
            restore=nothing if kept is None else called.restore,
            state=int(self._unused.ctypes.data) if kept is None else kept.address,
            always_remembered=kept is None,
            **hooks,
        )

    def store_point(self) -> None:
        """Let Python read values inside a step at its end."""
        self._called.record.needs_python = 1

    def check(self) -> None:
        """Raise the error of reading the FMU in the last `get`, if there was one."""
        if self._called.record.read_status:
            self._reads.check(int(self._called.record.read_status))

    def write_back(self, known: Values) -> None:
        """Copy to Python the values that compiled code has written."""
        for (key, path), value in zip(self._inputs.values(), self.last_inputs.tolist(), strict=True):
            if path is not None:
                known[key] = value

    def resume(self, known: Values) -> None:
        """Let compiled code continue with values that Python has written."""
        written = self._written()
        self.last_inputs[:] = [
            float(written.get(name, math.nan)) if path is None else known[key]
            for name, (key, path) in self._inputs.items()
        ]
