"""The values of a run as numbers in arrays and as objects of Python, and the rows to be recorded."""

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
    """Numbers for values: integers and booleans are converted, each text and each binary value gets a number.

    Attributes
    ----------
    size : int
        The characters and bytes of all texts and binary values with a number.

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
        """The number of a value of a type; `TypeError` or `ValueError` if it is not a number."""
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
        """The value of a number; a number that does not fit the type stays a float."""
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

    While the interpreter runs, both are in arrays, and `CoupledParticipants` has views of these.

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
        """The values that were read of a participant, as objects of Python."""
        return self._numbers.values(self._types[name][1], self._machine.outputs_of(name))

    def put(self, name: str, values: Iterable[Any]) -> None:
        """Replace the values that were read of a participant."""
        self._machine.outputs_of(name)[:] = self._numbers.all_of(self._types[name][1], values)

    def held(self, name: str, region: int = HELD) -> list[Any]:
        """The inputs of a participant, as objects of Python."""
        return self._numbers.values(self._types[name][0], self._machine.inputs_of(name, region))

    def lines(self, name: str) -> list[float] | None:
        """Slopes of the inputs of a participant in its last step, per s; None if they are held."""
        machine = self._machine
        return machine.inputs_of(name, COURSES).tolist() if machine.follows(name) else None

    def began(self, name: str) -> list[Any]:
        """The inputs of a participant at the start of its last step."""
        return self.held(name, BEGAN)

    def copy_from_python(self, names: Iterable[str] | None = None) -> None:
        """Copy values of `CoupledParticipants` into the arrays, and replace them by views of the arrays."""
        coupled, machine = self._coupled, self._machine
        for name in machine.names if names is None else names:
            input_types, output_types = self._types[name]
            for values, array, types in (
                (coupled.held, machine.inputs_of(name), input_types),
                (coupled.board, machine.outputs_of(name), output_types),
            ):
                if values[name] is not array:
                    array[:] = self._numbers.all_of(types, values[name])
                    values[name] = array

    def resume_from_python(self) -> None:
        """Continue after Python has used participants, and after `show`."""
        self.copy_from_python()
        self.resume(self._machine.names)

    def resume(self, names: Iterable[str]) -> None:
        """Let C functions continue after participants were called in Python."""
        for name in names:
            participant = self._coupled.participants[name]
            if name not in self._in_python and isinstance(participant, StepsNatively):
                self._coupled.guarded(name, participant.resume_native)

    @contextmanager
    def of_python(self) -> Iterator[None]:
        """Copy the values to `CoupledParticipants`, and the changed ones back at the end."""
        for name in self._machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        try:
            yield
        finally:
            self.copy_from_python()

    def show(self) -> None:
        """Copy values and samples to `CoupledParticipants`, until `resume_from_python`."""
        machine, samples = self._machine, self._coupled.samples
        for name in machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        samples.since = machine.clock.sampled
        step_times = zip(machine.names, machine.step_times, strict=True)
        samples.steps = {n: (d.since, d.reached) for n, d in step_times if np.isfinite(d.since)}
        slots = [machine.input_slot(sampled.target, sampled.place) for sampled in samples.inputs]
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
        for sampled, mean, slope, end in zip(samples.inputs, *samples.lines, strict=True):
            slot = machine.input_slot(sampled.target, sampled.place)
            machine.inputs[[MEANS, MEAN_SLOPES, ENDS], slot] = mean, slope, end

    def forget_texts(self) -> None:
        """Remove texts and binary data that are no variable's value any more."""
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
"""The table of the loop may hold one of so many parts of the characters in a piece of a stream."""


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
        The communication step in which Python was called: it is recorded with the values inside it.
    needs_course : bool
        Whether the next communication step is recorded with the course of the inputs, too.
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
        """Whether values between the communication points are recorded."""
        return self._recorder.records_between_points

    @property
    def are_crowded(self) -> bool:
        """Whether the table of texts is so full that the rows should be passed on."""
        return PART_OF_PIECE * self._numbers.size > recording.CHARACTERS_IN_PIECE

    def make(self, count: int) -> None:
        """Allocate a buffer of `count` rows; a black box keeps it if the process ends."""
        width = self._machine.columns + 2
        if black_box.box is None:
            self._rows = np.empty((count, width))
        else:  # its rows are not lost if the process is killed
            room = black_box.box.shared_memory("rows", 8 * count * width)
            self._rows = np.frombuffer(room, count=count * width).reshape(count, width)
            black_box.box.send_note("width", (width, self._recorded))
        self._machine.use_rows(self._rows.reshape(-1))

    def make_room(self) -> None:
        """Empty the buffer if it has no room for two more rows."""
        if self._machine.report.rows + 2 > len(self._rows):
            self.empty_buffer()

    def empty_buffer(self) -> None:
        """Pass the rows on to the recorder and the samples."""
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
            is_watched = self.watched_step is not None and last == self._points.time(self.watched_step + 1)
            last_with_course = is_watched or self.needs_course
            plain = points[: points.size - last_with_course]
            if plain.size:
                recorded = np.ascontiguousarray(values[plain, : self._recorded])
                self._recorder.extend(times[plain], recorded, self._text)
            coupled.time = last
            if is_watched:
                self.watched_step = None
                self.record_inner_values()
            if last_with_course:
                self.record_with_courses()
                self.needs_course = is_watched and self._along
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
        """Record the present values with the courses of the inputs, for inner rows around an event."""
        coupled, values, names = self._coupled, self._values, self._machine.names
        if self._along:
            for name, times in zip(names, self._machine.step_times, strict=True):
                coupled.courses[name] = InputCourse(times.began, values.began(name), values.lines(name))
        board, held = {n: values.read(n) for n in names}, {n: values.held(n) for n in names}
        self._recorder.record(coupled.time, board, held, coupled.courses if self._along else None)
