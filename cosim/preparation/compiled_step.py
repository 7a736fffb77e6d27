"""The Step of a system and an integrator in this process: arrays, and functions that work on them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.integrator import Integrator
from cosim.errors import StateError
from cosim.preparation.entries import CALLED, enter
from cosim.preparation.method import Method, prepared
from cosim.preparation.python_method import PythonMethod, held_weakly
from cosim.preparation.restored import check_state
from cosim.preparation.run_tables import tables_of
from cosim.run_data.records.evaluation import DERIVATIVES, INSTANCE, MOTION, NOTHING, REPORT, RESTORED
from cosim.run_data.records.plan import Plan
from cosim.run_data.run import (
    ADDRESS,
    ARRAY_WIDTH,
    CHOICE_WIDTH,
    ENTRY_SIGNATURE,
    GRID_WIDTH,
    LENGTH,
    WHOLE_HEAD,
    Run,
)
from cosim.run_data.run_parts import Part
from cosim.stage import Stage
from cosim.step.block_calls import UNTOUCHED
from cosim.step.failures import GROW, ForeignState
from cosim.step.sliding_field import sliding_field
from cosim.system.state import COMPUTED, State
from cosim.system.system import System
from cosim.walker import BLOCK_SIGNATURE, DENSE_SIGNATURE, PYTHON_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.convention import address_of
from cosim_compiler.native import (
    compile_function,
    function_address,
    function_addresses,
    is_plain,
    python_address,
    release_address,
)
from cosim_compiler.record import place_in

ENTER_SIGNATURE = "iif>i"
WRITTEN = "numbers", "coefficients", "settings", "work", "held_ints", "probe", "places"
"""Arrays that a run may write and that are not of the State."""
# how far the Step has evaluated the State, and the stage to which it is then realized
STAGES = {
    RESTORED: Stage.MODEL,
    NOTHING: Stage.MODEL,
    INSTANCE: Stage.INSTANCE,
    DERIVATIVES: Stage.INSTANCE,  # where plain Python was interrupted
    MOTION: Stage.ACCELERATION,
    REPORT: Stage.REPORT,
}
PLACES_IN_HEAD = {name: ARRAY_WIDTH * i for i, name in enumerate(Run._fields)}
"""Where address and length of each array stand in `CompiledStep.head`."""
ARRAY_OF_PART = {name: part.array for name, part in vars(Run).items() if isinstance(part, Part)}


@functools.cache
def _enter() -> Any:
    """The function that calls the Step with all arrays."""
    return compile_function(enter, ENTER_SIGNATURE)


@functools.cache
def _address(name: str) -> int:
    """The address of the machine code of a function of the Step."""
    return function_address(CALLED[name], ENTRY_SIGNATURE)


class CompiledStep:
    """All arrays of a run, and its entry points: functions of arrays and numbers, without options and words.

    The arrays of the State are shared with it, so whoever reads the State sees what the Step has done. A
    `Simulator` calls it from Python; ensembles and the compiled loop of a co-simulation call it by `head`.

    Parameters
    ----------
    system : System
    integrator : Integrator
    policy : str
        About witnesses whose events do not end: "hold", "report" or "stop".
    accuracy : float or None
        Of the State.
    run_handler, empty_buffer : method
        Called from inside a step, and held weakly: ``run_handler(number)`` runs a Python handler and answers
        its severity, ``empty_buffer(which)`` takes what is in a buffer.

    Attributes
    ----------
    tables : Tables
    arrays : Arrays
        Those of the State that is bound.
    head : ndarray of int64
        Their addresses and lengths, and four spare words for compiled callers.
    meeting : float
        How far from a scheduled time a boundary may be that means it, s.
    method : PythonMethod or None
        Where the steps of the integrator are Python.
    """

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        policy: str,
        accuracy: float | None,
        run_handler: Callable[[int], int],
        empty_buffer: Callable[[int], int],
    ) -> None:
        self.system, self.integrator = system, integrator
        method = prepared(integrator, system)
        self.tables = tables = tables_of(system, method, accuracy, policy)
        held = tables.held
        self._numbers_of_holds = 0 if held is None or policy != "hold" else held.numbers
        self._state: State | None = None
        self.method = None if method.functions else PythonMethod(integrator, self)
        compile_ahead(
            [
                *((placed.function, placed.signature) for placed in method.functions),
                *((function, ENTRY_SIGNATURE) for function in CALLED.values()),
            ]
        )
        program, of_holds = self._linked_program(method, run_handler, empty_buffer)
        fixed = self._fixed_arrays(method, program, of_holds)
        if self.method is None:
            integrator.use_work(fixed["work"])
        self.head = np.zeros(WHOLE_HEAD, dtype=np.int64)
        self.head_address = address_of(self.head)
        nothing: Any = (None,) * len(Run._fields)
        self.arrays: Any = Run(*nothing)
        self._use_arrays(fixed)  # without a State, until one is bound
        self._mark_nothing_located()
        self.arrays.course.most_steps, self.arrays.evaluation.lowered = 1, UNTOUCHED
        self.meeting = 0.0
        self._as_made = {name: fixed[name].copy() for name in WRITTEN}

    def _linked_program(
        self, method: Method, run_handler: Callable[[int], int], empty_buffer: Callable[[int], int]
    ) -> tuple[NDArray[np.int64], list[int]]:
        """The array `program` with the addresses of all functions; those of what holds witnesses.

        These are `sliding_field` and the functions of `HeldTables.rates`.
        """
        program = self.tables.program.copy()
        listed = method.functions if self.method is None else self.method.functions
        in_python = () if self.method is None else (STEP_SIGNATURE, REDO_SIGNATURE, DENSE_SIGNATURE)
        kernels: dict[int, Any] = {}
        for place, function, signature in listed:
            if signature in in_python:
                program[place] = self._python_address(function, signature)
            else:
                kernels[place] = function, signature
        of_holds: list[Any] = []
        if self._numbers_of_holds and self.tables.held is not None:
            of_holds = [sliding_field, *(rate for _, rate in self.tables.held.rates)]
        # in one call: the names that several of them reach are compared once
        blocks = [(function, BLOCK_SIGNATURE) for function in of_holds]
        addresses = function_addresses((*kernels.values(), *blocks))
        program[list(kernels)] = addresses[: len(kernels)]
        for name, callback in (("call_handler", run_handler), ("call_drain", empty_buffer)):
            program[place_in(Plan, name)] = self._python_address(held_weakly(callback), PYTHON_SIGNATURE)
        return program, list(addresses[len(kernels) :])

    def _fixed_arrays(
        self, method: Method, program: NDArray[np.int64], of_holds: list[int]
    ) -> dict[str, Any]:
        """All arrays that are not of the State."""
        system, tables = self.system, self.tables
        held_table, held_ints = np.zeros((1, 3), dtype=np.int64), np.zeros(1, dtype=np.int64)
        if self._numbers_of_holds and tables.held is not None:
            held_table, held_ints = tables.held.table.copy(), tables.held.ints.copy()
            held_table[-1, 0] = of_holds[0]
            held_ints[[place for place, _ in tables.held.rates]] = of_holds[1:]
        return {
            "table": system.table,
            "ints": system.ints,
            "watched": tables.watched,
            "program": program,
            "numbers": tables.numbers,
            "coefficients": tables.coefficients,
            "settings": method.settings,
            "slots": tables.slots,
            "work": np.zeros(tables.work),
            "scratch": np.zeros(tables.scratch.size),
            "held_table": held_table,
            "held_ints": held_ints,
            "probe": tables.probe,
            "places": tables.places,
            "reach": tables.reach,
            "choice": np.zeros(CHOICE_WIDTH, dtype=np.int64),
            "rows": np.zeros(GRID_WIDTH),
            "log": np.empty(tables.log_length),
        }

    def reset_run(self) -> None:
        """Be as it was made, but for its State: what a run has written is forgotten."""
        for name, array in self._as_made.items():
            getattr(self.arrays, name)[:] = array
        self.arrays.scratch.fill(0.0)
        self._mark_nothing_located()
        self.meeting = 0.0

    def _mark_nothing_located(self) -> None:
        """Mark in `scratch`, which is zero otherwise, that no crossing has been located."""
        self.arrays.located.start = np.nan

    def _python_address(self, function: Any, signature: str) -> int:
        """The address of a function, as long as this Step lives; it must not keep the Step alive."""
        address = python_address(function, signature)
        weakref.finalize(self, release_address, address)
        return address

    def set_reported(self, path: str) -> bool:
        """Count a notice as reported until it is 0 again; whether it was not."""
        number = [noticed for noticed, _ in self.tables.notices].index(path)
        reported = self.arrays.reported_notices
        was_reported, reported[number] = reported[number], 1
        return not was_reported

    # arrays

    def bind(self, state: State) -> None:
        """Bind the Step to a State.

        Raises
        ------
        StateError
            It was saved with another integrator or other options, or its bytes are damaged.
        """
        started = bool(state.agenda.initialized)
        self._fit_arrays(state._arrays, started)
        self._state = state
        self.use_state()
        if started and not state.is_checked:
            self._check_state()
        state.is_checked = True
        run = self.arrays
        run.evaluation.stage = RESTORED if state.stage < Stage.ACCELERATION else NOTHING
        run.evaluation.touched = 0
        run.located.start = np.nan

    def _fit_arrays(self, arrays: dict[str, Any], started: bool) -> None:
        """Lengthen or replace the arrays of a State whose sizes the Step decides; `StateError` in a run."""
        tables = self.tables
        with_holds = self.system.assembly.layout.sizes["c"] + self._numbers_of_holds
        for name, size in (
            ("memory", tables.memory),
            ("indices", tables.indices.size),
            ("times", tables.times.size),
            ("c", with_holds),
        ):
            array = arrays[name]
            if array.size == size or (name == "c" and array.size > size):
                continue
            if started and name != "c":
                raise StateError(
                    f"this State was initialized with another integrator or other options: its section "
                    f"{name} has {array.size} numbers, needs {size}; call initialize() after replacing it"
                )
            arrays[name] = _of_length(array, size)

    def _check_state(self) -> None:
        """Refuse a State from bytes whose numbers no run of this system has."""
        try:
            check_state(self.arrays)
        except ForeignState as error:
            raise StateError(
                "the bytes of this State are damaged (its agenda, its histories or its holds are of no run)"
            ) from error

    def use_state(self) -> None:
        """Work on the arrays that the State has now."""
        assert self._state is not None
        self._use_arrays(self._state._arrays)
        self.integrator.attach(self.system, self._state)

    def _use_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Work on these arrays in place of those of the same names."""
        before = self.arrays
        new = {name: array for name, array in arrays.items() if getattr(before, name) is not array}
        if not new:
            return
        head, run = self.head, before._replace(**new)
        for name, array in new.items():
            at = PLACES_IN_HEAD[name]
            head[at + ADDRESS], head[at + LENGTH] = address_of(array), array.shape[0]
        # a `Part` is stored in the Run when it is first read: those of arrays that stay are still right
        vars(run).update(
            {name: part for name, part in vars(before).items() if ARRAY_OF_PART[name] not in new}
        )
        self.arrays = run

    @staticmethod
    def address(name: str) -> int:
        """The address of the machine code of an entry point."""
        return _address(name)

    def record(self, choice: Any, rows: Any, mode: int) -> None:
        """Record these values from here on; see `recording`."""
        self._use_arrays({"choice": choice, "rows": rows})
        output = self.arrays.output
        output.recording, output.rows_used = mode, 0

    # calls

    def call(self, name: str, t: float = 0.0) -> int:
        """Call an entry point; histories grow as they need. Returns one of the codes of `failures`."""
        state = self.prepare_call()
        state_arrays = state._arrays
        function, address = _enter(), _address(name)
        while True:
            if is_plain():
                with np.errstate(all="ignore"):
                    code = int(CALLED[name](self.arrays, t))
            else:
                code = function(address, self.head_address, t)
            if code != GROW:
                break
            state_arrays["h"] = _of_length(state_arrays["h"], self.arrays.failure.needed)
            self.use_state()
        self.stage_out(state)
        return int(code)

    def prepare_call(self) -> State:
        """The State that is bound, whose arrays and accuracy the next call of an entry point works on."""
        state = self._state
        assert state is not None
        if not self.has_arrays_of(state):
            self.bind(state)
        self.stage_in(state)
        options, accuracy = self.arrays.options, state.accuracy
        options.accuracy = np.nan if accuracy is None else accuracy
        options.meeting = self.meeting
        return state

    def has_arrays_of(self, state: State) -> bool:
        """Whether it works on the arrays that the State has now."""
        shared, arrays = state._arrays, self.arrays
        return (
            shared["h"] is arrays.h
            and shared["c"] is arrays.c
            and shared["y"] is arrays.y
            and shared["memory"] is arrays.memory
        )

    def stage_in(self, state: State) -> None:
        """Tell the functions of the Step to which stage the State is realized."""
        stage, evaluation = state.stage, self.arrays.evaluation
        if STAGES[evaluation.stage] is stage:
            return
        evaluation.touched = 0
        if stage >= Stage.REPORT:
            evaluation.stage = REPORT
        elif stage >= Stage.ACCELERATION:
            evaluation.stage = MOTION
        else:
            evaluation.stage = INSTANCE if stage >= Stage.INSTANCE else NOTHING

    def stage_out(self, state: State) -> None:
        """Give the State the stage in which the Step has left it, and lowered stages new versions."""
        evaluation, versions = self.arrays.evaluation, state._versions
        lowered = evaluation.lowered
        for stage in range(lowered if lowered < COMPUTED.start else COMPUTED.start, COMPUTED.stop):
            versions[stage] += 1
        if lowered != UNTOUCHED:
            evaluation.lowered = UNTOUCHED
        stage = STAGES[evaluation.stage]
        if state.stage is not stage:
            state._stage = stage
        if state._invalidated_by != "a step":
            state._invalidated_by = "a step"


def _of_length(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy of this length: cut, or with zeros behind."""
    resized = np.zeros(size, dtype=array.dtype)
    copied = min(size, array.size)
    resized[:copied] = array[:copied]
    return resized
