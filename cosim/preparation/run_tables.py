"""What a run of a system begins with: its plan, its tables, room for what it needs."""

from __future__ import annotations

import copy
import inspect
import math
from array import array
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.component.kernel_function import KINDS
from cosim.contracts.constraints import END_OF_CORRECTIONS, NORMALIZE
from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import SMOOTH_UNTIL, slots_named
from cosim.errors import Problem
from cosim.last_made import last_made
from cosim.preparation.event_entries import Entry, EventEntries
from cosim.preparation.held_tables import HeldTables
from cosim.preparation.method import Method
from cosim.preparation.reach import NO_REACH, reach_of
from cosim.run_data.records import (
    IN_NUMBERS,
    IN_Y,
    LISTED,
    ON_ALL,
    ON_MOTION,
    ON_REPORTS,
    PERIODIC,
    TIMED,
    WRITES_ALWAYS,
    WRITES_AT_TIMES,
    WRITES_SUMS,
    Agenda,
    Clock,
    GivenTime,
    Grid,
    Handler,
    Hold,
    Holds,
    Level,
    Node,
    Pace,
    Passing,
    PastRow,
    PlacesHeader,
    Plan,
    Probe,
    Result,
    SetState,
    Smoothness,
    Switch,
    Timing,
    Window,
    Witness,
    WitnessKind,
    WitnessOptions,
)
from cosim.run_data.run import Run
from cosim.run_data.run_parts import DIRECTORY
from cosim.stage import Stage
from cosim.step import event_log
from cosim.step.histories import ROOM_FOR_REFINEMENT, ROOM_FOR_STEP
from cosim.step.search_points import numbers_of_points
from cosim.system.blocks import Slot
from cosim.system.list_variables import is_listed
from cosim.system.system import BREAK_ORDER, System
from cosim.system.timers import exact_time
from cosim_compiler.record import place_in, width_of, words_of
from cosim_compiler.sources.kernel_effects import always_assigned, effects_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

