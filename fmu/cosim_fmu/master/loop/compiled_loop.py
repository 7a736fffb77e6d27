"""The loop over communication steps in compiled code, where participants and algorithm allow it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import compile_function
from cosim_fmu.abilities import StepsNatively
from cosim_fmu.master.algorithms import exchange_layout as layout
from cosim_fmu.master.algorithms.exchange_layout import ADVANCE, SET
from cosim_fmu.master.algorithms.exchange_memory import ExchangeMemory
from cosim_fmu.master.algorithms.operations import operations_of
from cosim_fmu.master.algorithms.programmed_algorithm import Call, ProgrammedAlgorithm
from cosim_fmu.master.co_simulation_error import CoSimulationError
from cosim_fmu.master.loop import compiled_steps
from cosim_fmu.master.loop.called_in_python import CalledInPython
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.compiled_steps import (
    ALWAYS_WATCHED,
    FLAGS,
    FLAGS_AT,
    INPUTS_AT,
    LEFT,
    NOTICED,
    OUTPUTS_AT,
    PLACE,
    REQUEST,
    ROWS_USED,
    STATUS,
    STEP,
    UNDER_WAY,
    WATCHED,
)
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.drive import Drive
from cosim_fmu.master.loop.levels import levels
from cosim_fmu.master.loop.marks import Marks
from cosim_fmu.master.loop.native_participants import native_participants
from cosim_fmu.master.loop.not_compiled_error import NotCompiledError
from cosim_fmu.master.recording.recorder import Recorder
from cosim_fmu.master.step_discarded import StepDiscardedError
from cosim_fmu.master.wiring.convert_value import conversions

SECONDS_AT_ONCE = 0.04
"""Of wall time, between two looks at Ctrl-C and the progress."""

MOST_VALUES_AT_ONCE = 1 << 17
"""1 MB: what waits to be written is copied several times."""


class _Remembered(NamedTuple):
    """What Python knew when a state was saved: of the participants, and of the co-simulation."""

    participants: dict[str, Any]
    marks: Marks


class CompiledLoop:
    """Communication steps without Python between the C calls.

    The calls of an exchange are those of the master algorithm (`operations_of`), and where an algorithm of
    ours decides by the values, its decision is the same function that the loop in Python asks
    (`next_request`). The values are exactly those of the loop in Python. What is not as usual in a
    participant (an early return, an event, a failure) is handed over to it, and the compiled steps go on
    after.

    Parameters
    ----------
    coupled : CoupledParticipants
        Initialized, with the values at the start on its board.
    points : CommunicationPoints
    algorithm : MasterAlgorithm
        Initialized.
    recorder : Recorder
    one_by_one : bool
        Whether there is an observer of every communication point.
    check : callable
        Called from time to time in a step that takes long; raises what ends the run.

    Raises
    ------
    NotCompiledError
        With the reason.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        algorithm: cosim.MasterAlgorithm,
        recorder: Recorder,
        one_by_one: bool,
        check: Callable[[], None],
    ) -> None:
        self._run = compile_function(compiled_steps.run_steps, compiled_steps.SIGNATURE)
        if self._run is compiled_steps.run_steps:
            raise NotCompiledError("nothing is compiled here")
        self.coupled, self.points, self.recorder = coupled, points, recorder
        self._check = check
        self._names = list(coupled.participants)
        self._index = {name: i for i, name in enumerate(self._names)}
        if coupled.joint is not None:
            raise NotCompiledError(f"{', '.join(coupled.joint.names)} are solved jointly")
        if coupled.loops:
            raise NotCompiledError(f"{', '.join(coupled.loops[0].participants)} are iterated")
        self._programmed = programmed = _programmed(algorithm)
        self._memory = ExchangeMemory() if programmed is None else programmed.memory
        self._along = programmed is not None and programmed.looks
        self._goes_back = programmed is not None and programmed.goes_back
        beside = self._along and coupled.threads.count > 1
        self._operations = operations_of(algorithm, coupled.order, together=beside)
        self._advance = compile_function(compiled_steps.advance, compiled_steps.ADVANCE_SIGNATURE)
        self._flags = np.zeros((len(self._names), FLAGS))
        self._flags[:, -1] = np.inf
        self._report = np.zeros(compiled_steps.REPORT, dtype=np.int64)
        found = native_participants(coupled, points, self._flags, self._along, self._goes_back)
        self._in_python = {
            name: CalledInPython(coupled, name, self._lines, self._notice, self._enter)
            for name, calls in found.items()
            if calls is None
        }
        self._calls = {name: calls or self._in_python[name].calls() for name, calls in found.items()}
        self._first_input = _starts([len(coupled.input_names[n]) for n in self._names])
        self._first_output = _starts([len(coupled.reads[n]) for n in self._names])
        slots = self._first_input[-1]
        self._inputs = np.zeros(compiled_steps.REGIONS * slots)
        self._regions = self._inputs.reshape(compiled_steps.REGIONS, slots)
        self._outputs = np.zeros(2 * self._first_output[-1])
        self._orders = np.ones(max(1, slots), dtype=np.int32)
        self._program = np.array(
            [number for kind, name in self._operations for number in (kind, self._index.get(name, 0))],
            dtype=np.int64,
        )
        self._ports = np.array(self._connect(), dtype=np.int64)
        self._parts = np.array([self._row(i) for i in range(len(self._names))], dtype=np.int64).ravel()
        columns = [self._column(*source) for source in recorder.sources]
        self._recorded = len(columns)
        outputs = [self._output_slot(name, place) for name, place in coupled.places]
        inputs = [self._input_slot(each.target, each.place) for each in coupled.samples.inputs]
        region = compiled_steps.MEANS if self._along else compiled_steps.HELD
        means = [-1 - (region * slots + slot) for slot in inputs]
        slopes = [-1 - (compiled_steps.SLOPES * slots + slot) for slot in inputs] * self._along
        columns += [slot for slot in dict.fromkeys([*outputs, *means, *slopes]) if slot not in set(columns)]
        first = {slot: i for i, slot in reversed(list(enumerate(columns)))}
        self._sampled = [[first[slot] for slot in kind] for kind in (outputs, means, slopes)]
        self._columns = np.array(columns, dtype=np.int64)
        coupled.samples.by_rows = True
        self._report[INPUTS_AT] = self._inputs.ctypes.data
        self._report[OUTPUTS_AT] = self._outputs.ctypes.data
        self._report[FLAGS_AT] = self._flags.ctypes.data
        self._report[REQUEST] = -1
        self._report[ALWAYS_WATCHED] = any(calls.always_remembered for calls in self._calls.values())
        self._report[WATCHED] = self._report[ALWAYS_WATCHED]
        self._remembered: _Remembered | None = None
        self.take_over_all()
        self._at_once, self._one_by_one, self._courses_left = 1, one_by_one, 0
        self._complaint: cosim.CosimError | None = None
        self._watched_step: int | None = None
        self._levels = self._shared_levels()

    def _enter(self) -> None:
        """A participant is called in Python in the step under way."""
        index = int(self._report[STEP])
        self.coupled.begin_step(index)
        self.coupled.time = self.points.time(index)

    def _notice(self) -> None:
        """A participant that was called in Python has brought something about: the loop stops at the end."""
        self._report[NOTICED] = 1
        self._watched_step = int(self._report[STEP])

    def _connect(self) -> list[int]:
        """Find the places of what is connected; where the interface is read, and which values are whose."""
        coupled = self.coupled
        fed = sorted(coupled.links, key=lambda link: self._index[link.target])  # stable: in order for each
        places = {
            (name, output): self._output_slot(name, place)
            for name in self._names
            for place, output in enumerate(coupled.reads[name])
        }
        found = conversions(fed)
        self._scales, self._pairs = found.scales, found.pairs
        rows = [
            [places[link.start], coupled.line_of(link), *place, int(link.widens is bool)]
            for link, place in zip(fed, found.places, strict=True)
        ]
        self._places = np.array(rows, dtype=np.int64).ravel()
        self._own: list[tuple[int, int]] = []
        ports = [self._output_slot(name, place) for name, place in coupled.places]
        own: list[int] = []
        for name in self._names:
            mine = [k for k, (owner, _) in enumerate(coupled.places) if owner == name]
            self._own.append((len(ports) + len(own), len(mine)))
            own += mine
        return ports + own

    def _shared_levels(self) -> list[tuple[list[int], list[int]]]:
        """Calls that are made one after the other, and steps that are taken side by side, level by level.

        Nothing when no two steps can be.
        """
        free = {n: d.steps_in_threads for n, d in self.coupled.descriptions.items()}
        found = []
        for level in levels(self._operations, self.coupled.links) if not self._along else ():
            beside = [p for p in level if self._operations[p][0] == ADVANCE and free[self._operations[p][1]]]
            found.append(([p for p in level if p not in beside], beside))
        several = self.coupled.threads.count > 1 and any(len(beside) > 1 for _, beside in found)
        return found if several else []

    def run(self, first: int) -> int:
        """Take steps from communication point `first` on, for some milliseconds; the point reached.

        Raises
        ------
        CoSimulationError
            A participant failed; everything up to the last complete step is recorded.
        """
        if self._levels:
            return self._run_beside(first)
        width = self._columns.size + 2
        at_once = min(self._at_once, max(1, MOST_VALUES_AT_ONCE // width))
        last = min(self.points.count, first + (1 if self._one_by_one or self._courses_left else at_once))
        while True:
            rows = np.empty((at_once + 2, width))
            self._report[ROWS_USED], self._report[LEFT], self._report[NOTICED] = 0, at_once, 0
            begun = perf_counter()
            self.recorder.unfinished = partial(self._keep, rows)
            code = self._call(
                self._program, self._columns, rows, self._report, self._memory.counts, first, last
            )
            self.recorder.unfinished = None
            spent = perf_counter() - begun
            whole = code == compiled_steps.PAUSED or last - first >= at_once
            if whole and code in (compiled_steps.DONE, compiled_steps.PAUSED) and spent < SECONDS_AT_ONCE:
                self._at_once = min(8 * at_once, int(at_once * SECONDS_AT_ONCE / spent) + 1)
            self._keep(rows)
            if code == compiled_steps.DONE:
                return int(self._report[STEP]) + 1
            first = int(self._report[STEP])
            last = first + 1  # the step under way is finished at least
            if code == compiled_steps.PAUSED:
                self._check()
            else:
                self._do_what_is_asked(first, code)

    def _do_what_is_asked(self, index: int, code: int) -> None:
        """What compiled code has left to Python in the communication step `index`."""
        report = self._report
        time = self.points.time(index)
        programmed = self._programmed
        if programmed is not None and code == compiled_steps.NOT_SETTLED:
            raise self._complaint or programmed.failure(self.coupled, time)
        if programmed is not None and code == compiled_steps.DERIVES:
            self.coupled.guarded_algorithm(programmed, programmed.derive, self.coupled)
            return
        self.coupled.begin_step(index)
        place = int(report[PLACE])
        if code in (compiled_steps.SAVE_FAILED, compiled_steps.RESTORE_FAILED):
            self._save_in_python(self._names[place], code, int(report[STATUS]))
        if code in (compiled_steps.SAVES, compiled_steps.RESTORES):
            if code == compiled_steps.RESTORES:
                self._forget()
            self._remembered, report[WATCHED] = None, 0
            if report[ALWAYS_WATCHED]:
                self._remember()
            return
        if self._goes_back:
            self._remember()
            report[WATCHED] = 1
        try:
            if code == compiled_steps.BESIDE:
                self._advance_beside(index)
            else:
                self._do_in_python(index, self._operations[place], code, int(report[STATUS]))
        except StepDiscardedError as error:
            if programmed is None or not programmed.takes_discarded:
                raise
            self._complaint = error
            self._memory.counts[layout.DISCARDED] = 1
            report[UNDER_WAY] = compiled_steps.DECIDING
            self.take_over_all()
            return
        report[PLACE] = place + 1
        self._watched_step = index

    def _remember(self) -> None:
        """What Python knows as it was when the state was saved: nothing has been done since then."""
        if self._remembered is None:
            coupled = self.coupled
            told = {
                name: coupled.guarded(name, each.remember)
                for name, each in self._calls.items()
                if each.remember is not None
            }
            self._remembered = _Remembered(told, coupled.marks())

    def _forget(self) -> None:
        """What Python has done since the state was saved has not happened."""
        assert self._remembered is not None
        self.coupled.collect()
        self.coupled.go_back_to(self._remembered.marks)
        for name, told in self._remembered.participants.items():
            forget = self._calls[name].forget
            if forget is not None:
                self.coupled.guarded(name, forget, told)

    def _save_in_python(self, name: str, code: int, status: int) -> None:
        """Raise what saving or restoring would have raised."""
        verb = "save" if code == compiled_steps.SAVE_FAILED else "restore"
        after = self._calls[name].after_state
        if after is not None:
            self.coupled.guarded(name, after, verb, status)
        raise CoSimulationError(self.coupled.time, f"cannot {verb} its state (status {status})", name)

    def _call(
        self,
        program: NDArray[np.int64],
        columns: NDArray[np.int64],
        rows: NDArray[np.float64],
        report: NDArray[np.int64],
        counts: NDArray[np.int64],
        first: int,
        last: int,
    ) -> int:
        memory, points = self._memory, self.points
        return int(
            self._run(
                *(program, self._parts, self._places, self._scales, self._pairs, self._ports),
                *(columns, self._inputs, self._outputs, self._flags.ravel(), rows.ravel(), report),
                *(counts, memory.numbers, memory.table, memory.bonds),
                *(points.grid, points.step, points.until, points.count, first, last),
            )
        )

    def _run_beside(self, first: int) -> int:
        """As `run`, with the steps of several participants in threads."""
        begun, index = perf_counter(), first
        while index < self.points.count:
            failed: dict[int, tuple[int, int]] = {}
            done: set[int] = set()
            for alone, beside in self._levels:
                tasks = [partial(self._do, [place], index, done, failed) for place in beside]
                self.coupled.threads.call(tasks, [partial(self._do, alone, index, done, failed)])
                if failed:
                    break
            if failed:
                self._finish(index, done, failed)
                self._watched_step = index
            rows = np.empty((3, self._columns.size + 2))
            self._part_of_step([], rows, self._report, index)
            self._keep(rows)
            index += 1
            if self._one_by_one or self.coupled.stop_reason or perf_counter() - begun > SECONDS_AT_ONCE:
                break
        return index

    def _part_of_step(
        self, places: list[int], rows: NDArray[np.float64], report: NDArray[np.int64], index: int
    ) -> int:
        """Some calls of a communication step, and a row after them."""
        counts = self._memory.counts.copy()
        counts[layout.PHASE] = layout.AFTER_PASS
        report[PLACE], report[ROWS_USED], report[UNDER_WAY] = 0, 0, compiled_steps.EXCHANGING
        columns = self._columns[: rows.shape[1] - 2]
        program = self._program.reshape(-1, 2)[places].ravel()
        return self._call(program, columns, rows, report, counts, index, index + 1)

    def _do(self, places: list[int], index: int, done: set[int], failed: dict[int, tuple[int, int]]) -> None:
        """Some calls of a communication step."""
        report = self._report.copy()
        code = self._part_of_step(places, np.empty((3, 2)), report, index)
        if code == compiled_steps.DONE:
            done.update(places)
        else:
            done.update(places[: report[PLACE]])
            failed[places[report[PLACE]]] = code, int(report[STATUS])

    def _advance_beside(self, index: int) -> None:
        """Step all participants along lines, in threads where they may."""
        coupled, memory = self.coupled, self._memory
        answers: dict[str, tuple[int, int]] = {}

        def take(name: str) -> None:
            report = self._report.copy()
            part = compiled_steps.WIDTH * self._index[name]
            given = self._parts, part, self._flags.ravel(), report, memory.time, memory.length
            answers[name] = int(self._advance(*given)), int(report[STATUS])

        free = [name for name in coupled.order if coupled.descriptions[name].steps_in_threads]
        others = [name for name in coupled.order if name not in free]
        coupled.threads.call(*([partial(take, name) for name in names] for names in (free, others)))
        for name in coupled.order:
            code, status = answers[name]
            if code != compiled_steps.DONE:
                self._do_in_python(index, (ADVANCE, name), code, status)
                self._watched_step = index

    def _finish(self, index: int, done: set[int], failed: dict[int, tuple[int, int]]) -> None:
        """The rest of a step in threads in which some calls were not as usual: those in Python.

        Parameters
        ----------
        done : set of int
            Places of the calls that have been made.
        failed : dict of int to (int, int)
            Places of those that were not as usual, with the stop code and the status.
        """
        coupled, last = self.coupled, len(self._operations)
        coupled.begin_step(index)
        while len(done) < last:
            place = min(set(range(last)) - done)
            if place in failed:
                self._do_in_python(index, self._operations[place], *failed[place])
                done.add(place)
            else:
                until = min((p for p in failed if p > place), default=last)
                self._do([p for p in range(place, until) if p not in done], index, done, failed)

    def _do_in_python(self, index: int, operation: Call, code: int, status: int) -> None:
        """A call that was not as usual, by what can deal with it."""
        coupled, memory = self.coupled, self._memory
        time = self.points.time(index)
        size = self.points.time(index + 1) - time
        if self._along:
            time, size = memory.time, memory.length
        call, part = operation
        participant = coupled.participants[part]
        called = self._in_python.get(part)
        if called is not None:
            if called.raised is not None:
                raise called.taken()
            self._call_in_python(call, part)
            return
        assert isinstance(participant, StepsNatively)
        if code in (compiled_steps.STEP_FAILED, compiled_steps.STEP_LEFT):
            left = code == compiled_steps.STEP_LEFT
            attempt = participant.step if left else partial(participant.after_native_step, status)
            coupled.drive(part, self._lines(part))
            coupled.finish_step(part, time, coupled.length(part, time, size), attempt)
            self._take_over(part)
            return
        if code in (compiled_steps.SET_FAILED, compiled_steps.READ_FAILED):
            verb = "Set" if code == compiled_steps.SET_FAILED else "Get"
            coupled.guarded(part, participant.after_native_access, verb, status)
        self._call_in_python(call, part)

    def _call_in_python(self, call: int, part: str) -> None:
        """Set or read a participant as the loop in Python does."""
        coupled, memory = self.coupled, self._memory
        arrays = dict(coupled.board)
        coupled.board.update({name: board.tolist() for name, board in arrays.items()})  # Python's own numbers
        try:
            if call in (SET, layout.SET_ALONG):
                coupled.set_inputs(part, memory.course if call == layout.SET_ALONG else None)
            else:
                end = memory.row(layout.END) if call == layout.READ_AT_END else None
                coupled.read_outputs(part, end)
        finally:
            coupled.board.update({name: board for name, board in arrays.items() if name != part})
        self._take_over(part)
        if call == layout.SET_ALONG:
            held, slopes = self._region(compiled_steps.HELD, part), coupled.slopes(part)
            self._region(compiled_steps.BEGAN, part)[:] = held
            self._region(compiled_steps.SLOPES, part)[:] = slopes
            self._region(compiled_steps.MEANS, part)[:] = held + 0.5 * memory.length * np.array(slopes)

    def _lines(self, part: str) -> list[float] | None:
        """Slopes of the inputs of a participant, per s; None where they are held."""
        follows = self._parts[compiled_steps.WIDTH * self._index[part] + compiled_steps.SLOPES_AT]
        return self._region(compiled_steps.SLOPES, part).tolist() if follows else None

    def _keep(self, rows: NDArray[np.float64]) -> None:
        """What was recorded, also in the middle of compiled steps where the process ends."""
        coupled, used = self.coupled, int(self._report[ROWS_USED])
        if not used:
            return
        times, values = rows[:used, 0], rows[:used, 2:]
        points = np.flatnonzero(rows[:used, 1])
        if points.size:
            coupled.statistics.steps += points.size
            last = float(times[points[-1]])
            watched = self._watched_step is not None and last == self.points.time(self._watched_step + 1)
            special = watched or self._courses_left
            plain = points[: points.size - special]
            if plain.size:
                self.recorder.extend(times[plain], np.ascontiguousarray(values[plain, : self._recorded]))
            coupled.time = last
            if watched:
                self._watched_step = None
                coupled.collect()
                self.recorder.inside(coupled.take_inside())
            if special:
                self._record_with_courses()
                self._courses_left = int(watched and self._along)
        outputs, means, slopes = (values[:, places] for places in self._sampled)
        coupled.samples.extend(times, outputs, means, slopes if self._along else None)

    def _record_with_courses(self) -> None:
        """The present values, and how the inputs came there: an event was in this step or the one before."""
        coupled = self.coupled
        if self._along:
            for name in self._names:
                began = self._region(compiled_steps.BEGAN, name).tolist()
                coupled.drives[name] = Drive(self._memory.time, began, self._lines(name))
        drives = coupled.drives if self._along else None
        self.recorder.record(coupled.time, coupled.board, coupled.held, drives)

    def _region(self, region: int, name: str) -> NDArray[np.float64]:
        """The inputs of a participant in one of the regions."""
        i = self._index[name]
        return self._regions[region, self._first_input[i] : self._first_input[i + 1]]

    def _take_over(self, name: str) -> None:
        """Copy the values of the Python loop into the arrays, and let it see the arrays."""
        i = self._index[name]
        held = self._region(compiled_steps.HELD, name)
        board = self._outputs[self._first_output[i] : self._first_output[i + 1]]
        held[:] = self.coupled.held[name]
        board[:] = self.coupled.board[name]
        self.coupled.board[name], self.coupled.held[name] = board, held
        participant = self.coupled.participants[name]
        if name not in self._in_python:
            assert isinstance(participant, StepsNatively)
            self.coupled.guarded(name, participant.resume_native)

    def take_over_all(self) -> None:
        """Go on in compiled code after participants were used from Python."""
        for name in self._names:
            self._take_over(name)

    def _row(self, i: int) -> list[int]:
        name = self._names[i]
        calls = self._calls[name]
        begin, end = self._first_input[i], self._first_input[i + 1]
        low, high = self._first_output[i], self._first_output[i + 1]
        follows = self._along and self.coupled.follows_lines(name)
        return [
            *(calls.instance, calls.set, calls.step, calls.get),
            *(begin, end - begin, calls.input_references),
            *(low, high - low, calls.output_references),
            *(int(calls.same_size), self.coupled.every[name], int(self.coupled.refreshes[name])),
            *(calls.set_slopes if follows else 0, self._orders.ctypes.data),
            *(calls.save, calls.restore, calls.free, calls.state, *self._own[i]),
            calls.access or calls.instance,
        ]

    def _output_slot(self, name: str, place: int) -> int:
        return self._first_output[self._index[name]] + place

    def _column(self, name: str, place: int, held: bool) -> int:
        """Number of a value in a row: outputs count from 0 on, inputs from -1 on downward."""
        return -1 - self._input_slot(name, place) if held else self._output_slot(name, place)

    def _input_slot(self, name: str, place: int) -> int:
        return self._first_input[self._index[name]] + place


def _programmed(algorithm: cosim.MasterAlgorithm) -> ProgrammedAlgorithm | None:
    """The algorithm, if the loop asks its decision; None if it always does the same.

    Raises
    ------
    NotCompiledError
        Neither.
    """
    if isinstance(algorithm, ProgrammedAlgorithm) and type(algorithm).step is ProgrammedAlgorithm.step:
        return algorithm
    if not algorithm.fixed_sequence:
        raise NotCompiledError(f"{type(algorithm).__name__} does not do the same in every step")
    return None


def _starts(sizes: Sequence[int]) -> list[int]:
    found = [0]
    for size in sizes:
        found.append(found[-1] + size)
    return found
