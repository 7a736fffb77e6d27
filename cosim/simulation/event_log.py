"""The events of a run, kept as numbers and read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.event_record import EventRecord
from cosim.step.event_log import LENGTH

if TYPE_CHECKING:
    from cosim.simulation.recorded_events import RecordReader
    from cosim.simulation.status import EventStatus


class EventLog(Sequence[EventRecord]):
    """A sequence of `EventRecord`.

    Parameters
    ----------
    reader : RecordReader
    limit : int
        How many are kept at most; the oldest are forgotten, a piece at a time.

    Attributes
    ----------
    forgotten : int
        How many events have been forgotten.
    """

    def __init__(self, reader: RecordReader, limit: int) -> None:
        self._reader, self.limit, self.forgotten = reader, limit, 0
        self._pieces: list[NDArray[np.float64]] = []
        self._starts: list[tuple[int, int]] = []  # of each record: piece and place
        self._answers: dict[int, EventStatus] = {}  # by number since the beginning
        self._first_piece = 0

    def add(
        self, records: NDArray[np.float64], starts: Sequence[int], answers: dict[int, EventStatus]
    ) -> None:
        """Add records that begin at these places of an array; `answers` by their place in `starts`."""
        if self.limit == 0:
            self.forgotten += len(starts)
            return
        known = self.forgotten + len(self._starts)
        piece = self._first_piece + len(self._pieces)
        self._pieces.append(records)
        self._starts += [(piece, at) for at in starts]
        self._answers |= {known + i: answer for i, answer in answers.items()}
        surplus = len(self._starts) - self.limit
        if surplus > 0:
            self._forget(surplus)

    def _forget(self, count: int) -> None:
        del self._starts[:count]
        for number in range(self.forgotten, self.forgotten + count) if self._answers else ():
            self._answers.pop(number, None)
        self.forgotten += count
        while self._pieces and (not self._starts or self._first_piece < self._starts[0][0]):
            del self._pieces[0]
            self._first_piece += 1

    def clear(self) -> None:
        """Forget all."""
        self.forgotten += len(self._starts)
        self._starts, self._pieces, self._answers = [], [], {}

    def truncate(self, count: int) -> None:
        """Keep the oldest `count` events alone."""
        del self._starts[max(0, count - self.forgotten) :]

    def copy(self) -> EventLog:
        """The same events; what is added to one is not in the other."""
        twin = EventLog(self._reader, self.limit)
        twin.__dict__.update(self.__dict__)
        twin._pieces, twin._starts, twin._answers = (
            list(self._pieces),
            list(self._starts),
            dict(self._answers),
        )
        return twin

    @property
    def total(self) -> int:
        """How many there were, those that are forgotten included."""
        return self.forgotten + len(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> EventRecord: ...

    @overload
    def __getitem__(self, index: slice) -> list[EventRecord]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self._starts))[index]
        piece, at = self._starts[number]
        records = self._pieces[piece - self._first_piece]
        record = records[at : at + int(records[at + LENGTH])]
        return self._reader.event(record, self._answers.get(self.forgotten + number))

    def __iter__(self) -> Iterator[EventRecord]:
        return (self[i] for i in range(len(self._starts)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))
