"""How a run changes with its parameters and start values: tangents that go along its steps and events.

The run is made a second time, step by step, and says which events happen in which order. Between events the
tangents follow the solution (`variation`), whose events are located to the last digit.
What happens at a time that moves is described at that time: beside the tangents Y of the states stands the
tangent of the time itself, and both obey one law, dY/dt = J Y + (df/dt) time_dot, as if the time were another
parameter. An event adds to both, Y += f shift and time_dot += shift, so that the witness stays zero; the
handler is differentiated there; and nothing has to be known of the derivative behind it. At a fixed time
a tangent is Y - f time_dot.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.method_layout import Corrections
from cosim.errors import LookUpError, ModelError, Problem
from cosim.simulation.event_record import Finding
from cosim.simulation.simulator import Simulator
from cosim.simulation.variation import ROUNDS, VARIATION_SIGNATURE, follow_variation
from cosim.stage import Stage
from cosim.step import event_log as log
from cosim.step.constraints import has_constraints
from cosim.step.records import PUBLISH, SCHEDULED, SIGNALED, TIMED, TRIGGERED
from cosim_compiler import native
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.simulation.result import Result
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
Tangents = dict[str, Reals]
LETTERS = "ypdk"
TIGHT = 1e-12
"""Error of one stretch, in parts of a state or tangent, from which on it is halved."""
MOST_HALVINGS = 40
SHORT, HARDLY = 1e-9, 1e-6
"""In a stretch so short, in parts of the run, derivatives of states change by no more than such a part."""
MOST_STRETCHES = 20_000
"""Of one step: a system that needs more is too stiff for what is explicit."""
GRAZING = 1e-9
"""A witness that is slower than this part of what moves it touches zero, and does not cross it."""
SAME_SHIFT = 1e-9
"""Two events whose times move alike up to this part stay in their order."""
MOST_LOOKS, MOST_WINDOW = 4, 1e3
"""How often, and within how many accuracies, the solution is searched for the zero of a witness."""
NO_DERIVATIVE = "no derivative"
MISSED = 1e3
"""Accuracies by which a step and the solution from its start may differ, unless something in it jumps."""


def run_derivatives(
    system: System, result: Result, by: Sequence[str], start: State, until: float, options: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Reals]], list[Finding]]:
    """The tangents of the recorded signals: by signal and by variable, an array as long as the signal's.

    Parameters
    ----------
    system : System
    result : Result
        Of the run.
    by : sequence of str
        Paths of parameters, start values, inputs and discrete variables, or of their elements.
    start : State
        With which the run began.
    until : float
    options : mapping of str to object
        For `Simulator`.

    Raises
    ------
    ModelError
        Something in the system has no derivative along a run, or a path stands for nothing that can be varied.
    """
    check_run(system, by)
    signals = {path: system.signal(path).slot for path in result.names if _is_signal(system, path)}
    run = TangentRun(system, start, [_direction(system, path) for path in by], list(signals), options)
    rows = run.take(result.time, until)
    found: dict[str, dict[str, Reals]] = {}
    for path, slot in signals.items():
        first = run.places[path]
        values = rows[:, :, first : first + slot.size]
        shape = result[path].shape
        found[path] = {name: values[:, i].reshape(shape) for i, name in enumerate(by)}
    return found, run.findings


def check_run(system: System, by: Sequence[str]) -> None:
    """`ModelError` with all that stands against derivatives of a run."""
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
    for part in dict.fromkeys(system.remembering):
        problems.append(Problem(part, "remembers a signal: tangents of what is remembered are not there yet"))
    if has_constraints(Corrections(*system.projection.tolist())):
        problems.append(Problem("constraints", "tangents of states that are corrected are not there yet"))
    rows = range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT))
    for row, reason in system.tangents.prepare([*rows, *range(*system.inner_range)]).items():
        problems.append(
            Problem(", ".join(system.blocks[row].owners) if row < len(system.blocks) else "", reason)
        )
    for key, row in system.handler_blocks.items():
        for reason in system.tangents.prepare([row]).values():
            problems.append(Problem(".".join(map(str, key)) if isinstance(key, tuple) else str(key), reason))
    swapped = [variable for _, variable in system.assembly.swaps if variable.array == "d"]
    if swapped:
        followers = system.assembly.graph.followers(
            outside=lambda slot: any(slot.overlaps(variable) for variable in swapped)
        )
        layout = system.assembly.layout
        if any(layout.region_of(i) in followers for i in range(system.ny)):
            problems.append(
                Problem(
                    "", "a variable that is updated at every step changes the motion: it has no tangent yet"
                )
            )
    if problems:
        raise ModelError(problems)


def _is_signal(system: System, path: str) -> bool:
    """Whether a name of the result stands for numbers of the system."""
    try:
        system.signal(path)
    except LookUpError:
        return False
    return True


def _direction(system: System, path: str) -> Tangents:
    arrays = system.start_arrays()
    moved = {letter: np.zeros(arrays[letter].size) for letter in "ypd"}
    slot = system.written_slot(path)
    moved[slot.array][slot.offset] = 1.0
    return moved


class TangentRun:
    """One run with tangents along several directions.

    Parameters
    ----------
    system : System
    start : State
    directions : sequence of dict
        Tangents of y, p and d at the start.
    signals : sequence of str
        Whose tangents are wanted.
    options : mapping of str to object
        For `Simulator`.

    Attributes
    ----------
    places : dict of str to int
        Where in a row the tangents of a signal begin.
    findings : list of Finding
        From when on there is no derivative, and why.
    """

    def __init__(
        self,
        system: System,
        start: State,
        directions: Sequence[Tangents],
        signals: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        self.system, self.findings = system, []
        self._simulator = Simulator(system, start.copy(), **options)
        self._count = len(directions)
        self._moved = {a: np.array([moved[a] for moved in directions]) for a in "ypd"}
        self._time_dot = np.zeros(self._count)
        self._signals = list(signals)
        sizes = [system.signal(path).slot.size for path in signals]
        self.places = dict(zip(signals, itertools.accumulate([0, *sizes[:-1]]), strict=True))
        self._width = sum(sizes)
        self._rows: dict[float, list[Reals]] = {}
        self._tangents = system.tangents
        self._variation = native.compile_function(follow_variation, VARIATION_SIGNATURE)
        self._run = self._simulator._step.arrays  # noqa: SLF001
        self._smooth = [slot.offset for slot in system.slots_by_name.get("smooth_until", ())]
        self._is_controlled = self._simulator.integrator.fixed_step is None
        self._read = 0
        self._span = 1.0  # of the run, s
        self._y = np.zeros(0)  # the solution that the tangents follow

    # the run

    def take(self, times: Reals, until: float) -> Reals:
        """The tangents of the signals at these times, shape (times, directions, elements)."""
        simulator = self._simulator
        for handler in self._run.handlers:
            handler.is_private = 0  # so that they are recorded
        before = simulator.state.copy()
        self._span = until - before.time
        status = simulator.initialize()
        grid = np.unique(times)
        self._y = np.array(before.y)
        moved_on = self._update(before, before.time)
        self._y = np.array(moved_on.y)
        self._record(moved_on)
        while status.succeeded and simulator.state.time < until:
            before = simulator.state.copy()
            status = simulator.step(until)
            now = simulator.state
            moved_on = self._update(before, before.time)
            if moved_on is not before:
                self._record(moved_on)
            if now.time > before.time:
                moved_on = self._with_variables(moved_on, now)
                inside = grid[(grid > before.time) & (grid < now.time)]
                self._integrate(moved_on, before, now, [*inside.tolist(), now.time])
        if status.succeeded:
            before = simulator.state.copy()
            simulator.advance_pending_events()
            moved_on = self._update(before, before.time)
            if moved_on is not before:
                self._record(moved_on)
        return self._aligned(times)

    def _aligned(self, times: Reals) -> Reals:
        """Rows for recorded times: where one stands there twice, before and after an event."""
        nothing = np.full((self._count, self._width), math.nan)
        found = []
        for time, group in itertools.groupby(times.tolist()):
            rows, wanted = self._rows.get(time, [nothing]), len(list(group))
            found += [rows[0], *[rows[min(i, len(rows) - 1)] for i in range(1, wanted - 1)], rows[-1]][
                :wanted
            ]
        return np.array(found).reshape(len(times), self._count, self._width)

    def _record(self, state: State) -> None:
        """Keep the tangents of the signals at a fixed time."""
        state.realize(Stage.REPORT)
        rate = np.array(state.y_dot)
        row = np.empty((self._count, self._width))
        for i in range(self._count):
            moved = {a: self._moved[a][i] for a in "ypd"}
            moved["y"] = moved["y"] - rate * self._time_dot[i]
            moved["c"] = self._tangents.along(state, 0.0, moved["y"], moved["p"], moved["d"])
            row[i] = self._tangents.read(moved, self._signals)
        self._rows.setdefault(state.time, []).append(row)

    def _lose(self, time: float, what: str, reason: str, which: Any = slice(None)) -> None:
        """There is no derivative any more, along some directions."""
        for array in self._moved.values():
            array[which] = math.nan
        self._time_dot[which] = math.nan
        if not any(f.witness == what for f in self.findings):
            self.findings.append(Finding(time, NO_DERIVATIVE, what, reason))

    # events

    def _events(self) -> Iterator[tuple[Any, Any]]:
        """What was handled since this was asked last: the handlers with their records, publishes left out."""
        events = self._simulator._events  # noqa: SLF001
        pieces = events._pieces  # noqa: SLF001
        for piece in pieces[self._read :]:
            for at in piece.starts.tolist():
                event = rows_of(log.LoggedEvent, piece.records, at, 1)[0]
                handler = self._run.handlers[int(event.handler)]
                if handler.does != PUBLISH:
                    yield handler, event
        self._read = len(pieces)

    def _update(self, before: State, time: float) -> State:
        """Differentiate the updates at the start of a step; the State behind them, or the same where none ran."""
        events = list(self._events())
        findings = self._simulator.findings
        held = next((f for f in findings if f.kind in ("held", "zeno", "chattering")), None)
        if held is not None:
            self._lose(held.time, held.witness, f"{held.kind}: its events follow each other without end")
        if not events:
            return before
        state = before.copy()
        state.set_y(self._y)
        state.realize(Stage.REPORT)
        shift: Reals | None = None
        if sum(handler.cause == SIGNALED for handler, _ in events) > 1:
            self._lose(
                time, "signals", "several updates by signals at one instant: their rounds are not known"
            )
        for _, group in itertools.groupby(events, key=lambda pair: (pair[0].does, pair[0].cause)):
            members = [handler for handler, _ in group]
            for handler in members:
                if shift is None and handler.cause == TRIGGERED:
                    state = self._located(handler, state)
                wanted = self._shift_of(handler, state)
                if wanted is None:
                    continue
                if shift is None:
                    shift = wanted
                    self._moved["y"] += np.outer(wanted - self._time_dot, np.array(state.y_dot))
                    self._time_dot = wanted.copy()
                elif not np.allclose(shift, wanted, rtol=SAME_SHIFT, atol=1e-14, equal_nan=True):
                    self._lose(
                        time, self._path(handler), "two events at one instant whose order changes: one-sided"
                    )
            state = self._handled(state, members)
        self._y = np.array(state.y)
        if state.time != time:
            self._follow(state, self._context(state), state.time, time - state.time)
            state.set_time(time)
            state.set_y(self._y)
        return state

    def _located(self, handler: Any, state: State) -> State:
        """The State at which a witness is zero to the last digit, with the tangents that belong to it."""
        at = self._run.probes[int(handler.flag)].value
        if not state.system.ny or self._run.witness_kinds[int(handler.flag)].is_condition:
            return state
        zero = np.zeros(state.arrays["p"].size), np.zeros(state.arrays["d"].size)
        window = MOST_WINDOW * max(1e-12, self._simulator.integrator.accuracy)
        for _ in range(MOST_LOOKS):
            value = float(self.system.arrays(state.realize(Stage.REPORT))[5][at])
            speed = float(self._tangents.along(state, 1.0, np.array(state.y_dot), *zero)[at])
            way = -value / speed if speed != 0.0 else math.nan
            if not abs(way) <= window:  # it does not cross, or the run has handled it elsewhere
                return state
            if abs(way) <= 1e-16 * max(1e-3, abs(state.time)):
                break
            self._y = np.array(state.y)
            self._follow(state, self._context(state), state.time, way)
            state = state.copy()
            state.set_time(state.time + way)
            state.set_y(self._y)
        return state.realize(Stage.REPORT)

    def _with_variables(self, state: State, now: State) -> State:
        """A State with what is updated at every step as it is now; the rest has to be known already."""
        state = state.copy()
        for letter in "pdk":
            known, present = state.arrays[letter], now.arrays[letter]
            differs = ~(
                (known == present) | (np.isnan(known.astype(float)) & np.isnan(present.astype(float)))
            )
            for _, variable in self.system.assembly.swaps:
                if variable.array == letter:
                    differs[variable.offset : variable.offset + variable.size] = False
            if differs.any():
                path = next(iter(self.system.paths_at(letter, [int(np.argmax(differs))])), "")
                self._lose(state.time, path, "it was changed in a way that is not recorded")
            state._arrays[letter][:] = present  # noqa: SLF001
        state.invalidate(Stage.INSTANCE, "updates")
        return state

    def _path(self, handler: Any) -> str:
        return self._simulator._step.tables.agenda_of.entries[int(handler.number)].path  # type: ignore[no-any-return]  # noqa: SLF001

    def _along(self, state: State, i: int, time_dot: float, y: Reals) -> Reals:
        return self._tangents.along(state, time_dot, y, self._moved["p"][i], self._moved["d"][i])

    def _shift_of(self, handler: Any, state: State) -> Reals | None:
        """How the time of an event moves along each direction; None where it stays as it is described."""
        if handler.cause == SCHEDULED:
            if handler.schedule == TIMED:
                return self._moved["d"][:, handler.flag].copy()
            if handler.follows:
                self._lose(
                    state.time, self._path(handler), "its times follow from a parameter: not there yet"
                )
            return np.zeros(self._count)
        if handler.cause != TRIGGERED:
            return None
        at = self._run.probes[int(handler.flag)].value
        rate = np.array(state.y_dot)
        zero = np.zeros(state.arrays["p"].size), np.zeros(state.arrays["d"].size)
        speed = float(self._tangents.along(state, 1.0, rate, *zero)[at])
        change = np.array(
            [self._along(state, i, self._time_dot[i], self._moved["y"][i])[at] for i in range(self._count)]
        )
        if self._run.witness_kinds[int(handler.flag)].is_condition:
            self._lose(
                state.time, self._path(handler), "a condition says when, not how fast: make it a number"
            )
            return None
        if not abs(speed) > GRAZING * np.abs(change).max(initial=0.0) or not math.isfinite(speed):
            if not change.any():
                return None
            self._lose(
                state.time, self._path(handler), "its witness touches zero and does not cross it: grazing"
            )
            return None
        shifts: Reals = self._time_dot - change / speed
        return shifts

    def _handled(self, state: State, handlers: Sequence[Any]) -> State:
        """The handlers of one cause and kind: all read the State, and write to one copy of it."""
        system, tangents = self.system, self._tangents
        state.realize(Stage.REPORT)
        values = [np.array(array) for array in system.arrays(state)]
        written = {letter: np.array(state.arrays[letter], dtype=float) for letter in LETTERS}
        moved = {letter: array.copy() for letter, array in self._moved.items()}
        caches = [self._along(state, i, self._time_dot[i], self._moved["y"][i]) for i in range(self._count)]
        for handler in handlers:
            results = list(self._run.results_of(handler))
            if handler.block < 0:
                self._lose(state.time, self._path(handler), "a handler in plain Python")
            answers = []
            for i in range(self._count):
                c, c_dot = values[5].copy(), caches[i].copy()
                for result in results:
                    letter = LETTERS[result.array]
                    part = slice(result.at, result.at + result.size)
                    variables = slice(result.offset, result.offset + result.size)
                    c[part] = written[letter][variables]
                    c_dot[part] = moved[letter][i][variables] if letter in moved else 0.0
                if handler.block >= 0:
                    tangents.prepare([handler.block])
                    failed = tangents._walk(  # noqa: SLF001
                        tangents.table, system.ints, handler.block, handler.block + 1, state.time,
                        *values[:5], c, self._time_dot[i], self._moved["y"][i], self._moved["p"][i],
                        self._moved["d"][i], c_dot,
                    )  # fmt: skip
                    if failed:
                        raise system.failure(state, handler.block)
                answers.append((c, c_dot))
            for result in results:
                letter = LETTERS[result.array]
                part = slice(result.at, result.at + result.size)
                variables = slice(result.offset, result.offset + result.size)
                if self._count:
                    written[letter][variables] = answers[0][0][part]
                for i, (_, c_dot) in enumerate(answers):
                    if letter in moved:
                        moved[letter][i][variables] = c_dot[part]
        self._moved = moved
        after = state.copy()
        after.set_y(written["y"])
        for letter in "pdk":
            after._arrays[letter][:] = written[letter]  # noqa: SLF001
        after.invalidate(Stage.INSTANCE, "handlers")
        after.realize(Stage.REPORT)
        return after

    # between events

    def _context(self, state: State) -> tuple[Any, ...]:
        """What stays along a stretch that begins with a State: values of all arrays, tangents of all but states."""
        values = [np.array(array) for array in self.system.arrays(state.realize(Stage.REPORT))]
        caches = [self._along(state, i, self._time_dot[i], self._moved["y"][i]) for i in range(self._count)]
        flat = [np.ascontiguousarray(self._moved[a]).reshape(-1) for a in "pd"]
        return (*values[1:], self._time_dot, *flat, np.concatenate([np.zeros(0), *caches]))

    def _follow(self, state: State, context: tuple[Any, ...], t: float, length: float) -> None:
        """Let the solution and its tangents go on from a time by a length, in halves where that is too long."""
        *fixed, time_dot, p_dots, d_dots, c_dots = context
        states = np.concatenate([self._y, *self._moved["y"]])
        n, work = self.system.ny, np.zeros(2 + (ROUNDS + 3) * states.size)
        stretches, left = 0, [(t, length, 0)]
        while left:
            begin, way, depth = left.pop()
            before, stretches = states.copy(), stretches + 1
            with np.errstate(all="ignore"):
                failed = self._variation(
                    self._tangents.table, self.system.ints, *self.system.inner_range, begin, way, *fixed, states,
                    time_dot, p_dots, d_dots, c_dots, work,
                )  # fmt: skip
            if failed:
                raise self.system.failure(state, failed - 1)
            if work[0] > TIGHT and depth < MOST_HALVINGS and stretches < MOST_STRETCHES:
                states = before
                left += [(begin + 0.5 * way, 0.5 * way, depth + 1), (begin, 0.5 * way, depth + 1)]
            elif 0.0 < abs(way) < SHORT * self._span and depth > 0:
                self._check_jump(state, (begin, before[:n]), (begin + way, states[:n]))
        if stretches >= MOST_STRETCHES:
            self._lose(t, "", "the system is stiff: its tangents take more than 20,000 stretches in a step")
        self._y = states[:n].copy()
        if not np.isnan(self._time_dot).any():
            self._moved["y"] = states[n:].reshape(self._count, n).copy()

    def _check_jump(self, state: State, *ends: tuple[float, Reals]) -> None:
        """Notice a derivative of a state that jumps where no event is."""
        rates = []
        for time, y in ends:
            present = state.copy()
            present.set_time(time)
            present.set_y(y)
            rates.append(np.array(present.realize(Stage.ACCELERATION).y_dot))
        apart = np.abs(rates[1] - rates[0]) / np.maximum(1.0, np.abs(rates[0]))
        if apart.size and apart.max() > HARDLY:
            path = self.system.paths_at("y", [int(np.argmax(apart))])[0]
            self._lose(ends[0][0], path, "its derivative jumps where no event is: make a witness of it")

    def _integrate(self, state: State, before: State, end: State, times: Sequence[float]) -> None:
        """Let the tangents follow a step; rows are recorded at `times`, the last of which is its end."""
        context = self._context(state)
        cache, c_dots = context[4], context[8].reshape(self._count, -1)
        breaks = {
            float(cache[at]): c_dots[:, at] for at in self._smooth if state.time < cache[at] <= end.time
        }
        t, present = state.time, state
        for time in times:
            self._follow(state, context, t, time - t)
            t, present = time, state.copy()
            if time == end.time:
                self._check_end(before, state, end)
            present.set_time(time)
            present.set_y(self._y)
            self._record(present)
        for time, moved in breaks.items():
            shift = moved - self._time_dot
            if abs(time - end.time) <= 1e-12 * max(1.0, abs(time)) and np.any(shift != 0.0):
                self._moved["y"] += np.outer(shift, np.array(present.realize(Stage.ACCELERATION).y_dot))
                self._time_dot = self._time_dot + shift

    def _check_end(self, before: State, state: State, end: State) -> None:
        """Notice where the solution and the run are apart: it has errors, or something jumps without an event."""
        if not self._is_controlled or not self._y.size:
            return
        allowed = MISSED * self._simulator.integrator.accuracy * np.maximum(1.0, np.abs(end.y))
        if (np.abs(self._y - end.y) <= allowed).all():
            return
        begin = state.copy()
        if state is before:
            begin.set_y(before.y)
        kept, self._y, count = self._moved["y"], np.array(begin.y), self._count
        moved, time_dot = self._moved, self._time_dot
        self._moved, self._time_dot, self._count = (
            {a: array[:1] for a, array in moved.items()},
            time_dot[:1],
            1,
        )
        self._follow(begin, self._context(begin), state.time, end.time - state.time)
        apart = np.abs(self._y - end.y) / allowed
        self._moved, self._time_dot, self._count = {**moved, "y": kept}, time_dot, count
        self._y = np.array(end.y)
        if apart.max() > 1.0:
            path = self.system.paths_at("y", [int(np.argmax(apart))])[0]
            self._lose(end.time, path, "something that no event announces jumps inside a step")


__all__ = ["check_run", "run_derivatives"]
