"""The Step of a system and an integrator in this process: arrays, and functions that work on them."""

from __future__ import annotations

import functools
import itertools
import operator
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from cosim.contracts.integrator import Integrator
from cosim.errors import StateError
from cosim.stage import Stage
from cosim.step import layout, recording
from cosim.step.arrays import ADDRESS, ARRAY_WIDTH, ENTRY_SIGNATURE, LENGTH, WHOLE_HEAD, Arrays
from cosim.step.codes import GROW, REACHED
from cosim.step.entries import CALLED, enter
from cosim.step.method import prepared
from cosim.step.python_method import PythonMethod
from cosim.step.restored import check_state
from cosim.step.sliding_field import sliding_field
from cosim.step.tables import tables_of
from cosim.step.touched import UNTOUCHED
from cosim.system.block_address import block_address
from cosim.system.state import COMPUTED, State
from cosim.system.system import System
from cosim.walker import DENSE_SIGNATURE, PYTHON_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
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

ENTER_SIGNATURE = "iif>i"
STAGES = {
    layout.RESTORED: Stage.MODEL,
    layout.NOTHING: Stage.MODEL,
    layout.INSTANCE: Stage.INSTANCE,
    layout.DERIVATIVES: Stage.INSTANCE,  # where plain Python was interrupted
    layout.MOTION: Stage.ACCELERATION,
    layout.REPORT: Stage.REPORT,
}


@functools.cache
def _enter() -> Any:
    """The function that calls the Step with all arrays."""
    return compile_function(enter, ENTER_SIGNATURE)


@functools.cache
def _address(name: str) -> int:
    """Where a function of the Step begins."""
    return function_address(CALLED[name], ENTRY_SIGNATURE)


