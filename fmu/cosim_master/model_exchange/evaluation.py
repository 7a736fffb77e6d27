"""The right-hand side of one or several Model Exchange FMUs, for compiled code and for Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.binding.statuses import OK
from cosim_fmi.model_exchange.instance_block import InstanceBlock
from cosim_fmi.model_exchange.instance_calls import FAULT
from cosim_fmi.variables.typed_variables import kernel_address
from cosim_fmi.variables.variable_access import Access
from cosim_master.coupling.link import Link
from cosim_master.model_exchange import loop_calls, system_calls
from cosim_master.model_exchange import system_calls as words

Port = tuple[str, str]
Vector = NDArray[np.float64]
FEW = 20
"""Values of a loop that is solved at once in plain Python."""


class SolvedLoop:
    """The memory of a closed loop (`loop_calls`).

    Parameters
    ----------
    path : str
        In words.
    names : sequence of str
        ``participant.output`` of each value.
    first : int
        Slot of the first value.
    is_real : bool
        Whether all values are real numbers.
    """

    def __init__(self, path: str, names: Sequence[str], first: int, is_real: bool) -> None:
        self._path, self._names, count = path, list(names), len(names)
        self.row = np.zeros(loop_calls.LOOP, dtype=np.int64)
        self._reals = np.zeros(loop_calls.reals_needed(count))
        self.row[loop_calls.COUNT], self.row[loop_calls.FIRST] = count, first
        self.row[loop_calls.REALS_AT] = self._reals.ctypes.data
        self.row[loop_calls.SUBSTITUTES] = int(not is_real)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays that make up its memory."""
        return self.row, self._reals

    def _vector(self, which: int) -> Vector:
        count = len(self._names)
        return self._reals[which * count : (which + 1) * count]

    @property
    def _inverse(self) -> Vector:
        first, count = loop_calls.VECTORS * len(self._names) + 2, len(self._names)
        return self._reals[first : first + count * count]

    def solve(self, first: Vector, passed: Callable[[Vector], Vector]) -> bool:
        """Search in Python. Returns whether a solution was found.

        Parameters
        ----------
        first : ndarray
            Values to begin with.
        passed : callable
            Returns the values after one way round the loop; its last argument is the solution.
        """
        at = int(self.row.ctypes.data)
        next_point = loop_calls.next_point
        if len(self._names) > FEW:
            next_point = compile_function(next_point, loop_calls.NEXT_SIGNATURE)
        loop_calls.start_search(at, first)
        while (request := next_point(at, 1)) == loop_calls.TRY:
            loop_calls.store_value(at, passed(self._vector(loop_calls.TRIED).copy()), True)
        return bool(request == loop_calls.SOLVED)

    @property
    def steps(self) -> int:
        """The steps of Newton's method in the last search."""
        return int(self.row[loop_calls.STEPS])

    @property
    def residuals(self) -> dict[str, float]:
        """The residual of each value where the last search failed."""
        before, after = self._vector(loop_calls.LOST_X), self._vector(loop_calls.LOST_G)
        return dict(zip(self._names, np.abs(after - before).tolist(), strict=True))

    @property
    def reason(self) -> str:
        """Why the last search has failed."""
        return {
            loop_calls.NO_REASON: "none was found there, and one at another point since",
            loop_calls.NOT_FINITE: "an output is not finite",
            loop_calls.SINGULAR: "its Jacobian is singular, so that it has no solution or many",
            loop_calls.NOT_FOUND: f"{loop_calls.MOST_STEPS} Newton steps did not find any",
        }[int(self.row[loop_calls.REASON])]

    def why(self) -> str:
        """Why the last search found no solution, in a sentence."""
        if self.row[loop_calls.SUBSTITUTES]:
            return f"the loop {self._path} does not settle in {loop_calls.MOST_SWEEPS} substitutions"
        residuals = ", ".join(f"{name} by {value:.3g}" for name, value in self.residuals.items())
        return (
            f"the loop {self._path} has no solution that can be found: {self.reason}; "
            f"off at the end: {residuals}"
        )

    def memory(self) -> list[list[float]]:
        """The start of the next search, which is saved with the states so that the bits stay the same."""
        is_solved, inverted = self.row[loop_calls.KNOWN], self.row[loop_calls.INVERTED]
        return [
            self._vector(loop_calls.X).tolist() if is_solved else [],
            self._inverse.tolist() if inverted else [],
            self._vector(loop_calls.SIZES).tolist(),
        ]

    def put_back(self, memory: Sequence[Sequence[float]]) -> None:
        """Restore the start of the next search from `memory`."""
        values, inverse, sizes = memory
        self.row[loop_calls.KNOWN], self.row[loop_calls.INVERTED] = bool(values), bool(inverse)
        if values:
            self._vector(loop_calls.X)[:] = values
        if inverse:
            self._inverse[:] = inverse
        self._vector(loop_calls.SIZES)[:] = sizes


