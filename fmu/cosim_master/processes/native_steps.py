"""Steps of participants in another process, as compiled code begins and ends them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim.kit import c_address
from cosim_master.abilities import NativeCalls
from cosim_master.processes import step_frames as frames
from cosim_master.processes.calls import WRITES
from cosim_master.processes.channel import MOST_NUMBERS, Channel
from cosim_master.processes.step_frames import Frame, Member
from cosim_master.processes.wire import can_go_natively, wire_over

REALS_OF_STEP = 2
"""Time and size."""


class NativeFrame:
    """The messages of a session that compiled code writes and reads (`step_frames`).

    Parameters
    ----------
    channel : Channel
        Over handles.
    """

    def __init__(self, channel: Channel) -> None:
        self._wire, self._watched = wire_over(channel.reading, channel.writing)
        self._buffers = [(ctypes.c_int64 * (MOST_NUMBERS + 2))() for _ in range(4)]
        members, request, answer, expected = map(ctypes.addressof, self._buffers)
        self._record = Frame(members_at=members, request_at=request, answer_at=answer, expected_at=expected)
        self._record.wire_at = ctypes.addressof(self._wire)
        self.address = ctypes.addressof(self._record)
        self._members: dict[int, NativeMember] = {}
        self._numbers = 0

    def join(self, number: int, groups: tuple[int, int], inputs: int, outputs: int) -> NativeMember | None:
        """A participant whose steps go this way; None where the message would be too long.

        Parameters
        ----------
        number : int
        groups : (int, int)
            Numbers of the names of its inputs and outputs.
        inputs, outputs : int
        """
        self._numbers += frames.HEAD_ROOM + REALS_OF_STEP + 2 * inputs + outputs
        if self._numbers > MOST_NUMBERS:
            return None
        member = NativeMember(self.address, number, groups, inputs, outputs)
        self._members[member.address] = member
        return member

    def wait_for_python(self, messages: int) -> None:
        """Python waits for the answers of so many messages."""
        self._record.is_python_waiting = messages

    def send(self) -> None:
        """Send the steps that have begun."""
        if self._record.state == frames.COLLECTED:
            frames.send_frame(self.address)

    def leave(self, channel: Channel) -> list[NativeMember]:
        """Whose steps are under way; Python takes the answer to their message from now on."""
        record = self._record
        self.send()
        if record.state not in (frames.SENT, frames.LEFT):
            return []
        channel.put_back(ctypes.string_at(record.answer_at, record.arrived))
        addresses: Any = (ctypes.c_int64 * record.members).from_address(record.members_at)
        found = [self._members[address] for address in addresses]
        for member in found:
            member.record.phase = frames.IN_PYTHON
        record.state = frames.EMPTY
        return found


class NativeMember:
    """A participant of such messages.

    Attributes
    ----------
    number : int
    record : Member
    address : int
        Of the record.
    """

    def __init__(self, frame: int, number: int, groups: tuple[int, int], inputs: int, outputs: int) -> None:
        self.number = number
        self._request = np.zeros(REALS_OF_STEP + 2 * inputs)
        self._answer = np.zeros(1 + outputs)
        written, read = groups
        writes = [(kind, written, inputs) for kind in range(len(WRITES))]
        heads = np.zeros((len(WRITES) + 1, frames.HEAD_ROOM), dtype=np.uint32)
        for count, row in enumerate(heads):
            words = [number, count, 1, read, *(word for write in writes[:count] for word in write)]
            row[: len(words)] = words
        answer_head = np.array([1, outputs], dtype=np.uint32)
        self._kept = heads, answer_head
        self.record = Member(
            frame_at=frame,
            inputs=inputs,
            outputs=outputs,
            heads_at=heads.ctypes.data,
            answer_head_at=answer_head.ctypes.data,
            request_at=self._request.ctypes.data,
            answer_at=self._answer.ctypes.data,
        )
        self.address = ctypes.addressof(self.record)

    def calls(self, keep: object, *, same_size: bool, leave: Callable[[], None]) -> NativeCalls:
        """For the interpreter of exchanges."""
        at = {function: c_address(function, letters) for function, letters in frames.ENTRIES.items()}
        return NativeCalls(
            instance=self.address,
            set=at[frames.set_member],
            step=at[frames.step_member],
            get=at[frames.get_member],
            input_references=0,
            output_references=0,
            same_size=same_size,
            keep=(self, keep),
            set_slopes=at[frames.set_member_slopes],
            begin=at[frames.begin_member],
            leave=leave,
        )

    def begin(self, time: float, size: float) -> bool:
        """Begin a step whose end compiled code asks for; whether it can."""
        return frames.begin_member(self.address, time, size, 0, 0, 0, 0, 0) == frames.OK

    @property
    def is_free(self) -> bool:
        """Whether compiled code may begin a step."""
        return bool(self.record.phase == frames.RESTS)

    @is_free.setter
    def is_free(self, value: bool) -> None:
        self.record.phase = frames.RESTS if value else frames.IN_PYTHON

    def has_gone_on(self) -> bool:
        """Whether compiled code has done something since this was asked last; outputs are asked for now."""
        found = self.record.is_ahead != 0
        self.record.is_ahead = self.record.has_outputs = 0
        return found

    @property
    def begun(self) -> tuple[float, float] | None:
        """Time and size (s) of a step that Python has to end; None where it has begun none."""
        time, size = self._request[:REALS_OF_STEP].tolist()
        return (time, size) if self.record.phase == frames.IN_PYTHON else None

    @property
    def reached(self) -> float:
        """How far the last step has come, s."""
        return float(self._answer[0])

    def take_writes(self) -> list[Sequence[float]]:
        """Inputs, and slopes, that would have gone with the next step of compiled code."""
        count, inputs = self.record.writes, self.record.inputs
        self.record.writes = 0
        places = range(REALS_OF_STEP, REALS_OF_STEP + count * inputs, max(1, inputs))
        return [self._request[place : place + inputs].tolist() for place in places][:count]


def native_frame(channel: Channel) -> NativeFrame | None:
    """For the steps over a channel; None where they go through Python."""
    return NativeFrame(channel) if can_go_natively() and channel.reading >= 0 else None
