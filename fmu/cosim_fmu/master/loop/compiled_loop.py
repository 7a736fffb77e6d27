"""The loop over communication steps in compiled code, where participants and algorithm allow it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import NativeCalls, StepsNatively, compile_function
from cosim_fmu.master.algorithms.operations import operations_of
from cosim_fmu.master.loop import compiled_steps
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.compiled_steps import ADVANCE, FLAGS, SET
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.levels import levels
from cosim_fmu.master.recording.recorder import Recorder

SECONDS_AT_ONCE = 0.04
"""Of wall time, between two looks at Ctrl-C and the progress."""

MOST_VALUES_AT_ONCE = 1 << 17
"""1 MB: what waits to be written is copied several times."""


class NotCompiledError(Exception):
    """Why a co-simulation goes on in Python; no error."""


class CompiledLoop:
    """Communication steps without Python between the C calls.

    The operations of one step are taken from the master algorithm: it is run once with an exchange that
    only notes what is called, which is enough for algorithms that always do the same
    (`MasterAlgorithm.fixed_sequence`). The values are exactly those of the loop in Python. An
    early return of a participant is handed over to it, and the compiled steps go on after.

    Parameters
    ----------
    coupled : CoupledParticipants
        Initialized, with the values at the start on its board.
    points : CommunicationPoints
    algorithm : MasterAlgorithm
    recorder : Recorder
    one_by_one : bool
        Whether there is an observer of every communication point.

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
    ) -> None:
        self._run = compile_function(compiled_steps.run_steps, compiled_steps.SIGNATURE)
        if self._run is compiled_steps.run_steps:
            raise NotCompiledError("nothing is compiled here")
        self.coupled, self.points, self.recorder = coupled, points, recorder
        self._names = list(coupled.participants)
        self._index = {name: i for i, name in enumerate(self._names)}
        if coupled.joint is not None:
            raise NotCompiledError(f"{', '.join(coupled.joint.names)} are solved jointly")
        if coupled.loops:
            raise NotCompiledError(f"{', '.join(coupled.loops[0].participants)} are iterated")
        if not algorithm.fixed_sequence:
            raise NotCompiledError(f"{type(algorithm).__name__} does not do the same in every step")
        self._operations = operations_of(algorithm, coupled.order)
        self._flags = np.zeros((len(self._names), FLAGS))
        self._flags[:, -1] = np.inf
        _check_worth(coupled, points)
        self._calls = {
            name: _native_calls(coupled, name, self._flags[i]) for i, name in enumerate(self._names)
        }
        self._first_input = _starts([len(coupled.input_names[n]) for n in self._names])
        self._first_output = _starts([len(coupled.reads[n]) for n in self._names])
        self._inputs, self._outputs = np.zeros(self._first_input[-1]), np.zeros(self._first_output[-1])
        self._program = np.array(
            [number for kind, name in self._operations for number in (kind, self._index[name])],
            dtype=np.int64,
        )
        self._parts = np.array([self._row(i) for i in range(len(self._names))], dtype=np.int64).ravel()
        fed = sorted(coupled.links, key=lambda link: self._index[link.target])  # stable: in order for each
        places = {
            (name, output): self._output_slot(name, place)
            for name in self._names
            for place, output in enumerate(coupled.reads[name])
        }
        self._places = np.array([places[link.start] for link in fed], dtype=np.int64)
        self._scales = np.array(
            [number for link in fed for number in (link.factor, link.offset)], dtype=float
        )
        columns = [self._column(*source) for source in recorder.sources]
        self._recorded = len(columns)
        outputs = [self._output_slot(name, place) for name, place in coupled.places]
        inputs = [self._column(each.target, each.place, True) for each in coupled.samples.inputs]
        columns += [slot for slot in dict.fromkeys([*outputs, *inputs]) if slot not in set(columns)]
        first = {slot: i for i, slot in reversed(list(enumerate(columns)))}
        self._sampled = [first[slot] for slot in outputs], [first[slot] for slot in inputs]
        self._columns = np.array(columns, dtype=np.int64)
        coupled.samples.by_rows = True
        self._report = np.zeros(7, dtype=np.int64)
        self._report[4:] = self._inputs.ctypes.data, self._outputs.ctypes.data, self._flags.ctypes.data
        self.take_over_all()
        self._at_once, self._one_by_one = 1, one_by_one
        self._levels = self._shared_levels()

    def _shared_levels(self) -> list[tuple[list[int], list[int]]]:
        """Calls that are made one after the other, and steps that are taken side by side, level by level.

        Nothing when no two steps can be.
        """
        free = {n: d.steps_in_threads for n, d in self.coupled.descriptions.items()}
        found = []
        for level in levels(self._operations, self.coupled.links):
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
        columns = max(1, self._columns.size)
        last = min(self.points.count, first + min(self._at_once, max(1, MOST_VALUES_AT_ONCE // columns)))
        if self._levels:
            return self._run_beside(first)
        rows = np.empty((last - first, self._columns.size))
        begun = perf_counter()
        self.recorder.unfinished = partial(self._keep_so_far, first, rows)
        code = self._call(self._program, self._columns, rows, self._report, first, last)
        self.recorder.unfinished = None
        spent = perf_counter() - begun
        if code == compiled_steps.DONE:
            if spent < SECONDS_AT_ONCE and not self._one_by_one:
                self._at_once = min(8 * self._at_once, int(self._at_once * SECONDS_AT_ONCE / spent) + 1)
            self._keep(first, last, rows)
            return last
        stopped = int(self._report[0])
        self._keep(first, stopped, rows[: stopped - first])
        place = int(self._report[1])
        self._finish(stopped, set(range(place)), {place: (code, int(self._report[2]))})
        return stopped + 1

    def _call(
        self,
        program: NDArray[np.int64],
        columns: NDArray[np.int64],
        rows: NDArray[np.float64],
        report: NDArray[np.int64],
        first: int,
        last: int,
    ) -> int:
        return int(
            self._run(
                *(program, self._parts, self._places, self._scales, columns),
                *(self._inputs, self._outputs, self._flags.ravel(), rows.ravel(), report),
                *(self.points.start, self.points.step, self.points.until, self.points.count, first, last),
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
            else:
                row = np.empty((1, self._columns.size))
                self._call(self._program[:0], self._columns, row, self._report, index, index + 1)
                self._keep(index, index + 1, row)
            index += 1
            if self._one_by_one or self.coupled.stop_reason or perf_counter() - begun > SECONDS_AT_ONCE:
                break
        return index

    def _do(self, places: list[int], index: int, done: set[int], failed: dict[int, tuple[int, int]]) -> None:
        """Some calls of a communication step."""
        report = self._report.copy()
        program = self._program.reshape(-1, 2)[places].ravel()
        code = self._call(program, self._columns[:0], self._inputs[:0], report, index, index + 1)
        if code == compiled_steps.DONE:
            done.update(places)
        else:
            done.update(places[: report[1]])
            failed[places[report[1]]] = code, int(report[2])

    def _finish(self, index: int, done: set[int], failed: dict[int, tuple[int, int]]) -> None:
        """The rest of a step in which some calls were not as usual: those in Python, the others compiled.

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
                self._do_in_python(index, place, *failed[place])
                done.add(place)
            else:
                until = min((p for p in failed if p > place), default=last)
                self._do([p for p in range(place, until) if p not in done], index, done, failed)
        coupled.statistics.steps += 1
        coupled.time = self.points.time(index + 1)
        coupled.collect()
        if coupled.inside:
            self.recorder.inside(coupled.take_inside())
        self.recorder.record(coupled.time, coupled.board, coupled.held)
        held = [[coupled.held[each.target][each.place] for each in coupled.samples.inputs]]
        outputs = np.array([coupled.values()], dtype=np.float64)
        coupled.samples.extend(
            np.array([coupled.time]), outputs, np.array(held, dtype=np.float64).reshape(1, -1)
        )

    def _do_in_python(self, index: int, place: int, code: int, status: int) -> None:
        """A call that was not as usual, by what can deal with it."""
        coupled = self.coupled
        time, following = self.points.time(index), self.points.time(index + 1)
        kind, part = self._operations[place]
        participant = coupled.participants[part]
        assert isinstance(participant, StepsNatively)
        if code in (compiled_steps.STEP_FAILED, compiled_steps.STEP_LEFT):
            left = code == compiled_steps.STEP_LEFT
            attempt = participant.step if left else partial(participant.after_native_step, status)
            coupled.finish_step(part, time, coupled.length(part, time, following - time), attempt)
        else:
            if code in (compiled_steps.SET_FAILED, compiled_steps.READ_FAILED):
                verb = "Set" if code == compiled_steps.SET_FAILED else "Get"
                coupled.guarded(part, participant.after_native_access, verb, status)
            if kind == SET:
                coupled.set_inputs(part)
            else:
                coupled.read_outputs(part)
        self._take_over(part)

    def _keep(self, first: int, last: int, rows: NDArray[np.float64]) -> None:
        if last > first:
            times = self.points.times(first + 1, last + 1)
            self.recorder.extend(times, np.ascontiguousarray(rows[:, : self._recorded]))
            outputs, inputs = self._sampled
            self.coupled.samples.extend(times, rows[:, outputs], rows[:, inputs])
            self.coupled.statistics.steps += last - first
            self.coupled.time = float(times[-1])

    def _keep_so_far(self, first: int, rows: NDArray[np.float64]) -> None:
        """In the middle of compiled steps, where the process ends: those that are complete."""
        under_way = int(self._report[0])
        self._keep(first, under_way, rows[: under_way - first])

    def _take_over(self, name: str) -> None:
        """Copy the values of the Python loop into the arrays, and let it see the arrays."""
        i = self._index[name]
        held = self._inputs[self._first_input[i] : self._first_input[i + 1]]
        board = self._outputs[self._first_output[i] : self._first_output[i + 1]]
        held[:] = self.coupled.held[name]
        board[:] = self.coupled.board[name]
        self.coupled.board[name], self.coupled.held[name] = board, held
        participant = self.coupled.participants[name]
        assert isinstance(participant, StepsNatively)
        participant.resume_native()

    def take_over_all(self) -> None:
        """Go on in compiled code after participants were used from Python."""
        for name in self._names:
            self._take_over(name)

    def _row(self, i: int) -> list[int]:
        calls = self._calls[self._names[i]]
        begin, end = self._first_input[i], self._first_input[i + 1]
        low, high = self._first_output[i], self._first_output[i + 1]
        return [
            *(calls.instance, calls.set, calls.step, calls.get),
            *(begin, end - begin, calls.input_references),
            *(low, high - low, calls.output_references),
            int(calls.same_size),
            self.coupled.every[self._names[i]],
        ]

    def _output_slot(self, name: str, place: int) -> int:
        return self._first_output[self._index[name]] + place

    def _column(self, name: str, place: int, held: bool) -> int:
        """Number of a value in a row: outputs count from 0 on, inputs from -1 on downward."""
        return -1 - self._input_slot(name, place) if held else self._output_slot(name, place)

    def _input_slot(self, name: str, place: int) -> int:
        return self._first_input[self._index[name]] + place


def _native_calls(coupled: CoupledParticipants, name: str, flags: NDArray[np.float64]) -> NativeCalls:
    participant = coupled.participants[name]
    if not isinstance(participant, StepsNatively):
        raise NotCompiledError(f"{name} is a {coupled.descriptions[name].kind}")
    variables = coupled.descriptions[name].variables
    names = [*coupled.input_names[name], *coupled.reads[name]]
    other = [n for n in names if variables[n].type != "real"]
    if other:
        raise NotCompiledError(f"{name}.{other[0]} is {variables[other[0]].type}")
    try:
        calls = participant.native_calls(coupled.input_names[name], coupled.reads[name], flags)
    except cosim.ModelError as error:
        first = error.problems[0]
        raise NotCompiledError(f"{name}: {first.where}: {first.text}") from error
    if calls is None:
        raise NotCompiledError(
            f"{name} has no solver of its own, arrays, types other than Float64, or lacks a function"
        )
    return calls


def _check_worth(coupled: CoupledParticipants, points: CommunicationPoints) -> None:
    """Refuse short runs of participants whose preparation takes as long as many steps in Python."""
    natives = {n: p for n, p in coupled.participants.items() if isinstance(p, StepsNatively)}
    least = {name: p.least_native_steps for name, p in natives.items() if p.least_native_steps > 0}
    if least and points.count * sum(1.0 / steps for steps in least.values()) < 1.0:
        name = next(iter(least))
        kind = coupled.descriptions[name].kind
        text = f"{name} is a {kind}, and {points.count} steps are too few to load compiled code"
        raise NotCompiledError(text)


def _starts(sizes: Sequence[int]) -> list[int]:
    found = [0]
    for size in sizes:
        found.append(found[-1] + size)
    return found
