"""How a run changes with its parameters and start values: tangents that go along its steps and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.history import ENTRY_WIDTH, Ring
from cosim.contracts.constraints import has_constraints
from cosim.contracts.method_kernels import ErrorEstimate
from cosim.derivatives import carrier, tape_reader
from cosim.derivatives.carrier import Carrier, CarryNotes, CarryPlan
from cosim.derivatives.lane_groups import FEWEST, size_of_lanes
from cosim.derivatives.tape_reader import CARRY_SIGNATURE, RETAIN_SIGNATURE
from cosim.errors import ModelError, Problem
from cosim.preparation.tangent_tables import (
    CONSTANT,
    OF_HANDLERS,
    OF_RUNS,
    OF_STATES,
    REASONS,
    Function,
    faults_of_paths,
    faults_of_system,
    follows_holds,
    held_tangents,
    method_in_lanes,
    method_tangents,
    own_kernels,
    rows_in_lanes,
    slots_before_motion,
    start_arrays,
)
from cosim.run_data.records.recording import LOG_TAPE
from cosim.simulation.event_record import Finding
from cosim.simulation.saved_tangents import pack, restore
from cosim.stage import Stage
from cosim.step.tape import STEP_WIDTH
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.array_groups import ReusedHead
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.contracts.method_kernels import MethodKernels
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
NO_DERIVATIVE, INEXACT, ONE_SIDED = "no derivative", "inexact derivative", "one-sided derivative"
INEXACT_TEXT = (
    "steps lose digits of derivatives, as they do near a singular position of constraints: from here on they "
    "may be off by {:.0e} of themselves"
)
ONE_SIDED_TEXT = (
    "comes so soon after another event that within the accuracy either may be the first: from here on "
    "derivatives are those of this order"
)
TOO_LONG_TEXT = (
    "steps that suit the states are too long for this derivative, most of all the one that begins here: it "
    "may be off by about {:.0e} of its largest value; set a maximum_step or a tighter accuracy"
)
BOUND = 10.0
"""Times the accuracy derivatives may be off, of their largest value."""
ROUNDED = 1e-13
"""Times the largest derivative of a state by a variable, rounding may be in others."""
MARGIN = 30.0
"""Times what one direction was seen to lose others may lose."""
SMOOTH_SUM = 0.2
"""A sum that shows jumps may come to so much in smooth steps: else too many of them seem to have jumps."""
TAPE_LENGTH = 100_000
"""Numbers of the tape that are read at once, at least; and numbers of tangents."""


def parts_of_sizes(errors: Reals, sizes: Reals) -> Reals:
    """Errors of derivatives over their sizes, both (variables, states); 0 where it may be rounding."""
    rounding = ROUNDED * sizes.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        return np.where(errors > rounding, errors / sizes, 0.0)


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

    Attributes
    ----------
    not_estimated : str
        Why errors of derivatives are not estimated; empty if they are.

    Raises
    ------
    ModelError
        Something in the system has no derivative along a run, or a path stands for nothing that varies.
    """

    _held_text = OF_RUNS[carrier.IS_HELD]
    _stays_in_lanes = True

    def __init__(self, step: CompiledStep, by: Sequence[str], directions: int | None = None) -> None:
        self.by = list(by)
        self.units = {path: step.system.signal(path).units[0] for path in by}
        self.directions = len(self.by) if directions is None else directions
        self._step, self._system = step, step.system
        kernels = own_kernels(step.integrator, step.system)
        functions, problems = method_tangents(step.integrator, None if step.method else kernels)
        problems += self._faults_of_paths() + faults_of_system(self._system)
        if problems:
            raise ModelError(problems)
        readers: list[tuple[Any, str]] = [
            (tape_reader.carry_by_address, CARRY_SIGNATURE),
            (tape_reader.retain_by_address, RETAIN_SIGNATURE),
        ]
        compile_ahead([*functions.values(), *readers])
        self._carry, self._retain = (native.compile_function(*reader) for reader in readers)
        self._work = np.zeros(0) if kernels is None else kernels.work.copy()
        self._slots = [self._system.written_slot(path) for path in by]
        run = step.arrays
        self._follows_holds = follows_holds(step.integrator, run)
        self.not_estimated = self._why_not_estimated(kernels)
        estimate = ErrorEstimate() if kernels is None or self.not_estimated else kernels.followed_error
        self._arrays = start_arrays(
            self._system,
            run,
            1 + self.directions,
            self._work,
            self._follows_holds,
            first_direction=int(self._needs_flow_only_at_events(estimate)),
        )
        plan = rows_of(CarryPlan, self._arrays["numbers"], 0, 1)[0]
        self._link(functions, plan)
        self._use_estimate(estimate, plan)
        self._prepare_lanes(kernels, plan)
        longest = STEP_WIDTH + run.memory.size + sum(getattr(run, letter).size for letter in "ydkc")
        self._log = np.zeros(max(TAPE_LENGTH, 8 * (longest + run.held_ints.size), run.log.size))
        self._pieces: list[Reals] = []
        self._head = ReusedHead()

    def _link(self, functions: Mapping[str, Function], plan: CarryPlan) -> None:
        """Write the addresses of all tangents: of the method, of the system, of what holds witnesses."""
        self._arrays["table"] = self._system.run_tangents.table
        for name, function in functions.items():
            setattr(plan, name, native.function_address(*function))
        if self._follows_holds and self._step.tables.held is not None:
            held = list(held_tangents(self._system, self._step.tables.held))
            addresses = native.function_addresses(tuple(function for _, _, function in held))
            for (array, place, _), address in zip(held, addresses, strict=True):
                self._arrays[array].reshape(-1)[place] = address

    def _why_not_estimated(self, kernels: MethodKernels | None) -> str:
        """Why errors of derivatives are not estimated; empty if they are."""
        method = self._step.integrator
        if has_constraints(self._system.corrections):
            return "constraints correct the states after each step"
        if method.fixed_step is not None:
            return "the steps are fixed"
        has_estimate = kernels is not None and len(kernels.followed_error.weights) > 0
        return "" if has_estimate else f"{type(method).__name__} has no estimate for a step by itself"

    def _use_estimate(self, estimate: ErrorEstimate, plan: CarryPlan) -> None:
        """Have errors of derivatives estimated as the method estimates those of states."""
        plan.error_at, plan.error_is_rate = estimate.first, int(estimate.is_rate)
        plan.order = self._step.integrator.order
        self._arrays["error_weights"] = np.array(estimate.weights, dtype=float)
        self._arrays["second_weights"] = np.array(estimate.second, dtype=float)
        self._arrays["jump_weights"] = np.array(estimate.jump_weights, dtype=float)

    def _needs_flow_only_at_events(self, estimate: ErrorEstimate) -> bool:
        """Whether steps show by themselves where derivatives may jump.

        With a loose accuracy the sum that shows it comes to more in smooth steps than it shows of a jump.
        """
        if self.directions == 0 or len(estimate.jump_weights) == 0:
            return False
        settings = self._step.arrays.method_settings
        enlarged = max(map(abs, estimate.jump_weights)) / max(map(abs, estimate.weights))
        # the error of a step is its length times the sum, and the derivative changes by about that length
        return bool(enlarged * settings.step_accuracy ** (1.0 - 2.0 / settings.error_order) <= SMOOTH_SUM)

    def _prepare_lanes(self, kernels: MethodKernels | None, plan: CarryPlan) -> None:
        """Have steps go along several directions at once, if all that they do can be computed in lanes."""
        if 1 + self.directions - plan.first_direction < FEWEST:
            return
        rows, run = rows_in_lanes(self._system), self._step.arrays
        wanted = [row for listed in rows.values() for row in listed]
        tables: dict[str, NDArray[np.int64]] = {}
        addresses: dict[str, int] = {}
        for which, lanes in (("", plan.lanes), ("last_", plan.last_lanes)):
            functions = method_in_lanes(kernels, lanes)
            if "step_in_lanes" not in functions:
                return
            table = self._system.run_tangents.table_in_lanes(wanted, lanes)
            if not table[rows["step_in_lanes"], 0].all():
                return
            tables[f"{which}lane_table"] = table
            compile_ahead([*functions.values()])
            addresses |= {
                f"{which}{name}": native.function_address(*function) for name, function in functions.items()
            }
        self._arrays |= tables
        self._arrays["slots_before_motion"] = slots_before_motion(self._system)
        completes = "complete_in_lanes" in addresses or run.plan.method.complete == 0
        is_whole = all(table[listed, 0].all() for listed in rows.values())
        has_points = not run.plan.inside_updates.is_empty()
        plan.stays_in_lanes = int(self._stays_in_lanes and is_whole and completes and not has_points)
        for name, address in addresses.items():
            setattr(plan, name, address)

    def _size_lanes(self) -> None:
        """Make room for all groups of directions with histories as long as they are now."""
        if self._arrays["lane_table"].size:
            history = self._arrays["h"].size // (1 + self.directions)
            plan = rows_of(CarryPlan, self._arrays["numbers"], 0, 1)[0]
            size = size_of_lanes(self._arrays, history, plan.lanes)
            if self._arrays["lanes"].size != size:
                self._arrays["lanes"] = np.zeros(size)

    def _faults_of_paths(self) -> list[Problem]:
        """The reasons against derivatives by the named variables."""
        return faults_of_paths(self._system, self.by)

    def start(self, state: State) -> None:
        """Go along the run that begins with this State."""
        arrays, run = self._arrays, self._step.arrays
        for name, array in arrays.items():
            if name not in (*CONSTANT, "rows"):
                array.fill(0)
        for letter in "ypd":
            arrays[letter][:] = state.arrays[letter]
        cache = self._system.new_cache()  # variables that no block computes keep their start values
        arrays["c"][: cache.size] = cache
        self._copy_integers_and_histories(state)
        self._set_directions()
        arrays["time_dots"][0] = 1.0
        arrays["work"][: self._work.size] = self._work
        rows_of(CarryNotes, arrays["notes_numbers"], 0, 1)[0].shifted_at = state.time
        if state.carried:
            restore(self._system, state, state.carried, self.by, arrays)
        self._load_constants(state)
        self._notes = rows_of(CarryNotes, arrays["notes_numbers"], 0, 1)[0]
        self._notes.time = state.time
        self._pieces = []
        state.carried = b""
        self._step._use_arrays({"log": self._log})  # noqa: SLF001
        run.output.logging = LOG_TAPE

    def _copy_integers_and_histories(self, state: State) -> None:
        """Give each direction the integers and the histories of a State, and tangents of these."""
        arrays, directions = self._arrays, 1 + self.directions
        integers, history = state.arrays["k"], state.arrays["h"]
        arrays["k"].reshape(directions, integers.size)[:] = integers
        if arrays["h"].size != directions * history.size:
            arrays["h"], arrays["h_dots"] = np.zeros((2, directions * history.size))
        arrays["h"].reshape(directions, history.size)[:] = history

    def _load_constants(self, state: State) -> None:
        """Load what plain Python computes once a run."""
        constants = self._system.run_tangents.constants()
        if constants:
            of_state = self._system.arrays(state.realize(Stage.INSTANCE)).c
            for slot in constants:
                part = slice(slot.offset, slot.offset + slot.size)
                self._arrays["c"][part] = of_state[part]

    def _set_directions(self) -> None:
        """Set the tangents at the start: 1 for the one variable of each direction."""
        for i, slot in enumerate(self._slots, start=1):
            size = self._arrays[slot.array].size
            self._arrays[f"{slot.array}_dots"][i * size + slot.offset] = 1.0

    def store(self, state: State) -> None:
        """Have the State, at which all of the tape has been read, take the tangents along."""
        state.carried = pack(state, self.by, self._arrays)

    def read_tape(self, is_last: bool) -> Reals:
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
            taken = int(self._notes.rows_used) - width
            if taken > 0:  # the last row stays: an update at its instant may replace it
                self._pieces.append(arrays["rows"][:taken].copy())
                arrays["rows"][:width] = arrays["rows"][taken : taken + width]
                self._notes.rows_used = float(width)
            if self._notes.needs_room:
                self._lengthen_histories()
            elif end in (used, before):
                break
            before = end
        self._notes.log_used = 0.0
        events_end = self._retain_events(step, end)
        events: Reals = self._log[:events_end].copy()
        self._log[: used - end] = self._log[end:used].copy()
        step.arrays.output.log_used = used - end
        return events

    def _read(self, step: CompiledStep, used: int, is_last: bool) -> int:
        """Read so many numbers of the tape; where the rest begins that could not be read yet."""
        if native.is_plain():
            return int(tape_reader.carry(step.arrays, Carrier(**self._arrays), used, is_last))
        return int(self._carry(step.head_address, self._carrier_address(), used, int(is_last)))

    def _carrier_address(self) -> int:
        """The address of the head of the arrays that compiled code works on."""
        self._size_lanes()
        return self._head.address_of(Carrier(**self._arrays))

    def _lengthen_histories(self) -> None:
        """Double the room of histories in which a step might not find enough."""
        arrays, directions = self._arrays, 1 + self.directions
        k, used, pieces = arrays["k"].reshape(directions, -1), 0, []
        both = np.stack([arrays["h"], arrays["h_dots"]]).reshape(2, directions, -1)
        first = rows_of(CarryPlan, arrays["numbers"], 0, 1)[0].first_direction
        for slot in self._system.rings:
            ring = rows_of(Ring, k[first], slot.offset, 1)[0]
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
        width, numbers = len(self.by) * values, self._row_numbers()
        return numbers.reshape(numbers.size // max(width, 1), width)

    def _row_numbers(self) -> Reals:
        """All rows that are stored, one after the other."""
        return np.concatenate([*self._pieces, self._arrays["rows"][: int(self._notes.rows_used)]])

    def take_rows(self, values: int) -> Reals:
        """The tangents of the rows since the last call, shaped as in `rows`; they are stored no longer."""
        rows = self.rows(values)
        self._pieces = []
        self._notes.rows_used = 0.0
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
        rows = self.rows(values) if rows is None else rows
        rows = rows.reshape(len(rows), len(self.by), values)
        derivatives: dict[str, dict[str, Reals]] = {}
        at = 0
        for path in paths:
            size = self._system.signal(path).slot.size
            shape = shapes(path)
            derivatives[path] = {
                name: rows[:, i, at : at + size].reshape(shape) for i, name in enumerate(self.by)
            }
            at += size
        return derivatives

    @property
    def findings(self) -> list[Finding]:
        """Findings that say when and why derivatives have become inexact, or have ended."""
        notes = self._notes
        findings = []
        error = MARGIN * (notes.error + notes.missed)
        if error > self._step.arrays.options.accuracy:
            findings.append(Finding(notes.error_time, INEXACT, "", INEXACT_TEXT.format(min(error, 1.0))))
        if notes.is_close != 0.0:
            path = self._step.tables.events.entries[int(notes.close_handler)].path
            findings.append(Finding(notes.close_time, ONE_SIDED, path, ONE_SIDED_TEXT))
        if self.have_ended:
            return [*findings, self._ending()]
        return findings + self._findings_of_steps()

    def _findings_of_steps(self) -> list[Finding]:
        """For each direction a finding for the state whose derivative steps were too long for most of all."""
        if not self._arrays["dot_errors"].any():
            return []
        errors, likely, times, sizes = (
            self._arrays[name].reshape(1 + self.directions, self._system.ny)
            for name in ("dot_errors", "likely_errors", "worst_times", "largest_dots")
        )
        most, parts = parts_of_sizes(errors, sizes), parts_of_sizes(likely, sizes)
        findings = []
        for i in range(1, 1 + self.directions):
            m = int(np.argmax(parts[i]))
            if parts[i, m] > BOUND * self._step.arrays.options.accuracy:
                of = self._system.paths_at("y", [m])
                name = f"d({next(iter(of), '')})"
                if len(self.by) == self.directions:
                    name += f"/d({self.by[i - 1]})"
                text = TOO_LONG_TEXT.format(min(most[i, m], 1.0))
                findings.append(Finding(float(times[i, m]), INEXACT, name, text))
        return findings

    @property
    def have_ended(self) -> bool:
        """Whether there are no derivatives any more."""
        return bool(self._notes.lost != 0.0)

    def _ending(self) -> Finding:
        """A finding that says when and why derivatives ended."""
        reason, subject = int(self._notes.lost), int(self._notes.lost_subject)
        subject_path, text = "", REASONS[reason]
        if reason in OF_HANDLERS:
            subject_path = self._step.tables.events.entries[subject].path
        elif reason in OF_STATES:
            letter, number = ("y", subject) if subject < self._system.ny else ("d", subject - self._system.ny)
            subject_path = next(iter(self._system.paths_at(letter, [number])), "")
        elif reason == carrier.IS_HELD:
            text = self._held_text
        elif reason == carrier.BLOCK_FAILED:
            subject_path = ", ".join(self._system.tangents.block_of(subject).owners)
        return Finding(self._notes.lost_time, NO_DERIVATIVE, subject_path, text)
