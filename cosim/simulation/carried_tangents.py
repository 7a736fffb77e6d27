"""How a run changes with its parameters and start values: tangents that go along its steps and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.history import ENTRY_WIDTH, RING, Ring
from cosim.contracts.constraints import ESTIMATES, NORMALIZE, settle_by_address
from cosim.contracts.method_kernels import SMOOTH_UNTIL
from cosim.contracts.method_layout import WORK_HEADER
from cosim.derivatives import carrier, tape_reader
from cosim.derivatives.carrier import CARRY_NOTES, Carrier, CarryNotes, CarryPlan
from cosim.derivatives.tape_reader import CARRY_SIGNATURE, RETAIN_SIGNATURE
from cosim.errors import ModelError, Problem
from cosim.run_data.records import LOG_TAPE
from cosim.simulation.event_record import Finding
from cosim.simulation.saved_tangents import pack, restore, saved_names
from cosim.stage import Stage
from cosim.step.sliding_field import sliding_field
from cosim.step.tape import STEP_WIDTH
from cosim.system.system import BREAK_ORDER
from cosim.system.system_tangents import function_tangent
from cosim.walker import (
    DENSE_SIGNATURE,
    REDO_SIGNATURE,
    TANGENT_DENSE_SIGNATURE,
    TANGENT_REDO_SIGNATURE,
    TANGENT_SIGNATURE,
)
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.array_groups import head_of
from cosim_compiler.convention import address_of
from cosim_compiler.derivatives.notes import NoTangentError
from cosim_compiler.record import rows_of, words_of

if TYPE_CHECKING:
    from cosim.contracts.method_kernels import MethodKernels
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
NO_DERIVATIVE = "no derivative"
CONSTANT = "table", "held_table", "held_ints", "numbers", "integers", "break_orders"
TAPE_LENGTH = 100_000
"""Numbers of the tape that are read at once, at least; and numbers of tangents."""
FIXED_IN_STEPS, FIXED_IN_DENSE = frozenset({11, 12}), frozenset({1})
"""The arguments of a method's functions that do not vary: its coefficients and settings."""
OF_HANDLERS = {
    carrier.GRAZES: "its witness touches zero and does not cross it: grazing",
    carrier.CHANGES_ORDER: "two events at one instant whose order changes: one-sided",
    carrier.IS_PYTHON: "a handler in plain Python",
    carrier.IS_CONDITION: "a condition says when, not how fast: make it a number",
    carrier.HAS_PERIOD: "its times follow from a parameter: not there yet",
}
OF_STATES = {
    carrier.JUMPS: "its derivative jumps where no event is: make a witness of it",
    carrier.JUMPS_MEET: "two jumps of its derivative meet at one instant and move apart: one-sided",
    carrier.WAS_CHANGED: "it was changed in a way that is not recorded",
}


