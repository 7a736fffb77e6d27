"""In a process of participants: steps that compiled code makes for another process (`answer_frames`)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim.kit import c_address
from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.processes import answer_frames as frames
from cosim_master.processes.answer_frames import Callee, Plan, Planned, Service
from cosim_master.processes.calls import (
    ANSWER,
    STEP,
    WRITES,
    Call,
    answers_of_numbers,
    numbers_of_answers,
    steps_of_numbers,
)
from cosim_master.processes.channel import (
    MOST_NUMBERS,
    Channel,
    Numbers,
    message_of_numbers,
    numbers_of_message,
)
from cosim_master.processes.step_frames import FIRST, INTEGER
from cosim_master.processes.wire import can_go_natively, wire_over

STEPS_BEFORE = 1000
"""Messages of a kind before compiled code answers them: loading it takes as long as so many steps save."""
MOST_PLANS = 16
FLAGS = 5
REALS_OF_STEP = 2
"""Time and size."""
SET, SET_SLOPES = WRITES


class Unusual(NamedTuple):
    """A message that compiled code has carried out in part.

    Attributes
    ----------
    calls : list of Call
    answers : list
        To the first of them.
    calling, status : int
        What was called of the next one (`answer_frames.SETTING` …), and what it answered.
    is_left : bool
        Whether its step was not called, but left to Python.
    """

    calls: list[Call]
    answers: list[Any]
    calling: int
    status: int
    is_left: bool

    @property
    def is_unset(self) -> bool:
        """Whether the inputs of the next one are not written."""
        return self.calling in (frames.SETTING, frames.LEADING)

    @property
    def has_stepped(self) -> bool:
        """Whether the next one has made its step."""
        return not self.is_unset and not self.is_left


class NativeService:
    """Messages of steps that are alike, answered by compiled code.

    Parameters
    ----------
    channel : Channel
    page : int
        Address of the memory that tells what is called to who outlives this process.
    name : callable
        What stands there for a call of a participant.
    """

    def __init__(self, channel: Channel, page: int, name: Callable[[int, str], bytes]) -> None:
        self._channel, self._name = channel, name
        self._is_able = can_go_natively() and channel.reading >= 0
        self._seen: dict[tuple[int, ...], int] = {}
        self._plans: dict[tuple[int, ...], _MadePlan] = {}
        self._callees: dict[int, _MadeCallee] = {}
        self._refused: set[int] = set()
        self._addresses = (ctypes.c_int64 * MOST_PLANS)()
        self._request = (ctypes.c_int64 * (MOST_NUMBERS + 3))()
        self._record = Service(
            calling_at=page,
            plans_at=ctypes.addressof(self._addresses),
            room=ctypes.sizeof(self._request),
            request_at=ctypes.addressof(self._request),
        )
        if self._is_able:
            self._wire, self._watched = wire_over(channel.reading, channel.writing)
            self._record.wire_at = ctypes.addressof(self._wire)
        self._serve: Any = None

    @property
    def progress(self) -> int | None:
        """How many messages have come, while one is carried out."""
        return int(self._record.served) if self._record.busy else None

    def learn(self, message: Numbers, calls: Sequence[Call], participants: Mapping[int, Any]) -> None:
        """A message has been answered in Python; after some like it, the next ones are not.

        Parameters
        ----------
        message : Numbers
        calls : sequence of Call
        participants : mapping of int to (participant, names)
            By number; the names of variables in groups.
        """
        kind = tuple(message.integers)
        if not self._is_able or kind in self._plans or len(self._plans) == MOST_PLANS:
            return
        seen = self._seen[kind] = self._seen.get(kind, 0) + 1
        if seen < STEPS_BEFORE or len(self._seen) > MOST_PLANS or self._refused & {c.number for c in calls}:
            return
        try:
            if self._serve is None:
                self._serve = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(
                    c_address(frames.serve_steps, frames.ENTRIES[frames.serve_steps])
                )
            members = [self._callee(call, *participants[call.number]) for call in calls]
        except _NoPlanError as error:
            self._refused.add(error.number)
            return
        except cosim.ContractError:  # nothing is compiled here
            self._is_able = False
            return
        plan = _MadePlan(message, members)
        self._addresses[len(self._plans)] = plan.address
        self._plans[kind] = plan
        self._record.plans = len(self._plans)

    def forget(self, number: int) -> None:
        """A participant is closed."""
        if self._callees.pop(number, None) is not None:
            self._plans.clear()
            self._callees.clear()
            self._record.plans = 0

    def serve(self) -> Unusual | None:
        """Answer messages as long as they are as usual; None where the next one is Python's to read."""
        if not self._plans or self._channel.holds_bytes:
            return None
        try:
            for callee in self._callees.values():
                callee.participant.resume_native()
        except Exception:  # the next call of it says why
            self._plans.clear()
            self._record.plans = 0
            return None
        record = self._record
        stopped = self._serve(ctypes.addressof(record))
        data = ctypes.string_at(record.request_at, record.arrived)
        if stopped == frames.OTHER_MESSAGE:
            self._channel.put_back(data)
            return None
        plan = next(plan for plan in self._plans.values() if plan.address == record.plan)
        calls = steps_of_numbers(numbers_of_message(data))
        answers = answers_of_numbers(numbers_of_message(plan.answer))[: record.member]
        return Unusual(calls, answers, int(record.calling), int(record.status), bool(record.is_left))

    def end_unusual(self) -> None:
        """What was left of a message is done."""
        self._record.busy = 0

    def _callee(self, call: Call, participant: Any, names: Sequence[Sequence[str]]) -> _MadePart:
        number = call.number
        writes = [write for write, _, _ in call.pending]
        groups = {group for _, group, _ in call.pending}
        if writes not in ([], [SET], [SET, SET_SLOPES]) or len(groups) > 1:
            raise _NoPlanError(number)
        reads = tuple(name for group in call.given[2] for name in names[group])
        inputs = tuple(names[group] for group in groups)
        known = self._callees.get(number)
        if known is None:
            known = _MadeCallee(participant, inputs[0] if inputs else (), reads)
            known.find_functions(number, self._name)
            self._callees[number] = known
        if known.reads != reads or (inputs and known.inputs != tuple(inputs[0])):
            raise _NoPlanError(number)
        if len(writes) == 2 and not known.record.slopes_at:
            raise _NoPlanError(number)
        return _MadePart(known, len(writes), [len(names[group]) for group in call.given[2]])


