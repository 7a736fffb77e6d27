"""Calls of participants in another process without Python, on the side of the run: kernel functions.

A *frame* is the message of all participants of one process that are called at the same time, written as
`Numbers` are (`calls.numbers_of_calls`), and its answer. `set_member` … `restore_member` have the signatures
of `NativeCalls`. If another message comes, none comes for some time, or the connection breaks, Python
continues: it finds in the records what has been done.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, integers_at, reals_at, rows_of, width_of
from cosim_master.processes.wire import (
    NOTHING_CAME,
    are_equal,
    copy_bytes,
    receive_bytes,
    send_bytes,
    wire_of,
)


class Frame(Record):
    """The calls that go with one message."""

    wire_at: int
    state: int  # `EMPTY` …
    is_python_waiting: int  # Python has sent a message whose answer has not come
    members: int
    members_at: int  # addresses of their records
    request_at: int
    answer_at: int
    expected_at: int  # how the answer begins
    size: int  # bytes of the answer
    arrived: int


class StepFlags(Record):
    """What a function that steps a participant reports, and limits of its steps."""

    event: float  # these three are bytes: any number but 0 is yes
    end: float
    early: float
    reached: float  # s
    latest: float  # a step beyond this time, s, is left to Python
    usual_size: float  # of its steps, s


class Member(Record):
    """A participant, in both processes."""

    frame_at: int  # this and the next six fields are used in the process of the run only
    phase: int  # `RESTS` …
    action: int  # that is under way
    writes: int  # what goes with its next call: nothing (0), inputs (1), inputs and slopes (2)
    has_outputs: int
    is_ahead: int  # compiled code has called it since Python last did
    was_late: int  # this action has been done after all: 1 + its number
    part_at: int  # its functions, in the process where it is
    flags_at: int  # its `StepFlags`, there
    inputs: int
    outputs: int
    heads_at: int  # the whole numbers of its calls: a row for each action and kind of writes
    answer_heads_at: int  # and of their answers, without and with outputs
    request_at: int  # time, size, inputs, slopes
    answer_at: int  # the time reached, outputs


FRAME, MEMBER, FLAGS = (width_of(cls) for cls in (Frame, Member, StepFlags))
EMPTY, COLLECTED, SENT, ANSWERED, LEFT = range(5)
"""`Frame.state`: some steps have begun (COLLECTED); Python takes the answer (LEFT)."""
RESTS, BEGUN, IN_PYTHON = range(3)
"""`Member.phase`: the step that has begun is Python's to end (IN_PYTHON)."""
STEP, READ, SAVE, RESTORE = range(4)
"""Actions (`calls.ACTIONS`)."""
OK, NOT_USUAL = 0, 3
HEAD, FIRST = 12, 16
"""Bytes before the ones that a message counts (`channel.HEAD`), and before its whole numbers."""
WORD, INTEGER = 8, 4
CALL_INTEGERS, WRITE_INTEGERS = 4, 3
"""Whole numbers of a call, before the group that it reads, and for each kind of write."""
KINDS_OF_WRITES = 3
HEAD_ROOM = CALL_INTEGERS + 1 + WRITE_INTEGERS * (KINDS_OF_WRITES - 1)
ANSWER_ROOM = 2
HIGH = 1 << 32


def frame_of(address):
    """The record of a message at an address."""
    return rows_of(Frame, integers_at(address, FRAME), 0, 1)[0]


def member_of(address):
    """The record of a participant at an address."""
    return rows_of(Member, integers_at(address, MEMBER), 0, 1)[0]


def reads_outputs(action):
    """1 where outputs come with the answer to an action, else 0."""
    return 1 if action in (STEP, READ) else 0


def head_at(member, action, writes):
    """The place of the whole numbers of a call."""
    return member.heads_at + INTEGER * HEAD_ROOM * (KINDS_OF_WRITES * action + writes)


def head_length(action, writes):
    """The bytes of the whole numbers of a call."""
    return INTEGER * (CALL_INTEGERS + reads_outputs(action) + WRITE_INTEGERS * writes)


