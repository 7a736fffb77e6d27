"""Calls that compiled code answers in a process of participants (`answer_frames`)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim.kit import c_address
from cosim_master.exchange.exchange_arrays import LEADING, SETTING
from cosim_master.processes import answer_frames as frames
from cosim_master.processes.answer_frames import Service
from cosim_master.processes.calls import Call, answers_of_numbers, calls_of_numbers
from cosim_master.processes.channel import MOST_NUMBERS, Channel, numbers_of_message
from cosim_master.processes.message_memory import LocalChannel, MessageMemory
from cosim_master.processes.open_wire import FOR_EVER, supports_native_messages, wire_over
from cosim_master.processes.served_member import NotServedError, ServedMember

STEPS_BEFORE = 1000
"""Calls of a participant that Python answers first: they take as long as loading compiled code."""
MOST_MEMBERS = 1000
"""Numbers of participants below this one are those that compiled code calls."""


class Unusual(NamedTuple):
    """A message that compiled code has carried out in part.

    Attributes
    ----------
    calls : list of Call
    answers : list
        To the first of them.
    calling, status : int
        What was called of the next one (`exchange_arrays.SETTING` …; NOTHING: its step is left to Python),
        and what it answered.
    """

    calls: list[Call]
    answers: list[Any]
    calling: int
    status: int

    def unsent_writes(self, call: Call) -> list[Any]:
        """The writes of the next call that have not been sent."""
        return call.pending[{SETTING: 0, LEADING: 1}.get(self.calling, len(call.pending)) :]


class Preparation(NamedTuple):
    """The answer to a request to share memory.

    Attributes
    ----------
    refusal : str
        Why it is not shared; "" if it is.
    facts : dict
        Facts about the participant that the other process needs (`ServedMember.facts`).
    """

    refusal: str
    facts: dict[str, Any]


class NativeService:
    """Messages of calls of participants, answered by compiled code.

    Parameters
    ----------
    channel : Channel
    folder : Path
        The folder of the process, in which others see its calls (`call_of_parts`).
    """

    def __init__(self, channel: Channel, folder: Path) -> None:
        self._channel, self._folder = channel, folder
        self._is_able = supports_native_messages() and channel.reading >= 0
        self._counts: dict[int, int] = {}
        self._written: dict[int, int] = {}
        self._refused: set[int] = set()
        self._members: dict[int, ServedMember] = {}
        self._addresses = (ctypes.c_int64 * MOST_MEMBERS)()
        self._call = (ctypes.c_int64 * 2)()
        self._memory: MessageMemory | None = None
        self._record = Service(
            members_at=ctypes.addressof(self._addresses), call_at=ctypes.addressof(self._call)
        )
        self._serve: Any = None
        if self._is_able:
            self._wire_over = wire_over(channel.reading, channel.writing, FOR_EVER)
            self._buffers = [(ctypes.c_int64 * (MOST_NUMBERS + 3))() for _ in range(2)]
            self._use_channel()

    @property
    def progress(self) -> int | None:
        """The number of received messages while one is carried out."""
        return int(self._record.served) if self._record.busy else None

    def learn(self, calls: Sequence[Call], participants: Mapping[int, tuple[Any, Any]]) -> None:
        """Count a message of numbers that Python has answered; after enough of them compiled code answers.

        Parameters
        ----------
        calls : sequence of Call
        participants : mapping of int to (participant, names)
            By number; the names of variables in groups.
        """
        for call in calls if self._is_able else ():
            number = call.number
            groups = {group for _, group, _ in call.pending}
            if len(groups) == 1:
                self._written[number] = min(groups)
            count = self._counts[number] = self._counts.get(number, 0) + 1
            is_new = number in participants and number not in self._members and number not in self._refused
            reads = call.arguments[2]
            if count < STEPS_BEFORE or not is_new or len(reads) != 1:
                continue
            participant, names = participants[number]
            try:
                self._serve_natively(ServedMember(participant, self._folder, number), names, reads[0])
            except NotServedError:
                self._refused.add(number)

    def _serve_natively(self, served: ServedMember, names: Sequence[Sequence[str]], read: int) -> None:
        """Let compiled code call a participant that Python has called until now."""
        if getattr(served.participant, "least_native_steps", 0) > STEPS_BEFORE:
            raise NotServedError("to load its compiled code takes longer than these few steps")
        served.find_functions(names, self._written.get(served.number), read, types=("real",))
        self._admit(served)

    def prepare(
        self, number: int, participant: Any, names: Sequence[Sequence[str]], written: int, read: int
    ) -> Preparation:
        """Share memory through which a participant is called.

        Parameters
        ----------
        number : int
        participant : Participant
        names : sequence of sequence of str
            Names of variables, in groups.
        written, read : int
            Which of these are its inputs and outputs.
        """
        served = ServedMember(participant, self._folder, number)
        try:
            types = ("real", *getattr(participant, "native_types", ()))
            served.find_functions(names, written, read, types)
            memory = MessageMemory(self._folder, len(names[written]), len(names[read]), is_new=True)
            self._admit(served)
        except OSError as error:
            return Preparation(f"has no memory to share: {error}", {})
        except NotServedError as error:
            return Preparation(str(error), {})
        self._memory = memory
        assert isinstance(self._channel, LocalChannel)
        self._channel.share(memory)
        record = self._record
        record.wire_at, record.room = ctypes.addressof(memory.wire), memory.room
        record.request_at, record.answer_at = memory.request_at, memory.answer_at
        return Preparation("", served.facts())

    def _use_channel(self) -> None:
        """Expect messages over the channel."""
        record, (request, answer) = self._record, self._buffers
        record.wire_at, record.room = ctypes.addressof(self._wire_over[0]), ctypes.sizeof(request)
        record.request_at, record.answer_at = ctypes.addressof(request), ctypes.addressof(answer)

    def _admit(self, served: ServedMember) -> None:
        """Let compiled code call a participant from now on."""
        if not 0 <= served.number < MOST_MEMBERS:
            raise NotServedError("too many participants")
        if self._serve is None:
            try:
                entry = c_address(frames.serve_calls, frames.ENTRIES[frames.serve_calls])
            except cosim.ContractError as error:  # nothing is compiled here
                self._is_able = False
                raise NotServedError(str(error)) from error
            self._serve = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(entry)
        self._members[served.number] = served
        self._addresses[served.number] = served.member.address
        self._record.members = 1 + max(self._members)

    def forget(self, number: int) -> None:
        """Forget a participant that is closed, or called in Python from now on."""
        if self._members.pop(number, None) is not None:
            self._addresses[number] = 0
            self._use_channel()
            if self._memory is not None and isinstance(self._channel, LocalChannel):
                self._channel.share(None)
                self._memory = None

    def leave(self, number: int) -> None:
        """Let Python call a participant from now on."""
        served = self._members.get(number)
        self.forget(number)
        if served is not None and served.calls.leave is not None:
            served.calls.leave()

    def member(self, number: int) -> ServedMember:
        """A participant that compiled code calls.

        Raises
        ------
        CosimError
            There is none.
        """
        if number not in self._members:
            raise cosim.CosimError("this participant is not called by compiled code")
        return self._members[number]

    def serve(self) -> Unusual | None:
        """Answer messages until Python has to complete one; None if Python has to read the next one."""
        if not self._members or self._channel.holds_bytes:
            return None
        for number, served in self._members.items():
            try:
                served.participant.resume_native()
                self._addresses[number] = served.member.address
            except Exception:  # its next call, which Python carries out, raises the error
                self._addresses[number] = 0
        record = self._record
        outcome = frames.STILL
        while outcome == frames.STILL:
            outcome = self._serve(ctypes.addressof(record))
            if outcome == frames.STILL and self._channel.wait(0.0):
                return None
        data = ctypes.string_at(record.request_at, record.arrived)
        if outcome == frames.OTHER_MESSAGE:
            self._channel.put_back(data)
            return None
        calls = [self._typed(call) for call in calls_of_numbers(numbers_of_message(data))]
        answer = ctypes.string_at(record.answer_at, record.answer_size)
        answers = answers_of_numbers(numbers_of_message(answer))[: record.member]
        return Unusual(calls, answers, int(record.calling), int(record.status))

    def _typed(self, call: Call) -> Call:
        """A call with inputs in the types that the participant's methods take."""
        return self._members[call.number].typed(call)

    def end_unusual(self) -> None:
        """End the rest of a message."""
        self._record.busy = 0
