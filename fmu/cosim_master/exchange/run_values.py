"""The values of a run: numbers in arrays, as Python has them, and rows that are recorded."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from cosim.kit import black_box
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import BEGAN, COURSES, ENDS, HELD, MEAN_SLOPES, MEANS
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.native_calls import StepsNatively
from cosim_master.recording import recorder as recording
from cosim_master.recording.coupling_samples import InputLines
from cosim_master.recording.inner_rows import InputCourse
from cosim_master.recording.recorder import Recorder
from cosim_master.recording.text_numbers import TABLED


class ValueNumbers:
    """Integers and booleans are whole numbers; texts and binary data get a number each.

    Attributes
    ----------
    size : int
        Characters and bytes of all that have a number.

    Examples
    --------
    >>> numbers = ValueNumbers()
    >>> numbers.of("boolean", True), numbers.of("string", "on"), numbers.of("string", "off")
    (1.0, 0.0, 1.0)
    >>> numbers.value("string", 0.0), numbers.value("integer", 3.0), numbers.value("real", 0.5)
    ('on', 3, 0.5)
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, float] = {}
        self._values: dict[float, Any] = {}
        self._next, self.size = 0.0, 0

    def of(self, kind: str, value: Any) -> float:
        """The number of a value of a type; what is not a number is a `TypeError` or `ValueError`."""
        if kind not in TABLED:
            return float(value)
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self._next
            self._values[number] = value
            self._next += 1.0
            self.size += len(value)
            if black_box.box is not None and isinstance(value, str | bytes):
                black_box.box.write(("value", (number, value), {}))
        return number

    def value(self, kind: str, number: float) -> Any:
        """The value of a number; one that its type does not take stays a number."""
        if kind in TABLED:
            return self._values[number]
        if kind == "integer" and number.is_integer():
            return int(number)
        if kind in ("boolean", "clock") and number in (0.0, 1.0):
            return bool(number)
        return number

    def all_of(self, kinds: Sequence[str], values: Iterable[Any]) -> list[float]:
        """The numbers of several values."""
        return [self.of(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def values(self, kinds: Sequence[str], numbers: Iterable[float]) -> list[Any]:
        """The values of several numbers."""
        return [self.value(kind, float(number)) for kind, number in zip(kinds, numbers, strict=True)]

    def retain(self, numbers: Iterable[float]) -> None:
        """Forget all values of the table but those with these numbers."""
        retained = set(numbers)
        self._values = {number: value for number, value in self._values.items() if number in retained}
        self._numbers = {value: number for number, value in self._values.items()}
        self.size = sum(map(len, self._numbers))


def types_of(coupled: CoupledParticipants, name: str) -> tuple[Sequence[str], Sequence[str]]:
    """The types of a participant's connected inputs, and of the values that are read of it."""
    variables = coupled.descriptions[name].variables
    return (
        [variables[input].type for input in coupled.interface.input_names[name]],
        [variables[output].type for output in coupled.reads[name]],
    )


class RunValues:
    """The values that were read of each participant, and the values of its inputs.

    Between its calls of Python the interpreter has both in arrays; `CoupledParticipants` sees views of these.

    Parameters
    ----------
    coupled : CoupledParticipants
    machine : ExchangeMachine
    numbers : ValueNumbers
    in_python : container of str
        Participants that are called in Python.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        machine: ExchangeMachine,
        numbers: ValueNumbers,
        in_python: Container[str],
    ) -> None:
        self._coupled, self._machine, self._numbers = coupled, machine, numbers
        self._in_python = in_python
        self._types = {name: types_of(coupled, name) for name in machine.names}
        self._resume_samples()
        self.copy_from_python()

    def read(self, name: str) -> list[Any]:
        """The values that were read of a participant, as Python has them."""
        return self._numbers.values(self._types[name][1], self._machine.outputs_of(name))

    def put(self, name: str, values: Iterable[Any]) -> None:
        """Write what was read of a participant, as Python has it."""
        self._machine.outputs_of(name)[:] = self._numbers.all_of(self._types[name][1], values)

    def held(self, name: str, region: int = HELD) -> list[Any]:
        """The inputs of a participant, as Python has them."""
        return self._numbers.values(self._types[name][0], self._machine.inputs_of(name, region))

    def lines(self, name: str) -> list[float] | None:
        """Slopes of the inputs of a participant in its last step, per s; None where they are held."""
        machine = self._machine
        return machine.inputs_of(name, COURSES).tolist() if machine.follows(name) else None

    def began(self, name: str) -> list[Any]:
        """The inputs of a participant as its last step began."""
        return self.held(name, BEGAN)

    def copy_from_python(self, names: Iterable[str] | None = None) -> None:
        """Copy values of Python into the arrays, and let Python see these."""
        coupled, machine = self._coupled, self._machine
        for name in machine.names if names is None else names:
            both = machine.inputs_of(name), machine.outputs_of(name)
            for values, array, types in zip(
                (coupled.held, coupled.board), both, self._types[name], strict=True
            ):
                if values[name] is not array:
                    array[:] = self._numbers.all_of(types, values[name])
                    values[name] = array

    def resume_from_python(self) -> None:
        """Continue after Python has used participants, and after `show`."""
        self.copy_from_python()
        self.resume(self._machine.names)

    def resume(self, names: Iterable[str]) -> None:
        """Let functions of C continue after participants were used from Python."""
        for name in names:
            participant = self._coupled.participants[name]
            if name not in self._in_python and isinstance(participant, StepsNatively):
                self._coupled.guarded(name, participant.resume_native)

    @contextmanager
    def of_python(self) -> Iterator[None]:
        """Copy the values to Python, and the changed ones back at the end."""
        for name in self._machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        try:
            yield
        finally:
            self.copy_from_python()

    def show(self) -> None:
        """Copy the values to Python for other readers, until they are copied back."""
        machine, samples = self._machine, self._coupled.samples
        for name in machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        samples.since = machine.clock.sampled
        step_times = zip(machine.names, machine.step_times, strict=True)
        samples.steps = {n: (d.since, d.reached) for n, d in step_times if np.isfinite(d.since)}
        slots = [machine.input_slot(each.target, each.place) for each in samples.inputs]
        regions = (MEANS, MEAN_SLOPES, ENDS)
        samples.lines = InputLines(*(machine.inputs[region, slots].tolist() for region in regions))

    def _resume_samples(self) -> None:
        """Continue the samples of the coupling."""
        samples, machine = self._coupled.samples, self._machine
        machine.clock.sampled = samples.since
        for name, (since, reached) in samples.steps.items():
            times = machine.step_times[machine.number[name]]
            times.since = times.began = since
            times.reached = reached
        for each, mean, slope, end in zip(samples.inputs, *samples.lines, strict=True):
            slot = machine.input_slot(each.target, each.place)
            machine.inputs[[MEANS, MEAN_SLOPES, ENDS], slot] = mean, slope, end

    def forget_texts(self) -> None:
        """Remove texts and binary data that no variable has any more."""
        numbers_in_use: list[float] = []
        machine = self._machine
        for name, (inputs, outputs) in self._types.items():
            for kinds, numbers in (
                (inputs, machine.inputs_of(name)),
                (inputs, machine.inputs_of(name, BEGAN)),
                (outputs, machine.outputs_of(name)),
            ):
                numbers_in_use += [
                    n for kind, n in zip(kinds, numbers.tolist(), strict=True) if kind in TABLED
                ]
        for algorithm in self._machine.algorithms:
            numbers_in_use += algorithm.arrays.saved.tolist()
        self._numbers.retain(numbers_in_use)


PART_OF_PIECE = 4
"""This part of the characters in a piece of a stream may wait in the table of the loop."""


class RunRows:
    """Passes rows of the interpreter on to the recorder and to the samples of the coupling.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    machine : ExchangeMachine
    values : RunValues
    numbers : ValueNumbers
    recorder : Recorder
    along : bool
        Whether inputs may run along lines.

    Attributes
    ----------
    watched_step : int or None
        The communication step in which Python did something: it is recorded with what happened inside.
    needs_course : bool
        Whether the next one has to be recorded with the course of the inputs, too.
    """

    watched_step: int | None

    def __init__(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        machine: ExchangeMachine,
        values: RunValues,
        numbers: ValueNumbers,
        recorder: Recorder,
        along: bool,
    ) -> None:
        self._coupled, self._points, self._machine = coupled, points, machine
        self._values, self._numbers, self._recorder, self._along = values, numbers, recorder, along
        self._recorded = len(recorder.sources)
        self._text = partial(numbers.value, "string")
        self._rows = np.zeros((0, 0))
        self.watched_step, self.needs_course = None, False

    @property
    def records_between_points(self) -> bool:
        """Whether anything is recorded between the communication points."""
        return self._recorder.records_between_points

    @property
    def are_crowded(self) -> bool:
        """Whether so many texts wait that the rows should be emptied."""
        return PART_OF_PIECE * self._numbers.size > recording.CHARACTERS

    def make(self, count: int) -> None:
        """Allocate a buffer of `count` rows; a black box keeps it if the process ends."""
        width = self._machine.columns + 2
        if black_box.box is None:
            self._rows = np.empty((count, width))
        else:  # what is in it when the process is ended is not lost
            room = black_box.box.shared_memory("rows", 8 * count * width)
            self._rows = np.frombuffer(room, count=count * width).reshape(count, width)
            black_box.box.send_note("width", (width, self._recorded))
        self._machine.use_rows(self._rows.reshape(-1))

    def make_room(self) -> None:
        """Empty the buffer if it has no room for two more rows."""
        if self._machine.report.rows + 2 > len(self._rows):
            self.empty_buffer()

    def empty_buffer(self) -> None:
        """Pass the rows on, even in the middle of a step where the process ends."""
        coupled, report = self._coupled, self._machine.report
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
            watched = self.watched_step is not None and last == self._points.time(self.watched_step + 1)
            special = watched or self.needs_course
            plain = points[: points.size - special]
            if plain.size:
                recorded = np.ascontiguousarray(values[plain, : self._recorded])
                self._recorder.extend(times[plain], recorded, self._text)
            coupled.time = last
            if watched:
                self.watched_step = None
                self.record_inner_values()
            if special:
                self.record_with_courses()
                self.needs_course = watched and self._along
        if self.are_crowded:
            self._values.forget_texts()
        outputs, means, *lines = (values[:, places] for places in self._machine.sampled)
        coupled.samples.extend(times, outputs, means, *(lines if self._along else ()))

    def record_inner_values(self) -> None:
        """Record the values inside their last steps that participants report."""
        self._coupled.collect()
        if self._coupled.inside:
            self._recorder.inside(self._coupled.pop_inner_values())

    def record_with_courses(self) -> None:
        """Record the present values, and how the inputs came there: an event was in this step, or before."""
        coupled, values, names = self._coupled, self._values, self._machine.names
        if self._along:
            for name, times in zip(names, self._machine.step_times, strict=True):
                coupled.courses[name] = InputCourse(times.began, values.began(name), values.lines(name))
        board, held = ({name: of(name) for name in names} for of in (values.read, values.held))
        self._recorder.record(coupled.time, board, held, coupled.courses if self._along else None)