def held_weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls a method and does not keep its object alive, as its address would."""
    reference = weakref.WeakMethod(method)

    def call(*arguments: Any) -> Any:
        alive = reference()
        assert alive is not None
        return alive(*arguments)

    return call


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
        Their addresses and lengths, and room for who calls the Step by addresses.
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
        self._held = 0 if held is None or policy != "hold" else held.numbers
        self._state: State | None = None
        self.method = None if method.functions else PythonMethod(integrator, self)
        program = tables.program.copy()
        listed = method.functions if self.method is None else self.method.functions
        compile_ahead(
            [
                *(item[1:] for item in method.functions),
                *((function, ENTRY_SIGNATURE) for function in CALLED.values()),
            ]
        )
        in_python = () if self.method is None else (STEP_SIGNATURE, REDO_SIGNATURE, DENSE_SIGNATURE)
        kernels: dict[int, Any] = {}
        for place, function, signature in listed:
            if signature in in_python:
                program[place] = self._python_address(function, signature)
            else:
                kernels[place] = function, signature
        if kernels:
            program[list(kernels)] = function_addresses(tuple(kernels.values()))
        program[layout.HANDLER] = self._python_address(run_handler, PYTHON_SIGNATURE)
        program[layout.DRAIN] = self._python_address(empty_buffer, PYTHON_SIGNATURE)
        held_table, held_ints = np.zeros((1, 3), dtype=np.int64), np.zeros(1, dtype=np.int64)
        if self._held and held is not None:
            held_table, held_ints = held.table.copy(), held.ints.copy()
            held_table[-1, 0] = block_address(sliding_field)
        scratch = np.zeros(tables.scratch.size)
        scratch[tables.program[layout.WINDOW]] = np.nan
        places = tables.places
        places[layout.MOST], places[layout.LOWERED] = 1, UNTOUCHED
        self._fixed = {
            "table": system.table,
            "ints": system.ints,
            "watched": tables.watched,
            "program": program,
            "numbers": tables.numbers,
            "coefficients": tables.coefficients,
            "settings": method.settings,
            "slots": tables.slots,
            "work": np.zeros(tables.work),
            "scratch": scratch,
            "held_table": held_table,
            "held_ints": held_ints,
            "probe": tables.probe,
            "places": places,
            "reach": tables.reach,
            "choice": np.zeros(recording.CHOICE_HEADER, dtype=np.int64),
            "rows": np.zeros(layout.ROWS_HEADER),
            "log": np.zeros(tables.log_length),
        }
        if self.method is None:
            integrator.use_work(self._fixed["work"])
        self.arrays: Any = (None,) * len(Arrays._fields)
        self.head = np.zeros(WHOLE_HEAD, dtype=np.int64)
        self._head_address = address_of(self.head)
        self.places: Any = places
        self.meeting = 0.0

    def _python_address(self, method: Any, signature: str) -> int:
        """The address of a method, as long as this Step lives."""
        address = python_address(held_weakly(method), signature)
        weakref.finalize(self, release_address, address)
        return address

    def set_reported(self, path: str) -> bool:
        """Count a notice as reported until it is 0 again; whether it was not."""
        paths = [noticed for noticed, _ in self.tables.notices]
        place = int(self.tables.program[layout.TOLD]) + paths.index(path)
        was_reported, self.places[place] = self.places[place], 1
        return not was_reported

    # arrays

    def bind(self, state: State) -> None:
        """Work on a State from here on.

        Raises
        ------
        StateError
            It was saved with another integrator or other options, or its bytes are damaged.
        """
        tables, mine = self.tables, state._arrays
        started = bool(mine["agenda"][layout.INITIALIZED])
        for name, size in (
            ("memory", tables.memory),
            ("agenda", tables.agenda.size),
            ("clock", tables.clock.size),
            ("c", self.system.assembly.layout.sizes["c"] + self._held),
        ):
            array = mine[name]
            if array.size == size or (name == "c" and array.size > size):
                continue
            if started and name != "c":
                raise StateError(
                    f"this State was initialized with another integrator or other options: its section "
                    f"{name} has {array.size} numbers, needs {size}; call initialize() after replacing it"
                )
            grown = np.zeros(size, dtype=array.dtype)
            kept = min(size, array.size)
            grown[:kept] = array[:kept]
            mine[name] = grown
        self._state = state
        self.gather()
        if started and not state.is_believed and check_state(self.arrays) != REACHED:
            raise StateError(
                "the bytes of this State are damaged (its agenda, its histories or its holds are of no run)"
            )
        state.is_believed = True
        self.places[layout.STAGE] = layout.RESTORED if state.stage < Stage.ACCELERATION else layout.NOTHING
        self.places[layout.TOUCHED] = 0
        self._fixed["scratch"][tables.program[layout.WINDOW]] = np.nan

    def gather(self) -> None:
        assert self._state is not None
        made, before = {**self._fixed, **self._state._arrays}, self.arrays
        self.arrays = Arrays(*map(made.__getitem__, Arrays._fields))
        changed = map(operator.is_not, self.arrays, before)
        for i in itertools.compress(range(len(before)), changed):
            array = self.arrays[i]
            self.head[ARRAY_WIDTH * i + ADDRESS] = address_of(array)
            self.head[ARRAY_WIDTH * i + LENGTH] = array.shape[0]
        self.integrator.attach(self.system, self._state)

    def record(self, choice: Any, rows: Any, mode: int) -> None:
        """Record these values from here on; see `recording`."""
        self._fixed["choice"], self._fixed["rows"] = choice, rows
        self.places[layout.RECORDING], self.places[layout.ROWS_USED] = mode, 0
        if self._state is not None:
            self.gather()

    # calls

    def call(self, name: str, t: float = 0.0) -> int:
        """Call an entry point; histories grow as they need. The answer is one of `codes`."""
        state = self._state
        assert state is not None
        own = state._arrays
        arrays = self.arrays
        if (
            own["h"] is not arrays.h
            or own["c"] is not arrays.c
            or own["y"] is not arrays.y
            or own["memory"] is not arrays.memory
        ):
            self.bind(state)
        self.stage_in(state)
        accuracy = state.accuracy
        self._fixed["numbers"][layout.ACCURACY] = np.nan if accuracy is None else accuracy
        self._fixed["numbers"][layout.MEETING] = self.meeting
        function, address = _enter(), _address(name)
        while True:
            if is_plain():
                with np.errstate(all="ignore"):
                    code = int(CALLED[name](self.arrays, t))
            else:
                code = function(address, self._head_address, t)
            if code != GROW:
                break
            longer = np.zeros(int(self.places[layout.NEEDED]))
            longer[: own["h"].size] = own["h"]
            own["h"] = longer
            self.gather()
        self.stage_out(state)
        return int(code)

    def stage_in(self, state: State) -> None:
        """How far the State is realized, for the functions of the Step."""
        stage, places = state.stage, self.places
        known = places[layout.STAGE]
        if STAGES[int(known)] is stage:
            return
        places[layout.TOUCHED] = 0
        if stage >= Stage.REPORT:
            places[layout.STAGE] = layout.REPORT
        elif stage >= Stage.ACCELERATION:
            places[layout.STAGE] = layout.MOTION
        else:
            places[layout.STAGE] = layout.INSTANCE if stage >= Stage.INSTANCE else layout.NOTHING

    def stage_out(self, state: State) -> None:
        """How far the Step has left the State realized."""
        places, versions = self.places, state.versions
        for stage in range(min(int(places[layout.LOWERED]), COMPUTED.start), COMPUTED.stop):
            versions[stage] += 1
        places[layout.LOWERED] = UNTOUCHED
        stage = STAGES[int(places[layout.STAGE])]
        if state.stage is not stage:
            state.stage = stage
        if state._invalidated_by != "a step":
            state._invalidated_by = "a step"
