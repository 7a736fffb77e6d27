"""The tables of a run: its plan, its records, and the sizes of its arrays."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.component.witness_decorator import WitnessOptions
from cosim.contracts.constraints import has_corrections
from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import SMOOTH_UNTIL, slots_named
from cosim.errors import Problem
from cosim.last_result_cache import reuse_last
from cosim.preparation.event_entries import EventEntries
from cosim.preparation.handler_tables import write_handlers
from cosim.preparation.held_tables import HeldTables
from cosim.preparation.memory_tables import list_notices, write_checked_rows, write_memories, write_updates
from cosim.preparation.method import Method
from cosim.preparation.reach import NO_REACH, Reach, reach_of
from cosim.preparation.run_layout import RunLayout
from cosim.preparation.witness_entry import show_states
from cosim.run_data.records.clock import Pace, Transient
from cosim.run_data.records.evaluation import Node
from cosim.run_data.records.handlers import IN_Y
from cosim.run_data.records.holds import Hold, Holds, Switch
from cosim.run_data.records.witnesses import Level, Probe, Window, Witness, WitnessKind
from cosim.stage import Stage
from cosim.step import event_log
from cosim.step.search_points import numbers_of_points
from cosim.system.auto_updates import BREAK_ORDER
from cosim.system.block_row import columns_of
from cosim.system.system import System
from cosim_compiler.record import place_in, width_of, words_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

POLICIES = ("hold", "report", "stop")
COPIES = ("backup", "working", "written", "starting", "failed")
"""Copies of the variables in `Run`."""
REALS_OF_WITNESSES = (
    "values_before",
    "rates_before",
    "rates_now",
    "start_values",
    "stop_values",
    "window_values",
    "present_values",
    "located_before",
    "located_after",
    "roundings",
    "least_distances",
)
INTEGERS_OF_WITNESSES = (
    "crossed_at_trial",
    "has_fired",
    "was_handled",
    "has_crossed",
    "was_set",
    "reported_witnesses",
)
LOG_LENGTH = 32768  # numbers: so many are recorded before Python takes them


class Tables:
    """The tables of a system and an integrator that is prepared for it.

    Parameters
    ----------
    system : System
    method : Method
        The integrator, prepared for the system.
    accuracy : float or None
        Of the State.
    policy : str
        About witnesses whose events do not end.
    exported : bool
        For machine code without Python: no partial evaluations, and the accuracy may be given later.

    Attributes
    ----------
    events : EventEntries
        What the system declares about events.
    program, indices, places, probe : ndarray of int64
    numbers, times, scratch : ndarray
    watched : ndarray of int64, shape (blocks, 3)
        Rows of the system's table that are walked by themselves: for witnesses, and for histories between the
        ends of steps.
    watched_blocks, watched_rows : list of int
        Which blocks of the system are those for witnesses, and all.
    indicators : dict of str to (int, int)
        Where a witness of this path lies in the cache, and its level in `times`.
    held : HeldTables or None
        Where witnesses may be held.
    coefficients, slots : ndarray
        Of the method; behind them those that it has while witnesses are held, where they differ.
    memory, work : int
        Lengths that are enough for both.
    refusals : list of Problem
    """

    def __init__(
        self,
        system: System,
        method: Method,
        accuracy: float | None,
        policy: str,
        exported: bool = False,
    ) -> None:
        self.system, self.events = system, EventEntries(system)
        self.handlers = [entry.path for entry in self.events.entries]
        self.witnesses = [witness.path for witness in self.events.witnesses]
        self.refusals: list[Problem] = []
        self._layout = layout = RunLayout(accuracy)
        self.plan = layout.plan
        self._write_schedule(method)
        if exported and method.functions:
            self._write_tolerances(method.integrator)
        self._results = write_handlers(system, self.events, layout)
        self._write_witnesses(accuracy, method, policy)
        self._write_memories(bool(method.functions))
        self.held = self._held_tables(method, policy)
        self._write_methods(method)
        self.reach = self._write_reach(exported)
        first, last = system.block_range(Stage.TIME, Stage.ACCELERATION)
        self.rows_of_evaluation = int(columns_of(system.table[first:last]).components.sum())
        self._reserve_reals()
        self._reserve_integers()
        self._make_arrays()

    def _make_arrays(self) -> None:
        """Make the arrays, as long as their parts together need."""
        layout = self._layout
        self.program = layout.program()
        self.numbers: Reals = np.array(layout.numbers)
        self.indices: Integers = np.zeros(layout.length_of_array("indices"), dtype=np.int64)
        self.times: Reals = np.zeros(layout.length_of_array("times"))
        self.scratch: Reals = np.zeros(max(1, layout.length_of_array("scratch")))
        self.places: Integers = np.zeros(layout.length_of_array("places"), dtype=np.int64)
        changes = sum(
            event_log.CHANGE_WIDTH + 2 * array.size
            for name, array in self.system.start_arrays().items()
            if name in "ypdk"
        )
        self.log_length = max(LOG_LENGTH, 4 * (event_log.EVENT_WIDTH + changes) * event_log.CHANGE_WIDTH)

    def _write_schedule(self, method: Method) -> None:
        """Write which rows of the schedule the Step walks, and what it needs of the method."""
        system, plan = self.system, self.plan
        plan.derivatives.first, plan.derivatives.last = system.derivative_range
        plan.first_row = system.block_range(Stage.INSTANCE, Stage.INSTANCE)[0]
        plan.report_end = system.block_range(Stage.REPORT, Stage.REPORT)[1]
        plan.nq, plan.nu = system.nq, system.nu
        plan.order = method.integrator.order
        plan.restarts_cheaply = int(method.integrator.capabilities.restarts_cheaply)
        plan.points_inside = method.integrator.capabilities.points_inside
        plan.side = system.side
        self._layout.add_table("kinks", slots_named(system, SMOOTH_UNTIL))
        self._layout.add_table("breaks", slots_named(system, BREAK_ORDER))

    def _write_tolerances(self, integrator: Integrator) -> None:
        """List the tolerances that follow the accuracy: they differ at half of it."""
        at_half_accuracy = integrator.with_accuracy(0.5 * integrator.accuracy)
        pairs = zip(integrator.tolerances(self.system), at_half_accuracy.tolerances(self.system), strict=True)
        for name, (at_accuracy, at_half) in zip(("relative", "absolute"), pairs, strict=True):
            self._layout.add_table(name, np.flatnonzero(at_accuracy != at_half))

    @property
    def reset_states(self) -> frozenset[int]:
        """The indices in y of the states that handlers may set."""
        return frozenset(
            result.offset + i
            for results in self._results.values()
            for result in results
            if result.array == IN_Y
            for i in range(result.size)
        )

    def _write_witnesses(self, accuracy: float | None, method: Method, policy: str) -> None:
        """Write what witnesses are, where their memory lies, and the blocks that compute them."""
        layout, witnesses = self._layout, self.events.witnesses
        kinds = [WitnessKind(*(int(getattr(w, name)) for name in WitnessKind.declared)) for w in witnesses]
        layout.enter("witness_options", len(layout.numbers), len(witnesses))
        layout.numbers += [
            getattr(w.kernel.witness_options, option) for w in witnesses for option in WitnessOptions.declared
        ]
        layout.add_records("witness_kinds", kinds)
        self.plan.policy = POLICIES.index(policy)
        begin = layout.reserve("witnesses", "times", len(witnesses), Witness)
        level = begin + place_in(Witness, "level")
        self.indicators = {
            witness.path: (witness.offset, level + width_of(Witness) * i)
            for i, witness in enumerate(witnesses)
        }
        layout.reserve("probes", "probe", len(witnesses), Probe)
        offsets = [w.offset for w in witnesses] + [w.rate for w in witnesses if w.rate >= 0]
        self.watched_blocks = self.system.needed_blocks(offsets) if witnesses else []
        layout.add_table("watched_blocks", self.watched_blocks)
        self.plan.show_states = int(show_states(witnesses))
        probes = [Probe(w.offset, w.rate, w.direction) for w in witnesses]
        words = [number for probe in probes for number in words_of(probe)]
        self.probe: Integers = np.array(words or [0], dtype=np.int64)
        if witnesses and accuracy is None and method.integrator.fixed_step is None:
            self.refusals.append(
                Problem(witnesses[0].path, "events cannot be located without an accuracy: give one.")
            )

    def _write_memories(self, has_functions: bool) -> None:
        """Write what is remembered, and the rows that check histories between the ends of steps."""
        system, layout = self.system, self._layout
        write_updates(system, layout)
        checked = write_checked_rows(system, layout, len(self.watched_blocks))
        self.watched_rows = [*self.watched_blocks, *checked]
        self.watched: Integers = np.zeros((1, 3), dtype=np.int64)
        if self.watched_rows:
            self.watched = np.ascontiguousarray(system.table[self.watched_rows])
        notices = list_notices(system)
        self.notices = [(notice.path, notice.text) for notice in notices]
        write_memories(system, layout, notices, has_functions and not self.witnesses)

    def _held_tables(self, method: Method, policy: str) -> HeldTables | None:
        """Rooms for held witnesses, where some may be held."""
        plan, layout, witnesses = self.plan, self._layout, self.events.witnesses
        plan.cache_size = self.system.new_cache().size
        updating = [e for e in self.events.entries if e.handler.witness and e.handler.does != "publish"]
        held = None
        if updating:
            switchable = [0] * len(witnesses)
            for entry in updating:
                listed = (result for result in self._results[entry.number] if result.array != IN_Y)
                switchable[entry.flag] += sum(result.size for result in listed)
            pushed = (e.flag for e in updating if any(r.array == IN_Y for r in self._results[e.number]))
            held = HeldTables(self.system, method, witnesses, max(switchable), frozenset(pushed))
            if policy == "hold":
                plan.held.first, plan.held.last = len(self.system.table), len(held.table)
            plan.held_row, plan.switchable = held.row, max(switchable)
        count = 0 if held is None else len(witnesses)
        layout.reserve("holds", "times", int(held is not None), Holds)
        layout.reserve("held_order", "times", count)
        layout.reserve("witness_holds", "times", count, Hold)
        layout.reserve("hold_pushes", "times", self.system.ny * count)
        layout.reserve("hold_switches", "times", plan.switchable * count, Switch)
        return held

    def _write_methods(self, method: Method) -> None:
        """The numbers of the method, and those that it has while witnesses are held."""
        plan, ny = self.plan, self.system.ny
        held_method = method if self.held is None else self.held.method
        self.coefficients, self.slots = method.coefficients, method.slots
        sizes = plan.sizes
        sizes.coefficients, sizes.slots = self.coefficients.size, self.slots.size
        if not np.array_equal(self.coefficients, held_method.coefficients, equal_nan=True):
            sizes.held_coefficients = self.coefficients.size
            self.coefficients = np.concatenate([self.coefficients, held_method.coefficients])
        if not np.array_equal(self.slots, held_method.slots):
            sizes.held_slots = self.slots.size
            self.slots = np.concatenate([self.slots, held_method.slots])
        sizes.memory, sizes.held_memory = method.memory, held_method.memory
        self.memory = max(method.memory, held_method.memory)
        self.work = max(method.work.size, held_method.work.size)
        watching = (
            plan.handled_in_steps,
            plan.has_schedule,
            *map(self._layout.length_of, ("witnesses", "kinks", "breaks", "notices")),
        )
        free = not any(watching) and not has_corrections(self.system.corrections)
        plan.integrates_only = int(free and ny > 0 and not self.system.has_updates)

    def _write_reach(self, exported: bool) -> Integers:
        """Write which rows follow which variables, for handlers and updates; exports have no such table."""
        causes = {entry.handler.cause for entry in self.events.entries} - {EventCause.INITIALIZATION}
        recurs = bool(causes) or bool(self.system.swaps)
        reach: Reach = reach_of(self.system) if recurs and not exported else NO_REACH
        self._layout.reserve("nodes", "reach", len(reach.nodes), Node)
        pieces = [np.zeros(0, dtype=np.int64), reach.nodes.reshape(-1)]
        for name in ("reader_starts", "readers", "follower_starts", "followers"):
            numbers = getattr(reach, name)
            self._layout.reserve(name, "reach", numbers.size)
            pieces.append(numbers)
        for name in ("marks", "stack"):
            self._layout.reserve(name, "places", len(reach.nodes))
        numbers_of_reach: Integers = np.concatenate(pieces)
        return numbers_of_reach if numbers_of_reach.size else np.zeros(1, dtype=np.int64)

    def _reserve_reals(self) -> None:
        """Reserve room for reals in `scratch`."""
        layout, plan, held, ny = self._layout, self.plan, self.held, self.system.ny
        arrays = self.system.start_arrays()
        variables = sum(arrays[name].size for name in "ypd")
        cache = plan.cache_size + (0 if held is None else held.numbers)
        witnesses = len(self.witnesses)
        candidates = 0 if held is None else witnesses
        for name, size in (
            ("spare_states", 2 * ny),
            ("start_derivatives", ny),
            ("start_memory", self.memory),
            ("arrived_states", ny),
            *((f"{saved}_numbers", variables) for saved in COPIES),
            ("failed_cache", plan.cache_size),
            ("kept_swaps", layout.length_of("swaps")),
            ("timer_values", len(self.handlers)),
            ("probed_states", ny),
            ("probed_cache", cache),
            ("inner_caches", cache * plan.points_inside if plan.remembers else 0),
            ("searched_work", self.work if witnesses else 0),
            ("point_numbers", numbers_of_points(witnesses)),
            ("twin_cache", 0 if held is None else cache),
            ("candidate_pushes", ny * candidates),
            *((name, witnesses) for name in REALS_OF_WITNESSES),
        ):
            layout.reserve(name, "scratch", size)
        for name, count, record in (
            ("transient", 1, Transient),
            ("pace", 1, Pace),
            ("located", 1, Window),
            ("search_window", 1, Window),
            ("levels", witnesses, Level),
            ("candidate_switches", plan.switchable * candidates, Switch),
        ):
            layout.reserve(name, "scratch", count, record)

    def _reserve_integers(self) -> None:
        """Reserve room for integers in `places`."""
        layout, handlers, witnesses = self._layout, len(self.handlers), len(self.witnesses)
        arrays = self.system.start_arrays()
        shared = sum(arrays[name].size for name in "ypdk") * self.plan.shares_variables
        histories = layout.length_of("rings")
        for name, size in (
            *((f"{saved}_integers", arrays["k"].size) for saved in COPIES),
            ("due", handlers),
            ("waiting", handlers),
            ("reported_writers", handlers),
            *((name, witnesses) for name in INTEGERS_OF_WITNESSES),
            ("switched_counts", 0 if self.held is None else witnesses),
            ("reported_notices", len(self.notices)),
            ("history_flags", histories),
            ("reported_histories", histories),
            ("writers", shared),
            ("python_writers", shared),
        ):
            layout.reserve(name, "places", size)


def tables_of(system: System, method: Method, accuracy: float | None, policy: str) -> Tables:
    """The tables of a system; where the last ones fit, a copy that shares all but what a run writes."""
    integrator = method.integrator
    key = (
        *(type(integrator), integrator.order, integrator.capabilities, integrator.fixed_step is None),
        *(bool(method.functions), method.memory, method.work.size, accuracy, policy),
        *(method.coefficients.tobytes(), method.slots.tobytes()),
    )
    twin = copy.copy(reuse_last(system, "_tables", key, lambda: Tables(system, method, accuracy, policy)))
    for name in ("indices", "places", "probe", "numbers", "coefficients"):
        setattr(twin, name, getattr(twin, name).copy())
    return twin