class CarriedTangents:
    """Tangents that go along a run.

    Parameters
    ----------
    step : CompiledStep
        Of the run; of its system and its integrator.
    by : sequence of str
        Paths of parameters, start values, inputs and discrete variables, or of their elements.
    directions : int, optional
        How many there are, beside that of the flow; one for each path unless given.

    Raises
    ------
    ModelError
        Something in the system has no derivative along a run, or a path stands for nothing that varies.
    """

    _held_text = "a witness is held, by an implicit method or in a way that varies: that is not followed"

    def __init__(self, step: CompiledStep, by: Sequence[str], directions: int | None = None) -> None:
        self.by = list(by)
        self.units = {path: step.system.signal(path).units[0] for path in by}
        self.directions = len(self.by) if directions is None else directions
        self._step, self._system = step, step.system
        kernels = own_kernels(step)
        functions, problems = method_tangents(step, kernels)
        problems += self._faults_of_paths() + faults_of_system(self._system)
        if problems:
            raise ModelError(problems)
        own: list[tuple[Any, str]] = [
            (tape_reader.carry_by_address, CARRY_SIGNATURE),
            (tape_reader.retain_by_address, RETAIN_SIGNATURE),
        ]
        compile_ahead([*functions.values(), *own])
        self._carry, self._retain = (native.compile_function(*named) for named in own)
        self._work = np.zeros(0) if kernels is None else kernels.work.copy()
        self._slots = [self._system.written_slot(path) for path in by]
        directions, run = 1 + self.directions, step.arrays
        start = self._system.start_arrays()
        n, np_, nd, nk = (start[letter].size for letter in "ypdk")
        nc, memory, work = run.c.size, run.memory.size, run.work.size
        points = int(run.plan.points_inside) if self._system.rings else 0
        of_histories = [ring.offset + m for ring in self._system.rings for m in range(RING)]
        addresses = {name: native.function_address(*function) for name, function in functions.items()}
        self._follows_holds = self._goes_through_holds and int(run.plan.held.last) > 0
        holds = {"follows_holds": int(self._follows_holds)}
        plan = CarryPlan(**{"complete": 0, "directions": directions, **holds, **addresses})
        self._arrays = {
            "table": self._system.run_tangents.table,
            **self._held_arrays(),
            "numbers": np.array(words_of(plan), dtype=np.int64),
            "notes_numbers": np.zeros(CARRY_NOTES),
            "y": np.zeros(n),
            "p": np.zeros(np_),
            "d": np.zeros(nd),
            "k": np.zeros(directions * nk, dtype=np.int64),
            "h": np.zeros(0),
            "c": np.zeros(nc),
            "memory": np.zeros(memory),
            "start_memory": np.zeros(memory),
            "work": np.zeros(work),
            "swaps": np.zeros(directions * len(run.swaps)),
            "spare_work": np.zeros(work),
            "time_dots": np.zeros(directions),
            "y_dots": np.zeros(directions * n),
            "p_dots": np.zeros(directions * np_),
            "d_dots": np.zeros(directions * nd),
            "h_dots": np.zeros(0),
            "c_dots": np.zeros(directions * nc),
            "memory_dots": np.zeros(directions * memory),
            "work_dots": np.zeros(directions * work),
            "heads": np.zeros(directions * WORK_HEADER),
            "slopes_before": np.zeros(n),
            "pace_before": np.zeros(n),
            "spare_y": np.zeros(n),
            "spare_y_dot": np.zeros(n),
            "spare_c": np.zeros(nc),
            "spare_c_dot": np.zeros(nc),
            "wanted": np.zeros(directions),
            "kept": np.zeros((directions + 1) * len(run.kinks)),
            "inner_caches": np.zeros(nc * points),
            "inner_dots": np.zeros(nc * points),
            "break_orders": break_orders(self._system, run.kinks),
            "integers": np.setdiff1d(np.arange(nk), of_histories),
            "former": np.full(np_ + nd, np.nan),
            "former_dots": np.zeros(directions * (np_ + nd)),
            "working": np.zeros(n + np_ + nd + nk),
            "working_dots": np.zeros(directions * (n + np_ + nd + nk)),
            "rows": np.zeros(0),
        }
        longest = STEP_WIDTH + n + run.memory.size + nd + nk + nc + run.held_ints.size  # record
        self._log = np.zeros(max(TAPE_LENGTH, 8 * longest, run.log.size))
        self._pieces: list[Reals] = []

    @property
    def _goes_through_holds(self) -> bool:
        """Whether steps are followed while witnesses are held."""
        return not self._step.integrator.capabilities.implicit

    def _faults_of_paths(self) -> list[Problem]:
        """What stands against derivatives by what is named."""
        return faults_of_paths(self._system, self.by)

    def _held_arrays(self) -> dict[str, NDArray[np.int64]]:
        """As the run has them, with the addresses of tangents."""
        arrays = {name: getattr(self._step.arrays, name).copy() for name in ("held_table", "held_ints")}
        held, system = self._step.tables.held, self._system
        if not self._follows_holds or held is None:
            return arrays
        tangents: Any = system.run_tangents
        for name, place, row in held.copies:
            tangent = tangents.table[row, 0]
            projection = system.assembly.projection
            if row >= len(system.blocks) and projection is not None:
                correction = projection.all[row - len(system.blocks)][0]  # has the states as histories
                address = function_tangent(correction, with_histories=True), TANGENT_SIGNATURE
                tangent = native.function_address(*address)
            arrays[name].reshape(-1)[place] = tangent
        address = function_tangent(sliding_field, with_histories=True), TANGENT_SIGNATURE
        arrays["held_table"][-1, 0] = native.function_address(*address)
        return arrays

    def begin(self, state: State) -> None:
        """Go along the run that begins with this State."""
        arrays, run = self._arrays, self._step.arrays
        for name, array in arrays.items():
            if name not in (*CONSTANT, "rows"):
                array[:] = 0
        for letter in "ypd":
            arrays[letter][:] = state.arrays[letter]
        cache = self._system.new_cache()  # variables that no block computes keep their start values
        arrays["c"][: cache.size] = cache
        directions = 1 + self.directions
        arrays["k"][:] = np.tile(state.arrays["k"], directions)
        arrays["h"] = np.tile(state.arrays["h"], directions)
        arrays["h_dots"] = np.zeros(arrays["h"].size)
        self._set_directions()
        arrays["time_dots"][0] = 1.0
        arrays["work"][: self._work.size] = self._work
        if state.carried:
            restore(self._system, state, self.by, arrays, self._saved_names)
        self._notes = rows_of(CarryNotes, arrays["notes_numbers"], 0, 1)[0]
        self._notes.time = state.time
        self._pieces = []
        state.carried = b""
        self._step._use_arrays({"log": self._log})  # noqa: SLF001
        run.output.logging = LOG_TAPE

    def _set_directions(self) -> None:
        """What moves at first: along each direction one number."""
        for i, slot in enumerate(self._slots, start=1):
            size = self._arrays[slot.array].size
            self._arrays[f"{slot.array}_dots"][i * size + slot.offset] = 1.0

    @property
    def _saved_names(self) -> list[str]:
        return saved_names(CONSTANT, self._arrays)

    def store(self, state: State) -> None:
        """Have the State, at which all of the tape has been read, take the tangents along."""
        state.carried = pack(state, self.by, self._arrays, self._saved_names)

    def take(self, is_last: bool) -> Reals:
        """Read what the tape has; the events and findings on it, which stay in no buffer."""
        step = self._step
        used = int(step.arrays.output.log_used)
        if used == 0:
            return np.zeros(0)
        arrays, width = self._arrays, int(step.arrays.chosen.values) * self.directions
        if arrays["rows"].size < 64 * width:
            arrays["rows"] = np.zeros(max(64 * width, TAPE_LENGTH))
        before = -1
        while True:
            with np.errstate(all="ignore"):
                end = self._read(step, used, is_last)
            rows = int(self._notes.rows_used)
            if rows:
                self._pieces.append(arrays["rows"][:rows].copy())
                self._notes.rows_used = 0.0
            if self._notes.needs_room:
                self._lengthen_histories()
            elif end in (used, before):
                break
            before = end
        self._notes.log_used = 0.0
        kept = self._retain_events(step, end)
        events: Reals = self._log[:kept].copy()
        self._log[: used - end] = self._log[end:used].copy()
        step.arrays.output.log_used = used - end
        return events

    def _read(self, step: CompiledStep, used: int, is_last: bool) -> int:
        """Read so many numbers of the tape; where the rest begins that could not be read yet."""
        if native.is_plain():
            return int(tape_reader.carry(step.arrays, Carrier(**self._arrays), used, is_last))
        head = head_of(Carrier(**self._arrays))
        return int(self._carry(step.head_address, address_of(head), used, int(is_last)))

    def _lengthen_histories(self) -> None:
        """Double the room of histories in which a step might not find enough."""
        arrays, directions = self._arrays, 1 + self.directions
        k, used, pieces = arrays["k"].reshape(directions, -1), 0, []
        both = np.stack([arrays["h"], arrays["h_dots"]]).reshape(2, directions, -1)
        for slot in self._system.rings:
            ring = rows_of(Ring, k[0], slot.offset, 1)[0]
            order = (ring.oldest + np.arange(ring.capacity)) % ring.capacity
            entries = both[:, :, ring.start : ring.stop].reshape(2, directions, -1, ENTRY_WIDTH)[:, :, order]
            capacity = ring.capacity
            while capacity - ring.count < self._step.arrays.plan.room:
                capacity *= 2
            longer = np.zeros((2, directions, capacity, ENTRY_WIDTH))
            longer[:, :, : ring.capacity] = entries
            pieces.append(longer.reshape(2, directions, -1))
            for i in range(directions):
                ring = rows_of(Ring, k[i], slot.offset, 1)[0]
                ring.start, ring.oldest, ring.capacity = used, 0, capacity
            used += ENTRY_WIDTH * capacity
        arrays["h"], arrays["h_dots"] = np.concatenate(pieces, axis=2).reshape(2, -1).copy()
        self._notes.needs_room = 0.0

    def _retain_events(self, step: CompiledStep, end: int) -> int:
        """Move events and findings before `end` to the beginning of the tape; how many numbers they are."""
        if native.is_plain():
            return int(tape_reader.retain_events(step.arrays, end))
        return int(self._retain(step.head_address, end))

    def rows(self, values: int) -> Reals:
        """Tangents of so many recorded numbers, variable by variable; shape (rows, variables * values)."""
        return np.concatenate([np.zeros(0), *self._pieces]).reshape(-1, len(self.by) * values)

    def take_rows(self, values: int) -> Reals:
        """The same since the last call."""
        rows = self.rows(values)
        self._pieces = []
        return rows

    def derivatives(
        self, paths: Sequence[str], shapes: Any, rows: Reals | None = None
    ) -> dict[str, dict[str, Reals]]:
        """The tangents of the recorded signals: by signal and by variable.

        Parameters
        ----------
        paths : sequence of str
            The recorded signals, in the order of the rows.
        shapes : callable
            The shape of the values of a signal, by its path.
        rows : ndarray, optional
            Their tangents; those since the last `take_rows` unless given.
        """
        values = sum(self._system.signal(path).slot.size for path in paths)
        rows = (self.rows(values) if rows is None else rows).reshape(-1, len(self.by), values)
        found: dict[str, dict[str, Reals]] = {}
        at = 0
        for path in paths:
            size = self._system.signal(path).slot.size
            shape = shapes(path)
            found[path] = {name: rows[:, i, at : at + size].reshape(shape) for i, name in enumerate(self.by)}
            at += size
        return found

    @property
    def findings(self) -> list[Finding]:
        """From when on there are no derivatives, and why; empty where there are."""
        notes, subject = self._notes, int(self._notes.lost_subject)
        reason = int(notes.lost)
        if reason == 0:
            return []
        what = ""
        if reason in OF_HANDLERS:
            what = self._step.tables.events.entries[subject].path
            text = OF_HANDLERS[reason]
        elif reason in OF_STATES:
            letter, number = ("y", subject) if subject < self._system.ny else ("d", subject - self._system.ny)
            what = next(iter(self._system.paths_at(letter, [number])), "")
            text = OF_STATES[reason]
        elif reason == carrier.IS_HELD:
            text = self._held_text
        elif reason == carrier.LOOKS_AHEAD:
            text = (
                "a step looks into itself, since a delay is shorter: gradients do not go back over that yet"
            )
        elif reason == carrier.BLOCK_FAILED:
            what = ", ".join(self._system.tangents.block_of(subject).owners)
            text = "its tangent cannot be computed"
        elif reason == carrier.MEETS_EXCHANGE:
            text = "an event whose time moves falls on an exchange of values: one-sided"
        else:
            text = "a step could not be taken once more"
        return [Finding(notes.lost_time, NO_DERIVATIVE, what, text)]


