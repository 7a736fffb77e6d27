"""Rows of a run: texts as numbers, which points are kept, and rows between communication points."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.abilities import InnerPoint

TABLED = ("string", "binary")
"""Types whose values are numbers into a table."""
LONGEST = 4096
"""Bytes that are recorded as they are."""


def text_of_bytes(data: bytes) -> str:
    """Hexadecimal digits of binary data; of longer ones their digest and how many they are.

    Examples
    --------
    >>> text_of_bytes(bytes([1, 171]))
    '01ab'
    >>> text_of_bytes(bytes(5000))
    'sha256:7ca5bd879f393d9dd05b14f38add9c0fc6b67928f7f2d261b2e47a32ee8219e3:5000'
    """
    if len(data) <= LONGEST:
        return bytes(data).hex()
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


class TextNumbers:
    """A number for each text that has come; binary data come as the text of them (`text_of_bytes`).

    Most text signals have few values, which come again and again; each is kept once. What UTF-8 cannot
    hold (single surrogates) becomes a question mark.

    Attributes
    ----------
    characters : int
        Of all texts that are kept.

    Examples
    --------
    >>> numbers = TextNumbers()
    >>> row = [numbers.of("off"), numbers.of("on"), numbers.of("off")]
    >>> numbers.texts(np.array(row)).tolist()
    ['off', 'on', 'off']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, float] = {}
        self._texts: dict[float, str] = {}
        self._next, self._told, self.characters = 0.0, 0.0, 0

    def of(self, value: str | bytes) -> float:
        """The number of a text, or of the text of binary data."""
        text = value if isinstance(value, str) else text_of_bytes(value)
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._next
            self._texts[number] = text.encode("utf-8", "replace").decode("utf-8")
            self._next += 1.0
            self.characters += len(text)
        return number

    def texts(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """The texts of numbers, an array of objects."""
        listed = np.empty(numbers.shape, dtype=object)
        listed[:] = [self._texts[number] for number in numbers.tolist()]
        return listed

    def retain(self, numbers: Iterable[float]) -> None:
        """Forget all texts but those with these numbers."""
        wanted = set(numbers)
        self._numbers = {text: number for text, number in self._numbers.items() if number in wanted}
        self._texts = {number: text for number, text in self._texts.items() if number in wanted}
        self.characters = sum(map(len, self._texts.values()))

    def new_texts(self) -> dict[str, float]:
        """Texts that have come since this was asked last, with their numbers."""
        count, self._told = int(self._next - self._told), self._next
        return dict([*self._numbers.items()][-count:]) if count else {}

    def add_texts(self, news: Mapping[str, float]) -> None:
        """Texts with the numbers that another one has given them."""
        for text, number in news.items():
            self._next = number
            self.of(text)

    def memory(self) -> dict[str, Any]:
        """All texts that are kept, for `put_back`."""
        return {"numbers": dict(self._numbers), "texts": dict(self._texts), "next": self._next}

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Go on with the texts of another run."""
        self._numbers, self._texts = dict(memory["numbers"]), dict(memory["texts"])
        self._next, self.characters = memory["next"], sum(map(len, memory["texts"].values()))


SAME = 1e-9
"""Of a step: closer to a communication point is at it."""


class KeptPoints(NamedTuple):
    """Each so many communication points one is kept.

    Rows between communication points, both rows of a jump, and the end are kept in any case.

    Attributes
    ----------
    start, step : float
        Of the communication points, s.
    every : int

    Examples
    --------
    >>> KeptPoints(0.0, 0.5, 2).of(np.array([0.0, 0.5, 0.75, 1.0, 1.5]), ends=True).tolist()
    [True, False, True, True, True]
    """

    start: float
    step: float
    every: int

    def of(self, times: NDArray[np.float64], *, ends: bool) -> NDArray[np.bool_]:
        """Whether each of these rows is kept; with `ends` the last one is that of the end of the run.

        Parameters
        ----------
        times : ndarray, s
            Of rows, in their order.
        ends : bool
        """
        number = np.rint((times - self.start) / self.step)
        is_point = np.abs(times - (self.start + number * self.step)) <= SAME * self.step
        kept: NDArray[np.bool_] = ~is_point | (np.mod(number, self.every) == 0.0)
        jumps = np.diff(times) == 0.0
        kept[:-1] |= jumps
        kept[1:] |= jumps
        if ends:
            kept[-1:] = True
        return kept


class InnerValues(NamedTuple):
    """What is known of a participant at an instant between two communication points.

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


Vector = NDArray[np.float64]


class InnerRow(NamedTuple):
    """What one participant tells about an instant.

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


class RowCourse(NamedTuple):
    """What the recorded inputs did over a step: ``values + (t - time) * slopes``, by column.

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
    if k < 0 or (k + 1 < times.size and point.time > times[k + 1] + 1e-9 * (times[k + 1] - times[k])):
        k = int(np.searchsorted(times, point.time, "right")) - 1  # of a longer step than the others'
    return k


def with_inner_rows(
    times: Vector,
    table: Vector,
    points: Sequence[InnerRow],
    courses: Mapping[int, RowCourse],
    inputs: NDArray[np.bool_],
    continuous: NDArray[np.bool_],
) -> tuple[Vector, Vector]:
    """The table of the communication points, with rows for what happened between them.

    At an instant with a jump there are two rows, before and after; also at a communication point where inputs
    get what has happened in the step before it. What no participant reports at such an instant runs on the
    line between its neighbours when it is a real output, else it keeps its value; inputs are as they
    were in that step.

    Parameters
    ----------
    times : ndarray, shape (n,), s
        Of the communication points.
    table : ndarray, shape (n, m)
        Inputs as they were, at last, in the step before.
    points : sequence of InnerRow
        Those of one participant in their order.
    courses : mapping of int to RowCourse
        Of the inputs in the step that ended in this row; without one they were held as the row says.
    inputs, continuous : ndarray of bool, shape (m,)
        Which columns are connected inputs, which are real outputs.
    """
    inner_rows: dict[int, list[InnerRow]] = {}
    for point in points:
        inner_rows.setdefault(row_before(times, point), []).append(point)
    touched = sorted({k for k in inner_rows for k in (k, k + 1) if 0 <= k < times.size})
    new_times, new_rows, done = [], [], 0
    for k in touched:
        new_times += [times[done : k + 1]]
        new_rows += [table[done : k + 1]]
        done = k + 1
        instants, rows = _between(k, times, table, inner_rows.get(k, ()), courses, inputs, continuous)
        new_times.append(np.array(instants))
        new_rows.append(np.array(rows).reshape(len(rows), table.shape[1]))
    all_times = np.concatenate([*new_times, times[done:]])
    all_rows = np.concatenate([*new_rows, table[done:]])
    same = (np.diff(all_times) == 0.0) & np.all(
        (all_rows[1:] == all_rows[:-1]) | (np.isnan(all_rows[1:]) & np.isnan(all_rows[:-1])), axis=1
    )
    keep = np.concatenate([[True], ~same])
    return all_times[keep], all_rows[keep]


def _between(
    k: int,
    times: Vector,
    table: Vector,
    points: Sequence[InnerRow],
    courses: Mapping[int, RowCourse],
    inputs: NDArray[np.bool_],
    continuous: NDArray[np.bool_],
) -> tuple[list[float], list[Vector]]:
    """The rows between the communication points `k` and ``k + 1``, the second of which may not be there."""
    start, ends = float(times[k]), k + 1 < times.size
    end = float(times[k + 1]) if ends else max([start, *(point.time for point in points)])
    after = table[k + 1] if ends else table[k]
    moves = continuous & np.isfinite(table[k]) & np.isfinite(after)  # what is infinite stays so until the end
    rise = np.zeros(after.size)
    rise[moves] = after[moves] - table[k][moves]
    course = courses.get(k + 1)
    placed = [(min(max(point.time, start), end), point) for point in points]
    nodes: dict[int, list[tuple[float, float]]] = {}
    for time, point in placed:
        for column, value in point.values.items():
            nodes.setdefault(column, [(start, float(table[k, column]))]).append((time, value))
    if ends:
        for column, known in nodes.items():
            known.append((end, float(after[column])))

    def base(time: float) -> Vector:
        part = (time - start) / (end - start) if end > start else 0.0
        row: Vector = table[k] + part * rise
        held = after if course is None else course.at(time)
        row[inputs] = held[inputs]
        for column, known in nodes.items() if time > start else ():
            if not inputs[column]:
                row[column] = _on_line(known, time, line=bool(continuous[column]))
        return row

    instants, rows = ([start], [base(start)]) if ends else ([], [])
    for time in sorted({time for time, _ in placed}):
        of: dict[int, list[InnerRow]] = {}
        for at, point in placed:
            if at == time:
                of.setdefault(point.owner, []).append(point)
        for i in range(max(map(len, of.values()))):
            row = base(time)
            for inner in of.values():
                for column, value in inner[min(i, len(inner) - 1)].values.items():
                    row[column] = value
            instants.append(time)
            rows.append(row)
    return instants, rows


def _on_line(nodes: Sequence[tuple[float, float]], time: float, *, line: bool) -> float:
    """The value between the last node that is not later and the next one."""
    i = max((i for i, node in enumerate(nodes) if node[0] <= time), default=0)
    (at, value), following = nodes[i], nodes[i + 1 : i + 2]
    if not line or not following or time == at:
        return value
    return value + (following[0][1] - value) * (time - at) / (following[0][0] - at)