class LinkTables(NamedTuple):
    """Links as arrays.

    Attributes
    ----------
    words : ndarray of int
        A row for each link: slots of output and input, first pair, number of pairs.
    factors : ndarray, shape (links, 2)
        Factor and offset of each link.
    pairs : ndarray, shape (pairs, 2)
        Values of mapped links, and their replacements.
    """

    words: NDArray[np.int64]
    factors: NDArray[np.float64]
    pairs: NDArray[np.float64]


class ExchangeProgram:
    """The operations of an evaluation in their order, and their data (`system_calls`).

    Attributes
    ----------
    operations : list of list of int
    accesses : list of (int, Access, int)
        Instance, variables, and the first slot.
    slots : int
    links : list of Link
    loops : list of SolvedLoop
    inputs : dict of (str, str) to int
        Slots of inputs.
    """

    def __init__(self) -> None:
        self.operations: list[list[int]] = []
        self.accesses: list[tuple[int, Access, int]] = []
        self.slots = 0
        self.links: list[Link] = []
        self.loops: list[SolvedLoop] = []
        self.inputs: dict[Port, int] = {}
        self._outputs: dict[Port, int] = {}

    def read(self, part: int, access: Access, ports: Sequence[Port]) -> None:
        """Read outputs of one instance into new slots."""
        self._access(system_calls.READ, part, access, ports, self._outputs)

    def write(self, part: int, access: Access, links: Sequence[Link]) -> None:
        """Copy slots of outputs to inputs of one instance."""
        ends = [link.end for link in links]
        self.operations.append([system_calls.PASS_ON, len(self.links), len(links), 0])
        self.links += links
        self._access(system_calls.WRITE, part, access, ends, self.inputs)

    def _access(
        self, kind: int, part: int, access: Access, ports: Sequence[Port], slots: dict[Port, int]
    ) -> None:
        self.operations.append([kind, len(self.accesses), 0, 0])
        self.accesses.append((part, access, self.slots))
        slots.update({port: self.slots + i for i, port in enumerate(ports)})
        self.slots += len(ports)

    def open_loop(self, path: str, names: Sequence[str], is_real: bool) -> list[int]:
        """Begin a loop. Returns its operation, in which the caller sets the numbers of further operations."""
        self.loops.append(SolvedLoop(path, names, self.slots, is_real))
        operation = [system_calls.SOLVE, len(self.loops) - 1, 0, 0]
        self.operations.append(operation)
        return operation

    def link_tables(self) -> LinkTables:
        """The links as arrays for compiled code."""
        scales, pairs = list[float](), list[float]()
        rows = [
            [self._outputs[link.start], self.inputs[link.end], *link.add_conversion(scales, pairs)]
            for link in self.links
        ]
        words = np.array(rows, dtype=np.int64).reshape(-1, system_calls.LINK)
        factors = np.array(scales, dtype=np.float64).reshape(-1, 2)
        return LinkTables(words, factors, np.array(pairs, dtype=np.float64).reshape(-1, 2))


