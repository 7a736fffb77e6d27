"""The communication steps of a run, taken by the interpreter of exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import cosim
from cosim_fmu.abilities import NativeCalls, StepsNatively
from cosim_fmu.master.algorithms import exchange_layout as layout
from cosim_fmu.master.algorithms.exchange_layout import ADVANCE, SET, SET_ALONG
from cosim_fmu.master.algorithms.exchange_memory import ExchangeMemory
from cosim_fmu.master.algorithms.programmed_algorithm import Call
from cosim_fmu.master.co_simulation_error import CoSimulationError
from cosim_fmu.master.loop import run_exchanges
from cosim_fmu.master.loop.algorithm_arrays import AlgorithmArrays
from cosim_fmu.master.loop.called_in_python import CalledInPython, types_of
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.drive import Drive
from cosim_fmu.master.loop.exchange_arrays import BEGAN, COURSES, MEAN_SLOPES, MEANS, SLOPES
from cosim_fmu.master.loop.exchange_face import ExchangeFace
from cosim_fmu.master.loop.exchange_machine import ExchangeMachine, words_of
from cosim_fmu.master.loop.exchange_programs import ExchangePrograms
from cosim_fmu.master.loop.native_participants import native_participants, shows_tables
from cosim_fmu.master.loop.number_function import number_function
from cosim_fmu.master.loop.steps_together import StepsTogether
from cosim_fmu.master.loop.threaded_program import ThreadedProgram, threaded_program
from cosim_fmu.master.loop.value_numbers import TABLED, ValueNumbers
from cosim_fmu.master.recording import recorder as recording
from cosim_fmu.master.recording.recorder import Recorder
from cosim_fmu.master.step_discarded import StepDiscardedError

SECONDS_AT_ONCE = 0.04
"""Of wall time, between two looks at Ctrl-C and the progress."""
MOST_VALUES_AT_ONCE = 1 << 17
"""1 MB: what waits to be written is copied several times."""
FEW = 200
"""Operations that are done in plain Python before compiled code is loaded."""
PART_OF_PIECE = 4
"""Of the characters in a piece of a stream: so many may wait in the table of the loop."""


class CompiledLoop:
    """Communication steps without Python between the calls of participants.

    What is not as usual in a participant (an early return, an event, a failure) is handed over to it, and the
    interpreter goes on after. A participant without functions of C, an algorithm that decides in Python, an
    observer are called at their place.

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

    Attributes
    ----------
    in_python : dict of str to str
        Participants that are called in Python, and why.
    decides_in_python : str
        The class of an algorithm that does; else "".
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
        self.coupled, self.points, self.recorder = coupled, points, recorder
        self._check, self._one_by_one = check, one_by_one
        programs = ExchangePrograms(algorithm, coupled)
        self._asked = programs.asked
        self.decides_in_python = "" if programs.asked is None else type(programs.asked).__name__
        self._along = programs.along
        self.machine = machine = ExchangeMachine(coupled, points, recorder.sources, self._along)
        self._names, self._numbers = machine.names, ValueNumbers()
        self._types = {name: types_of(coupled, name) for name in self._names}
        goes_back = programs.goes_back
        flags = words_of(machine.answers, np.float64).reshape(len(self._names), -1)
        found = native_participants(coupled, points, flags, self._along, goes_back)
        self.in_python = {name: calls for name, calls in found.items() if isinstance(calls, str)}
        self._called: dict[str, CalledInPython] = {}
        self._calls = {name: self._functions(name, calls) for name, calls in found.items()}
        machine.call(self._calls)
        self.face = ExchangeFace(coupled, self)
        self._algorithms = programs.arrays(machine, self.face)
        machine.follow(self._algorithms)
        for each in self._algorithms:
            each.progress.always_watched = any(self._calls[n].always_remembered for n in each.members)
            each.progress.watched = each.progress.always_watched
        self._main = self._algorithms[0]
        self.memory: ExchangeMemory = self._main.memory
        self._recorded = len(recorder.sources)
        self._text = partial(self._numbers.value, "string")
        self._resume_samples()
        machine.report.ticks = bool(coupled.ticking)
        self._take_over_values()
        self._at_once, self._courses_left, self._is_limited = 1, 0, False
        self._complaint: cosim.CosimError | None = None
        self._watched_step: int | None = None
        self._rows = np.zeros((0, 0))
        self._threaded = self._threads_program()
        self._uses_threads = False
        operations = sum(len(each.operations) for each in self._algorithms)
        self._choose_code(points.count * (3 * len(self._names) if self._asked else operations))

    def _choose_program(self) -> None:
        """Steps in threads, while that is faster."""
        self._together.gain.look()
        if self._threaded is None:
            return
        if self._together.gain.uses_threads != self._uses_threads:
            self._uses_threads = not self._uses_threads
            self.machine.run_program(0, self._programs[self._uses_threads])

    def _choose_code(self, operations: int) -> None:
        """Compiled functions, or where there is little to do the same in plain Python."""
        is_long, several = operations >= FEW, self.coupled.threads.count > 1
        asked = self._asked is not None
        wanted: dict[Any, bool] = {
            run_exchanges.run_steps: not asked,
            run_exchanges.run_operation: asked or several,
            run_exchanges.end_step: asked,
            run_exchanges.begin_steps: several,
            run_exchanges.take_steps: several,
        }
        self._run, self._operate, self._end, begin, take = (
            number_function(function, run_exchanges.ENTRIES[function], is_long and is_wanted)
            for function, is_wanted in wanted.items()
        )
        self._together = StepsTogether(self.coupled, self.machine, self._called, begin, take)

    def _threads_program(self) -> ThreadedProgram | None:
        """The exchange of the master's algorithm with several threads, where they are wanted."""
        coupled = self.coupled
        if coupled.threads.count < 2 or self._asked is not None:
            return None
        free = {name for name, told in coupled.descriptions.items() if told.steps_in_threads}
        in_a_row = self._along or coupled.joint is not None or bool(coupled.loops)
        found = threaded_program(self._main.operations, coupled.links, free, in_a_row)
        if found is not None:
            both = self._main.operations, found.operations
            self._programs = [self._main.program_of(operations) for operations in both]
        return found

    def _functions(self, name: str, calls: NativeCalls | str) -> NativeCalls:
        """What is called of a participant."""
        if isinstance(calls, NativeCalls) and not shows_tables(self.coupled, name):
            return calls
        given = self.coupled, name, self.machine, self._numbers, self._notice, self._enter, self._limit_table
        called = self._called[name] = CalledInPython(*given)
        return called.calls() if isinstance(calls, str) else called.read_in_python(calls)

    def _resume_samples(self) -> None:
        """Samples of the coupling go on from where they are."""
        samples, machine = self.coupled.samples, self.machine
        machine.clock.sampled = samples.since
        for name, (since, reached) in samples.steps.items():
            drive = machine.drives[machine.number[name]]
            drive.since = drive.began = since
            drive.reached = reached
        for each, mean, slope in zip(samples.inputs, *samples.means, strict=True):
            slot = machine.input_slot(each.target, each.place)
            machine.inputs[MEANS, slot], machine.inputs[MEAN_SLOPES, slot] = mean, slope

    def show(self) -> None:
        """Let others see the values as Python has them; `take_over_all` goes on after that."""
        coupled, machine, samples = self.coupled, self.machine, self.coupled.samples
        for name in self._names:
            coupled.board[name] = self._read(name)
            coupled.held[name] = self._held(name)
        samples.since = machine.clock.sampled
        drives = zip(self._names, machine.drives, strict=True)
        samples.steps = {n: (d.since, d.reached) for n, d in drives if np.isfinite(d.since)}
        slots = [machine.input_slot(each.target, each.place) for each in samples.inputs]
        samples.means = machine.inputs[MEANS, slots].tolist(), machine.inputs[MEAN_SLOPES, slots].tolist()

    def _read(self, name: str) -> list[Any]:
        """What was read of a participant, as Python has it."""
        return self._numbers.values(self._types[name][1], self.machine.outputs_of(name))

    def _held(self, name: str) -> list[Any]:
        """The inputs of a participant, as Python has them."""
        return self._numbers.values(self._types[name][0], self.machine.inputs_of(name))

    def _take_over_values(self) -> None:
        """Copy the values of Python into the arrays, and let Python see the arrays."""
        for name in self._names:
            self._take_over(name, resume=False)

    def take_over_all(self) -> None:
        """Go on after participants were used from Python, and values shown."""
        self._take_over_values()
        self.resume(self._names)

    def resume(self, names: Iterable[str]) -> None:
        """Participants were used from Python."""
        for name in names:
            self._resume(name)

    def _take_over(self, name: str, resume: bool = True) -> None:
        """The same of one participant; its values stay as they are where Python sees the arrays."""
        coupled, machine = self.coupled, self.machine
        board, held = machine.outputs_of(name), machine.inputs_of(name)
        if coupled.held[name] is not held:
            held[:] = self._numbers.all_of(self._types[name][0], coupled.held[name])
            coupled.held[name] = held
        if coupled.board[name] is not board:
            board[:] = self._numbers.all_of(self._types[name][1], coupled.board[name])
            coupled.board[name] = board
        if resume:
            self._resume(name)

    def _resume(self, name: str) -> None:
        participant = self.coupled.participants[name]
        if name not in self.in_python and isinstance(participant, StepsNatively):
            self.coupled.guarded(name, participant.resume_native)

    def _enter(self) -> None:
        """A participant is called in Python in the step under way."""
        index = int(self.machine.report.step)
        self.coupled.begin_step(index)
        self.coupled.time = self.machine.clock.begin

    def _limit_table(self) -> None:
        """A value has come into the table: where there are many the loop stops, and takes over its rows."""
        if PART_OF_PIECE * self._numbers.size > recording.CHARACTERS:
            self.machine.report.left, self._is_limited = 0, True

    def _notice(self) -> None:
        """A participant that was called in Python has brought something about: the loop stops at the end."""
        self.machine.report.noticed = 1
        self._watched_step = int(self.machine.report.step)

    def run(self, first: int) -> int:
        """Take steps from communication point `first` on, for some milliseconds; the point reached.

        Raises
        ------
        CoSimulationError
            A participant failed; everything up to the last complete step is recorded.
        """
        machine, report = self.machine, self.machine.report
        self._choose_program()
        width = machine.columns + 2
        at_once = min(self._at_once, max(1, MOST_VALUES_AT_ONCE // width))
        last = min(self.points.count, first + (1 if self._one_by_one or self._courses_left else at_once))
        while True:
            self._rows = np.empty((at_once + 2, width))
            machine.use_rows(self._rows.reshape(-1))
            report.left, report.noticed, self._is_limited = at_once, 0, False
            begun = perf_counter()
            self.recorder.unfinished = self._keep
            try:
                code = self._ask(first, last) if self._asked else self._run(machine.address, first, last)
            except BaseException:
                self._keep()
                raise
            finally:
                self.recorder.unfinished = None
            spent = perf_counter() - begun
            is_whole = code == run_exchanges.PAUSED or (
                code == run_exchanges.DONE and last - first >= at_once
            )
            if is_whole and not self._is_limited and spent < SECONDS_AT_ONCE:
                self._at_once = min(8 * at_once, int(at_once * SECONDS_AT_ONCE / spent) + 1)
            self._keep()
            if code == run_exchanges.DONE:
                return int(report.step) + 1
            first = int(report.step)
            last = first + 1  # the step under way is finished at least
            if code == run_exchanges.PAUSED:
                self._check()
            else:
                self._do_what_is_asked(first, code)

    def _ask(self, first: int, last: int) -> int:
        """Steps of an algorithm that decides in Python."""
        report, clock, coupled = self.machine.report, self.machine.clock, self.coupled
        for index in range(first, last):
            report.step = index
            coupled.begin_step(index)
            clock.begin, following = self.points.time(index), self.points.time(index + 1)
            while True:
                coupled.time = clock.begin
                clock.end = coupled.next_tick(clock.begin, following)
                size = clock.end - clock.begin
                assert self._asked is not None
                coupled.guarded_algorithm(self._asked, self._asked.step, self.face, clock.begin, size)
                if not clock.end < following:
                    break
                self._end_part(index)
                clock.begin = clock.end
            self._make_room()
            self._end(self.machine.address)
            if report.noticed or report.left <= 0 or self._watched_step == index:
                break
        return run_exchanges.DONE

    def operate(self, call: int, name: str) -> None:
        """Do one operation of an exchange for a participant, for an algorithm that decides in Python."""
        machine, report = self.machine, self.machine.report
        if call in (ADVANCE, layout.DRIVE):
            self._make_room()
        code = self._operate(machine.address, call, machine.number.get(name, 0))
        if code != run_exchanges.DONE:
            index = int(report.step)
            self._watched_step = index
            self._do_in_python(index, self._main, (call, name), code, int(report.status))

    def advance_together(self, names: Sequence[str]) -> bool:
        """Step participants at the same time for such an algorithm, if threads are worth it here."""
        coupled = self.coupled
        if coupled.threads.count < 2 or len(names) < 2 or not self._together.gain.uses_threads:
            return False
        for name in names:
            for member in coupled.units[name][1:]:
                self.operate(layout.DRIVE, member)
        self._make_room()
        index = int(self.machine.report.step)
        unusual = self._together.take(names)
        for name in names:
            if name in unusual:
                self._watched_step = index
                self._do_in_python(index, self._main, (ADVANCE, name), *unusual[name])
            else:
                self._tell(name)
        return True

    def _make_room(self) -> None:
        """Take over rows where there is no room for two more."""
        report = self.machine.report
        if report.rows + 2 > len(self._rows):
            self._keep()

    def _do_what_is_asked(self, index: int, code: int) -> None:
        """What the interpreter has left to Python in the communication step `index`."""
        report, coupled = self.machine.report, self.coupled
        algorithm = self._algorithms[report.algorithm]
        programmed, progress = algorithm.programmed, algorithm.progress
        if code == run_exchanges.CUTS:
            self._cut(index)
            return
        if programmed is not None and code == run_exchanges.NOT_SETTLED:
            raise self._complaint or programmed.failure(algorithm.exchange, self.machine.clock.begin)
        if programmed is not None and code == run_exchanges.DERIVES:
            coupled.guarded_algorithm(programmed, programmed.derive, algorithm.exchange)
            return
        coupled.begin_step(index)
        if code in (run_exchanges.SAVE_FAILED, run_exchanges.RESTORE_FAILED):
            self._save_in_python(self._names[report.part], code, int(report.status))
        if code in (run_exchanges.SAVES, run_exchanges.RESTORES):
            if code == run_exchanges.RESTORES:
                self._forget(algorithm)
            else:
                algorithm.remembered = None
                if progress.always_watched:
                    self._remember(algorithm)
            progress.watched = 0
            return
        for each in {0: self._main, report.algorithm: algorithm}.values():
            if each.goes_back:
                self._remember(each)
                each.progress.watched = 1
        place = int(progress.place)
        try:
            if code == run_exchanges.TOGETHER:
                place = self._step_together(index, algorithm, place)
            else:
                operation = self._operations(algorithm)[place]
                self._do_in_python(index, algorithm, operation, code, int(report.status))
                self._watched_step = index
        except StepDiscardedError as error:
            if programmed is None or not programmed.takes_discarded:
                raise
            self._complaint = error
            algorithm.memory.counts[layout.DISCARDED] = 1
            progress.under_way = run_exchanges.DECIDING
            self.take_over_all()
            return
        progress.place = place + 1

    def _operations(self, algorithm: AlgorithmArrays) -> list[Call]:
        """Those that an algorithm does now."""
        if algorithm is self._main and self._uses_threads:
            assert self._threaded is not None
            return self._threaded.operations
        return algorithm.operations

    def _step_together(self, index: int, algorithm: AlgorithmArrays, place: int) -> int:
        """Several participants step at once; returns the place of the last operation that has been done.

        Where one was not as usual, the rest of the exchange is done in the order of the program for one
        thread, so that what happens does not depend on the number of threads.
        """
        assert self._threaded is not None
        covers, operations = self._threaded.covers, algorithm.operations
        together = covers[place]
        unusual = self._together.take([operations[p][1] for p in together])
        if not unusual:
            for p in together:
                self._tell(operations[p][1])
            return place
        self._watched_step = index
        done = {p for cover in covers[:place] for p in cover}
        for p, (call, name) in enumerate(operations):
            if p in done:
                continue
            if p not in together:
                self.operate(call, name)
            elif name in unusual:
                self._do_in_python(index, algorithm, (call, name), *unusual[name])
            else:
                self._tell(name)
        return len(covers) - 1

    def _tell(self, name: str) -> None:
        """What came of a step that was taken beside others."""
        if name in self._called:
            self._called[name].tell()

    def _cut(self, index: int) -> None:
        """Begin the next part of a communication step, which ends at a tick at the latest."""
        clock, coupled, main = self.machine.clock, self.coupled, self._main
        following = self.points.time(index + 1)
        coupled.begin_step(index)
        if clock.end < following:  # a part has ended
            self._end_part(index)
            clock.begin = clock.end
        coupled.time = clock.begin
        clock.end = coupled.next_tick(clock.begin, following)
        main.memory.counts[layout.PHASE] = layout.BEGIN
        main.progress.under_way = run_exchanges.DECIDING

    def _end_part(self, index: int) -> None:
        """All have come to a tick inside a communication step."""
        coupled, clock = self.coupled, self.machine.clock
        self._keep()
        coupled.time = clock.end
        coupled.collect()
        if coupled.inside:
            self.recorder.inside(coupled.take_inside())
        if self.recorder.keeps_inside:
            self._record_with_courses()
        self._watched_step = index

    def _remember(self, algorithm: AlgorithmArrays) -> None:
        """What Python knows as it was when the state was saved: nothing has been done since then."""
        if algorithm.remembered is None:
            coupled = self.coupled
            told = {
                name: coupled.guarded(name, remember)
                for name in algorithm.members
                if (remember := self._calls[name].remember) is not None
            }
            algorithm.remembered = told, coupled.marks()

    def _forget(self, algorithm: AlgorithmArrays) -> None:
        """What Python has done since the state was saved has not happened."""
        assert algorithm.remembered is not None
        told, marks = algorithm.remembered
        self.coupled.collect()
        self.coupled.go_back_to(marks)
        for name, memory in told.items():
            forget = self._calls[name].forget
            if forget is not None:
                self.coupled.guarded(name, forget, memory)

    def _save_in_python(self, name: str, code: int, status: int) -> None:
        """Raise what saving or restoring would have raised."""
        verb = "save" if code == run_exchanges.SAVE_FAILED else "restore"
        after = self._calls[name].after_state
        if after is not None:
            self.coupled.guarded(name, after, verb, status)
        raise CoSimulationError(self.coupled.time, f"cannot {verb} its state (status {status})", name)

    def _do_in_python(
        self, index: int, algorithm: AlgorithmArrays, operation: Call, code: int, status: int
    ) -> None:
        """A call that was not as usual, by what can deal with it."""
        coupled, memory = self.coupled, algorithm.memory
        call, part = operation
        coupled.begin_step(index)
        coupled.time = self.machine.clock.begin
        participant, called = coupled.participants[part], self._called.get(part)
        if called is not None and called.raised is not None:
            raise called.taken()
        if part in self.in_python:
            self._call_in_python(call, part, memory)
            return
        assert isinstance(participant, StepsNatively)
        if code in (run_exchanges.STEP_FAILED, run_exchanges.STEP_LEFT):
            time, size = memory.time, memory.length
            left = code == run_exchanges.STEP_LEFT
            attempt = participant.step if left else partial(participant.after_native_step, status)
            coupled.drive(part, self._lines(part, COURSES))
            coupled.held[part] = self._held(part)
            coupled.finish_step(part, time, coupled.length(part, time, size), attempt)
            self._take_over(part)
            return
        if code in (run_exchanges.SET_FAILED, run_exchanges.READ_FAILED) and called is None:
            verb = "Set" if code == run_exchanges.SET_FAILED else "Get"
            coupled.guarded(part, participant.after_native_access, verb, status)
        self._call_in_python(call, part, memory)

    def _call_in_python(self, call: int, part: str, memory: ExchangeMemory) -> None:
        """Set or read a participant by its methods of Python."""
        coupled = self.coupled
        with self._values_of_python():
            if call in (SET, SET_ALONG):
                coupled.set_member_inputs(part, memory.course if call == SET_ALONG else None)
            else:
                end = memory.row(layout.END) if call == layout.READ_AT_END else None
                coupled.read_member_outputs(part, end)
        self._resume(part)
        if call in (SET, SET_ALONG):
            self.machine.inputs_of(part, SLOPES)[:] = coupled.slopes(part)

    @contextmanager
    def _values_of_python(self) -> Iterator[None]:
        """Let the values be those of Python; what is changed is taken over."""
        for name in self._names:
            self.coupled.board[name], self.coupled.held[name] = self._read(name), self._held(name)
        try:
            yield
        finally:
            self._take_over_values()

    def _lines(self, part: str, region: int) -> list[float] | None:
        """Slopes of the inputs of a participant, per s; None where they are held."""
        return self.machine.inputs_of(part, region).tolist() if self.machine.follows(part) else None

    def _keep(self) -> None:
        """What was recorded, also in the middle of steps where the process ends."""
        coupled, report = self.coupled, self.machine.report
        used = int(report.rows)
        if not used:
            return
        rows = self._rows[:used]
        report.rows = 0
        times, values = rows[:, 0].copy(), rows[:, 2:]
        points = np.flatnonzero(rows[:, 1])
        if points.size:
            coupled.statistics.steps += points.size
            last = float(times[points[-1]])
            watched = self._watched_step is not None and last == self.points.time(self._watched_step + 1)
            special = watched or self._courses_left
            plain = points[: points.size - special]
            if plain.size:
                recorded = np.ascontiguousarray(values[plain, : self._recorded])
                self.recorder.extend(times[plain], recorded, self._text)
            coupled.time = last
            if watched:
                self._watched_step = None
                coupled.collect()
                self.recorder.inside(coupled.take_inside())
            if special:
                self._record_with_courses()
                self._courses_left = int(watched and self._along)
        if PART_OF_PIECE * self._numbers.size > recording.CHARACTERS:
            self._forget_texts()
        outputs, means, slopes = (values[:, places] for places in self.machine.sampled)
        coupled.samples.extend(times, outputs, means, slopes if self._along else None)

    def _forget_texts(self) -> None:
        """Those that are no value any more."""
        kept: list[float] = []
        for name in self._names:
            for types, values in zip(
                self._types[name],
                (self.machine.inputs_of(name), self.machine.outputs_of(name)),
                strict=True,
            ):
                kept += [v for kind, v in zip(types, values.tolist(), strict=True) if kind in TABLED]
        for algorithm in self._algorithms:
            kept += algorithm.arrays.saved.tolist()
        self._numbers.keep(kept)

    def _record_with_courses(self) -> None:
        """The present values, and how the inputs came there: an event was in this step or the one before."""
        coupled, machine = self.coupled, self.machine
        if self._along:
            for name, drive in zip(self._names, machine.drives, strict=True):
                began = self._numbers.values(self._types[name][0], machine.inputs_of(name, BEGAN))
                coupled.drives[name] = Drive(drive.began, began, self._lines(name, COURSES))
        board = {name: self._read(name) for name in self._names}
        held = {name: self._held(name) for name in self._names}
        self.recorder.record(coupled.time, board, held, coupled.drives if self._along else None)
