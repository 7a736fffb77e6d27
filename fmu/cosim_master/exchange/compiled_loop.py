"""The communication steps of a run, taken by the interpreter of exchanges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim_fmi.binding.process_guard import same_folder
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_layout import ADVANCE
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.coupling.errors import CoSimulationError, StepDiscardedError
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange import part_steps, run_exchanges, stop_codes
from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import AlgorithmArrays, ExchangeFace, ExchangePrograms
from cosim_master.exchange.exchange_arrays import ANSWER, ANSWERED
from cosim_master.exchange.exchange_machine import (
    ExchangeMachine,
    native_participants,
    number_function,
    numbers_of,
    shows_tables,
)
from cosim_master.exchange.operations_in_python import OperationsInPython
from cosim_master.exchange.parallel_programs import (
    ParallelPrograms,
    parallel_programs,
)
from cosim_master.exchange.run_values import RunRows, RunValues, ValueNumbers
from cosim_master.exchange.step_parts import StepParts
from cosim_master.exchange.steps_together import StepsTogether
from cosim_master.native_calls import NativeCalls
from cosim_master.recording.recorder import Recorder

SECONDS_AT_ONCE = 0.04
"""Wall time between two checks of Ctrl-C and of the progress."""
MOST_VALUES_AT_ONCE = 1 << 17
"""The largest number of values in rows that wait to be recorded, 1 MB: they are copied several times."""
FEW = 200
"""Runs with fewer operations are done in plain Python, since loading compiled code would take longer."""


class DiscardedExchange(NamedTuple):
    """An exchange in which a participant discarded its step.

    Attributes
    ----------
    error : CosimError
        The error of the participant.
    time, length : float
        Begin and length of the exchange, s.
    """

    error: cosim.CosimError
    time: float
    length: float


class CompiledLoop:
    """Communication steps without Python between the calls of participants.

    The participant handles an early return, an event or a failure in Python; then the interpreter resumes.
    Participants without functions of C, algorithms that decide in Python, and observers are called in Python.

    Parameters
    ----------
    coupled : CoupledParticipants
        Initialized, with the values at the start on its board.
    points : CommunicationPoints
    algorithm : MasterAlgorithm
        Initialized.
    face : ExchangeFace
        The exchange for an algorithm that decides in Python, the same as in its initialization.
    recorder : Recorder
    split_into_single_calls : bool
        Whether there is an observer of every communication point.
    check : callable
        Called from time to time in a step that takes long; raises what ends the run.

    Attributes
    ----------
    in_python : dict of str to str
        Participants that are called in Python, and why.
    decides_in_python : str
        The class of an algorithm that does; else "".
    values : RunValues
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        algorithm: cosim.MasterAlgorithm,
        face: ExchangeFace,
        recorder: Recorder,
        split_into_single_calls: bool,
        check: Callable[[], None],
    ) -> None:
        self.coupled, self.points, self.recorder = coupled, points, recorder
        self._check, self._one_by_one = check, split_into_single_calls
        programs = ExchangePrograms(algorithm, coupled)
        self._python_algorithm = programs.in_python
        self.decides_in_python = "" if programs.in_python is None else type(programs.in_python).__name__
        self._carries_slopes = programs.along
        self.machine = machine = ExchangeMachine(coupled, points, recorder.sources, self._carries_slopes)
        self._names, self._numbers = machine.names, ValueNumbers()
        goes_back = programs.saves_states
        flags = numbers_of(machine.answers, np.float64).reshape(len(self._names), ANSWER)
        native = native_participants(coupled, points, flags[:, :ANSWERED], self._carries_slopes, goes_back)
        self.in_python = {name: calls for name, calls in native.items() if isinstance(calls, str)}
        self._called: dict[str, CalledInPython] = {}
        self._calls = {name: self._functions(name, calls) for name, calls in native.items()}
        machine.call(self._calls)
        self._face = face
        self._algorithms = programs.arrays(machine, face)
        machine.follow(self._algorithms)
        for arrays in self._algorithms:
            arrays.progress.always_watched = any(self._calls[n].always_remembered for n in arrays.members)
            arrays.progress.watched = arrays.progress.always_watched
        self._main = self._algorithms[0]
        self.memory: ExchangeMemory = self._main.memory
        self.values = RunValues(coupled, machine, self._numbers, self.in_python)
        self._rows = RunRows(
            coupled, points, machine, self.values, self._numbers, recorder, self._carries_slopes
        )
        machine.report.ticks = bool(coupled.ticking)
        self._at_once, self._is_limited, self._is_paused = 1, False, False
        self._exchanges_at_points = not algorithm.exchanges_within_step
        self._discarded: DiscardedExchange | None = None
        self._parallel: ParallelPrograms | None = None
        if coupled.threads is not None and self._python_algorithm is None:
            self._parallel = parallel_programs(
                coupled, machine, self._main, self._calls, self._carries_slopes
            )
        self._together: StepsTogether | None = None
        operations = sum(len(arrays.operations) for arrays in self._algorithms)
        face.bind(self)
        self._choose_code(points.count * (3 * len(self._names) if self._python_algorithm else operations))

    @cached_property
    def _parts(self) -> StepParts:
        """The parts of the present step; created when a step is cut."""
        return StepParts(
            self.coupled,
            self.points,
            self.machine,
            self._main,
            self.values,
            self._rows,
            self._exchanges_at_points,
        )

    @cached_property
    def _python(self) -> OperationsInPython:
        """Carries out operations that the interpreter leaves to Python; created with the first one."""
        return OperationsInPython(
            self.coupled,
            self.machine,
            self.values,
            calls=self._calls,
            called=self._called,
            in_python=self.in_python,
        )

    def _choose_program(self) -> None:
        """Run the program with steps in threads while that is faster."""
        if self._together is None:
            return
        self._together.gain.retry_threads()
        if self._parallel is not None:
            self._parallel.choose(with_threads=self._together.gain.uses_threads)

    def _choose_code(self, operations: int) -> None:
        """Take compiled functions, or for a short run the same functions in plain Python."""
        is_long, threads = operations >= FEW, self.coupled.threads
        decides_in_python = self._python_algorithm is not None
        is_used: dict[Any, bool] = {
            run_exchanges.run_steps: not decides_in_python,
            run_exchanges.run_operation: decides_in_python or threads is not None,
            run_exchanges.end_step: decides_in_python,
        }
        self._run, self._operate, self._end = (
            number_function(function, run_exchanges.ENTRIES[function], is_long and used)
            for function, used in is_used.items()
        )
        if threads is not None:
            begin, take = (
                number_function(function, run_exchanges.ENTRIES[function], is_long)
                for function in (part_steps.start_steps, part_steps.take_steps)
            )
            self._together = StepsTogether(self.coupled, threads, self.machine, self._called, begin, take)

    def _functions(self, name: str, calls: NativeCalls | str) -> NativeCalls:
        """The functions that call a participant."""
        if isinstance(calls, NativeCalls) and not shows_tables(self.coupled, name):
            return calls
        called = self._called[name] = CalledInPython(
            self.coupled,
            name,
            self.machine,
            self._numbers,
            noticed=self._report_python_change,
            enter=self._start_python_call,
            limit_table=self._limit_table,
        )
        return called.calls() if isinstance(calls, str) else called.read_in_python(calls)

    def _start_python_call(self) -> None:
        """Set the number and the time of the present step, before a participant is called in Python."""
        index = int(self.machine.report.step)
        self.coupled.start_step(index)
        self.coupled.time = self.machine.clock.begin

    def _limit_table(self) -> None:
        """Stop the loop, so that its rows are emptied, if the table of texts is full."""
        if self._rows.are_crowded:
            self.machine.report.left, self._is_limited = 0, True

    def _report_python_change(self) -> None:
        """Stop the loop at the end of the step, since a call in Python has added a record."""
        self.machine.report.noticed = 1
        self._rows.watched_step = int(self.machine.report.step)

    def run_into(self, index: int, time: float) -> None:
        """Advance to a time (s) inside the communication step `index`, which is cut there as at a tick.

        The next `run` or `run_into` of the same step continues from there.
        """
        self._parts.pause = time
        self.machine.report.ticks = True
        try:
            self.run(index)
        finally:
            self._parts.pause = math.inf
            self.machine.report.ticks = bool(self.coupled.ticking)

    def resume_inside(self, index: int, time: float) -> None:
        """Continue inside the communication step `index`, which another loop has made up to `time` (s)."""
        self._parts.resume_at(index, time)

    def run(self, first: int, limit: int | None = None) -> int:
        """Take steps from communication point `first` on for some milliseconds. Returns the point reached.

        Parameters
        ----------
        first : int
        limit : int, optional
            A communication point that is not passed.

        Raises
        ------
        CoSimulationError
            A participant failed; everything up to the last complete step is recorded.
        """
        report = self.machine.report
        self._is_paused = False
        self._choose_program()
        at_once = min(self._at_once, max(1, MOST_VALUES_AT_ONCE // (self.machine.columns + 2)))
        is_single = self._one_by_one or self._rows.needs_course
        last = min(self.points.count, first + (1 if is_single else at_once))
        last = last if limit is None else min(last, limit)
        is_inside = self._main.progress.under_way == stop_codes.CUT
        if is_inside and self._python_algorithm is None:
            self._is_paused = not self._parts.start_next(first)
        while True:
            code = self._take_steps(first, last, at_once)
            if self._is_paused:
                return first
            if code == stop_codes.DONE:
                return int(report.step) + 1
            first = int(report.step)
            last = first + 1  # finish the present step
            if code == stop_codes.PAUSED:
                self._check()
            else:
                with same_folder():
                    self._handle_stop(first, code)
                if self._is_paused:
                    return first

    def _take_steps(self, first: int, last: int, at_once: int) -> int:
        """Take steps up to communication point `last`, or until an operation is left to Python.

        The rows of at most `at_once` steps are recorded. The next call takes as many steps as fit into
        `SECONDS_AT_ONCE`.

        Returns
        -------
        int
            The code of the interpreter.
        """
        report = self.machine.report
        self._rows.make(at_once + 2)
        report.left, report.noticed, self._is_limited = at_once, 0, False
        wall_start = perf_counter()
        self.recorder.unfinished = self._rows.empty_buffer
        try:
            with same_folder():
                if self._python_algorithm is not None:
                    code = self._run_python_steps(first, last)
                else:
                    code = self._run(self.machine.address, first, last)
        except BaseException:
            self._rows.empty_buffer()
            raise
        finally:
            self.recorder.unfinished = None
        spent = perf_counter() - wall_start
        is_done = code == stop_codes.DONE and last - first >= at_once
        is_whole = code == stop_codes.PAUSED or is_done
        if is_whole and not self._is_limited and spent < SECONDS_AT_ONCE:
            self._at_once = min(8 * at_once, int(at_once * SECONDS_AT_ONCE / spent) + 1)
        self._rows.empty_buffer()
        return code

    def _run_python_steps(self, first: int, last: int) -> int:
        """Take steps with an algorithm that decides in Python. Returns `DONE`."""
        report, clock, coupled = self.machine.report, self.machine.clock, self.coupled
        algorithm = self._python_algorithm
        assert algorithm is not None
        for index in range(first, last):
            report.step = index
            coupled.start_step(index)
            step_end = self.points.time(index + 1)
            if self._main.progress.under_way != stop_codes.CUT:  # otherwise a part of the step has been made
                clock.begin = self.points.time(index)
            self._main.progress.under_way = stop_codes.BETWEEN
            while True:
                self._parts.prepare(step_end)
                size = clock.end - clock.begin
                coupled.guarded_algorithm(algorithm, algorithm.step, self._face, clock.begin, size)
                if not clock.end < step_end:
                    break
                if not self._parts.finish(index, step_end):
                    self._is_paused = True
                    return stop_codes.DONE
            self._rows.make_room()
            self._end(self.machine.address)
            if report.noticed or report.left <= 0 or self._rows.watched_step == index:
                break
        return stop_codes.DONE

    def operate(self, call: int, name: str) -> None:
        """Do one operation of an exchange for a participant, for an algorithm that decides in Python."""
        machine, report = self.machine, self.machine.report
        if call in (ADVANCE, layout.NOTE_COURSE):
            self._rows.make_room()
        code = self._operate(machine.address, call, machine.number.get(name, 0))
        if code != stop_codes.DONE:
            index = int(report.step)
            self._rows.watched_step = index
            self._python.complete(index, self.memory, (call, name), code, int(report.status))

    def advance_together(self, names: Sequence[str]) -> bool:
        """Step participants at the same time, for an algorithm in Python; False if threads are not faster."""
        coupled, together = self.coupled, self._together
        if together is None or len(names) < 2 or not together.gain.uses_threads:
            return False
        for name in names:
            for member in coupled.units[name][1:]:
                self.operate(layout.NOTE_COURSE, member)
        self._rows.make_room()
        index = int(self.machine.report.step)
        unusual = together.step_all(names, self.memory)
        for name in names:
            if name in unusual:
                self._rows.watched_step = index
                self._python.complete(index, self.memory, (ADVANCE, name), *unusual[name])
            else:
                self._record_waiting_step(name)
        return True

    def _handle_stop(self, index: int, code: int) -> None:
        """Carry out the operation that the interpreter leaves to Python in the communication step `index`."""
        report, coupled = self.machine.report, self.coupled
        algorithm = self._algorithms[report.algorithm]
        programmed = algorithm.programmed
        if code == stop_codes.CUTS:
            self._is_paused = not self._parts.start_next(index)
        elif programmed is not None and code == stop_codes.NOT_SETTLED:
            raise self._complaint(algorithm.memory) or programmed.failure(
                algorithm.exchange, self.machine.clock.begin
            )
        elif programmed is not None and code == stop_codes.DERIVES:
            coupled.guarded_algorithm(programmed, programmed.derive, algorithm.exchange)
        else:
            coupled.start_step(index)
            if code in (stop_codes.SAVE_FAILED, stop_codes.RESTORE_FAILED):
                self._python.check_failed_state(self._names[report.part], code, int(report.status))
            elif code in (stop_codes.SAVES, stop_codes.RESTORES):
                self._save_or_restore(algorithm, is_restored=code == stop_codes.RESTORES)
            else:
                self._do_operation(index, code, algorithm)

    def _save_or_restore(self, algorithm: AlgorithmArrays, *, is_restored: bool) -> None:
        """Save or restore the states of participants in Python; the interpreter does so with the others."""
        if is_restored:
            self._python.forget(algorithm)
        else:
            algorithm.remembered = None
            if algorithm.progress.always_watched:
                self._python.remember(algorithm, is_saved=False)
        algorithm.progress.watched = 0

    def _do_operation(self, index: int, code: int, algorithm: AlgorithmArrays) -> None:
        """Complete an operation of a participant that runs in Python, or has failed.

        If a participant discards its step, and the algorithm can make a shorter exchange, it decides next.
        """
        report, progress, programmed = self.machine.report, algorithm.progress, algorithm.programmed
        for arrays in {0: self._main, report.algorithm: algorithm}.values():
            if arrays.saves_states:
                self._python.remember(arrays, is_saved=True)
                arrays.progress.watched = 1
        place = int(progress.place)
        try:
            if code == stop_codes.TOGETHER:
                place = self._step_together(index, algorithm, place)
            else:
                operation = self._operations(algorithm)[place]
                self._python.complete(index, algorithm.memory, operation, code, int(report.status))
                self._rows.watched_step = index
        except CoSimulationError as error:
            can_retry = programmed is not None and programmed.retries_discarded
            if not can_retry or not StepDiscardedError.is_cause_of(error):
                raise
            self._discarded = DiscardedExchange(error, algorithm.memory.time, algorithm.memory.length)
            algorithm.memory.counts[layout.DISCARDED] = 1
            progress.under_way = stop_codes.DECIDING
            self.values.resume_from_python()
            return
        progress.place = place + 1

    def _complaint(self, memory: ExchangeMemory) -> cosim.CosimError | None:
        """The error of the participant that discarded the last exchange; None if none did."""
        discarded = self._discarded
        if discarded is None or (discarded.time, discarded.length) != (memory.time, memory.length):
            return None
        return discarded.error

    def _operations(self, algorithm: AlgorithmArrays) -> list[Call]:
        """The operations of an algorithm in the present exchange."""
        if algorithm is self._main and self._parallel is not None and self._parallel.with_threads:
            return self._parallel.threaded.operations
        return algorithm.operations

    def _step_together(self, index: int, algorithm: AlgorithmArrays, place: int) -> int:
        """Step several participants at once; returns the place of the last operation that has been done.

        After an event or a failure the other operations of the exchange follow in the order of the program
        for one thread, so that the result does not depend on the number of threads.
        """
        assert self._parallel is not None and self._together is not None
        covers, operations = self._parallel.threaded.covers, algorithm.operations
        together = covers[place]
        unusual = self._together.step_all([operations[p][1] for p in together], algorithm.memory)
        if not unusual:
            for p in together:
                self._record_waiting_step(operations[p][1])
            return place
        self._rows.watched_step = index
        done = {p for cover in covers[:place] for p in cover}
        for p, (call, name) in enumerate(operations):
            if p in done:
                continue
            if p not in together:
                self.operate(call, name)
            elif name in unusual:
                self._python.complete(index, algorithm.memory, (call, name), *unusual[name])
            else:
                self._record_waiting_step(name)
        return len(covers) - 1

    def _record_waiting_step(self, name: str) -> None:
        """Record the outcome of a step that was taken in parallel with others."""
        if name in self._called:
            self._called[name].record_waiting_step()
