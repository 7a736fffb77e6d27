"""An exchange that moves tangents with each call of an algorithm, whatever the algorithm is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cosim
from cosim.kit import Course
from cosim_master.derivatives.board_tangents import BoardTangents
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord, StepRecord
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import ExchangeFace, Vector


class FollowedExchange:
    """Passes calls on to an exchange, and moves the tangents with each of them; `restore` moves them back.

    Only values that go from the board to inputs have derivatives. An algorithm that computes values itself,
    such as courses of inputs, is refused.

    Parameters
    ----------
    exchange : ExchangeFace
    coupled : CoupledParticipants
    tangents : mapping of str to ParticipantTangents
    board : BoardTangents
    """

    def __init__(
        self,
        exchange: ExchangeFace,
        coupled: CoupledParticipants,
        tangents: Mapping[str, ParticipantTangents],
        board: BoardTangents,
    ) -> None:
        self._exchange, self._coupled, self._tangents, self._board = exchange, coupled, tangents, board
        self._index = coupled.step_index
        self._written: set[str] = set()  # participants whose new inputs no step or read has used yet

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exchange, name)

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Write the inputs of a participant.

        Raises
        ------
        ModelError
            They follow a course.
        """
        if course is not None:
            raise _refusal("passes slopes of inputs")
        self._exchange.set_inputs(name)
        if not self._coupled.rests(name):
            for member in self._coupled.members([name]):
                self._board.inputs[member][:] = self._board.input_dots(member)
                self._written.add(member)

    def put(self, values: Vector) -> None:
        """Write values of the interface.

        Raises
        ------
        ModelError
            They differ from the present ones.
        """
        if self._exchange.interface().tolist() != list(values):
            raise _refusal("writes values of its own")
        self._exchange.put(values)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant."""
        coupled, members = self._coupled, self._coupled.members([name])
        if coupled.rests(name):
            self._exchange.advance(name, time, size)
            return
        for member in members:
            self._tangents[member].start_step()
        self._exchange.advance(name, time, size)
        length = coupled.length(name, time, size)
        for member in reversed(members):  # the first member steps all others, so it comes last
            tangents, inputs = self._tangents[member], self._exchange.values.began(member)
            self._write(member, inputs)
            tangents.follow(StepRecord(time, length, inputs, None, tangents.end_step()))

    def advance_all(self, time: float, size: float) -> None:
        """Step all participants, one after the other."""
        for name in self._exchange.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read the outputs of a participant.

        Raises
        ------
        ModelError
            They belong to other inputs, at the end of a course.
        """
        if end is not None:
            raise _refusal("passes slopes of inputs")
        self._exchange.read_outputs(name)
        if not self._coupled.step_ends(name, self._index):
            return
        for member in self._coupled.members([name]):
            tangents = self._tangents[member]
            self._write(member, self._exchange.values.held(member))
            record = ReadRecord(None, tangents.at_read())
            self._board.outputs[member][:] = tangents.read(self._coupled.reads[member], record)

    def save(self, names: Sequence[str] | None = None) -> tuple[Any, dict[str, Any]]:
        """Save states, with their tangents."""
        saved, board = self._exchange.save(names), self._board
        states = {
            name: (self._tangents[name].save(), board.outputs[name].copy(), board.inputs[name].copy())
            for name in self._coupled.members(self._exchange.order if names is None else names)
        }
        return saved, states

    def restore(self, token: tuple[Any, dict[str, Any]]) -> None:
        """Go back to states, and to their tangents."""
        saved, states = token
        self._exchange.restore(saved)
        for name, (state, outputs, inputs) in states.items():
            self._tangents[name].restore(state)
            self._board.outputs[name][:], self._board.inputs[name][:] = outputs, inputs

    def _write(self, name: str, inputs: Sequence[Any]) -> None:
        """Write the inputs of a participant, with their tangents, if they are new."""
        if name in self._written:
            self._written.remove(name)
            self._tangents[name].set_inputs(
                self._coupled.interface.input_names[name], inputs, self._board.inputs[name]
            )


def _refusal(action: str) -> cosim.ModelError:
    """The error for an algorithm that computes values itself; `action`: "it … between participants"."""
    text = (
        f"has no derivatives: it {action} between participants. Derivatives pass algorithms that call "
        "set_inputs(name), advance, read_outputs(name), save and restore alone"
    )
    return cosim.ModelError.of("master.algorithm", text)