class Evaluated(Protocol):
    """The methods that an evaluation needs of an instance."""

    instance: FmuInstance
    block: InstanceBlock
    inputs: Access | None
    wants_steps: bool


class Evaluation:
    """Instances in continuous-time mode, and the connections between them (`system_calls`).

    Parameters
    ----------
    models : sequence of Evaluated
        Their buffers become parts of those of the system; their `inputs` come from outside the system.
    program : ExchangeProgram, optional
        The operations between them.

    Attributes
    ----------
    address : int
        The address of the head, for `system_calls`.
    """

    def __init__(self, models: Sequence[Evaluated], program: ExchangeProgram | None = None) -> None:
        self._models, self._program = list(models), program or ExchangeProgram()
        blocks = [model.block for model in models]
        counts = sum(b.states for b in blocks), sum(b.indicators for b in blocks)
        self._states, self._rates = np.zeros(counts[0]), np.zeros(counts[0])
        self._indicators = np.zeros(counts[1])
        self._inputs = np.zeros(sum(m.inputs.count for m in models if m.inputs))
        self.values = np.zeros(self._program.slots)
        self._head = np.zeros(words.SIZE, dtype=np.int64)
        self._reals = self._head.view(np.float64)
        self.address = int(self._head.ctypes.data)
        state = indicator = 0
        for block in blocks:
            rows = slice(state, state + block.states), slice(indicator, indicator + block.indicators)
            block.place(self._states[rows[0]], self._rates[rows[0]], self._indicators[rows[1]])
            state, indicator = rows[0].stop, rows[1].stop
        self._lay_out(blocks)

    def _lay_out(self, blocks: Sequence[InstanceBlock]) -> None:
        program, head = self._program, self._head
        self._accesses = [access for _, access, _ in program.accesses]
        rows = [
            [part, *access.words(self.values.ctypes.data + words.REAL * slot)]
            for part, access, slot in program.accesses
        ]
        puts, first_input = [], 0
        for part, model in enumerate(self._models):
            puts.append([words.PUT, part, len(rows) if model.inputs else -1, 0])
            if model.inputs:
                self._accesses.append(model.inputs)
                rows.append([part, *model.inputs.words(self._inputs.ctypes.data + words.REAL * first_input)])
                first_input += model.inputs.count
        links = program.link_tables()
        instances = [[b.address, int(m.wants_steps)] for b, m in zip(blocks, self._models, strict=True)]
        self._tables = {
            words.INSTANCES_AT: np.array(instances, dtype=np.int64),
            words.OPERATIONS_AT: np.array([*puts, *program.operations], dtype=np.int64),
            words.ACCESSES_AT: np.array(rows, dtype=np.int64),
            words.LINKS_AT: links.words,
            words.FACTORS_AT: links.factors,
            words.TABLES_AT: links.pairs,
            words.VALUES_AT: self.values,
            words.STATES_AT: self._states,
            words.RATES_AT: self._rates,
            words.INDICATORS_AT: self._indicators,
            words.INPUTS_AT: self._inputs,
            words.LOOPS_AT: np.array([loop.row for loop in program.loops], dtype=np.int64),
        }
        for loop, row in zip(program.loops, self._tables[words.LOOPS_AT], strict=True):
            loop.row = row
        for place, table in self._tables.items():
            head[place] = table.ctypes.data
        head[words.INSTANCES], head[words.OPERATIONS] = len(blocks), len(puts) + len(program.operations)
        head[words.STATES], head[words.INDICATORS] = len(self._states), len(self._indicators)
        head[words.INPUTS] = len(self._inputs)
        used = {words.EVALUATE: words.evaluate, words.EXCHANGE: words.exchange}
        if any(model.wants_steps for model in self._models):
            used[words.COMPLETE] = words.complete_all
        if program.loops:
            used[words.SOLVER] = words.solve
        self._kernels = [kernel_address(function) for function in used.values()]
        for place, kernel in zip(used, self._kernels, strict=True):
            head[place] = kernel.address

    def move_to_point(self, time: float, states: Any, inputs: Any) -> bool:
        """Move to a point, for reading variables. Returns whether all inputs could be determined there."""
        self._put(time, states, inputs)
        return self._call(words.settle, remembers=True)

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[list[float], list[float]]:
        """Derivatives and event indicators at a point."""
        self._put(time, states, inputs)
        self._call(words.evaluate)
        return self._rates.tolist(), self._indicators.tolist()

    def compute_all(self) -> None:
        """Compute all values that depend on the present point."""
        self._call(words.compute_all)

    def exchange(self, time: float) -> bool:
        """Write the inputs that instances feed at this instant. Returns whether there are any."""
        self._reals[words.TIME] = time
        return self._call(words.exchange, remembers=True)

    def derive_along(self, function: int) -> tuple[Vector, Vector]:
        """Let compiled code call the function at an address for tangents, between two buffers.

        Returns
        -------
        (ndarray, ndarray)
            The tangents of time, states and inputs; those of the derivatives, which the function writes.
        """
        direction = np.zeros(1 + len(self._states) + len(self._inputs))
        changes = np.zeros(len(self._states))
        self._tables |= {words.DIRECTION_AT: direction, words.CHANGES_AT: changes}
        self._head[words.DIRECTION_AT], self._head[words.CHANGES_AT] = (
            array.ctypes.data for array in (direction, changes)
        )
        self._head[words.ALONG] = function
        return direction, changes

    def end(self) -> None:
        """Prevent further calls of the instances, which are about to be freed."""
        self._head[words.FAILED] = 1

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self._states)

    @property
    def inputs(self) -> int:
        """The number of inputs from outside the system."""
        return len(self._inputs)

    @property
    def time(self) -> float:
        """The time of the last point, s."""
        return float(self._reals[words.TIME])

    @property
    def place(self) -> int:
        """The number of the instance that was called last, or whose error `failure` has returned."""
        return int(self._head[words.PLACE])

    @property
    def lost_at(self) -> float | None:
        """The last time (s) at which inputs could not be determined, since `clear_lost`; None if none."""
        return float(self._reals[words.LOST_TIME]) if self._head[words.LOST] else None

    def clear_lost(self) -> None:
        """Forget why inputs could not be determined."""
        self._head[words.LOST] = words.NOT_LOST

    def why(self) -> str:
        """Why inputs could not be determined last."""
        which = int(self._head[words.LOST_AT])
        if self._head[words.LOST] == words.LINK_LOST:
            link = self._program.links[which]
            return f"{link.source}.{link.fault(float(self._reals[words.LOST_VALUE]))}"
        return self._program.loops[which].why() if self._head[words.LOST] == words.LOOP_LOST else ""

    def failure(self) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined; `place` names its instance."""
        try:
            for kernel in self._kernels:
                kernel.raise_kept()
        except Exception as error:
            return error
        for place, model in enumerate(self._models):
            reason = model.block.failure(self._accesses)
            if reason is not None:
                self._head[words.PLACE] = place
                return reason
        return None

    def _put(self, time: float, states: Any, inputs: Any) -> None:
        self._reals[words.TIME] = time
        self._states[:] = list(states)[: len(self._states)]
        self._inputs[:] = list(inputs)[: len(self._inputs)]

    def _call(self, function: Callable[..., Any], remembers: bool = False) -> bool:
        for place, model in enumerate(self._models):
            if not model.block.stopped:
                self._head[words.PLACE] = place
                model.instance.check_allowed("SetContinuousStates")
        self._head[words.REMEMBERS] = int(remembers)
        code = kernel_address(function)(self.address)
        self._head[words.REMEMBERS] = 0
        return self.check(code)

    def check(self, code: int) -> bool:
        """Whether inputs could be determined, by the code of a function; raises the error of an instance."""
        if code == FAULT and (failed := self.failure()) is not None:
            raise failed
        return code == OK