POLICIES = ("hold", "report", "stop")
ARRAYS_OF_VARIABLES = "ypdkc"
COPIES = ("backup", "working", "written", "starting", "failed")
OF_WITNESSES = (
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
    program, indices, places, probe : ndarray of int64
    numbers, times, scratch : ndarray
    watched : ndarray of int64, shape (blocks, 3)
        Rows of the system's table that are walked by themselves: for witnesses, and for histories between the
        ends of steps.
    watched_blocks, watched_rows : list of int
        Which blocks of the system are those for witnesses, and all.
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
        self.system, self.agenda_of = system, EventEntries(system)
        self.handlers = [entry.path for entry in self.agenda_of.entries]
        self.witnesses = [witness.path for witness in self.agenda_of.witnesses]
        self.indicators: dict[str, tuple[int, int]] = {}
        self.refusals: list[Problem] = []
        self.plan = Plan()
        self._integers = array("q", bytes(8 * (DIRECTORY + 2 * len(Run.PARTS))))
        self._numbers = [math.nan if accuracy is None else accuracy, 0.0]  # `Options`
        self._nexts: dict[int, list[Result]] = {}
        self._room = {
            "scratch": 0,
            "places": width_of(PlacesHeader),
            "times": width_of(Clock),
            "indices": width_of(Agenda),
            "reach": 0,
            "probe": 0,
        }
        self.watched_blocks: list[int] = []
        self.watched_rows: list[int] = []
        self.watched: Integers = np.zeros((1, 3), dtype=np.int64)
        self.probe: Integers = np.zeros(1, dtype=np.int64)
        self._schedule(method)
        if exported and method.functions:
            self._accuracy(method.integrator)
        self._handlers()
        self._witnesses(accuracy, method, policy)
        self._memories(bool(method.functions))
        if self.watched_rows:
            self.watched = np.ascontiguousarray(system.table[self.watched_rows])
        self.held = self._holds(method, policy)
        self._methods(method)
        recurs = any(e.handler.cause is not EventCause.INITIALIZATION for e in self.agenda_of.entries)
        recurs = recurs or bool(system._swaps)
        self.reach: Integers = self._reach(reach_of(system) if not exported and recurs else NO_REACH)
        self.rows_of_evaluation = sum(
            int(system.table[i, 2]) for i in range(*system.block_range(Stage.TIME, Stage.ACCELERATION))
        )
        self._rooms(self.work)
        self._integers[: width_of(Plan)] = array("q", words_of(self.plan))
        self.program: Integers = np.array(self._integers, dtype=np.int64)
        self.numbers: Reals = np.array(self._numbers)
        self.indices: Integers = np.zeros(self._room["indices"], dtype=np.int64)
        self.times: Reals = np.zeros(self._room["times"])
        self.scratch: Reals = np.zeros(max(1, self._room["scratch"]))
        self.places: Integers = np.zeros(self._room["places"], dtype=np.int64)

    def _schedule(self, method: Method) -> None:
        system, plan = self.system, self.plan
        plan.derivatives.first, plan.derivatives.last = system.derivative_range
        plan.first_row = system.block_range(Stage.INSTANCE, Stage.INSTANCE)[0]
        plan.report_end = system.block_range(Stage.REPORT, Stage.REPORT)[1]
        plan.nq, plan.nu = system.nq, system.nu
        plan.order = method.integrator.order
        plan.restarts_cheaply = int(method.integrator.capabilities.restarts_cheaply)
        plan.points_inside = method.integrator.capabilities.points_inside
        plan.side = system.side
        self._table("kinks", slots_named(system, SMOOTH_UNTIL))
        self._table("breaks", slots_named(system, BREAK_ORDER))

    def _accuracy(self, integrator: Integrator) -> None:
        """List the tolerances that follow the accuracy: they differ at half of it."""
        at_half_accuracy = integrator.with_accuracy(0.5 * integrator.accuracy)
        pairs = zip(integrator.tolerances(self.system), at_half_accuracy.tolerances(self.system), strict=True)
        for name, (at_accuracy, at_half) in zip(("relative", "absolute"), pairs, strict=True):
            self._table(name, np.flatnonzero(at_accuracy != at_half))

    def _handlers(self) -> None:
        system, entries = self.system, self.agenda_of.entries
        rows = [self._entry(entry) for entry in entries]
        # periods and offsets, and what a handler may change, stand behind all rows
        place = len(self._integers) + width_of(Handler) * len(rows)
        listed: list[int] = []
        for row, entry in zip(rows, entries, strict=True):
            if row.schedule == PERIODIC:
                for name in ("period", "offset"):
                    setattr(row, name, place + len(listed))
                    listed += words_of(self._time(entry, getattr(entry.handler, name)))
        for row, entry in zip(rows, entries, strict=True):
            results = self._nexts[entry.number] = self._next(entry)
            row.results, row.results_at = len(results), place + len(listed)
            listed += [number for result in results for number in words_of(result)]
            set_here = self._set_by(entry)
            row.sets, row.sets_at = len(set_here), place + len(listed)
            listed += [number for link in set_here for number in words_of(link)]
        self._table("handlers", [words_of(row) for row in rows])
        self._integers.extend(listed)
        self._table("signals", self.agenda_of.signals)
        plan = self.plan
        plan.handled_in_steps = len(self.agenda_of.in_steps) + len(self.agenda_of.signals)
        plan.shares_variables = int(self._shares())
        plan.kinds = sum(1 << kind for kind in {row.kind for row in rows})
        plan.has_schedule = len(self.agenda_of.scheduled)
        plan.has_timers = sum(row.schedule == TIMED for row in rows)
        plan.has_grids = sum(row.follows for row in rows)
        for name in "dk":
            size = len(system.assembly.start[name]) or 1
            stages = [int(system.stage_invalidated(Slot(name, i, 1))) for i in range(size)]
            self._table(f"stages_of_{name}", stages)
        self._room_for("next_index", "indices", len(rows))
        self._room_for("grids", "indices", len(rows), Grid)
        self._room_for("timings", "times", len(rows), Timing)

    def _entry(self, entry: Entry) -> Handler:
        handler, row = entry.handler, Handler(number=entry.number)
        row.cause, row.kind = int(handler.cause), 1 + KINDS.index(handler.does)
        row.block, row.flag = entry.block, entry.flag
        row.is_private = int(entry.is_private)
        slots = self.system.assembly.layout.slots
        status = slots[entry.part].get(handler.name)
        row.status = -1 if status is None else status.offset
        stage = self.system.handler_stage.get((entry.part, handler.name), Stage.ACCELERATION)
        row.needs_report = int(stage > Stage.ACCELERATION)
        if handler.cause is not EventCause.SCHEDULED:
            return row
        if handler.timer:
            row.schedule = TIMED
        elif handler.times:
            row.schedule = LISTED
            row.times, row.times_at = len(handler.times), len(self._numbers)
            self._numbers += handler.times
        else:
            row.schedule = PERIODIC
            row.follows = int(isinstance(handler.period, str) or isinstance(handler.offset, str))
        return row

    def _time(self, entry: Entry, duration: Fraction | str) -> GivenTime:
        """A period or an offset: where it stands, and the rational number that was given."""
        exact = exact_time(self.system.parts[entry.part], duration)
        self._numbers.append(math.nan if exact is None else float(exact))
        at = len(self._numbers) - 1
        where = IN_NUMBERS, at
        if isinstance(duration, str):
            slot = self.system.signal(f"{entry.part}.{duration}").slot
            where = ARRAYS_OF_VARIABLES.index(slot.array), slot.offset
        whole, remainder = divmod(exact or Fraction(0), 1)
        return GivenTime(*where, at, whole, remainder.numerator, remainder.denominator)

    def _next(self, entry: Entry) -> list[Result]:
        """Which variables a handler may change, and where in the cache it leaves them."""
        if entry.handler.function.is_python:
            return self._all_variables() if takes_next_state(entry) else []
        slots, results = self.system.assembly.layout.slots[entry.part], []
        declarations = self.system.parts[entry.part].declarations
        for argument in self.system.parts[entry.part].arguments[entry.handler.name]:
            if argument.role == "next":
                target, source = slots[argument.name], slots[argument.of]
                cells = [target.offset, "ypdk".index(source.array), source.offset, target.size]
                way = way_of_writing(entry.handler.function.function, argument.name, target.size)
                results.append(Result(*cells, int(is_listed(declarations[argument.of])), way))
        return results

    def _shares(self) -> bool:
        """Whether two handlers that may run at one instant, of one kind and cause, may write one variable."""
        variables_of: dict[tuple[Any, str], list[set[tuple[int, int]]]] = {}
        for entry in self.agenda_of.entries:
            if entry.handler.does == "publish" or entry.is_private or not self._nexts[entry.number]:
                continue
            variables = {
                (result.array, result.offset + i)
                for result in self._nexts[entry.number]
                for i in range(result.size)
            }
            variables_of_others = variables_of.setdefault((entry.handler.cause, entry.handler.does), [])
            if any(variables & other for other in variables_of_others):
                return True
            variables_of_others.append(variables)
        return False

    def _set_by(self, entry: Entry) -> list[SetState]:
        """Witnesses that depend on states that a kernel function has among its results, and these states."""
        if entry.handler.function.is_python:
            return []
        return [
            SetState(number, result.at + i, result.offset + i)
            for result in self._nexts[entry.number]
            for i in range(result.size if result.array == IN_Y else 0)
            for number, witness in enumerate(self.agenda_of.witnesses)
            if ("y", result.offset + i) in witness.sources
        ]

    @property
    def reset_states(self) -> frozenset[int]:
        """Where in y the states lie that handlers may set."""
        return frozenset(
            result.offset + i
            for results in self._nexts.values()
            for result in results
            if result.array == IN_Y
            for i in range(result.size)
        )

    def _all_variables(self) -> list[Result]:
        """What a Python method may change: every variable."""
        layout_of, results = self.system.assembly.layout, []
        sizes = {name: array.size for name, array in self.system.start_arrays().items()}
        for number, name in enumerate("ypdk"):
            slots = sorted(
                (s.offset, s.size)
                for part_slots in layout_of.slots.values()
                for s in part_slots.values()
                if s.array == name and s.size
            )
            end = 0
            for at, size in [*slots, (sizes[name], 0)]:
                if at > end:  # what has no name
                    results.append(Result(0, number, end, at - end, 1, WRITES_AT_TIMES))
                if at + size > max(at, end):
                    results.append(Result(0, number, at, size, 1, WRITES_AT_TIMES))
                end = max(end, at + size)
        return results

    def _witnesses(self, accuracy: float | None, method: Method, policy: str) -> None:
        system, witnesses = self.system, self.agenda_of.witnesses
        kinds = [WitnessKind(*(int(getattr(w, name)) for name in WitnessKind.declared)) for w in witnesses]
        self._enter("witness_options", len(self._numbers), len(witnesses))
        self._numbers += [
            float(getattr(w.kernel, option)) for w in witnesses for option in WitnessOptions.declared
        ]
        self._table("witness_kinds", [words_of(kind) for kind in kinds])
        self.plan.policy = POLICIES.index(policy)
        begin = self._room_for("witnesses", "times", len(witnesses), Witness)
        level = begin + place_in(Witness, "level")
        self.indicators = {
            witness.path: (witness.offset, level + width_of(Witness) * i)
            for i, witness in enumerate(witnesses)
        }
        self._room_for("probes", "probe", len(witnesses), Probe)
        if not witnesses:
            self._table("watched_blocks", [])
            return
        if accuracy is None and method.integrator.fixed_step is None:
            self.refusals.append(
                Problem(witnesses[0].path, "events cannot be located without an accuracy: give one.")
            )
        offsets = [w.offset for w in witnesses] + [w.rate for w in witnesses if w.rate >= 0]
        self.watched_blocks = system.needed_blocks(offsets)
        self._table("watched_blocks", self.watched_blocks)
        self.watched_rows += self.watched_blocks
        probes = [Probe(w.offset, w.rate, w.direction) for w in witnesses]
        self.probe = np.array([words_of(probe) for probe in probes], dtype=np.int64).reshape(-1)

    def _memories(self, has_functions: bool) -> None:
        system, plan = self.system, self.plan
        for rows, name in (
            (plan.end_updates, "end"),
            (plan.inside_updates, "inside"),
            (plan.between_updates, "between"),
        ):
            rows.first, rows.last = system.update_ranges[name]
        plan.remembers = int(system.has_updates)
        first, last = system.update_ranges["between"]
        read = [slot for block in system.blocks[first:last] for slot in block.reads if slot.array == "c"]
        values = [slot for slot in read if slot not in system.assembly.remembered_rates]
        values += [slot for slots in system.assembly.remembered.values() for slot in slots if slot in read]
        all_of, first_of = (
            system.needed_blocks({offset for slot in slots for offset in slot.elements})
            for slots in (read, values)
        )
        if first < last:
            # what is walked for a look at the values, and with their derivatives: the same rows once more
            updates = list(range(first, last))
            looked, refined = [*first_of, *updates], [*all_of, *updates]
            plan.first_looked, plan.looked_rows = len(self.watched_rows), len(looked)
            self._table("looks", [*looked, *refined])
            self.watched_rows += [*looked, *refined]
        plan.room = ROOM_FOR_STEP + (ROOM_FOR_REFINEMENT if first < last else 0)
        sources = [Smoothness(offset, int(once)) for offset, once in system._smoothness]
        self._table("smoothness", [words_of(source) for source in sources])
        swaps = [
            np.column_stack([updates, np.full_like(updates, "ypdk".index(name)), variables, _depends(stages)])
            for name, updates, variables, stages in system._swaps
        ]
        self._table("swaps", np.concatenate(swaps) if swaps else [])
        self._table("rings", [ring.offset for ring in system.rings])
        declared = [
            (f"{name}.{d.name}", str(d.options["notice"]), system.assembly.layout.slots[name][d.name].offset)
            for name, part in system.parts.items()
            for d in part.declarations.values()
            if d.kind == "cache" and d.options.get("notice")
        ]
        self.notices = [(path, text) for path, text, _ in declared]
        notices = [offset for _, _, offset in declared]
        self._table("notices", notices)
        looked_at = {*slots_named(system, SMOOTH_UNTIL), *slots_named(system, BREAK_ORDER), *notices}
        may_wait = has_functions and not self.witnesses
        past, past_results = past_rows(system, looked_at if may_wait else None)
        self._table("past", [words_of(row) for row in past])
        self._table("past_results", past_results)
        self._room_for("past_results_before", "scratch", len(past_results))

    def _holds(self, method: Method, policy: str) -> HeldTables | None:
        """Rooms for held witnesses, where some may be held."""
        plan, witnesses = self.plan, self.agenda_of.witnesses
        plan.cache_size = self.system.new_cache().size
        updating = [e for e in self.agenda_of.entries if e.handler.witness and e.handler.does != "publish"]
        held = None
        if updating:
            switchable = [0] * len(witnesses)
            for entry in updating:
                listed = (result for result in self._nexts[entry.number] if result.array != IN_Y)
                switchable[entry.flag] += sum(result.size for result in listed)
            held = HeldTables(self.system, method, witnesses, max(switchable))
            if policy == "hold":
                plan.held.first, plan.held.last = len(self.system.table), len(held.table)
            plan.held_row, plan.switchable = held.row, max(switchable)
        count = 0 if held is None else len(witnesses)
        self._room_for("holds", "times", int(held is not None), Holds)
        self._room_for("held_order", "times", count)
        self._room_for("witness_holds", "times", count, Hold)
        self._room_for("hold_pushes", "times", self.system.ny * count)
        self._room_for("hold_switches", "times", plan.switchable * count, Switch)
        return held

    def _methods(self, method: Method) -> None:
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
            *map(self._length, ("witnesses", "kinks", "breaks", "notices")),
        )
        free = not any(watching) and self.slots[NORMALIZE] == self.slots[END_OF_CORRECTIONS]
        plan.integrates_only = int(free and ny > 0 and not self.system.has_updates)

    def _reach(self, reach: Any) -> Integers:
        pieces = [np.zeros(0, dtype=np.int64)]
        self._room_for("nodes", "reach", len(reach.nodes), Node)
        pieces.append(reach.nodes.reshape(-1))
        for name in ("reader_starts", "readers", "follower_starts", "followers"):
            numbers = getattr(reach, name)
            self._room_for(name, "reach", numbers.size)
            pieces.append(numbers)
        for name in ("marks", "stack"):
            self._room_for(name, "places", len(reach.nodes))
        numbers_of_reach: Integers = np.concatenate(pieces)
        return numbers_of_reach if numbers_of_reach.size else np.zeros(1, dtype=np.int64)

    def _rooms(self, work: int) -> None:
        system, witnesses, handlers = self.system, len(self.witnesses), len(self.handlers)
        arrays = system.start_arrays()
        reals = sum(arrays[name].size for name in "ypd")
        plain, integers = self.plan.cache_size, arrays["k"].size
        held = self.held
        cache = plain + (0 if held is None else held.numbers)
        candidates = 0 if held is None else witnesses
        shared = (reals + integers) * self.plan.shares_variables
        for name, size in (
            ("spare_states", 2 * system.ny),
            ("start_derivatives", system.ny),
            ("start_memory", self.memory),
            ("arrived_states", system.ny),
            *((f"{saved}_numbers", reals) for saved in COPIES),
            ("failed_cache", plain),
            ("kept_swaps", self._length("swaps")),
            ("timer_values", handlers),
            ("probed_states", system.ny),
            ("probed_cache", cache),
            ("inner_caches", cache * self.plan.points_inside if self.plan.remembers else 0),
            ("searched_work", work if witnesses else 0),
            ("point_numbers", numbers_of_points(witnesses)),
            ("twin_cache", 0 if held is None else cache),
            ("candidate_pushes", system.ny * candidates),
            *((name, witnesses) for name in OF_WITNESSES),
        ):
            self._room_for(name, "scratch", size)
        for name, kind in (
            ("passing", Passing),
            ("pace", Pace),
            ("located", Window),
            ("search_window", Window),
        ):
            self._room_for(name, "scratch", 1, kind)
        self._room_for("levels", "scratch", witnesses, Level)
        self._room_for("candidate_switches", "scratch", self.plan.switchable * candidates, Switch)
        histories = self._length("rings")
        for name, size in (
            *((f"{saved}_integers", integers) for saved in COPIES),
            ("due", handlers),
            ("waiting", handlers),
            ("reported_writers", handlers),
            ("crossed_at_trial", witnesses),
            ("has_fired", witnesses),
            ("was_handled", witnesses),
            ("has_crossed", witnesses),
            ("was_set", witnesses),
            ("switched_counts", candidates),
            ("reported_witnesses", witnesses),
            ("reported_notices", len(self.notices)),
            ("history_flags", histories),
            ("reported_histories", histories),
            ("writers", shared),
            ("python_writers", shared),
        ):
            self._room_for(name, "places", size)
        most = event_log.EVENT_WIDTH + sum(
            event_log.CHANGE_WIDTH + 2 * array.size for name, array in arrays.items() if name in "ypdk"
        )
        self.log_length = max(LOG_LENGTH, 4 * most * event_log.CHANGE_WIDTH)

    def _length(self, name: str) -> int:
        """How long a part of the run is that has its place already."""
        return self._integers[Run.PARTS[name] + 1]

    def _enter(self, name: str, begin: int, length: int) -> None:
        """Write into the directory where a part of the run begins, and how long it is."""
        place = Run.PARTS[name]
        self._integers[place : place + 2] = array("q", [begin, length])

    def _table(self, name: str, rows: Any) -> None:
        """Write a part of `program` behind the others."""
        values = np.asarray(rows, dtype=np.int64)
        self._enter(name, len(self._integers), len(values))
        self._integers.frombytes(values.tobytes())

    def _room_for(self, name: str, array_name: str, count: int, kind: Any = None) -> int:
        """Reserve room in an array; where it begins."""
        begin = self._room[array_name]
        self._enter(name, begin, count)
        self._room[array_name] += count if kind is None else count * width_of(kind)
        return begin


