"""The tangents of an exchange: for each of its operations a rule, beside which its values stand still.

What an algorithm does to the interface between passes is linear in the interface (polynomials, lines, means),
with weights that follow from times alone. So the functions that compute courses compute the tangents of
courses, too, of all directions at once: an interface with as many values for each value as there are
directions. What an algorithm iterates has an implicit derivative: a linear system, whose columns are found by
passing unit tangents through the exchange that was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.extrapolate import extrapolate, follow_value, remember
from cosim_master.algorithms.iteration import copy_row, follow_guess
from cosim_master.algorithms.next_request import exchange_once
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory
from cosim_master.derivatives.exchange_records import ExchangeRecord
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord
from cosim_master.exchange.coupled_participants import CoupledParticipants

Reals = NDArray[np.float64]


class ExchangeTangents:
    """Tangents of what lies on the board, and of the interface in its courses.

    Parameters
    ----------
    coupled : CoupledParticipants
    calls : sequence of (int, str)
        Of one exchange of the algorithm, which is initialized.
    memory : ExchangeMemory
        Of the algorithm.
    tangents : mapping of str to ParticipantTangents
    directions : int

    Attributes
    ----------
    board : dict of str to ndarray, shape (directions, outputs)
        The tangents of what is read of each participant.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        calls: Sequence[Call],
        memory: ExchangeMemory,
        tangents: Mapping[str, ParticipantTangents],
        directions: int,
    ) -> None:
        self._coupled, self._calls, self._tangents = coupled, calls, tangents
        self._directions, self._size = directions, len(coupled.places)
        self._memory = ExchangeMemory(directions * self._size, (), layout.ROWS)
        counts = self._memory.counts
        for name in (layout.KIND, layout.ORDER, layout.ALONG, layout.CORRECTS, layout.HOLD):
            counts[name] = memory.counts[name]
        self._row(layout.WANTED)[:] = memory.row(layout.WANTED)
        self._kind = int(counts[layout.KIND])
        self.board = {name: np.zeros((directions, len(reads))) for name, reads in coupled.reads.items()}

    def _row(self, row: int) -> Reals:
        """Tangents of a row of the table of the algorithm, shape (directions, values): a view."""
        return self._memory.row(row).reshape(self._directions, self._size)

    def interface(self) -> Reals:
        """The tangents of the interface, shape (directions, values)."""
        columns = [self.board[name][:, place] for name, place in self._coupled.places]
        return np.array(columns).T.reshape(self._directions, self._size)

    def input_dots(self, name: str, lines: Reals | None) -> Reals:
        """The tangents of the connected inputs of a participant, from the board or from an interface."""
        feeds = self._coupled.feeds(name)
        dots = np.zeros((self._directions, len(feeds)))
        for j, (source, place, at, link) in enumerate(feeds):
            if link.table is None and link.kind is float:
                read = self.board[source][:, place] if lines is None or at < 0 else lines[:, at]
                dots[:, j] = link.factor * read
        return dots

    def follow(self, record: ExchangeRecord) -> None:
        """Move all tangents along an exchange that was kept."""
        memory, counts, numbers = self._memory, self._memory.counts, self._memory.numbers
        numbers[layout.TIME], numbers[layout.LENGTH] = record.numbers[[layout.TIME, layout.LENGTH]]
        time, length = float(numbers[layout.TIME]), float(numbers[layout.LENGTH])
        self._row(layout.NOW)[:] = self.interface()
        if self._kind == layout.ONCE:
            counts[layout.PHASE] = layout.BEGIN
            exchange_once(counts, numbers, memory.table, time, length)
            self._pass(record)
            return
        copy_row(counts, memory.table, layout.NOW, layout.START)
        if self._kind == layout.ADAPTIVE:
            if record.counts[layout.POINTS] == 1:  # it has begun anew, behind a jump
                counts[layout.POINTS] = 0
            remember(counts, numbers, memory.table, time)
            extrapolate(counts, numbers, memory.table, time + length, layout.GUESS)
            follow_guess(counts, numbers, memory.table)
            self._pass(record)
            return
        self._solve(record)

    def _solve(self, record: ExchangeRecord) -> None:
        """An exchange whose end was iterated until it is what comes out: so it is of the tangents."""

        def end(guess: Reals) -> Reals:
            self._row(layout.GUESS)[:] = guess
            follow_guess(self._memory.counts, self._memory.numbers, self._memory.table)
            self._pass(record)
            return self.interface()

        self.solve(self._again(self._coupled.order, end), self._size)

    def _iterate(self, first: str, record: ExchangeRecord) -> None:
        """The same for the loop that begins with a participant, whose inputs are held."""
        coupled = self._coupled
        loop = next(loop for loop in coupled.loops if loop.participants[0] == first)
        places = [coupled.interface_names.index(name) for name in loop.values]
        members = loop.participants

        def end(guess: Reals) -> Reals:
            lines = self.interface()
            lines[:, places] = guess
            self._put(lines)
            for name in members:
                self._set(name, record, along=False)
            for name in members:
                self._advance(name, record)
            for name in members:
                self._read(name, record.reads[name][-1], record, at_end=False)
            return self.interface()[:, places]

        self.solve(self._again(members, end), len(places))

    def _again(self, names: Sequence[str], end: Callable[[Reals], Reals]) -> Callable[[Reals], Reals]:
        """The same function of a guess, from where these participants are now."""
        states = {name: self._tangents[name].save() for name in names}
        board = {name: dots.copy() for name, dots in self.board.items()}

        def answer(guess: Reals) -> Reals:
            for name, state in states.items():
                self._tangents[name].restore(state)
            for name, dots in board.items():
                self.board[name][:] = dots
            return end(guess)

        return answer

    def solve(self, answer: Callable[[Reals], Reals], m: int) -> None:
        """Find the guess that is its own answer, which is linear in it; the last call is with this guess.

        Parameters
        ----------
        answer : callable
            Of an array, shape (directions, m).
        m : int
        """
        n = self._directions
        start = answer(np.zeros((n, m)))
        matrix = np.zeros((m, m))
        for first in range(0, m, n):
            columns = range(first, min(first + n, m))
            units = np.zeros((n, m))
            units[range(len(columns)), columns] = 1.0
            matrix[:, columns] = (answer(units) - start)[: len(columns)].T
        with np.errstate(all="ignore"):
            try:
                ends: Reals = np.asarray(np.linalg.solve(np.eye(m) - matrix, start.T).T, dtype=np.float64)
            except np.linalg.LinAlgError:
                ends = np.full((n, m), np.nan)
        answer(ends)

    def _pass(self, record: ExchangeRecord) -> None:
        """The operations of an exchange, one after the other."""
        reads = {name: iter(each) for name, each in record.reads.items()}
        for call, name in self._calls:
            self._operate(call, name, record, reads)

    def _operate(
        self, call: int, name: str, record: ExchangeRecord, reads: Mapping[str, Iterator[ReadRecord]]
    ) -> None:
        """The rule of an operation; a participant in the middle of a longer step rests."""
        if call == layout.PUT_END:
            self._put(self._row(layout.END))
        elif call == layout.ADVANCE_ALL:
            for each in self._coupled.order:
                self._advance(each, record)
        elif call == layout.ADVANCE:
            self._advance(name, record)
        elif call in (layout.SET, layout.SET_ALONG):
            if name in record.steps:
                self._set(name, record, along=call == layout.SET_ALONG)
        elif call in (layout.READ, layout.READ_AT_END):
            self._read(name, next(reads[name]), record, at_end=call == layout.READ_AT_END)
        elif call == layout.ITERATE:
            self._iterate(name, record)
        elif call == layout.TAKE_KNOWN:
            self._fit_lines(name)

    def _set(self, name: str, record: ExchangeRecord, *, along: bool) -> None:
        names, step = self._coupled.input_names[name], record.steps[name]
        if not along:
            self._tangents[name].set_inputs(names, step.inputs, self.input_dots(name, None))
            return
        lines, slopes = self._row(layout.MIDDLE), None
        if self._coupled.follows_slopes(name):
            rising = self._row(layout.SLOPE)
            lines = lines - 0.5 * self._memory.length * rising
            slopes = self.input_dots(name, rising)
            for j, (_, _, at, _) in enumerate(self._coupled.feeds(name)):
                if at < 0:
                    slopes[:, j] = 0.0
        self._tangents[name].set_inputs(names, step.inputs, self.input_dots(name, lines), slopes)

    def _advance(self, name: str, record: ExchangeRecord) -> None:
        if name in record.steps:
            self._tangents[name].follow(record.steps[name])

    def _read(self, name: str, read: ReadRecord, record: ExchangeRecord, *, at_end: bool) -> None:
        coupled = self._coupled
        reached = record.index + 1
        if reached % coupled.step_multiple[name] != 0 and reached != coupled.point_count:
            return
        tangents = self._tangents[name]
        if at_end and read.inputs is not None:
            dots = self.input_dots(name, self._row(layout.END))
            tangents.set_inputs(coupled.input_names[name], read.inputs, dots)
        self.board[name][:] = tangents.read(coupled.reads[name], read)

    def _put(self, lines: Reals) -> None:
        for k, (name, place) in enumerate(self._coupled.places):
            self.board[name][:, place] = lines[:, k]

    def _fit_lines(self, name: str) -> None:
        memory = self._memory
        for k, owner in enumerate(self._coupled.interface_owners):
            if owner == name:
                source, place = self._coupled.places[k]
                for i in range(self._directions):
                    dot = float(self.board[source][i, place])
                    follow_value(memory.counts, memory.numbers, memory.table, i * self._size + k, dot)
