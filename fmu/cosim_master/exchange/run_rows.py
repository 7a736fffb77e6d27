"""RunRows: the rows of the interpreter on their way to the recorder and the samples of the coupling."""

from __future__ import annotations

from functools import partial

import numpy as np

from cosim.kit import black_box
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.run_values import RunValues
from cosim_master.exchange.value_numbers import ValueNumbers
from cosim_master.recording import recorder as recording
from cosim_master.recording.inner_rows import InputCourse
from cosim_master.recording.recorder import Recorder

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
            room = black_box.box.room("rows", 8 * count * width)
            self._rows = np.frombuffer(room, count=count * width).reshape(count, width)
            black_box.box.note("width", (width, self._recorded))
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
                self.take_inner_values()
            if special:
                self.record_with_courses()
                self.needs_course = watched and self._along
        if self.are_crowded:
            self._values.forget_texts()
        outputs, means, *lines = (values[:, places] for places in self._machine.sampled)
        coupled.samples.extend(times, outputs, means, *(lines if self._along else ()))

    def take_inner_values(self) -> None:
        """Record the values inside their last steps that participants report."""
        self._coupled.collect()
        if self._coupled.inside:
            self._recorder.inside(self._coupled.take_inner_values())

    def record_with_courses(self) -> None:
        """Record the present values, and how the inputs came there: an event was in this step, or before."""
        coupled, values, names = self._coupled, self._values, self._machine.names
        if self._along:
            for name, times in zip(names, self._machine.step_times, strict=True):
                coupled.courses[name] = InputCourse(times.began, values.began(name), values.lines(name))
        board, held = ({name: of(name) for name in names} for of in (values.read, values.held))
        self._recorder.record(coupled.time, board, held, coupled.courses if self._along else None)