def request_length(member, writes):
    """The bytes of the reals of a call."""
    return WORD * (2 + writes * member.inputs)


def answer_head_at(member, action):
    """The place of the whole numbers of an answer."""
    return member.answer_heads_at + INTEGER * ANSWER_ROOM * reads_outputs(action)


def answer_head_length(action):
    """The bytes of the whole numbers of an answer."""
    return INTEGER * (1 + reads_outputs(action))


def answer_length(member, action):
    """The bytes of the reals of an answer."""
    return WORD * (1 + reads_outputs(action) * member.outputs)


def set_member(handle, references, count, values, size):
    """Store inputs, which go with the next call."""
    member = member_of(handle)
    request = reals_at(member.request_at, 2 + member.inputs)
    new_values = reals_at(values, member.inputs)
    for i in range(member.inputs):
        request[2 + i] = new_values[i]
    member.writes = 1
    member.has_outputs = 0
    member.is_ahead = 1
    return OK


def set_member_slopes(handle, references, count, orders, slopes):
    """Store slopes of the inputs, which go with the next call."""
    member = member_of(handle)
    request = reals_at(member.request_at, 2 + 2 * member.inputs)
    new_slopes = reals_at(slopes, member.inputs)
    for i in range(member.inputs):
        request[2 + member.inputs + i] = new_slopes[i]
    member.writes = 2
    member.has_outputs = 0
    member.is_ahead = 1
    return OK


def start_member_step(handle, time, size, is_last, event, end, early, reached):
    """Begin a step; the last one of several is sent with those before it."""
    if not add_step(handle, time, size):
        return NOT_USUAL
    return send_frame(member_of(handle).frame_at) if is_last != 0 else OK


def add_step(handle, time, size):
    """Add a step to the next message. Returns whether that was possible."""
    if not add_call(handle, STEP):
        return False
    request = reals_at(member_of(handle).request_at, 2)
    request[0] = time
    request[1] = size
    return True


def add_call(handle, action):
    """Add a call to the next message. Returns whether that was possible."""
    member = member_of(handle)
    frame = frame_of(member.frame_at)
    if frame.is_python_waiting != 0 or frame.state == SENT or frame.state == LEFT or member.phase != RESTS:
        return False
    if frame.state == ANSWERED or frame.state == EMPTY:
        frame.members = 0
        frame.state = COLLECTED
    member.phase = BEGUN
    member.action = action
    member.has_outputs = 0
    integers_at(frame.members_at, frame.members + 1)[frame.members] = handle
    frame.members += 1
    return True


def step_member(handle, time, size, keeps_no_state, event, end, early, reached):
    """Make a step, which may have begun; the time that it reaches is written to the address `reached`."""
    member = member_of(handle)
    reals_at(event, 1)[0] = 0.0
    reals_at(end, 1)[0] = 0.0
    reals_at(early, 1)[0] = 0.0
    if member.phase == RESTS and not add_step(handle, time, size):
        return NOT_USUAL
    request = reals_at(member.request_at, 2)
    if member.phase != BEGUN or request[0] != time or request[1] != size or not has_answer(member):
        return NOT_USUAL
    time_reached = reals_at(member.answer_at, 1)[0]
    reals_at(reached, 1)[0] = time_reached
    if time_reached != time + size:
        reals_at(early, 1)[0] = 1.0
    return OK


def get_member(handle, references, count, values, size):
    """Read outputs, which may have come with the step."""
    member = member_of(handle)
    if member.has_outputs == 0 and call_member(handle, READ) != OK:
        return NOT_USUAL
    answer = reals_at(member.answer_at, 1 + member.outputs)
    read = reals_at(values, member.outputs)
    for i in range(member.outputs):
        read[i] = answer[1 + i]
    return OK


def save_member(handle, state, third, fourth, fifth):
    """Ask a participant in another process to save its state there."""
    integers_at(state, 1)[0] = 1
    return call_member(handle, SAVE)


def restore_member(handle, state, third, fourth, fifth):
    """Ask a participant in another process to restore its saved state."""
    return call_member(handle, RESTORE)


