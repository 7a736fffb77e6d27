"""The tangents of an exchange, with a rule for member of its operations.

Between passes an algorithm changes the interface linearly (polynomials, lines, means), with weights that
depend on times only. So the functions that compute courses of values also compute those of tangents, for all
directions at once: they are given an interface with one value for each value and direction. An iteration has
an implicit derivative: a linear system, whose columns are found by passing unit tangents through the recorded
exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.extrapolate import extrapolate, follow_value, remember
from cosim_master.algorithms.iteration import copy_row, follow_guess
from cosim_master.algorithms.next_request import exchange_once
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.derivatives.board_tangents import BoardTangents, Reals
from cosim_master.derivatives.exchange_records import ExchangeRecord
from cosim_master.derivatives.linear_fixed_point import linear_fixed_point
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord
from cosim_master.exchange.coupled_participants import CoupledParticipants


class ExchangeTangents:
    """Moves the tangents of the interface, the board and the participants along recorded exchanges.

    Parameters
    ----------
    coupled : CoupledParticipants
    calls : sequence of (int, str)
        The calls of one exchange of the algorithm, which is initialized.
    memory : ExchangeMemory
        The memory of the algorithm.
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
        """Move all tangents along a recorded exchange."""
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
            if record.counts[layout.POINTS] == 1:  # it has begun anew, after a jump
                counts[layout.POINTS] = 0
            remember(counts, numbers, memory.table, time)
            extrapolate(counts, numbers, memory.table, time + length, layout.GUESS)
            self._repeat([*record.earlier, record])
            return
        self._solve(record)

    def _repeat(self, records: Sequence[ExchangeRecord]) -> None:
        """Follow an exchange that was repeated, each time along the line to the result before."""
        guess, last = self._row(layout.GUESS).copy(), records[-1]
        if len(records) > 1:
            restart = self._repeatable(self._coupled.order, lambda guess: guess)
        for record in records:
            guess = self._end_of_exchange(record, guess)
            if record is not last:
                restart(guess)

    def _solve(self, record: ExchangeRecord) -> None:
        """Follow an exchange that was iterated until its guess was its result; so are its tangents."""
        respond = self._repeatable(self._coupled.order, lambda guess: self._end_of_exchange(record, guess))
        respond(linear_fixed_point(respond, self._directions, self._size))

    def _end_of_exchange(self, record: ExchangeRecord, guess: Reals) -> Reals:
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
            interface = self._board.interface()
            interface[:, places] = guess
            self._board.put_interface(interface)
            for name in coupled.members(members):
                self._set(name, record, along=False)
            for name in members:
                self._advance(name, record)
            for name in coupled.members(members):
                self._read(name, record.reads[name][-1], record, at_end=False)
            return self._board.interface()[:, places]

        respond = self._repeatable(members, end)
        respond(linear_fixed_point(respond, self._directions, len(places)))

    def _repeatable(self, names: Sequence[str], end: Callable[[Reals], Reals]) -> Callable[[Reals], Reals]:
        """A function that restores the present tangents of these participants, then calls `end`."""
        states = {name: self._tangents[name].save() for name in self._coupled.members(names)}
        board = {name: dots.copy() for name, dots in self._board.outputs.items()}

        def repeat(guess: Reals) -> Reals:
            for name, state in states.items():
                self._tangents[name].restore(state)
            for name, dots in board.items():
                self._board.outputs[name][:] = dots
            return end(guess)

        return repeat

    def _pass(self, record: ExchangeRecord) -> None:
        """Carry out the operations of an exchange, one after the other."""
        reads = {name: iter(records) for name, records in record.reads.items()}
        for call, name in self._calls:
            self._operate(call, name, record, reads)

    def _operate(
        self, call: int, name: str, record: ExchangeRecord, reads: Mapping[str, Iterator[ReadRecord]]
    ) -> None:
        """Apply the rule of an operation; participants in the middle of a longer step are left out."""
        if call == layout.PUT_END:
            self._board.put_interface(self._row(layout.END))
        elif call == layout.ADVANCE_ALL:
            for participant in self._coupled.order:
                self._advance(participant, record)
        elif call == layout.ADVANCE:
            self._advance(name, record)
        elif call in (layout.SET, layout.SET_ALONG):
            for member in self._coupled.members([name]):
                if member in record.steps:
                    self._set(member, record, along=call == layout.SET_ALONG)
        elif call in (layout.READ, layout.READ_AT_END):
            for member in self._coupled.members([name]):
                self._read(member, next(reads[member]), record, at_end=call == layout.READ_AT_END)
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
        interface, slopes = self._row(layout.MIDDLE), None
        if self._coupled.interface.follows_slopes[name]:
            interface_slopes = self._row(layout.SLOPE)
            interface = interface - 0.5 * self.memory.length * interface_slopes
            slopes = self._board.input_dots(name, interface_slopes)
            for j, feed in enumerate(self._coupled.interface.feeds[name]):
                if feed.interface_place < 0:
                    slopes[:, j] = 0.0
        dots = self._board.inputs[name][:] = self._board.input_dots(name, interface)
        self._tangents[name].set_inputs(names, step.inputs, dots, slopes)

    def _advance(self, name: str, record: ExchangeRecord) -> None:
        for member in reversed(self._coupled.members([name])):  # the first member steps all others
            if member in record.steps:
                self._tangents[member].follow(record.steps[member])

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
                for i, dot in enumerate(self._board.outputs[source][:, place].tolist()):
                    follow_value(memory.counts, memory.numbers, memory.table, i * self._size + k, dot)
