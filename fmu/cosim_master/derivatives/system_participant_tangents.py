"""Exact tangents of a system of ours in a co-simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cosim.kit import Finding
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord, Reals, StepRecord


class SystemParticipantTangents(ParticipantTangents):
    """The tangents of a system as participant: those of its own run, with inputs that vary.

    Parameters
    ----------
    participant : Participant
        With `couple_tangents`, `tangents`, `path_of` and `simulator`.
    directions : int
    varied : mapping of int to str
        The variables of the participant that vary, by the numbers of their directions.
    """

    def __init__(self, participant: Any, directions: int, varied: Mapping[int, str]) -> None:
        self._participant = participant
        self._initialization: Any = None
        participant.couple_tangents(directions, {i: participant.path_of(name) for i, name in varied.items()})

    @property
    def _tangents(self) -> Any:
        return self._participant.tangents

    def _paths(self, names: Sequence[str]) -> list[str]:
        return [self._participant.path_of(name) for name in names]

    def start(self, names: Sequence[str]) -> Reals:
        if self._initialization is None:
            self._participant.simulator.read_tape()
            self._initialization = self._tangents.end_piece()
        tangents: Reals = self._tangents.read(self._paths(names), self._initialization.discrete)
        return tangents

    def exit_initialization(self) -> None:
        self._tangents.follow(self._initialization, self._participant.simulator.state.time)

    def start_step(self) -> None:
        simulator = self._participant.simulator
        simulator.read_tape()
        self._tangents.start_piece(simulator.state)

    def end_step(self) -> Any:
        self._participant.simulator.read_tape()
        return self._tangents.end_piece()

    def at_read(self) -> Any:
        return self._participant.simulator.state.arrays["d"].copy()

    def save(self) -> Any:
        return self._tangents.save()

    def restore(self, token: Any) -> None:
        self._tangents.restore(token)

    def memory(self) -> bytes:
        saved: bytes = self._tangents.to_bytes(self._participant.simulator.state)
        return saved

    def put_back(self, memory: Any) -> None:
        self._tangents.from_bytes(memory, self._participant.simulator.state)

    def set_inputs(
        self, names: Sequence[str], values: Sequence[Any], dots: Reals, slopes: Reals | None = None
    ) -> None:
        self._tangents.set_inputs(self._paths(names), dots, slopes)

    def follow(self, step: StepRecord) -> None:
        self._tangents.follow(step.piece, step.time + step.size)

    def read(self, names: Sequence[str], record: ReadRecord) -> Reals:
        tangents: Reals = self._tangents.read(self._paths(names), record.piece)
        return tangents

    @property
    def findings(self) -> list[Finding]:
        return [] if self._tangents is None else list(self._tangents.findings)

    def close(self) -> None:
        self._participant.couple_tangents(0, {})
