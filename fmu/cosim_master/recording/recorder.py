"""Collects the values of a co-simulation at its communication points."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Finding, ParticipantDescription, ResultStream, black_box, missing_value
from cosim_master.coupling.derived_signal import DerivedSignal
from cosim_master.coupling.link import Link
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_master.recording.inner_rows import (
    InnerRow,
    InnerValues,
    InputCourse,
    RowCourse,
    row_before,
    with_inner_rows,
)
from cosim_master.recording.kept_points import KeptPoints
from cosim_master.recording.recorded_variables import RecordedVariables
from cosim_master.recording.row_derivatives import RowDerivatives
from cosim_master.recording.text_numbers import TextNumbers

NUMBERS_IN_PIECE = 2**17
"""Numbers that are passed on to a stream together: 1 MB."""
CHARACTERS_IN_PIECE = 2**22
"""Characters of text that are passed on together."""
STATE = frozenset(
    {"_stream", "_base", "_pending", "_has_begun", "_most_characters", "_first", "_missing", "_inner"}
    | {"_courses", "_count", "_rows", "_tables", "_text_numbers"}
)
"""Attributes of `Recorder` that change while a run is recorded."""


class Recorder:
    """The recorded rows of a run, and their signals.

    Outputs and other variables are recorded as they are at a communication point that all participants have
    reached. A connected input has the value of the step that ended there, in the first row the value after
    the initial exchange. Values that participants report inside a step make rows in between
    (`with_inner_rows`).

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    patterns : sequence of str or None
        Paths or patterns: ``"plant.*"``; None for all outputs and connected variables. Binary data are
        recorded as text (`text_of_bytes`).
    inner : sequence of Link
        Connections inside a joint system; both of their ends are read from its members.
    records_between_points : bool
        Whether values between the communication points are recorded.
    stream : ResultStream, optional
        Receives the rows during the run; the result then has only the first and the last one.
    derived : mapping of str to DerivedSignal
        Further signals, by name; patterns select among them, too.
    points : KeptPoints, optional
        The communication points that the result shows; by default all.
    derivatives : RowDerivatives, optional
        The derivatives of the rows; by default results have none.

    Attributes
    ----------
    texts : list of str
        Paths of variables that are recorded as text.
    unfinished : callable or None
        While compiled code makes steps: takes over the rows of the complete ones.

    Raises
    ------
    LookUpError
        A pattern matches no variable.
    """

    def __init__(
        self,
        descriptions: Mapping[str, ParticipantDescription],
        links: Sequence[Link],
        patterns: Sequence[str] | None,
        *,
        inner: Sequence[Link] = (),
        records_between_points: bool = True,
        stream: ResultStream | None = None,
        derived: Mapping[str, DerivedSignal] | None = None,
        points: KeptPoints | None = None,
        derivatives: RowDerivatives | None = None,
    ) -> None:
        self._points, self._derivatives = points, derivatives
        self.records_between_points = records_between_points
        self._stream = stream
        self._base = 0  # number of rows that were passed on and removed
        self._pending = 0  # number of rows that the stream has not received
        self._has_begun = False  # whether the stream has received rows
        self.unfinished: Callable[[], None] | None = None
        self._box: black_box.BlackBox | None = None
        self._most_characters = CHARACTERS_IN_PIECE
        self._first: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._names = list(descriptions)
        self._signals = RecordedVariables(descriptions, links, patterns, inner, derived or {})
        self.ports = self._signals.ports
        self.texts = [".".join(self.ports[i]) for i in sorted(self._signals.text_columns)]
        self._missing: dict[int, Finding] = {}  # by column
        self._columns: dict[str, dict[str, int]] = {name: {} for name in self._names}
        self._input_columns: dict[str, list[tuple[int, int]]] = {name: [] for name in self._names}
        self._inner: list[InnerRow] = []
        self._courses: dict[int, RowCourse] = {}
        self._count = 0
        self._rows: list[tuple[float, list[Any]]] = []
        self._tables: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        self.sources: list[tuple[str, int, bool]] = []

    @property
    def remarks(self) -> list[str]:
        """Sentences about participants of which nothing is recorded."""
        return self._signals.remarks

    @cached_property
    def _text_numbers(self) -> TextNumbers:
        """The numbers of recorded texts; created with the first one."""
        return TextNumbers()

    def _texts_of(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        return self._text_numbers.texts(numbers)

    @property
    def streams(self) -> bool:
        """Whether rows are passed on during the run."""
        return self._stream is not None

    def reads(self, links: Sequence[Link]) -> dict[str, list[str]]:
        """The variables to read of each participant: the connected outputs and the recorded variables."""
        recorded = (port for port in self.ports if port not in self._signals.held)
        reads: dict[str, list[str]] = {name: [] for name in self._names}
        for name, variable in dict.fromkeys([*(link.start for link in links), *recorded]):
            reads[name].append(variable)
        return reads

    def bind(self, reads: Mapping[str, Sequence[str]], inputs: Mapping[str, Sequence[str]]) -> None:
        """Find the place of each recorded variable on the board or among the held inputs (`sources`)."""
        places: list[dict[str, dict[str, int]]] = [
            {
                name: {variable: i for i, variable in enumerate(names)}
                for name, names in by_participant.items()
            }
            for by_participant in (reads, inputs)
        ]
        for port in self.ports:
            name, variable = port
            is_held = port in self._signals.held
            place = places[is_held][name][variable]
            if is_held:
                self._input_columns[name].append((place, len(self.sources)))
            else:
                self._columns[name][variable] = len(self.sources)
            self.sources.append((name, place, is_held))

    def write_to(self, box: black_box.BlackBox) -> None:
        """Write the recorder, and from now on every entry, into a black box (`replay`)."""
        present = copy.copy(self)
        present.unfinished = None
        if self._derivatives is not None:
            present._derivatives = self._derivatives.lost()
        box.send_note("recorder", present)
        self._box = box

    def replay(self, entries: Iterable[Any]) -> dict[float, str]:
        """Record the entries of a black box. Returns the texts of numbers in rows that were not recorded."""
        texts: dict[float, str] = {}
        for kind, content, new_texts in entries:
            self._text_numbers.add_texts(new_texts)
            if kind == "value":
                number, text = content
                texts[number] = text
            elif kind == "state":
                vars(self).update(content)
            elif kind == "row":
                time, row, course = content
                if course is not None:
                    self._courses[self._count] = course
                self._count += 1
                self._rows.append((time, row))
            elif kind == "table":
                self._gather()
                table_times, _ = content
                self._count += table_times.size
                self._tables.append(content)
            elif kind == "inside":
                self._inner += [InnerRow(*point) for point in content]
            else:
                self.remove_last()
        return texts

    def _write(self, kind: str, content: Any = None) -> None:
        """Write an entry into the black box, if there is one (`replay` reads it)."""
        if self._box is not None:
            self._box.write((kind, content, self._text_numbers.new_texts()))

    def _write_state(self) -> None:
        """Write the present state into the black box after rows were passed on; it replaces all entries."""
        if self._box is not None:
            if not self._signals.text_columns:  # some texts are only in earlier entries
                self._box.clear_rows()
            state = {name: value for name, value in vars(self).items() if name in STATE}
            self._box.write(("state", state, {}))

    def inside(self, instants: Sequence[InnerValues]) -> None:
        """Record values since the last communication point, before the next one is recorded."""
        count_before = len(self._inner)
        for name, point, inputs in instants:
            columns = self._columns[name]
            named = zip(point.names, point.values, strict=True)
            values = {columns[n]: self._number(columns[n], value) for n, value in named if n in columns}
            values.update({c: self._number(c, inputs[place]) for place, c in self._input_columns[name]})
            self._inner.append(InnerRow(self._count - 1, self._names.index(name), float(point.time), values))
        if len(self._inner) > count_before:
            self._write("inside", [tuple(point) for point in self._inner[count_before:]])

    def record(
        self,
        time: float,
        board: Mapping[str, Any],
        held: Mapping[str, Any],
        courses: Mapping[str, InputCourse] | None = None,
    ) -> None:
        """Record the present values, and with `courses` that of the inputs if inner rows need it."""
        self._pass_on()
        course = None
        if courses and self._inner and self._inner[-1].after >= self._count - 2:
            course = self._courses[self._count] = self._row_course(courses)
        self._count += 1
        row = [(held if is_held else board)[name][place] for name, place, is_held in self.sources]
        for column in self._signals.text_columns:
            row[column] = self._text_numbers.of(row[column])
        self._rows.append((time, row))
        self._pending += 1
        self._write("row", (time, row, course))

    def extend(
        self,
        times: NDArray[np.float64],
        values: NDArray[np.float64],
        text_of: Callable[[float], str | bytes] | None = None,
    ) -> None:
        """Record the values of several communication points.

        Parameters
        ----------
        times : ndarray, shape (n,), s
        values : ndarray, shape (n, number of recorded variables)
        text_of : callable, optional
            Gives the text, or the binary data, of a number in a column of texts.
        """
        self._pass_on()
        self._gather()
        if text_of is not None:
            for column in self._signals.text_columns:
                numbers = values[:, column].tolist()
                renumbered = {n: self._text_numbers.of(text_of(n)) for n in dict.fromkeys(numbers)}
                values[:, column] = [renumbered[n] for n in numbers]
        self._count += times.size
        self._pending += times.size
        self._tables.append((times, values))
        self._write("table", (times, values))

    def repeats_last_row(self, names: Container[str]) -> bool:
        """Whether the last row has the same values of these participants as the row before it."""
        self._gather()
        before, after = np.concatenate([values[-2:] for _, values in self._tables[-2:]])[-2:]
        before = before.copy()
        for point in self._inner:
            if point.after == self._count - 2 and self._names[point.owner] in names:
                before[list(point.values)] = list(point.values.values())
        columns = [i for i, (name, _, is_held) in enumerate(self.sources) if name in names and not is_held]
        return np.array_equal(before[columns], after[columns], equal_nan=True)

    def remove_last(self) -> None:
        """Remove the last row, and the rows inside the step that led to it: that step is repeated."""
        self._gather()
        times, values = self._tables[-1]
        self._tables[-1] = times[:-1], values[:-1]
        self._count -= 1
        self._courses.pop(self._count, None)
        step_start = next((float(t[-1]) for t, _ in reversed(self._tables) if t.size), -math.inf)
        self._inner = [p for p in self._inner if p.after < self._count - 1 or p.time <= step_start]
        self._write("drop")

    def latest(self) -> dict[str, Any]:
        """The last recorded values by path: numbers, booleans and texts."""
        row = self._rows[-1][1] if self._rows else self._tables[-1][1][-1]
        named = self._signals.named(
            np.array([row], dtype=np.float64).reshape(1, len(self.ports)), self._texts_of
        )
        return {name: column.tolist()[0] for name, column in named.items()}

    def result(self, *, ends: bool = True, **options: Any) -> CoSimulationResult:
        """The result of all rows so far.

        Parameters
        ----------
        ends : bool
            Whether the run ends here: then the last point is always shown.
        **options
            For the constructor of `Result`.
        """
        times, table = self._joined()
        options = {**options, "findings": self._findings(times, table)}
        if self._stream is not None:
            self._append(times, table, self._inner, ends=ends)
            first = self._first or (times[:1], table[:1])
            times = np.concatenate([first[0], times[-1:]])
            table = np.concatenate([first[1], table[-1:]])
        else:
            times, table = self._shown_rows(times, table, self._inner, ends=ends)
        result = self._as_result(times, table, **options)
        if self._stream is not None:
            self._stream.close(result)
        return result

    @property
    def paths(self) -> list[str]:
        """Paths of the recorded variables."""
        return [".".join(port) for port in self.ports]

    def memory(self) -> dict[str, Any]:
        """All rows so far, for `put_back`; of a run without a stream."""
        times, table = self._joined()
        return {
            "times": times,
            "table": table,
            "inner": [tuple(row) for row in self._inner],
            "courses": {row: tuple(course) for row, course in self._courses.items()},
            "count": self._count,
            "texts": self._text_numbers.memory(),
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Continue after the rows of another run."""
        self._rows = []
        self._tables = [(memory["times"], memory["table"])] if memory["times"].size else []
        self._inner = [InnerRow(*row) for row in memory["inner"]]
        self._courses = {row: RowCourse(*course) for row, course in memory["courses"].items()}
        self._count = memory["count"]
        self._text_numbers.put_back(memory["texts"])
        self._write_state()

    def _pass_on(self) -> None:
        """Pass rows on to the stream if there are enough of them.

        The last row stays: rows inside the next step need it, and it may be removed.
        """
        is_full = self._pending * max(1, len(self.ports)) >= NUMBERS_IN_PIECE
        if self._stream is None or not (is_full or self._text_numbers.characters >= self._most_characters):
            return
        times, table = self._joined()
        self._findings(times, table)
        last = times.size - 1
        placed = [(row_before(times, self._shifted(point)), point) for point in self._inner]
        self._first = self._first or (times[:1], table[:1])
        self._append(times, table, [point for k, point in placed if k < last], ends=False)
        self._inner = [point for k, point in placed if k >= last]
        if any(k == last - 1 for k, _ in placed):  # then the end of that step has a second row
            self._inner.insert(0, InnerRow(self._base + last - 1, 0, -math.inf, {}))
        self._base += last
        self._courses = {row: course for row, course in self._courses.items() if row > self._base}
        self._tables, self._pending = [(times[-1:], table[-1:])], 0
        self._forget_texts()
        self._write_state()

    def _forget_texts(self) -> None:
        """Remove texts that are in none of the waiting rows."""
        assert self._first is not None
        (_, first_table), (_, last_table) = self._first, self._tables[0]
        rows = [first_table[0], last_table[0], *(course.values for course in self._courses.values())]
        columns = self._signals.text_columns
        numbers = [row[column] for row in rows for column in columns]
        numbers += [point.values[c] for point in self._inner for c in columns if c in point.values]
        self._text_numbers.retain(numbers)
        self._most_characters = CHARACTERS_IN_PIECE + self._text_numbers.characters

    def _findings(self, times: NDArray[np.float64], table: NDArray[np.float64]) -> list[Finding]:
        """A finding for each real output that has become NaN, in these rows or earlier ones."""
        for column in set(self._signals.real_outputs) - self._missing.keys():
            missing = np.flatnonzero(np.isnan(table[:, column]))
            if missing.size:
                path = ".".join(self.ports[column])
                self._missing[column] = missing_value(float(times[missing[0]]), path)
        return sorted(self._missing.values(), key=lambda finding: finding.time)

    def _append(
        self,
        times: NDArray[np.float64],
        table: NDArray[np.float64],
        points: Sequence[InnerRow],
        *,
        ends: bool,
    ) -> None:
        """Pass rows on to the stream, without the first one if the last piece had it."""
        assert self._stream is not None
        skips = self._has_begun
        self._has_begun = True
        times, table = self._shown_rows(times, table, points, ends=ends, skips=skips)
        if times.size:
            self._stream.append(self._as_result(times, table).with_derivatives())
            if self._derivatives is not None:
                self._derivatives.discard_before(float(times[-1]))

    def _shown_rows(
        self,
        times: NDArray[np.float64],
        table: NDArray[np.float64],
        points: Sequence[InnerRow],
        *,
        ends: bool,
        skips: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rows that a result shows: with inner rows, without points that are not kept.

        Parameters
        ----------
        times, table, points
        ends : bool
            Whether the run ends with them.
        skips : bool
            Leave out the first one.
        """
        if points and times.size:
            times, table = self._with_inner(times, table, points)
        if self._points is not None and times.size:
            is_kept = self._points.of(times, ends=ends)
            is_kept[:1] &= not skips
            return times[is_kept], table[is_kept]
        return (times[1:], table[1:]) if skips else (times, table)

    def _shifted(self, point: InnerRow) -> InnerRow:
        """The row with its place among the rows that have not been passed on."""
        return point._replace(after=point.after - self._base)

    def _with_inner(
        self, times: NDArray[np.float64], table: NDArray[np.float64], points: Sequence[InnerRow]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rows with those between communication points."""
        courses = {row - self._base: course for row, course in self._courses.items()}
        shifted = [self._shifted(point) for point in points]
        is_input, is_continuous = self._signals.is_input, self._signals.is_continuous
        return with_inner_rows(times, table, shifted, courses, is_input, is_continuous)

    def _joined(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The times and values of all rows that have not been removed."""
        self._gather()
        times = np.concatenate([times for times, _ in self._tables] or [np.zeros(0)])
        table = np.empty((times.size, len(self.ports)), order="F")  # signals are columns
        if self._tables:
            np.concatenate([values for _, values in self._tables], out=table)
        return times, table

    def _as_result(
        self, times: NDArray[np.float64], table: NDArray[np.float64], **options: Any
    ) -> CoSimulationResult:
        columns = self._signals.named(table, self._texts_of)
        result = CoSimulationResult(times, columns, self._signals.units, **options)
        if self._derivatives is not None:
            self._derivatives.differentiate(result)
        return result

    def _number(self, column: int, value: Any) -> float:
        """The number of a value in the table."""
        return self._text_numbers.of(value) if column in self._signals.text_columns else float(value)

    def _row_course(self, courses: Mapping[str, InputCourse]) -> RowCourse:
        """The courses of the recorded inputs in the last step."""
        course = RowCourse(*(np.zeros(len(self.ports)) for _ in range(3)))
        for name, inputs in courses.items():
            for place, column in self._input_columns[name]:
                course.time[column] = inputs.time
                course.values[column] = self._number(column, inputs.values[place])
                course.slopes[column] = 0.0 if inputs.slopes is None else inputs.slopes[place]
        return course

    def _gather(self) -> None:
        """Make a table of the rows that were recorded one by one."""
        if self._rows:
            rows, self._rows = self._rows, []
            values = np.array([row for _, row in rows], dtype=np.float64).reshape(len(rows), len(self.ports))
            self._tables.append((np.array([time for time, _ in rows]), values))
