"""Calls of participants in another process, as compiled code begins and ends them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cosim.kit import c_address
from cosim_master.native_calls import NativeCalls
from cosim_master.processes import step_frames as frames
from cosim_master.processes.calls import ACTIONS, STEP, WRITES
from cosim_master.processes.channel import MOST_NUMBERS, Channel
from cosim_master.processes.message_memory import MessageMemory
from cosim_master.processes.open_wire import MOST_PATIENCE, supports_native_messages, wire_over
from cosim_master.processes.step_frames import Frame, Member

REALS_OF_CALL = 2
"""Time and size."""


class MemberArrays:
    """A participant of messages that compiled code reads and writes, in either process.

    Parameters
    ----------
    number : int
    groups : (int, int)
        Numbers of the names of its inputs and outputs.
    inputs, outputs : int

    Attributes
    ----------
    record : Member
    address : int
        The address of the record.
    request, answer : ndarray
        Reals: time, size, inputs, slopes; time reached, outputs.
    """

    def __init__(self, number: int, groups: tuple[int, int], inputs: int, outputs: int) -> None:
        self.request = np.zeros(REALS_OF_CALL + 2 * inputs)
        self.answer = np.zeros(1 + outputs)
        written, read = groups
        writes = [(kind, written, inputs) for kind in range(len(WRITES))]
        self._heads = np.zeros((len(ACTIONS), len(WRITES) + 1, frames.HEAD_ROOM), dtype=np.uint32)
        for action, rows in enumerate(self._heads):
            reads = [read] * frames.reads_outputs(action)
            for count, row in enumerate(rows):
                words = [number, action, count, len(reads), *reads]
                words += [word for write in writes[:count] for word in write]
                row[: len(words)] = words
        self._answer_heads = np.array([[0, 0], [1, outputs]], dtype=np.uint32)
        self.record = Member(
            inputs=inputs,
            outputs=outputs,
            heads_at=self._heads.ctypes.data,
            answer_heads_at=self._answer_heads.ctypes.data,
            request_at=self.request.ctypes.data,
            answer_at=self.answer.ctypes.data,
        )
        self.address = ctypes.addressof(self.record)


class NativeFrame:
    """The messages of a session that compiled code writes and reads (`step_frames`).

    Parameters
    ----------
    channel : Channel
        Over handles.
    memory : MessageMemory, optional
        The memory for the messages of one participant; without one they use the channel.
    """

    def __init__(self, channel: Channel, memory: MessageMemory | None = None) -> None:
        self._members: dict[int, RemoteMember] = {}
        self._numbers = 0
        self._room = MOST_NUMBERS if memory is None else memory.room // frames.WORD
        if memory is None:
            self._wire, self._watched = wire_over(channel.reading, channel.writing, MOST_PATIENCE)
        else:
            self._wire = memory.wire
        self._buffers = [(ctypes.c_int64 * (self._room + 2))() for _ in range(4)]
        members, expected, request, answer = map(ctypes.addressof, self._buffers)
        if memory is not None:
            request, answer = memory.request_at, memory.answer_at
        self._record = Frame(members_at=members, request_at=request, answer_at=answer, expected_at=expected)
        self._record.wire_at = ctypes.addressof(self._wire)
        self.address = ctypes.addressof(self._record)

    def join(self, number: int, groups: tuple[int, int], inputs: int, outputs: int) -> RemoteMember | None:
        """A participant whose calls go this way; None where the message would be too long.

        Parameters
        ----------
        number : int
        groups : (int, int)
            Numbers of the names of its inputs and outputs.
        inputs, outputs : int
        """
        self._numbers += frames.HEAD_ROOM + REALS_OF_CALL + 2 * inputs + outputs
        if self._numbers > MOST_NUMBERS and self._room == MOST_NUMBERS:
            return None
        member = RemoteMember(self.address, number, groups, inputs, outputs)
        self._members[member.address] = member
        return member

    def wait_for_python(self, messages: int) -> None:
        """Count the messages whose answers Python awaits."""
        self._record.is_python_waiting = messages

    def send(self) -> None:
        """Send the steps that have begun."""
        if self._record.state == frames.COLLECTED:
            frames.send_frame(self.address)

    def leave(self, channel: Channel) -> list[RemoteMember]:
        """The members whose calls are under way; Python receives the answer to their message."""
        record = self._record
        self.send()
        if record.state not in (frames.SENT, frames.LEFT):
            return []
        channel.put_back(ctypes.string_at(record.answer_at, record.arrived))
        addresses: Any = (ctypes.c_int64 * record.members).from_address(record.members_at)
        members = [self._members[address] for address in addresses]
        for member in members:
            member.record.phase = frames.IN_PYTHON
        record.state = frames.EMPTY
        return members


class RemoteMember(MemberArrays):
    """A participant of such messages, in the process of the run.

    Attributes
    ----------
    number : int
    """

    def __init__(self, frame: int, number: int, groups: tuple[int, int], inputs: int, outputs: int) -> None:
        super().__init__(number, groups, inputs, outputs)
        self.number = number
        self.record.frame_at = frame

    def calls(
        self, keep: object, *, leave: Callable[[], None], facts: Mapping[str, Any], **callbacks: Any
    ) -> NativeCalls:
        """The functions for the interpreter of exchanges.

        Parameters
        ----------
        keep : object
        leave : callable
        facts : mapping
            The facts of `NativeService.prepare`.
        **callbacks : callable
            The callbacks of `NativeCalls` that are needed.
        """
        at = {function: c_address(function, letters) for function, letters in frames.ENTRIES.items()}
        self._state = ctypes.c_void_p()
        saves = {
            "save": at[frames.save_member],
            "restore": at[frames.restore_member],
            "state": ctypes.addressof(self._state),
            "always_remembered": facts["always_remembered"],
        }
        return NativeCalls(
            instance=self.address,
            set=at[frames.set_member],
            step=at[frames.step_member],
            get=at[frames.get_member],
            input_references=0,
            output_references=0,
            same_size=facts["same_size"],
            keep=(self, keep),
            set_slopes=at[frames.set_member_slopes] * facts["set_slopes"],
            begin=at[frames.start_member_step],
            leave=leave,
            names=facts["names"],
            **(saves if facts["saves"] else {}),
            **callbacks,
        )

    def start_step(self, time: float, size: float) -> bool:
        """Begin a step whose end compiled code asks for; whether it can."""
        return frames.start_member_step(self.address, time, size, 0, 0, 0, 0, 0) == frames.OK

    @property
    def is_free(self) -> bool:
        """Whether compiled code may begin a step."""
        return bool(self.record.phase == frames.RESTS)

    @is_free.setter
    def is_free(self, value: bool) -> None:
        self.record.phase = frames.RESTS if value else frames.IN_PYTHON

    def has_made_calls(self) -> bool:
        """Whether compiled code has worked since the last call, so that outputs are requested now."""
        was_ahead = self.record.is_ahead != 0
        self.record.is_ahead = self.record.has_outputs = 0
        return was_ahead

    @property
    def action(self) -> str:
        """The last action that began (`calls.ACTIONS`)."""
        return ACTIONS[self.record.action]

    @property
    def begun(self) -> tuple[float, float] | None:
        """Time and size (s) of a step that Python has to end; None if there is none."""
        time, size = self.request[:REALS_OF_CALL].tolist()
        return (time, size) if self.record.phase == frames.IN_PYTHON and self.action == STEP else None

    @property
    def reached(self) -> float:
        """The time that the last step has reached, s."""
        return float(self.answer[0])

    def end_late(self) -> None:
        """End a call for which Python has waited: compiled code, which asks once more, continues."""
        self.record.was_late = 1 + self.record.action
        self.is_free = True

    def pop_writes(self) -> list[Sequence[float]]:
        """Inputs, and slopes, that waited for the next call of compiled code; none waits any more."""
        count, inputs = self.record.writes, self.record.inputs
        self.record.writes = 0
        places = range(REALS_OF_CALL, REALS_OF_CALL + count * inputs, max(1, inputs))
        return [self.request[place : place + inputs].tolist() for place in places][:count]


def native_frame(channel: Channel) -> NativeFrame | None:
    """The frame for the steps over a channel; None if they go through Python."""
    return NativeFrame(channel) if supports_native_messages() and channel.reading >= 0 else None
