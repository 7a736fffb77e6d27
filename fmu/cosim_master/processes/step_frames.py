"""Steps of participants in another process without Python: kernel functions over records.

A *frame* is the message of all participants of one process that step at the same time, written as `Numbers`
are (`calls.numbers_of_steps`), and its answer. `set_member` … `get_member` have the signatures of
`NativeCalls`. Whatever is not as usual is left to Python, which goes on from where the records are: another
message has come, nothing for some time, or the connection is broken.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, call_with_array, integers_at, reals_at, rows_of, width_of


class Wire(Record):
    """How bytes get to the other process and back: a handle, and functions of the C library."""

    reading: int
    writing: int
    read_at: int
    write_at: int
    poll_at: int
    copy_at: int
    compare_at: int
    watched_at: int  # what `poll` takes
    patience: int  # so long an answer is waited for here, ms


class Frame(Record):
    """The steps that go with one message."""

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


class Member(Record):
    """A participant."""

    frame_at: int
    phase: int  # `RESTS` …
    writes: int  # what goes with its next step: nothing, inputs (1), inputs and slopes (2)
    has_outputs: int
    is_ahead: int  # of what Python knows
    inputs: int
    outputs: int
    heads_at: int  # the whole numbers of its step, for each of these three
    answer_head_at: int
    request_at: int  # time, size, inputs, slopes
    answer_at: int  # the time reached, outputs


WIRE, FRAME, MEMBER = (width_of(cls) for cls in (Wire, Frame, Member))
EMPTY, COLLECTED, SENT, ANSWERED, LEFT = range(5)
"""`Frame.state`: some steps have begun (COLLECTED); Python takes the answer (LEFT)."""
RESTS, BEGUN, IN_PYTHON = range(3)
"""`Member.phase`: the step that has begun is Python's to end (IN_PYTHON)."""
OK, NOT_USUAL = 0, 3
HEAD, FIRST = 12, 16
"""Bytes before the ones that a message counts (`channel.HEAD`), and before its whole numbers."""
WORD, INTEGER = 8, 4
FEW, MORE = 4, 3
"""Whole numbers of a step that writes nothing, and for each kind of write."""
HEAD_ROOM = FEW + 2 * MORE
HIGH = 1 << 32


def wire_of(address):
    """A record of this kind."""
    return rows_of(Wire, integers_at(address, WIRE), 0, 1)[0]


def frame_of(address):
    """A record of this kind."""
    return rows_of(Frame, integers_at(address, FRAME), 0, 1)[0]


def member_of(address):
    """A record of this kind."""
    return rows_of(Member, integers_at(address, MEMBER), 0, 1)[0]


def set_member(handle, references, count, values, size):
    """Inputs go with the next step."""
    member = member_of(handle)
    request = reals_at(member.request_at, 2 + member.inputs)
    given = reals_at(values, member.inputs)
    for i in range(member.inputs):
        request[2 + i] = given[i]
    member.writes = 1
    member.has_outputs = 0
    member.is_ahead = 1
    return OK


def set_member_slopes(handle, references, count, orders, slopes):
    """Slopes of the inputs go with the next step."""
    member = member_of(handle)
    request = reals_at(member.request_at, 2 + 2 * member.inputs)
    given = reals_at(slopes, member.inputs)
    for i in range(member.inputs):
        request[2 + member.inputs + i] = given[i]
    member.writes = 2
    member.has_outputs = 0
    member.is_ahead = 1
    return OK


def begin_member(handle, time, size, is_last, event, end, early, reached):
    """Have a step made; it is sent with those that have begun before, if it is the last of them."""
    member = member_of(handle)
    frame = frame_of(member.frame_at)
    if frame.is_python_waiting != 0 or frame.state == SENT or frame.state == LEFT or member.phase != RESTS:
        return NOT_USUAL
    if frame.state == ANSWERED or frame.state == EMPTY:
        frame.members = 0
        frame.state = COLLECTED
    request = reals_at(member.request_at, 2)
    request[0] = time
    request[1] = size
    member.phase = BEGUN
    member.has_outputs = 0
    integers_at(frame.members_at, frame.members + 1)[frame.members] = handle
    frame.members += 1
    return send_frame(member.frame_at) if is_last != 0 else OK


