"""The tangents of an exchange: for each of its operations a rule, beside which its values stand still.

What an algorithm does to the interface between passes is linear in the interface (polynomials, lines, means),
with weights that follow from times alone. So the functions that compute courses compute the tangents of
courses, too, of all directions at once: an interface with as many values for each value as there are
directions. What an algorithm iterates has an implicit derivative: a linear system, whose columns are found by
passing unit tangents through the exchange that was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.extrapolate import extrapolate, follow_value, remember
from cosim_master.algorithms.iteration import copy_row, follow_guess
from cosim_master.algorithms.next_request import exchange_once
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory
from cosim_master.derivatives.board_tangents import BoardTangents, Reals
from cosim_master.derivatives.exchange_records import ExchangeRecord
from cosim_master.derivatives.linear_fixed_point import linear_fixed_point
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord
from cosim_master.exchange.coupled_participants import CoupledParticipants


class ExchangeTangents:
    """Tangents of the courses of the interface, and of what passes an exchange.

    Parameters
    ----------
    coupled : CoupledParticipants
    calls : sequence of (int, str)
        Of one exchange of the algorithm, which is initialized.
    memory : ExchangeMemory
        Of the algorithm.
    tangents : mapping of str to ParticipantTangents
    board : BoardTangents
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        calls: Sequence[Call],
        memory: ExchangeMemory,
        tangents: Mapping[str, ParticipantTangents],
        board: BoardTangents,
    ) -> None:
        self._coupled, self._calls, self._tangents, self._board = coupled, calls, tangents, board
        self._directions, self._size = board.directions, board.size
        self.memory = ExchangeMemory(self._directions * self._size, (), layout.ROWS)
        counts = self.memory.counts
        for name in (layout.KIND, layout.ORDER, layout.ALONG, layout.CORRECTS, layout.HOLD):
            counts[name] = memory.counts[name]
        self._row(layout.WANTED)[:] = memory.row(layout.WANTED)
        self._kind = int(counts[layout.KIND])

    def _row(self, row: int) -> Reals:
        """Tangents of a row of the table of the algorithm, shape (directions, values): a view."""
        return self.memory.row(row).reshape(self._directions, self._size)

    def follow(self, record: ExchangeRecord) -> None:
        """Move all tangents along an exchange that was kept."""
        memory, counts, numbers = self.memory, self.memory.counts, self.memory.numbers
        numbers[layout.TIME], numbers[layout.LENGTH] = record.numbers[[layout.TIME, layout.LENGTH]]
        time, length = float(numbers[layout.TIME]), float(numbers[layout.LENGTH])
        self._row(layout.NOW)[:] = self._board.interface()
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
            self._repeat([*record.earlier, record])
            return
        self._solve(record)

    def _repeat(self, records: Sequence[ExchangeRecord]) -> None:
        """An exchange that was made several times, each along the line to what came out of the one before."""
        guess, last = self._row(layout.GUESS).copy(), records[-1]
        if len(records) > 1:
            restart = self._again(self._coupled.order, lambda guess: guess)
        for record in records:
            guess = self._end(record, guess)
            if record is not last:
                restart(guess)

    def _solve(self, record: ExchangeRecord) -> None:
        """An exchange whose end was iterated until it is what comes out: so it is of the tangents."""
        respond = self._again(self._coupled.order, lambda guess: self._end(record, guess))
        respond(linear_fixed_point(respond, self._directions, self._size))

    def _end(self, record: ExchangeRecord, guess: Reals) -> Reals:
        """The interface after an exchange along the line to a guess."""
        self._row(layout.GUESS)[:] = guess
        follow_guess(self.memory.counts, self.memory.numbers, self.memory.table)
        self._pass(record)
        return self._board.interface()

    def _iterate(self, first: str, record: ExchangeRecord) -> None:
        """Solve for the tangents of a loop that begins with this participant and whose inputs are held."""
        coupled = self._coupled
        loop = next(loop for loop in coupled.loops if loop.participants[0] == first)
        places = [coupled.interface.names.index(name) for name in loop.values]
        members = loop.participants

        def end(guess: Reals) -> Reals:
            lines = self._board.interface()
            lines[:, places] = guess
            self._board.put_interface(lines)
            for name in coupled.members(members):
                self._set(name, record, along=False)
            for name in members:
                self._advance(name, record)
            for name in coupled.members(members):
                self._read(name, record.reads[name][-1], record, at_end=False)
            return self._board.interface()[:, places]

        respond = self._again(members, end)
        respond(linear_fixed_point(respond, self._directions, len(places)))

    def _again(self, names: Sequence[str], end: Callable[[Reals], Reals]) -> Callable[[Reals], Reals]:
        """The function `end` of a guess, evaluated from the present tangents of these participants."""
        states = {name: self._tangents[name].save() for name in self._coupled.members(names)}
        board = {name: dots.copy() for name, dots in self._board.outputs.items()}

        def answer(guess: Reals) -> Reals:
            for name, state in states.items():
                self._tangents[name].restore(state)
            for name, dots in board.items():
                self._board.outputs[name][:] = dots
            return end(guess)

        return answer

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
            self._board.put_interface(self._row(layout.END))
        elif call == layout.ADVANCE_ALL:
            for each in self._coupled.order:
                self._advance(each, record)
        elif call == layout.ADVANCE:
            self._advance(name, record)
        elif call in (layout.SET, layout.SET_ALONG):
            for each in self._coupled.members([name]):
                if each in record.steps:
                    self._set(each, record, along=call == layout.SET_ALONG)
        elif call in (layout.READ, layout.READ_AT_END):
            for each in self._coupled.members([name]):
                self._read(each, next(reads[each]), record, at_end=call == layout.READ_AT_END)
        elif call == layout.ITERATE:
            self._iterate(name, record)
        elif call == layout.TAKE_KNOWN:
            self._fit_lines(name)

    def _set(self, name: str, record: ExchangeRecord, *, along: bool) -> None:
        names, step = self._coupled.interface.input_names[name], record.steps[name]
        if not along:
            dots = self._board.inputs[name][:] = self._board.input_dots(name)
            self._tangents[name].set_inputs(names, step.inputs, dots)
            return
        lines, slopes = self._row(layout.MIDDLE), None
        if self._coupled.interface.follows_slopes[name]:
            rising = self._row(layout.SLOPE)
            lines = lines - 0.5 * self.memory.length * rising
            slopes = self._board.input_dots(name, rising)
            for j, feed in enumerate(self._coupled.interface.feeds[name]):
                if feed.interface_place < 0:
                    slopes[:, j] = 0.0
        dots = self._board.inputs[name][:] = self._board.input_dots(name, lines)
        self._tangents[name].set_inputs(names, step.inputs, dots, slopes)

    def _advance(self, name: str, record: ExchangeRecord) -> None:
        for each in reversed(self._coupled.members([name])):  # the first of several steps for all
            if each in record.steps:
                self._tangents[each].follow(record.steps[each])

    def _read(self, name: str, read: ReadRecord, record: ExchangeRecord, *, at_end: bool) -> None:
        coupled = self._coupled
        if not coupled.step_ends(name, record.index):
            return
        tangents = self._tangents[name]
        if at_end:
            dots = self._board.inputs[name][:] = self._board.input_dots(name, self._row(layout.END))
            if read.inputs is not None:
                tangents.set_inputs(coupled.interface.input_names[name], read.inputs, dots)
        self._board.outputs[name][:] = tangents.read(coupled.reads[name], read)

    def _fit_lines(self, name: str) -> None:
        memory = self.memory
        for k, owner in enumerate(self._coupled.interface.owners):
            if owner == name:
                source, place = self._coupled.interface.places[k]
                for i in range(self._directions):
                    dot = float(self._board.outputs[source][i, place])
                    follow_value(memory.counts, memory.numbers, memory.table, i * self._size + k, dot)
