"""Model Exchange FMUs that are solved as one system, for compiled code that steps, writes and reads them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import STEPPED, c_address
from cosim_fmi.variables.access import Access
from cosim_fmu.abilities import NativeCalls
from cosim_master.model_exchange import model_exchange_calls as by_address
from cosim_master.model_exchange.called_simulator import CalledSimulator
from cosim_master.model_exchange.model_exchange_solver import ModelExchangeSolver

Values = dict[Any, float]


class CalledModelExchange:
    """The `Simulator` of Model Exchange FMUs, and functions as C calls them that go on with it.

    Parameters
    ----------
    solver : ModelExchangeSolver
        Initialized.

    Attributes
    ----------
    record : Called
        See `model_exchange_calls`.
    """

    def __init__(self, solver: ModelExchangeSolver) -> None:
        simulator, instance, known = solver.simulator, solver.instance, solver.known
        self._instance, self._known = instance, known
        self.run = CalledSimulator(simulator)
        self.members: list[MemberCalls] = []
        self._compared: list[Any] = []
        system, evaluation = simulator.system, instance.evaluation.address
        places = [system.written_slot(f"fmu.{name}").offset for name in ("z", "scale", "u")]
        self.record = by_address.Called(self.run.handle, evaluation, *places, len(known))
        self.set, self.set_slopes, self.get, self.step, self.save, self.restore = (
            c_address(function, signature) for function, signature in by_address.ENTRIES.items()
        )

    @classmethod
    def of(cls, solver: ModelExchangeSolver) -> CalledModelExchange:
        """That of a solver, which has the State; `ContractError` where nothing is compiled."""
        if solver.called is None:
            solver.called = cls(solver)
        called: CalledModelExchange = solver.called
        called.bind()
        return called

    def release(self) -> None:
        """Python is going to use the State."""
        if self.run.is_bound:
            for member in self.members:
                member.tell(self._known)
            self.run.release()

    def bind(self) -> None:
        """Compiled code goes on with the State of the simulator."""
        if not self.run.is_bound:
            for member in self.members:
                member.resume(self._known)
            self.record.is_settled = 0
            self.run.bind(self.run.simulator)

    def add(self, member: MemberCalls) -> None:
        """One more whose inputs compiled code writes."""
        self.members.append(member)
        given = [member.given for member in self.members]
        self._given = np.array([(v.ctypes.data, v.size) for v in given], dtype=np.int64).reshape(-1)
        self.record.given, self.record.given_at = len(given), self._given.ctypes.data

    def compare(self, accesses: Sequence[Access]) -> None:
        """What is passed on at events alone: Python takes the steps before which it has changed."""
        record: Any = by_address.Compared
        rows = (record * len(accesses))()
        for i, access in enumerate(accesses):
            found, last = np.zeros(access.count), np.zeros(access.count)
            rows[i] = record(*access.words(found.ctypes.data), last.ctypes.data)
            self._compared.append((access, found, last))
        self._compared.append((rows, None, np.zeros(0)))
        self.record.compared, self.record.compared_at = len(accesses), ctypes.addressof(rows)
        self.forget_compared()

    def forget_compared(self) -> None:
        """Something has been passed on at an event."""
        for *_, last in self._compared:
            last[:] = math.nan

    @property
    def has_begun(self) -> bool:
        """Whether `step` has begun the last step; else Python takes it."""
        self.record.is_noted = 0
        return bool(self.run.answer != STEPPED)

    def end_step(self, end: float) -> None:
        """Go on where `step` has answered that it is not done, to `end` (s)."""
        if self.run.go_on(end, 0.0).succeeded and not self.record.is_pending:
            self.run.simulator.advance_pending_events()

    def check_settled(self) -> None:
        """Raise what moving to the present point has met in the last `get`."""
        if self.record.settled:
            self._instance.check_settled(int(self.record.settled))


class KeptState:
    """Where compiled code keeps a saved state of a member.

    Parameters
    ----------
    functions : tuple of int, optional
        Addresses of the functions of the FMU that save, restore and free its state, its instance, and where
        the state lies; none where time, states and inputs are all of it.
    called : CalledModelExchange, optional
        With the last member: whose run is kept as well.
    more : sequence of ndarray
        And what besides.
    """

    def __init__(
        self,
        functions: tuple[int, int, int, int, int] | None,
        called: CalledModelExchange | None = None,
        more: Sequence[NDArray[Any]] = (),
    ) -> None:
        self._run = np.zeros(0 if called is None else called.run.size, dtype=np.int64)
        self._copies = [(array, np.zeros_like(array)) for array in more]
        rows = [(array.ctypes.data, array.size, copy.ctypes.data) for array, copy in self._copies]
        self._rows = np.array(rows, dtype=np.int64).reshape(-1)
        run = int(self._run.ctypes.data) if called is not None else 0
        self.record = by_address.Kept(
            0, *(functions or (0,) * 5), run, len(rows), int(self._rows.ctypes.data)
        )
        self.address = self.record.at = ctypes.addressof(self.record)


class MemberCalls:
    """What compiled code calls of one of the FMUs.

    Parameters
    ----------
    called : CalledModelExchange
    inputs : mapping of str to (hashable, str or None)
        For each input its key among those that hold values, and its path in the system; None for one that is
        written in event mode.
    written : callable
        What inputs that are written in event mode were given last, by their names.
    reads : Access
        Of the variables that are read of the FMU.
    places : sequence of int
        For each value that is wanted its place among these; or -1 - the address where it lies.
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
        self._rows, self.given = called.run.inputs([path for _, path in inputs.values()])
        self._buffer = np.zeros(reads.count)
        at = int(self._buffer.ctypes.data)
        addresses = [at + by_address.REAL * place if place >= 0 else -1 - place for place in places]
        self._places = np.array(addresses, dtype=np.int64)
        is_plain = list(places) == list(range(reads.count))
        *call, _, count = reads.words(0)
        self._reading = by_address.Reading(*call, 0 if is_plain else at, count, self._places.ctypes.data)
        self._unused = np.zeros(1, dtype=np.int64)
        self.resume(called._known)
        called.add(self)

    def calls(self, kept: KeptState | None, **more: Any) -> NativeCalls:
        """For the interpreter of exchanges; what is not kept here is saved when it is remembered."""
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
            **more,
        )

    def note(self) -> None:
        """Values inside a step wait: Python takes them when it has ended."""
        self._called.record.is_noted = 1

    def check(self) -> None:
        """Raise what reading the FMU has met in the last `get`."""
        if self._called.record.status:
            self._reads.check(int(self._called.record.status))

    def tell(self, known: Values) -> None:
        """Let Python know what compiled code has written."""
        for (key, path), value in zip(self._inputs.values(), self.given.tolist(), strict=True):
            if path is not None:
                known[key] = value

    def resume(self, known: Values) -> None:
        """Compiled code goes on with what Python has written."""
        written = self._written()
        self.given[:] = [
            float(written.get(name, math.nan)) if path is None else known[key]
            for name, (key, path) in self._inputs.items()
        ]