def step_member(handle, time, size, keeps_no_state, event, end, early, reached):
    """A step, which may have begun; how far it has come lies at the address `reached`."""
    member = member_of(handle)
    frame = frame_of(member.frame_at)
    reals_at(event, 1)[0] = 0.0
    reals_at(end, 1)[0] = 0.0
    reals_at(early, 1)[0] = 0.0
    if member.phase == RESTS and begin_member(handle, time, size, 1, event, end, early, reached) != OK:
        return NOT_USUAL
    request = reals_at(member.request_at, 2)
    if member.phase != BEGUN or request[0] != time or request[1] != size:
        return NOT_USUAL
    if frame.state == COLLECTED:
        send_frame(member.frame_at)
    if frame.state == SENT:
        receive_frame(member.frame_at)
    if frame.state != ANSWERED:
        return NOT_USUAL
    member.phase = RESTS
    member.has_outputs = 1
    member.is_ahead = 1
    come_to = reals_at(member.answer_at, 1)[0]
    reals_at(reached, 1)[0] = come_to
    if come_to != time + size:
        reals_at(early, 1)[0] = 1.0
    return OK


def get_member(handle, references, count, values, size):
    """Outputs, which have come with the step."""
    member = member_of(handle)
    if member.has_outputs == 0:
        return NOT_USUAL
    answer = reals_at(member.answer_at, 1 + member.outputs)
    read = reals_at(values, member.outputs)
    for i in range(member.outputs):
        read[i] = answer[1 + i]
    return OK


def send_frame(address):
    """Write and send the steps that have begun; the frame is SENT, or LEFT where that fails."""
    frame = frame_of(address)
    wire = wire_of(frame.wire_at)
    members = integers_at(frame.members_at, frame.members)
    at = frame.request_at + FIRST
    for handle in members:
        member = member_of(handle)
        length = INTEGER * (FEW + MORE * member.writes)
        copy_bytes(wire, at, member.heads_at + INTEGER * HEAD_ROOM * member.writes, length)
        at += length
    integers = (at - frame.request_at - FIRST) // INTEGER
    for handle in members:
        member = member_of(handle)
        length = WORD * (2 + member.writes * member.inputs)
        copy_bytes(wire, at, member.request_at, length)
        at += length
        member.writes = 0
    head = integers_at(frame.request_at, 2)
    head[0] = at - frame.request_at - HEAD
    head[1] = integers * HIGH
    expect_answer(frame, wire, members)
    frame.state = SENT if write_bytes(wire, frame.request_at, at - frame.request_at) else LEFT
    return OK


def expect_answer(frame, wire, members):
    """How the answer begins, and how long it is."""
    at = frame.expected_at + FIRST
    reals = 0
    for handle in members:
        member = member_of(handle)
        copy_bytes(wire, at, member.answer_head_at, 2 * INTEGER)
        at += 2 * INTEGER
        reals += 1 + member.outputs
    frame.size = at - frame.expected_at + WORD * reals
    head = integers_at(frame.expected_at, 2)
    head[0] = frame.size - HEAD
    head[1] = 2 * frame.members * HIGH
    frame.arrived = 0


def receive_frame(address):
    """Wait for the answer and hand it out; the frame is ANSWERED, or LEFT where something else has come."""
    frame = frame_of(address)
    wire = wire_of(frame.wire_at)
    frame.state = LEFT
    expected = integers_at(frame.expected_at, 2)
    answer = integers_at(frame.answer_at, 2)
    while frame.arrived < frame.size:
        if call_with_array(wire.poll_at, wire.watched_at, 1, wire.patience, 0, 0) <= 0:
            return
        room = frame.size - frame.arrived
        count = call_with_array(wire.read_at, wire.reading, frame.answer_at + frame.arrived, room, 0, 0)
        if count <= 0:
            return
        frame.arrived += count
        if frame.arrived >= FIRST and (answer[0] != expected[0] or answer[1] != expected[1]):
            return
    members = integers_at(frame.members_at, frame.members)
    at = frame.answer_at + FIRST
    length = 2 * INTEGER * frame.members
    if call_with_array(wire.compare_at, at, frame.expected_at + FIRST, length, 0, 0) != 0:
        return
    at += length
    for handle in members:
        member = member_of(handle)
        length = WORD * (1 + member.outputs)
        copy_bytes(wire, member.answer_at, at, length)
        at += length
    frame.state = ANSWERED


def copy_bytes(wire, target, source, length):
    """As `memcpy`."""
    call_with_array(wire.copy_at, target, source, length, 0, 0)


def write_bytes(wire, at, length):
    """Send so many bytes from an address; whether it went well."""
    done = 0
    while done < length:
        count = call_with_array(wire.write_at, wire.writing, at + done, length - done, 0, 0)
        if count <= 0:
            return False
        done += count
    return True


ARRAY_CALL, INTERVAL_CALL = "iiiii>i", "iffiiiii>i"
ENTRIES: dict[Any, str] = {
    **dict.fromkeys((set_member, set_member_slopes, get_member), ARRAY_CALL),
    **dict.fromkeys((begin_member, step_member), INTERVAL_CALL),
}
"""What is called by address, with its signature."""
