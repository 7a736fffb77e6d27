"""From the numbers that a step has recorded to records of events and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.preparation.run_tables import Tables
from cosim.preparation.witness_entry import WitnessEntry
from cosim.run_data.records.witnesses import FALLING
from cosim.simulation.event_record import EventRecord, Finding
from cosim.simulation.status import EventStatus, Severity
from cosim.step import event_log as log
from cosim.step.witness_values import MOST_REPEATS
from cosim.system.system import System
from cosim_compiler.record import rows_of

Reals = NDArray[np.float64]
TIMES = f"{MOST_REPEATS + 1} events in a row"
WORDS = {
    log.CHATTERING: ("chattering", f"chatters: {TIMES}, each undoing the one before"),
    log.ZENO: ("zeno", f"fires ever faster: {TIMES}, which pile up at this instant (Zeno)"),
    log.HELD: ("held", "is held at zero"),
    log.RELEASED: ("released", "is let go"),
    log.RELEASED_BY_HANDLER: ("released", "is let go: a handler has changed what held it"),
    log.RELEASED_BY_WRITE: ("released", "is let go: a variable was written that moves it"),
}
NO_VALUE = (
    "is not a number (NaN): it does not fire while that is so. Where that is not meant, look for a division "
    "by zero, and for a root or a logarithm of what is not positive"
)
GREW_BACK = (
    "had fallen below its absolute tolerance and has grown back: below it no digit is right, so when it "
    "comes back is not right either. Give an absolute_tolerance that is less than its smallest value, or "
    "make its logarithm the state"
)
OF_HISTORIES = {
    log.NOT_SMOOTH: (
        "not smooth",
        "remembers a signal that jumps, or changes too fast to be followed, where no event announces it: "
        "make the jump an event (a witness, cosim.at, cosim.every)",
    ),
    log.NOT_KNOWN_INSIDE: (
        "not known inside steps",
        "remembers a signal that is not a number at times inside steps: between the ends of steps it is what "
        "the values around say",
    ),
}


class RecordReader:
    """Reads the records of one system.

    Parameters
    ----------
    system : System
    tables : Tables
    """

    def __init__(self, system: System, tables: Tables) -> None:
        self.system, self._entries = system, tables.events.entries
        self._histories = system.remembering
        self._witnesses, self._notices = tables.events.witnesses, tables.notices

    def finding(self, record: Reals) -> Finding:
        """The finding of a record."""
        logged = rows_of(log.LoggedFinding, record, 0, 1)[0]
        kind, number, time, value = int(logged.kind), int(logged.subject), logged.time, logged.value
        if kind == log.NOTICE:
            path, text = self._notices[number]
            return Finding(time, "status", path, text)
        if kind in OF_HISTORIES:
            word, text = OF_HISTORIES[kind]
            return Finding(time, word, self._histories[number], text)
        if kind == log.GREW_BACK:
            return Finding(time, "grew back", self._variable(number), GREW_BACK)
        if kind == log.OVERWRITTEN:
            return self._overwritten(time, number, int(value))
        return self._finding_of_witness(kind, time, self._witnesses[number], value)

    def _overwritten(self, time: float, number: int, variable: int) -> Finding:
        """The finding about two handlers, whose numbers are in one, that have written a variable."""
        later, earlier = (self._entries[n].path for n in divmod(number, len(self._entries)))
        path = self._variable(variable)
        text = (
            f"writes {path} at an instant at which {earlier} has written it: both read the value before "
            f"the instant, so what {earlier} wrote is lost. Let one handler do both, or add: "
            f"{_short(path)}_next[0] += …"
        )
        return Finding(time, "overwritten", later, text)

    def _finding_of_witness(self, kind: int, time: float, witness: WitnessEntry, value: float) -> Finding:
        """The finding about a witness; `value` is its value, or the time at which that is not a number."""
        if kind == log.WRONG_SIDE:
            word, back = ("fall", "risen") if witness.direction == FALLING else ("rise", "fallen")
            text = f"is {value:.6g} at the start: it cannot {word} through zero before it has {back}"
            return Finding(time, "wrong side", witness.path, text)
        if kind == log.NOT_A_NUMBER:
            return Finding(value, "not a number", witness.path, NO_VALUE)
        word, text = WORDS[kind]
        return Finding(time, word, witness.path, text)

    def _variable(self, number: int) -> str:
        """Path of the variable with this number among y, p, d and k."""
        for name, values in self.system.start_arrays().items():
            if name in "ypdk":
                if number < values.size:
                    return next(iter(self.system.paths_at(name, [number])), f"{name}[{number}]")
                number -= values.size
        return "a variable"

    def handler(self, number: int) -> tuple[str, EventCause]:
        """Path and cause of the handler that records name by this number."""
        entry = self._entries[number]
        return entry.path, entry.handler.cause

    def event(self, record: Reals, answer: EventStatus | None = None) -> EventRecord:
        """The event of a record; `answer` is the additional result of a Python handler."""
        event = rows_of(log.LoggedEvent, record, 0, 1)[0]
        entry = self._entries[int(event.handler)]
        handler = entry.handler
        before, after = self._changed_values(record, int(event.changes))
        witness = "" if handler.witness is None else f"{entry.part}.{handler.witness.name}"
        name = handler.witness.name if handler.witness else handler.signal or handler.timer or handler.name
        return EventRecord(
            event.time,
            handler.cause,
            handler.does,
            entry.path,
            (event.start, event.end),
            witness,
            Severity(int(event.answer)),
            "" if answer is None else answer.message,
            tuple(before),
            name,
            (event.before, event.after),
            before,
            after,
            event.duration,
        )

    def _changed_values(self, record: Reals, count: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The values before and after an event of the variables that it has changed, by path."""
        before: dict[str, Any] = {}
        after: dict[str, Any] = {}
        for array, offset, old, new in _changes(record, count):
            changed = (np.flatnonzero((old != new) & ~((old != old) & (new != new))) + offset).tolist()
            for path in self.system.paths_at(array, changed):
                before[path], after[path] = (self._value(path, offset, values) for values in (old, new))
        return before, after

    def _value(self, path: str, start: int, values: Reals) -> Any:
        """The value of a variable that lies within a stretch which begins at `start`."""
        variable = self.system.variables.get(path)
        if variable is None:
            return None
        first = variable.slot.offset - start
        numbers = values[first : first + variable.slot.size]
        integer = variable.slot.array == "k"
        if variable.slot.size == 1:
            return int(numbers[0]) if integer else float(numbers[0])
        numbers = numbers.astype(np.int64) if integer else numbers.copy()
        return numbers.reshape(variable.shape) if variable.shape else numbers


def _changes(record: Reals, count: int) -> Iterator[tuple[str, int, Reals, Reals]]:
    """Array, offset, values before and values after of each change in the record of an event, in order."""
    places, at = [], log.EVENT_WIDTH
    for _ in range(count):
        change = rows_of(log.LoggedChange, record, at, 1)[0]
        size = int(change.size)
        places.append((int(change.array), int(change.offset), at + log.CHANGE_WIDTH, size))
        at += log.CHANGE_WIDTH + 2 * size
    for number, offset, at, size in sorted(places):
        yield "ypdk"[number], offset, record[at : at + size], record[at + size :][:size]


def _short(path: str) -> str:
    """The name of a variable without its part and its index."""
    return path.rpartition(".")[2].partition("[")[0]
