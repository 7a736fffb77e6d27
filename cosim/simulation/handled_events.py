"""The events that a run has handled: stored as numbers, and read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.simulation.event_record import EventRecord, Finding
from cosim.step.event_log import ANSWER, CHANGES, HANDLER, LENGTH, TIME

if TYPE_CHECKING:
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.simulation.record_reader import RecordReader
    from cosim.simulation.status import EventStatus


class Piece(NamedTuple):
    """Records that were taken at once, and where in them each begins.

    `answers` has, by its number in the piece, what a handler answered besides a severity.
    """

    records: NDArray[np.float64]
    starts: NDArray[np.int64]
    answers: dict[int, EventStatus]


def pop_records(step: CompiledStep) -> NDArray[np.float64]:
    """The records in the buffer of a Step, which is empty then."""
    output = step.arrays.output
    records: NDArray[np.float64] = step.arrays.log[: output.log_used].copy()
    if records.size:
        output.log_used = 0
    return records


def record_starts(records: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places at which records begin that lie one behind the other."""
    length = int(records[LENGTH])
    if records.size == length:
        return np.zeros(1, dtype=np.int64)
    if records.size % length == 0 and np.all(records[LENGTH::length] == length):  # of one handler, mostly
        return np.arange(0, records.size, length)
    lengths, starts, at = records.tolist(), [], 0
    while at < len(lengths):
        starts.append(at)
        at += int(lengths[at + LENGTH])
    return np.array(starts, dtype=np.int64)


def make_piece(
    records: NDArray[np.float64], starts: NDArray[np.int64], answers: Mapping[int, EventStatus]
) -> Piece:
    """Records of events, with the last answer of each handler where its severity is that of the record."""
    handlers, severities = records[starts + HANDLER], records[starts + ANSWER]
    answered: dict[int, EventStatus] = {}
    for handler, answer in answers.items():
        same = (handlers == handler) & (severities == answer.severity)
        answered.update(dict.fromkeys(np.flatnonzero(same).tolist(), answer))
    return Piece(records, starts, answered)


class EventLog(Sequence[EventRecord]):
    """A sequence of `EventRecord`.

    Parameters
    ----------
    reader : RecordReader
    limit : int
        How many are kept at least; beyond that the oldest are forgotten, some thousand at a time. 0: none
        is kept, and `forgotten` counts all.

    Attributes
    ----------
    forgotten : int
        How many events have been forgotten.
    idle_cause : EventCause, optional
        Records of this cause that have changed nothing are no events: they are not kept.
    """

    def __init__(self, reader: RecordReader, limit: int, idle_cause: EventCause | None = None) -> None:
        self._reader, self.limit, self.forgotten = reader, limit, 0
        self.idle_cause = idle_cause
        self._pieces: list[Piece] = []
        self._size = 0

    def empty_buffer(
        self,
        step: CompiledStep,
        answers: Mapping[int, EventStatus],
        tape_records: NDArray[np.float64] | None,
    ) -> list[Finding]:
        """Add the events that the Step has written into its buffer; the findings that it has written.

        Parameters
        ----------
        step : CompiledStep
        answers : mapping of int to EventStatus
            By number of the handler, what it answered last besides a severity.
        tape_records : ndarray or None
            The events and findings of a tape that tangents have read; None: those in the buffer of the Step.
        """
        if not self.limit:
            self.forgotten = int(step.arrays.counts.events)
        records = pop_records(step) if tape_records is None else tape_records
        if records.size == 0:
            return []
        starts = record_starts(records)
        is_finding = records[starts + HANDLER] < 0.0
        findings = []
        if is_finding.any():
            findings = [self._reader.finding(records[at:]) for at in starts[is_finding].tolist()]
            starts = starts[~is_finding]
        if self.limit and starts.size:  # a tape has events even if none is kept
            self._append(records, starts, answers)
        return findings

    def _append(
        self, records: NDArray[np.float64], starts: NDArray[np.int64], answers: Mapping[int, EventStatus]
    ) -> None:
        """Add events, without those of the idle cause; where they exceed the limit, forget the oldest."""
        if self.idle_cause is not None:
            records, starts = self._without_idle(records, starts)
        if starts.size == 0:
            return
        self._pieces.append(make_piece(records, starts, answers))
        self._size += starts.size
        # the newest piece stays: the limit is 1 at least
        while self._size - (count := len(self._pieces[0].starts)) >= self.limit:
            del self._pieces[0]
            self._size -= count
            self.forgotten += count

    def _without_idle(
        self, records: NDArray[np.float64], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The records that are events, one behind the other, and where each begins."""
        handlers = records[starts + HANDLER].astype(np.int64)
        of_cause = [n for n in np.unique(handlers).tolist() if self._reader.handler(n)[1] is self.idle_cause]
        is_idle = (records[starts + CHANGES] == 0.0) & np.isin(handlers, of_cause)
        wanted = starts[~is_idle]
        lengths = records[wanted + LENGTH].astype(np.int64)
        rows = [records[at : at + size] for at, size in zip(wanted.tolist(), lengths.tolist(), strict=True)]
        return np.concatenate([records[:0], *rows]), np.cumsum(lengths) - lengths

    def clear(self) -> None:
        """Drop all events; `forgotten` counts them."""
        self.forgotten += self._size
        self._pieces, self._size = [], 0

    def truncate(self, total: int) -> None:
        """Discard the newest events until `total` have been recorded."""
        surplus = min(self.total - total, self._size)
        while surplus > 0:
            piece = self._pieces.pop()
            discarded = min(len(piece.starts), surplus)
            self._size -= discarded
            surplus -= discarded
            if remaining := len(piece.starts) - discarded:
                self._pieces.append(piece._replace(starts=piece.starts[:remaining]))

    def copy(self) -> EventLog:
        """A copy of the events, independent of this one."""
        twin = EventLog(self._reader, self.limit, self.idle_cause)
        twin.forgotten, twin._pieces, twin._size = self.forgotten, list(self._pieces), self._size
        return twin

    @property
    def total(self) -> int:
        """The number of events, with those that were discarded."""
        return self.forgotten + self._size

    def timeline(self) -> dict[tuple[str, EventCause], tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each handler where its events stand in this sequence, and their times, s: nothing is read."""
        if not self._pieces:
            return {}
        handlers_of_pieces = [piece.records[piece.starts + HANDLER] for piece in self._pieces]
        numbers = np.concatenate(handlers_of_pieces).astype(np.int64)
        when = np.concatenate([piece.records[piece.starts + TIME] for piece in self._pieces])
        timeline = {}
        for number in dict.fromkeys(numbers.tolist()):
            places = np.flatnonzero(numbers == number)
            timeline[self._reader.handler(number)] = places, when[places]
        return timeline

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> EventRecord: ...

    @overload
    def __getitem__(self, index: slice) -> list[EventRecord]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(self._size)[index]
        for piece in self._pieces:
            if number < len(piece.starts):
                return self._read(piece, number)
            number -= len(piece.starts)
        raise IndexError(index)

    def __iter__(self) -> Iterator[EventRecord]:
        return (self._read(piece, i) for piece in self._pieces for i in range(len(piece.starts)))

    def _read(self, piece: Piece, number: int) -> EventRecord:
        at = int(piece.starts[number])
        record = piece.records[at : at + int(piece.records[at + LENGTH])]
        return self._reader.event(record, piece.answers.get(number))

    def __reduce__(self) -> tuple[type, tuple[list[EventRecord]]]:
        """Pickles are lists of records: the system with which they are read stays here."""
        return list, (list(self),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))