def own_kernels(step: CompiledStep) -> MethodKernels | None:
    """The functions of the method of a run once more, with numbers of their own: a run counts in its own."""
    integrator = step.integrator
    return integrator.with_accuracy(integrator.accuracy).kernels(step.system)


def method_tangents(
    step: CompiledStep, kernels: MethodKernels | None
) -> tuple[dict[str, tuple[Any, str]], list[Problem]]:
    """The tangents of a method's functions with their signatures, and why some have none."""
    name = type(step.integrator).__name__
    if kernels is None or step.method is not None:
        return {}, [Problem("integrator", f"{name} takes its steps in Python: they have no tangents")]
    from cosim_compiler.derivatives.tangents import tangent_function  # most runs need none

    found: dict[str, tuple[Any, str]] = {}
    functions = kernels.functions
    for which, function, signature, wanted, fixed in (
        ("step", kernels.followed_step, REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("settle", settle_by_address, REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("complete", functions["complete"], REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("dense", functions["dense"], DENSE_SIGNATURE, TANGENT_DENSE_SIGNATURE, FIXED_IN_DENSE),
    ):
        if function is None:
            continue
        try:
            found[which] = tangent_function(function, signature, 1, fixed)  # type: ignore[arg-type]
        except NoTangentError as fault:
            return {}, [Problem("integrator", f"{name}: its steps have no tangents: {fault}")]
        assert found[which][1] == wanted
    return found, []


def break_orders(system: System, kinks: Sequence[int]) -> NDArray[np.int64]:
    """Where in the cache the order of the delayed break stands that arrives at each kink; -1: it is none."""
    found = dict.fromkeys(map(int, kinks), -1)
    for slots in system.assembly.layout.slots.values():
        if SMOOTH_UNTIL in slots and BREAK_ORDER in slots:
            found |= dict(zip(slots[SMOOTH_UNTIL].elements, slots[BREAK_ORDER].elements, strict=True))
    return np.array([found[int(kink)] for kink in kinks], dtype=np.int64)


def faults_of_paths(system: System, by: Sequence[str]) -> list[Problem]:
    """What stands against derivatives by these variables."""
    problems = []
    for path in by:
        signal = system.signal(path)
        slot = system.written_slot(path)
        if slot.array not in "ypd":
            problems.append(Problem(path, "is a whole number: nothing has a derivative by it"))
        elif slot.size > 1:
            problems.append(Problem(path, f"has {slot.size} elements: name one, {path}[0]"))
        elif signal.declaration.kind == "option":
            problems.append(Problem(path, "is an option: nothing has a derivative by it"))
    return problems


def corrections_of(system: System) -> range:
    """The rows of the table that correct a solution."""
    return range(int(system.projection[NORMALIZE]), int(system.projection[ESTIMATES]))


def rows_of_run(system: System) -> list[int]:
    """The rows of the table that a run walks, but for handlers."""
    return [
        *range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT)),
        *range(*system.inner_range),
        *(row for updates in system.update_ranges.values() for row in range(*updates)),
        *corrections_of(system),
    ]


def faults_of_system(system: System) -> list[Problem]:
    """What stands against derivatives of runs of a system; its tangents are made."""
    problems = []
    corrections, rows = corrections_of(system), rows_of_run(system)
    for row, reason in system.run_tangents.prepare(rows).items():
        owners = ["constraints"] if row in corrections else system.tangents.block_of(row).owners
        problems.append(Problem(", ".join(owners), reason))
    for key, row in system.handler_blocks.items():
        for reason in system.run_tangents.prepare([row]).values():
            problems.append(Problem(".".join(map(str, key)) if isinstance(key, tuple) else str(key), reason))
    return problems