class _NoPlanError(Exception):
    """A participant whose steps go through Python."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__()


class _MadeCallee:
    """A participant that compiled code calls."""

    def __init__(self, participant: Any, inputs: Sequence[str], reads: Sequence[str]) -> None:
        self.participant, self.inputs, self.reads = participant, tuple(inputs), tuple(reads)
        self._request = np.zeros(REALS_OF_STEP + 2 * len(inputs))
        self._answer, self._flags, self._usual = np.zeros(1 + len(reads)), np.zeros(FLAGS), np.zeros(1)
        self._flags[-1] = math.inf
        self._orders = np.ones(max(1, len(inputs)), dtype=np.int32)
        self.record = Callee()
        self.address = ctypes.addressof(self.record)

    def find_functions(self, number: int, name: Callable[[int, str], bytes]) -> None:
        """Ask the participant for its functions."""
        participant, inputs, reads = self.participant, self.inputs, self.reads
        variables = participant.describe().variables if isinstance(participant, cosim.Participant) else {}
        if not isinstance(participant, StepsNatively) or participant.least_native_steps > STEPS_BEFORE:
            raise _NoPlanError(number)
        if any(variables[each].type != "real" for each in (*inputs, *reads)):
            raise _NoPlanError(number)
        try:
            found = participant.native_calls(inputs, reads, self._flags)
        except (cosim.ModelError, cosim.FmuError):
            found = None
        if found is None:
            raise _NoPlanError(number)
        self._calls: NativeCalls = found
        self._names = ctypes.create_string_buffer(
            b"".join(name(number, call) for call in (SET, SET_SLOPES, STEP, "get"))
        )
        self.record = Callee(
            set_at=found.set,
            slopes_at=found.set_slopes,
            step_at=found.step,
            get_at=found.get,
            instance=found.instance,
            access=found.access or found.instance,
            input_references=found.input_references,
            input_count=len(inputs) if found.input_count is None else found.input_count,
            inputs=len(inputs),
            output_references=found.output_references,
            output_count=len(reads) if found.output_count is None else found.output_count,
            outputs=len(reads),
            slope_orders=self._orders.ctypes.data,
            same_size=int(found.same_size),
            flags_at=self._flags.ctypes.data,
            request_at=self._request.ctypes.data,
            answer_at=self._answer.ctypes.data,
            usual_size_at=self._usual.ctypes.data,
            names_at=ctypes.addressof(self._names),
        )
        self.address = ctypes.addressof(self.record)


class _MadePart(NamedTuple):
    """A participant in a plan."""

    callee: _MadeCallee
    writes: int
    lengths: list[int]


class _MadePlan:
    """Steps that go with one message."""

    def __init__(self, message: Numbers, members: Sequence[_MadePart]) -> None:
        answer = numbers_of_answers(
            [[ANSWER, [0.0, [], [[0.0] * length for length in member.lengths]]] for member in members]
        )
        assert answer is not None
        head, data = message_of_numbers(message), message_of_numbers(answer)
        self._head, self._answer = ctypes.create_string_buffer(head), ctypes.create_string_buffer(data)
        kind: Any = Planned * len(members)
        self._planned = kind(*(Planned(member.callee.address, member.writes) for member in members))
        self._members = members
        self._size = len(data)
        self._record = Plan(
            size=len(head),
            head_at=ctypes.addressof(self._head),
            head_size=FIRST + INTEGER * len(message.integers),
            answer_at=ctypes.addressof(self._answer),
            answer_head=FIRST + INTEGER * len(answer.integers),
            answer_size=len(data),
            members=len(members),
            members_at=ctypes.addressof(self._planned),
        )
        self.address = ctypes.addressof(self._record)

    @property
    def answer(self) -> bytes:
        """The last one."""
        return self._answer.raw[: self._size]
