"""Rows of a result between communication points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.abilities import InnerPoint
from cosim_master.recording.kept_points import ROUNDING

Vector = NDArray[np.float64]


class InputCourse(NamedTuple):
    """The connected inputs of a participant over a step: ``values + (t - time) * slopes``.

    Attributes
    ----------
    time : float
        The start of the step, s.
    values : sequence
        The inputs at the start, in the order of the links.
    slopes : sequence of float or None
        Per s; None if all inputs are held.
    """

    time: float
    values: Sequence[Any]
    slopes: Sequence[float] | None = None

    def at(self, time: float) -> Sequence[Any]:
        """The inputs at a time of the step (s)."""
        if self.slopes is None:
            return self.values
        past = time - self.time
        return [v + s * past if s else v for v, s in zip(self.values, self.slopes, strict=True)]

    def to_list(self) -> list[Any]:
        """The course for a checkpoint."""
        return [self.time, list(self.values), None if self.slopes is None else list(self.slopes)]

    @classmethod
    def from_list(cls, saved: Sequence[Any]) -> InputCourse:
        """The course of which `to_list` returned the list."""
        return cls(*saved)


class InnerValues(NamedTuple):
    """The values of a participant at an instant between two communication points.

    Attributes
    ----------
    name : str
    point : InnerPoint
    inputs : sequence
        The connected inputs at that instant.
    """

    name: str
    point: InnerPoint
    inputs: Sequence[Any]


class InnerRow(NamedTuple):
    """The row of one participant at an instant between two communication points.

    Attributes
    ----------
    after : int
        Row of the last communication point that had been recorded.
    owner : int
        Number of the participant.
    time : float
        s
    values : dict of int to float
        By column.
    """

    after: int
    owner: int
    time: float
    values: dict[int, float]


INNER_ROW_FORM = tuple(InnerRow(after=0, owner=0, time=0.0, values={}))
"""The form of a row in a checkpoint."""


class RowCourse(NamedTuple):
    """The recorded inputs over a step by column: ``values + (t - time) * slopes``.

    Attributes
    ----------
    time : ndarray, s
    values, slopes : ndarray
    """

    time: Vector
    values: Vector
    slopes: Vector

    def at(self, time: float) -> Vector:
        """The inputs at a time, s."""
        return np.where(self.slopes == 0.0, self.values, self.values + (time - self.time) * self.slopes)


def row_before(times: Vector, point: InnerRow) -> int:
    """The row of the last communication point before a point; -1 when it is not among these."""
    k = point.after
    if k < 0 or (k + 1 < times.size and point.time > times[k + 1] + ROUNDING * (times[k + 1] - times[k])):
        # its participant has a longer step than the others, so the point is in an earlier gap
        k = int(np.searchsorted(times, point.time, "right")) - 1
    return k


def with_inner_rows(
    times: Vector,
    table: Vector,
    points: Sequence[InnerRow],
    courses: Mapping[int, RowCourse],
    inputs: NDArray[np.bool_],
    continuous: NDArray[np.bool_],
) -> tuple[Vector, Vector]:
    """The table of the communication points, with rows for the instants between them.

    At an instant with a jump there are two rows, before and after. So there are at a communication point at
    which inputs change because of an event in the step before. A variable that no participant reports at an
    instant is interpolated between its neighbours if it is a real output, and otherwise keeps its value;
    inputs are those of that step.

    Parameters
    ----------
    times : ndarray, shape (n,), s
        The communication points.
    table : ndarray, shape (n, m)
        Inputs are those at the end of the step before.
    points : sequence of InnerRow
        Those of one participant in the order of time.
    courses : mapping of int to RowCourse
        The course of the inputs in the step that ended in this row; without one they were held.
    inputs, continuous : ndarray of bool, shape (m,)
        Which columns are connected inputs, which are real outputs.
    """
    inner_rows: dict[int, list[InnerRow]] = {}
    for point in points:
        inner_rows.setdefault(row_before(times, point), []).append(point)
    rows_before_gaps = sorted({k for row in inner_rows for k in (row, row + 1) if 0 <= k < times.size})
    new_times, new_rows, done = [], [], 0
    for k in rows_before_gaps:
        new_times += [times[done : k + 1]]
        new_rows += [table[done : k + 1]]
        done = k + 1
        gap = _Gap(k, times, table, inner_rows.get(k, ()), courses.get(k + 1), inputs, continuous)
        instants, rows = gap.rows()
        new_times.append(np.array(instants))
        new_rows.append(np.array(rows).reshape(len(rows), table.shape[1]))
    all_times = np.concatenate([*new_times, times[done:]])
    all_rows = np.concatenate([*new_rows, table[done:]])
    differs = np.concatenate([[True], ~_repeats(all_times, all_rows)])
    return all_times[differs], all_rows[differs]


def _repeats(times: Vector, rows: Vector) -> NDArray[np.bool_]:
    """For each row but the first, whether it equals the row before it."""
    is_equal = (rows[1:] == rows[:-1]) | (np.isnan(rows[1:]) & np.isnan(rows[:-1]))
    repeats: NDArray[np.bool_] = (np.diff(times) == 0.0) & np.all(is_equal, axis=1)
    return repeats


class _Gap:
    """The time between the communication points `k` and ``k + 1``; the second one may not be recorded yet.

    Parameters
    ----------
    points : sequence of InnerRow
        The reports of participants in this gap.
    course : RowCourse or None
        The course of the inputs in this step.
    k, times, table, inputs, continuous
        See `with_inner_rows`.
    """

    def __init__(
        self,
        k: int,
        times: Vector,
        table: Vector,
        points: Sequence[InnerRow],
        course: RowCourse | None,
        inputs: NDArray[np.bool_],
        continuous: NDArray[np.bool_],
    ) -> None:
        self.has_end = k + 1 < times.size
        self.start = float(times[k])
        self.end = float(times[k + 1]) if self.has_end else max([self.start, *(p.time for p in points)])
        self.first, self.last = table[k], table[k + 1] if self.has_end else table[k]
        self.inputs, self.continuous = inputs, continuous
        self.course = course
        is_rising = continuous & np.isfinite(self.first) & np.isfinite(self.last)  # all others are held
        self.rise = np.zeros(self.last.size)
        self.rise[is_rising] = self.last[is_rising] - self.first[is_rising]
        self.placed = [(min(max(point.time, self.start), self.end), point) for point in points]
        self.nodes = self._nodes()

    def _nodes(self) -> dict[int, list[tuple[float, float]]]:
        """The times and values of each column that is reported in between."""
        nodes: dict[int, list[tuple[float, float]]] = {}
        for time, point in self.placed:
            for column, value in point.values.items():
                start = self.start, float(self.first[column])
                nodes.setdefault(column, [start]).append((time, value))
        if self.has_end:
            for column, column_nodes in nodes.items():
                column_nodes.append((self.end, float(self.last[column])))
        return nodes

    def rows(self) -> tuple[list[float], list[Vector]]:
        """The instants and the rows in between; the first one is the start, with the inputs of the step.

        A participant with fewer reports at an instant than another one repeats its last one.
        """
        instants, rows = ([self.start], [self._interpolated(self.start)]) if self.has_end else ([], [])
        for instant in sorted({time for time, _ in self.placed}):
            reports: dict[int, list[InnerRow]] = {}  # by participant
            for time, point in self.placed:
                if time == instant:
                    reports.setdefault(point.owner, []).append(point)
            for i in range(max(map(len, reports.values()))):
                instants.append(instant)
                rows.append(self._row_of([r[min(i, len(r) - 1)] for r in reports.values()], instant))
        return instants, rows

    def _row_of(self, reports: Iterable[InnerRow], time: float) -> Vector:
        """The row at a time, s, with one report of each participant that has reported."""
        row = self._interpolated(time)
        for report in reports:
            for column, value in report.values.items():
                row[column] = value
        return row

    def _interpolated(self, time: float) -> Vector:
        """The row at a time, s, without the reports at that time."""
        share = (time - self.start) / (self.end - self.start) if self.end > self.start else 0.0
        row: Vector = self.first + share * self.rise
        values = self.last if self.course is None else self.course.at(time)
        row[self.inputs] = values[self.inputs]
        for column, column_nodes in self.nodes.items() if time > self.start else ():
            if not self.inputs[column]:
                row[column] = _value_at(column_nodes, time, is_line=bool(self.continuous[column]))
        return row


def _value_at(nodes: Sequence[tuple[float, float]], time: float, *, is_line: bool) -> float:
    """The value of the last node that is not later, or on the line from it to the next one."""
    last = max((i for i, (node_time, _) in enumerate(nodes) if node_time <= time), default=0)
    start, value = nodes[last]
    if not is_line or last + 1 == len(nodes) or time == start:
        return value
    end, end_value = nodes[last + 1]
    return value + (end_value - value) * (time - start) / (end - start)