def call_member(handle, action):
    """Read outputs, or save or restore a state, at once."""
    member = member_of(handle)
    if member.was_late == 1 + action:
        member.was_late = 0
        return OK
    if frame_of(member.frame_at).state == COLLECTED or not add_call(handle, action):
        return NOT_USUAL
    return OK if has_answer(member) else NOT_USUAL


def has_answer(member):
    """Wait for the answer to the calls that have begun. Returns whether it has come."""
    frame = frame_of(member.frame_at)
    if frame.state == COLLECTED:
        send_frame(member.frame_at)
    if frame.state == SENT:
        receive_frame(member.frame_at)
    if frame.state != ANSWERED:
        return False
    member.phase = RESTS
    member.has_outputs = reads_outputs(member.action)
    member.is_ahead = 1
    return True


def send_frame(address):
    """Write and send the calls that have begun; the frame becomes SENT, or LEFT after a failure."""
    frame = frame_of(address)
    wire = wire_of(frame.wire_at)
    members = integers_at(frame.members_at, frame.members)
    at = frame.request_at + FIRST
    for handle in members:
        member = member_of(handle)
        length = head_length(member.action, member.writes)
        copy_bytes(wire, at, head_at(member, member.action, member.writes), length)
        at += length
    integers = (at - frame.request_at - FIRST) // INTEGER
    for handle in members:
        member = member_of(handle)
        length = request_length(member, member.writes)
        copy_bytes(wire, at, member.request_at, length)
        at += length
        member.writes = 0
    head = integers_at(frame.request_at, 2)
    head[0] = at - frame.request_at - HEAD
    head[1] = integers * HIGH
    expect_answer(frame, wire, members)
    wire.is_pending = 1
    frame.state = SENT if send_bytes(wire, frame.request_at, at - frame.request_at) else LEFT
    return OK


def expect_answer(frame, wire, members):
    """Store how the answer begins if all participants have stepped as usual, and its length."""
    at = frame.expected_at + FIRST
    reals = 0
    for handle in members:
        member = member_of(handle)
        length = answer_head_length(member.action)
        copy_bytes(wire, at, answer_head_at(member, member.action), length)
        at += length
        reals += answer_length(member, member.action)
    frame.size = at - frame.expected_at + reals
    head = integers_at(frame.expected_at, 2)
    head[0] = frame.size - HEAD
    head[1] = (at - frame.expected_at - FIRST) // INTEGER * HIGH
    frame.arrived = 0


def receive_frame(address):
    """Wait for the answer and distribute it; the frame becomes ANSWERED, or LEFT after another message."""
    frame = frame_of(address)
    wire = wire_of(frame.wire_at)
    frame.state = LEFT
    expected = integers_at(frame.expected_at, 2)
    answer = integers_at(frame.answer_at, 2)
    while frame.arrived < frame.size:
        count = receive_bytes(wire, frame.answer_at + frame.arrived, frame.size - frame.arrived)
        if count != NOTHING_CAME:
            wire.is_pending = 0
        if count <= 0:
            return
        frame.arrived += count
        if frame.arrived >= FIRST and (answer[0] != expected[0] or answer[1] != expected[1]):
            return
    members = integers_at(frame.members_at, frame.members)
    at = frame.answer_at + FIRST
    length = expected[1] // HIGH * INTEGER
    if not are_equal(wire, at, frame.expected_at + FIRST, length):
        return
    at += length
    for handle in members:
        member = member_of(handle)
        length = answer_length(member, member.action)
        copy_bytes(wire, member.answer_at, at, length)
        at += length
    frame.state = ANSWERED


ARRAY_CALL, INTERVAL_CALL = "iiiii>i", "iffiiiii>i"
ENTRIES: dict[Any, str] = {
    **dict.fromkeys((set_member, set_member_slopes, get_member, save_member, restore_member), ARRAY_CALL),
    **dict.fromkeys((start_member_step, step_member), INTERVAL_CALL),
}
"""The functions that are called by address, with their signatures."""