def tables_of(system: System, method: Method, accuracy: float | None, policy: str) -> Tables:
    """The tables of a system; where the last ones fit, a copy that shares all but what a run writes."""
    integrator = method.integrator
    key = (
        *(type(integrator), integrator.order, integrator.capabilities, integrator.fixed_step is None),
        *(bool(method.functions), method.memory, method.work.size, accuracy, policy),
        *(method.coefficients.tobytes(), method.slots.tobytes()),
    )
    twin = copy.copy(last_made(system, "_tables", key, lambda: Tables(system, method, accuracy, policy)))
    for name in ("indices", "places", "probe", "numbers", "coefficients"):
        setattr(twin, name, getattr(twin, name).copy())
    return twin


def past_rows(system: System, looked_at: set[int] | None) -> tuple[list[PastRow], list[int]]:
    """Blocks of an evaluation that read histories, and where in the cache others read what they found.

    A block may wait: for the end of the next step, or until it is read. Those
    wait, and what follows them, that neither derivatives need nor the Step itself, which reads the places
    `looked_at` in the cache; none where that is None. Both lists are empty where a block that reads histories
    does more than write results of its own.
    """
    layout_of = system.assembly.layout
    rings = {slot.offset for slot in system.rings}
    first, last = system.derivative_range

    def regions(*slots: Slot) -> set[int]:
        return set(layout_of.regions_of(slots))

    blocks = {i: system.blocks[i] for i in range(first, last)}
    rows = [
        i
        for i, block in blocks.items()
        if any(s.array == "h" or (s.array == "k" and s.offset in rings) for s in block.reads)
    ]
    if not rows or any(blocks[i].adds or any(s.array != "c" for s in blocks[i].writes) for i in rows):
        return [], []
    waiting: list[int] = []
    if looked_at is not None:
        needed = {*system.inner_blocks, *system.needed_blocks(looked_at)}
        changed = {region for i in rows for region in regions(*blocks[i].writes)}
        for i, block in blocks.items():
            if i not in needed and (i in rows or regions(*block.reads) & changed):
                waiting.append(i)
                changed |= regions(*block.writes)
        if any(blocks[i].adds for i in waiting):
            waiting = []
    read: set[int] = set()
    for i, block in blocks.items():
        if i not in rows and i not in waiting:
            read |= regions(*block.reads, *block.adds)
    written = [s for i in rows for s in blocks[i].writes if s.size and layout_of.region_of(s.offset) in read]
    offsets = [offset for s in written for offset in range(s.offset, s.offset + s.size)]
    return [PastRow(i, int(i in waiting)) for i in sorted({*rows, *waiting})], offsets


def takes_next_state(entry: Entry) -> bool:
    """Whether a Python method asks for the variables that it may change."""
    return "next_state" in inspect.signature(entry.handler.function.function).parameters


def way_of_writing(function: Any, name: str, size: int) -> int:
    """How a kernel function writes a result: on each way, only adding, or on some ways or not known."""
    effects = effects_of(function)
    if name in effects.adds and name not in effects.writes:
        return WRITES_SUMS
    if size == 1 and name in always_assigned(function):
        return WRITES_ALWAYS
    return WRITES_AT_TIMES


def _depends(stages: Integers) -> Integers:
    """What depends on variables that invalidate these stages: all, the motion, or reports alone."""
    beyond = np.where(stages <= Stage.ACCELERATION, ON_MOTION, ON_REPORTS)
    return np.where(stages <= Stage.INSTANCE, ON_ALL, beyond)
