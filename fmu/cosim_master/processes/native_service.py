"""Calls that compiled code answers in a process of participants (`answer_frames`)."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim.kit import c_address
from cosim_fmi.binding.statuses import is_bad
from cosim_master.exchange.call_part import restore_part, save_part
from cosim_master.exchange.exchange_arrays import (
    FREEING,
    LEADING,
    NOTHING,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEPPING,
    Part,
)
from cosim_master.native_calls import NativeCalls, StepsNatively
from cosim_master.processes import answer_frames as frames
from cosim_master.processes.answer_frames import Service
from cosim_master.processes.calls import SAVE, WRITES, Call, answers_of_numbers, calls_of_numbers
from cosim_master.processes.channel import MOST_NUMBERS, Channel, numbers_of_message
from cosim_master.processes.message_memory import LocalChannel, MessageMemory, exclude_from_forks
from cosim_master.processes.native_steps import MemberArrays
from cosim_master.processes.open_wire import FOR_EVER, supports_native_messages, wire_over

STEPS_BEFORE = 1000
"""Calls of a participant before compiled code answers them: they cost as much as loading it."""
MOST_MEMBERS = 1000
"""Numbers of participants below this one are those that compiled code calls."""
FLAGS = 5
METHODS = {
    **{NOTHING: "", SETTING: "set", LEADING: "set_slopes", STEPPING: "step", READING: "get"},
    **{SAVING: "save", RESTORING: "restore", FREEING: "save"},
}
"""The method of each value of `Part.calling`."""
PARTS = "part-"
"""The name, with a number behind it, of the file of a participant's record in the folder of the process."""


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
        self._seen: dict[int, int] = {}
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
            seen = self._seen[number] = self._seen.get(number, 0) + 1
            is_new = number in participants and number not in self._members and number not in self._refused
            if seen < STEPS_BEFORE or not is_new or len(call.given[2]) != 1:
                continue
            try:
                participant, names = participants[number]
                served = ServedMember(participant, self._folder, number)
                if getattr(participant, "least_native_steps", 0) > STEPS_BEFORE:
                    raise _NotServedError("to load its compiled code takes longer than these few steps")
                served.find_functions(names, self._written.get(number), call.given[2][0], known=("real",))
                self._admit(served)
            except _NotServedError:
                self._refused.add(number)

    def prepare(
        self, number: int, participant: Any, names: Sequence[Sequence[str]], written: int, read: int
    ) -> tuple[str, dict[str, Any]]:
        """Share memory, in which a participant is called; why not, or what the other process needs to know.

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
            return f"has no memory to share: {error}", {}
        except _NotServedError as error:
            return str(error), {}
        self._memory = memory
        assert isinstance(self._channel, LocalChannel)
        self._channel.share(memory)
        record = self._record
        record.wire_at, record.room = ctypes.addressof(memory.wire), memory.room
        record.request_at, record.answer_at = memory.request_at, memory.answer_at
        return "", served.facts()

    def _use_channel(self) -> None:
        """Messages come over the channel."""
        record, (request, answer) = self._record, self._buffers
        record.wire_at, record.room = ctypes.addressof(self._wire_over[0]), ctypes.sizeof(request)
        record.request_at, record.answer_at = ctypes.addressof(request), ctypes.addressof(answer)

    def _admit(self, served: ServedMember) -> None:
        """Compiled code calls a participant from now on."""
        if not 0 <= served.number < MOST_MEMBERS:
            raise _NotServedError("too many participants")
        if self._serve is None:
            try:
                entry = c_address(frames.serve_calls, frames.ENTRIES[frames.serve_calls])
            except cosim.ContractError as error:  # nothing is compiled here
                self._is_able = False
                raise _NotServedError(str(error)) from error
            self._serve = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(entry)
        self._members[served.number] = served
        self._addresses[served.number] = served.member.address
        self._record.members = 1 + max(self._members)

    def forget(self, number: int) -> None:
        """A participant is closed, or called in Python after all."""
        if self._members.pop(number, None) is not None:
            self._addresses[number] = 0
            self._use_channel()
            if self._memory is not None and isinstance(self._channel, LocalChannel):
                self._channel.share(None)
                self._memory = None

    def leave(self, number: int) -> None:
        """A participant is called in Python after all."""
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
        """Answer messages as long as they are as expected; None if Python reads the next one."""
        if not self._members or self._channel.holds_bytes:
            return None
        for number, served in self._members.items():
            try:
                served.participant.resume_native()
                self._addresses[number] = served.member.address
            except Exception:  # the next call of it, which is Python's, says why
                self._addresses[number] = 0
        record = self._record
        stopped = frames.STILL
        while stopped == frames.STILL:
            stopped = self._serve(ctypes.addressof(record))
            if stopped == frames.STILL and self._channel.wait(0.0):
                return None
        data = ctypes.string_at(record.request_at, record.arrived)
        if stopped == frames.OTHER_MESSAGE:
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


class _NotServedError(Exception):
    """Why a participant is called in Python."""


class ServedMember:
    """A participant that compiled code calls.

    Attributes
    ----------
    calls : NativeCalls
    member : MemberArrays
    """

    calls: NativeCalls
    member: MemberArrays

    def __init__(self, participant: Any, folder: Path, number: int) -> None:
        self.participant, self.number = participant, number
        self._path = folder / f"{PARTS}{number}"
        self._flags = np.zeros(FLAGS + 1)
        self._flags[FLAGS - 1] = math.inf
        self._remembered: dict[int, Any] = {}

    def find_functions(
        self, names: Sequence[Sequence[str]], written: int | None, read: int, known: Sequence[str]
    ) -> None:
        """Ask the participant for its functions.

        Parameters
        ----------
        names : sequence of sequence of str
        written, read : int
            Which of these groups are inputs and outputs; None for no inputs.
        known : sequence of str
            Types that they may have.
        """
        participant = self.participant
        inputs = [] if written is None else [*names[written]]
        reads = [*names[read]]
        if not isinstance(participant, cosim.Participant) or not isinstance(participant, StepsNatively):
            raise _NotServedError("is called in Python")
        variables = participant.describe().variables
        self._types = [variables[each].type for each in inputs]
        if any(variables[each].type not in known for each in (*inputs, *reads)):
            raise _NotServedError("some of its variables are read and written in Python")
        try:
            calls = participant.native_calls(inputs, reads, self._flags[:FLAGS])
        except cosim.ModelError as error:
            raise _NotServedError(error.problems[0].text) from error
        except (cosim.ContractError, cosim.FmuError) as error:
            raise _NotServedError(str(error)) from error
        if calls is None:
            raise _NotServedError("has no C functions for this")
        from cosim_master.exchange.exchange_machine import (
            connect_part,
        )  # most processes need it later or never

        self.calls = calls
        self._orders = np.ones(max(1, len(inputs)), dtype=np.int32)
        try:
            self._part = self._shared_part()
        except OSError as error:
            raise _NotServedError(f"has no memory to share: {error}") from error
        connect_part(self._part, calls, len(inputs), len(reads), self._orders.ctypes.data)
        self.member = MemberArrays(
            self.number, (0 if written is None else written, read), len(inputs), len(reads)
        )
        self.member.record.part_at = ctypes.addressof(self._part)
        self.member.record.flags_at = self._flags.ctypes.data

    def _shared_part(self) -> Part:
        """The record by which the present call is known after this process has ended."""
        with self._path.open("wb+") as file:
            file.truncate(ctypes.sizeof(Part))
            shared = mmap.mmap(file.fileno(), ctypes.sizeof(Part))
        exclude_from_forks(shared)
        return Part.from_buffer(shared)

    def facts(self) -> dict[str, Any]:
        """The facts that the other process needs."""
        calls = self.calls
        return {
            "same_size": calls.same_size,
            "set_slopes": bool(calls.set_slopes),
            "saves": bool(calls.save and calls.restore and calls.state),
            "always_remembered": calls.always_remembered,
            "remembers": [
                name for name in ("remember", "remember_saved") if getattr(calls, name) is not None
            ],
            "names": dict(calls.names),
        }

    def typed(self, call: Call) -> Call:
        """A call with inputs as the participant's methods take them."""
        kinds: dict[str, Any] = {"integer": int, "boolean": bool}
        pending = list(call.pending)
        if pending and pending[0][0] == WRITES[0]:
            write, group, values = pending[0]
            typed = [kinds.get(kind, float)(value) for kind, value in zip(self._types, values, strict=True)]
            pending[0] = [write, group, typed]
        return call._replace(pending=pending)

    def do_in_place(self, action: str) -> None:
        """Save the state, or go back to it, where compiled code does not."""
        status = save_part(self._part) if action == SAVE else restore_part(self._part)
        if is_bad(status):
            self.check_state(SAVING if action == SAVE else RESTORING, status)

    def check_access(self, verb: str, status: int) -> None:
        """Raise why inputs or outputs could not be written or read, if that was so."""
        self.participant.check_native_access(verb, status)

    def check_state(self, calling: int, status: int) -> None:
        """Raise why the state could not be saved or restored."""
        if self.calls.after_state is not None:
            self.calls.after_state(METHODS[calling], status)
        raise cosim.CosimError(f"cannot {METHODS[calling]} its state (status {status})")

    def remember(self, how: str) -> int:
        """Store the memory of Python besides a saved state (`NativeCalls`); its number, for `forget`."""
        number = max(self._remembered, default=0) + 1
        self._remembered = {number: getattr(self.calls, how)()}  # the last one alone is gone back to
        return number

    def forget(self, number: int) -> None:
        """Restore the memory of Python with this number."""
        assert self.calls.forget is not None
        self.calls.forget(self._remembered[number])


def call_of_parts(folder: Path) -> tuple[int, str]:
    """Number of the participant that compiled code is calling in a process, and the call; "" for none."""
    for path in folder.glob(f"{PARTS}*"):
        with suppress(OSError, ValueError):
            calling = Part.from_buffer_copy(path.read_bytes()).calling
            if METHODS.get(calling):
                return int(path.name.removeprefix(PARTS)), METHODS[calling]
    return 0, ""
