"""A system and an integrator as tables and functions that need no Python."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import Integrator, ModelError, Problem, SimulationError, State, System
from cosim.kit import (
    ARRAYS,
    BLOCK_SIGNATURE,
    CARRIED_ENTRY_SIGNATURE,
    CHOICE_WIDTH,
    ENTRIES,
    ENTRIES_WITH_TANGENTS,
    ENTRY_SIGNATURE,
    GRID_WIDTH,
    LISTED_TANGENTS,
    Clock,
    HeldTables,
    Method,
    PlacesHeader,
    Plan,
    Run,
    Slot,
    Tables,
    exported_tangents,
    place_in,
    plain_address,
    prepared,
    set_accuracy,
    sliding_field,
)
from cosim_lowering.refusals import integrator_refusals, system_refusals

EXPORTED = (
    "initialize",
    "advance",
    "step",
    "evaluate",
    "completed",
    "event",
    "check",
    "check_parameters",
    "find_next_event",
    "is_due",
    "finish",
    "accuracy",
)
"""Entry points of a library, in their order there."""
MOST_STEPS = 1 << 62
"""Steps in one call of `advance`: without a limit in practice."""
OF_TANGENTS = "tangent_"
"""Prefix of the names of arrays of tangents."""


class Program:
    """The arrays and kernel functions of a run of a system.

    The entry points (`functions` whose names begin with ``lowered_``) take all arrays
    (`cosim.run_data.run.Run`) and a time, and return one of `cosim.step.failures`. Their results are those of
    `Simulator`, to the last bit.

    Parameters
    ----------
    system : System
    integrator : str, class or Integrator
        As `Simulator` takes it.
    accuracy : float, optional
        The accuracy of the integration; the isolation window of events follows it.
    state : State, optional
        The start of the arrays; by default the default State.
    endless_events : str
        The reaction to a witness whose events do not end, as for `Simulator`.
    derivatives : pair of sequence of str and sequence of Slot, optional
        Derivatives along the run: the paths by which they are taken, and the numbers that are derived.
    **options
        For the integrator.

    Attributes
    ----------
    refusals : list of Problem
        The parts that cannot be lowered, with reason and remedy; where there are any, all else is empty.
    functions : dict of str to (function, str)
        By name: plain function and signature, in the letters of `cosim_compiler.native`.
    addresses : list of (str, int, str)
        Array, flat index in it and name of the function that is called from there.
    numbers : dict of str to int
        The number of each function, which stands in place of its address; 0 stands for no function.
    arrays : dict of str to ndarray
        Contents at the start of a run, with numbers of functions in place of addresses.
    listed_arrays : list of (str, str, str)
        Name, letter and role of each, in the order in which hosts have them: `ARRAYS`, then those of
        tangents.
    blocks : list of str
        A description of each row of the table, for messages.
    handlers, witnesses, states : list of str
        Their paths, in the order of the tables.
    indicators : dict of str to (int, int)
        By path of a witness: where in `c` its value lies, and where in `clock` the level that counts as zero.
    reset_states : frozenset of int
        Places in `y` of the states that handlers may set.
    periodic : dict of str to (int, Fraction or None)
        By path of a handler that updates something periodically: its place among the handlers, and its
        period, s; None where that is a parameter.

    Examples
    --------
    >>> from cosim.testing.known_solution import known_system
    >>> program = Program(known_system(), "integrators.heun", fixed_step=0.1)
    >>> program.refusals, "lowered_advance" in program.functions
    ([], True)
    """

    def __init__(
        self,
        system: System,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float | None = None,
        state: State | None = None,
        endless_events: str = "hold",
        derivatives: tuple[Sequence[str], Sequence[Slot]] = ((), ()),
        **options: Any,
    ) -> None:
        self.system, self.policy, self.derivatives = system, endless_events, derivatives
        self.state = system.default_state() if state is None else state.copy()
        if accuracy is not None:
            self.state.accuracy = accuracy
        self.integrator = _integrator(integrator, accuracy, options)
        self.functions: dict[str, tuple[Callable[..., Any], str]] = {}
        self.addresses: list[tuple[str, int, str]] = []
        self.numbers: dict[str, int] = {}
        self.arrays: dict[str, NDArray[Any]] = {}
        self.listed_arrays: list[tuple[str, str, str]] = list(ARRAYS)
        self.blocks: list[str] = []
        self.handlers: list[str] = []
        self.witnesses: list[str] = []
        self.states = [system.paths_at("y", [i])[0] for i in range(system.ny)]
        self.indicators: dict[str, tuple[int, int]] = {}
        self.reset_states: frozenset[int] = frozenset()
        self.periodic: dict[str, tuple[int, Fraction | None]] = {}
        self._names: dict[int, str] = {}
        self.refusals: list[Problem] = [
            *system_refusals(system),
            *integrator_refusals(self.integrator, system),
        ]
        if not self.refusals:
            self._lower()

    def require(self) -> None:
        """Raise `ModelError` with all refusals, if there are any."""
        if self.refusals:
            raise ModelError(self.refusals)

    def _lower(self) -> None:
        """Fill all attributes, or find a part that cannot be lowered."""
        system, integrator = self.system, self.integrator
        try:
            integrator.check(system, self.state.copy().realize())
        except SimulationError as error:
            self.refusals.append(Problem(type(integrator).__name__, error.reason))
            return
        method = prepared(integrator, system)
        tables = Tables(system, method, self.state.accuracy, self.policy, exported=True)
        self.refusals += tables.refusals
        if self.refusals:
            return
        self._name_events(tables)
        held = tables.held if self.policy == "hold" else None
        self._set_arrays(method, tables, held)
        self._list_functions(method, tables)
        if self.derivatives[0]:
            self._list_tangents(held)
        for array, place, name in self.addresses:
            self.arrays[array].reshape(-1)[place] = self.numbers.setdefault(name, len(self.numbers) + 1)

    def _name_events(self, tables: Tables) -> None:
        """Name handlers and witnesses by their paths, for hosts."""
        self.handlers, self.witnesses, self.indicators = tables.handlers, tables.witnesses, tables.indicators
        self.reset_states = tables.reset_states
        self.periodic = {
            entry.path: (i, None if isinstance(entry.handler.period, str) else entry.handler.period)
            for i, entry in enumerate(tables.events.entries)
            if entry.handler.is_periodic and not entry.is_private and entry.handler.does != "publish"
        }

    def _set_arrays(self, method: Method, tables: Tables, held: HeldTables | None) -> None:
        """The arrays of a run that begins with the State; still without functions."""
        arrays = (
            self._variables(held)
            | self._called_tables(tables, held)
            | self._method_arrays(method, tables)
            | self._run_arrays(tables)
        )
        self.arrays = {name: np.ascontiguousarray(arrays[name]).copy() for name, _, _ in ARRAYS}
        self.arrays["times"][place_in(Clock, "time")] = self.state.time
        self.arrays["places"][place_in(PlacesHeader, "course.most_steps")] = MOST_STEPS

    def _variables(self, held: HeldTables | None) -> dict[str, NDArray[Any]]:
        variables = self.state.arrays
        of_held = np.zeros(0 if held is None else held.numbers)  # they follow the cache
        return {
            **{name: variables[name] for name in "ypdkh"},
            "c": np.concatenate([self.system.new_cache(), of_held]),
        }

    def _called_tables(self, tables: Tables, held: HeldTables | None) -> dict[str, NDArray[Any]]:
        return {
            "table": self.system.table,
            "ints": self.system.ints,
            "watched": tables.watched,
            "held_table": np.zeros((1, 3), dtype=np.int64) if held is None else held.table,
            "held_ints": np.zeros(1, dtype=np.int64) if held is None else held.ints,
            "program": tables.program,
            "numbers": tables.numbers,
            "probe": tables.probe,
            "reach": tables.reach,
        }

    @staticmethod
    def _method_arrays(method: Method, tables: Tables) -> dict[str, NDArray[Any]]:
        return {
            "coefficients": tables.coefficients,
            "settings": method.settings,
            "slots": tables.slots,
            "memory": np.zeros(tables.memory),
            "work": np.concatenate([method.work, np.zeros(tables.work - method.work.size)]),
        }

    @staticmethod
    def _run_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
        nothing_recorded = {
            "choice": np.zeros(CHOICE_WIDTH, dtype=np.int64),
            "rows": np.zeros(GRID_WIDTH),
            "log": np.zeros(1),
        }
        return {
            "indices": tables.indices,
            "times": tables.times,
            "scratch": tables.scratch,
            "places": tables.places,
            **nothing_recorded,
        }

    def _list_functions(self, method: Method, tables: Tables) -> None:
        system, projection = self.system, self.system.assembly.projection
        listed = [(block.function, block.label, block.owners) for block in system.blocks]
        corrections = [] if projection is None else [function for function, _ in projection.all]
        listed += [(function, function.__name__, ()) for function in corrections]
        listed += [listed[i] for i in system.inner_blocks]
        for i, (function, label, owners) in enumerate(listed):
            self._address("table", 3 * i, function, BLOCK_SIGNATURE, "block")
            self.blocks.append(f"{', '.join(owners)}: {label}" if owners else label)
        if tables.held is not None and self.policy == "hold":
            self._list_held(tables.held, [function for function, _, _ in listed])
        for i, block in enumerate(tables.watched_rows):
            self._address("watched", 3 * i, system.blocks[block].function, BLOCK_SIGNATURE, "block")
        for place, function, signature in method.functions:
            self._address("program", place, function, signature, "method")
        for place, function, signature in method.slot_functions:
            self._address("slots", place, function, signature, "tangent")
        left_out = {"is_due"} if not self.periodic else set()
        if not self._takes_accuracies(method.integrator):
            left_out.add("accuracy")
        for name in sorted({*EXPORTED} - left_out, key=EXPORTED.index):
            self.functions[f"lowered_{name}"] = (ENTRIES[name], ENTRY_SIGNATURE)

    def _list_tangents(self, held: HeldTables | None) -> None:
        """The arrays and functions of tangents, and entry points that carry them along."""
        by, outputs = self.derivatives
        tangents, problems = exported_tangents(
            self.integrator, self.state, Run(**self.arrays), held, by, outputs
        )
        self.refusals += problems
        if tangents is None:
            return
        self.arrays |= tangents.of_run
        self.arrays |= {OF_TANGENTS + name: array for name, array in tangents.arrays.items()}
        self.listed_arrays += [(OF_TANGENTS + name, letter, role) for name, letter, role in LISTED_TANGENTS]
        for array, place, (function, signature) in tangents.functions:
            self._address(OF_TANGENTS + array, place, function, signature, "tangent")
        for name, entry in ENTRIES_WITH_TANGENTS.items():
            self.functions[f"lowered_{name}"] = (entry, CARRIED_ENTRY_SIGNATURE)

    def _list_held(self, held: HeldTables, functions: list[Any]) -> None:
        """The functions of the tables for held witnesses: rows of the system, copies of them, the holding."""
        for i in range(len(functions)):
            self._address("held_table", 3 * i, functions[i], BLOCK_SIGNATURE, "block")
        for array, place, block in held.copies:
            self._address(array, place, functions[block], BLOCK_SIGNATURE, "block")
            if array == "held_table":
                self.blocks.append(self.blocks[block])
        for place, rate in held.rates:
            self._address("held_ints", place, rate, BLOCK_SIGNATURE, "block")
        self._address("held_table", 3 * (len(held.table) - 1), sliding_field, BLOCK_SIGNATURE, "block")
        self.blocks.append("what holds witnesses whose events do not end")

    def _takes_accuracies(self, integrator: Integrator) -> bool:
        """Whether `lowered_accuracy` makes the arrays those of an integrator with another accuracy."""
        accuracy = 0.37 * integrator.accuracy
        other = integrator.with_accuracy(accuracy)
        method = prepared(other, self.system)
        tables = Tables(self.system, method, self.state.accuracy, self.policy, exported=True)
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        for place, function, _ in method.functions:
            if place == place_in(Plan, "method.tune"):
                arrays["program"][place] = plain_address(function)
        set_accuracy(Run(**arrays), accuracy)
        return bool(
            np.array_equal(arrays["settings"], method.settings, equal_nan=True)
            and np.array_equal(arrays["coefficients"], tables.coefficients, equal_nan=True)
            and np.array_equal(arrays["slots"], tables.slots)
        )

    def _address(self, array: str, place: int, function: Any, signature: str, kind: str) -> None:
        assert isinstance(function, types.FunctionType)
        name = self._names.get(id(function))
        if name is None:
            plain = re.sub(r"\W+", "_", function.__name__)
            name = self._names[id(function)] = f"{kind}_{len(self._names)}_{plain}"
            self.functions[name] = (function, signature)
        self.addresses.append((array, place, name))


def _integrator(integrator: Any, accuracy: float | None, options: dict[str, Any]) -> Integrator:
    if isinstance(integrator, str):
        from cosim import registry

        integrator = registry().get("integrator", integrator)
    if isinstance(integrator, type):
        if accuracy is not None:
            options = {"accuracy": accuracy, **options}
        built: Integrator = integrator(**options)
        return built
    assert isinstance(integrator, Integrator)
    return integrator
